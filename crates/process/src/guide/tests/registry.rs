//! What a registry says.

use std::fmt::Write;
use std::fs;

use super::*;

fn ids(guide: &Guide, question: &Question) -> Vec<String> {
    guide.capabilities(question).unwrap().matches.into_iter().map(|one| one.id).collect()
}

#[test]
fn every_layout_of_an_inventory_is_read() {
    let one =
        r#"{"name": "env", "type": "plugin", "description": "Environment", "tags": ["setup"]}"#;
    for inventory in [
        format!("[{one}]"),
        format!(r#"{{"version": "1", "summary": {{}}, "capabilities": [{one}]}}"#),
        format!(r#"{{"items": [{one}, 7]}}"#),
        format!(r#"{{"capabilities": {{"env": {one}}}}}"#),
        format!(r#"{{"env": {one}}}"#),
        r#"{"plugins": [{"id": "env", "tags": "setup, x", "description": "Environment"}]}"#
            .to_owned(),
    ] {
        let folder = Folder::with(&[("inventory.json", &inventory)]);
        let question = Question {
            query: Some("ENVIRON".into()),
            kind: Some("plugin".into()),
            tags: vec!["Setup".into()],
        };
        assert_eq!(ids(&folder.guide(), &question), ["env"], "{inventory}");
        let other = Question { kind: Some("skill".into()), ..question };
        assert_eq!(ids(&folder.guide(), &other), [""; 0], "{inventory}");
    }
}

#[test]
fn the_install_level_comes_from_the_inventory_then_from_the_file() {
    let folder = Folder::with(&[
        (
            "inventory.json",
            r#"[{"name": "a", "type": "agent", "install_level": "user"}, {"name": "b", "type": "agent"}, {"name": "c", "type": "skill"}, {"name": "a", "type": "skill"}]"#,
        ),
        ("capabilities/a/capability.yaml", "name: a\ntype: agent\ninstall_level: project\n"),
        ("capabilities/agents/b/capability.yaml", "name: b\ninstall_level: project\n"),
        ("capabilities/skills/b/capability.yaml", "name: b\ntype: skill\ninstall_level: other\n"),
        ("capabilities/skills/c/capability.yaml", "name: c\ndescription: >-\n  two\n  lines\n"),
    ]);
    let guide = folder.guide();
    let levels = || -> Vec<Option<String>> {
        let found = guide.capabilities(&Question::default()).unwrap();
        found.matches.into_iter().map(|one| one.install_level).collect()
    };
    let level = |text: &str| Some(text.to_owned());
    assert_eq!(levels(), [level("user"), level("project"), None, level("project")]);
    folder.write("capabilities/agents/b/capability.yaml", "install_level: changed\n");
    assert_eq!(levels()[1], level("changed"));

    let (a, text, fields) = guide.capability("a", None).unwrap();
    assert_eq!(
        (a.install_level, fields["install_level"].as_str()),
        (level("user"), Some("project"))
    );
    assert!(text.starts_with("name: a"));
    let (c, ..) = guide.capability("c", None).unwrap();
    assert_eq!(
        (c.kind.as_deref(), c.install_level, c.description.as_deref()),
        (Some("skill"), None, Some("two lines"))
    );
    assert_eq!(
        said(guide.capability("b", None)),
        "`b` is the id of 2 capabilities; say which with `type`: `agent`, `skill`"
    );
    assert_eq!(guide.capability("b", Some("skill")).unwrap().0.install_level, level("other"));
    assert_eq!(
        said(guide.capability("b", Some("tool"))),
        "there is no capability `b` of the type `tool`; query_capabilities shows what there is"
    );
    assert!(said(guide.capability("../a", None)).starts_with("/capability_id: expected"));
}

#[test]
fn a_broken_registry_says_what_to_do() {
    let folder = Folder::with(&[]);
    let guide = folder.guide();
    let hint =
        "; mend the file, or name another registry with ACM_REGISTRY_ROOT or `process.registry`";
    let broken = |reason: &str| {
        format!("`inventory.json` of the capabilities registry cannot be used: {reason}{hint}")
    };
    let asked = || said(guide.capabilities(&Question::default()));
    assert_eq!(asked(), broken("there is no such file"));
    for (text, reason) in [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("{\n\"a\":", "it is not JSON (line 2)"),
        ("\u{1b}", "it is not JSON (line 1)"),
        ("7", "expected a list of capabilities, or an object with `capabilities`"),
        ("{\"version\": 1}", "expected a list of capabilities, or an object with `capabilities`"),
        (&"[".repeat(100_000), "it is not JSON (line 1)"),
    ] {
        folder.write("inventory.json", text);
        assert_eq!(asked(), broken(reason));
    }
    let file = fs::File::create(folder.path().join("inventory.json")).unwrap();
    file.set_len(100 << 20).unwrap();
    assert_eq!(asked(), broken("it has 104857600 bytes, more than the limit of 16777216"));
    folder.write("inventory.json", "[]");
    assert_eq!(guide.capabilities(&Question::default()).unwrap(), Capabilities::default());

    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..20 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    for (id, text) in
        [("bomb", bomb.as_str()), ("list", "- a\n"), ("empty", ""), ("broken", "a: [\n")]
    {
        folder.write(&format!("capabilities/{id}/capability.yaml"), text);
        let text = said(guide.capability(id, None));
        assert!(text.starts_with(&format!("`capabilities/{id}/capability.yaml` of the capabilities registry cannot be used: it is")), "{text}");
        assert!(text.len() < 500 && text.lines().count() == 1, "{text}");
    }
    assert_eq!(
        said(Guide::open(folder.root()).unwrap().capabilities(&Question::default())),
        "there is no capabilities registry here; the operator names one with ACM_REGISTRY_ROOT or `process.registry`"
    );
}
