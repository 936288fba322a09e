#![expect(clippy::disallowed_methods, reason = "tests write the files that are served")]

use std::path::Path;

use serde_json::json;

use super::*;

fn write(folder: &Path, file: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn page(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\n# {name}\n")
}

fn of(folder: &Path) -> Skills {
    Skills::new(vec![Root::open(folder).unwrap(), embedded()], 2048)
}

fn uris(skills: &Skills) -> Vec<String> {
    skills.resources().into_iter().map(|resource| resource.uri).collect()
}

#[test]
fn the_companion_is_a_valid_skill() {
    let skills = Skills::new(vec![embedded()], 1024 * 1024);
    assert_eq!(check::skills(&embedded(), u64::MAX).1, []);
    assert_eq!(skills.names(), [COMPANION]);
    let entry = skills.entry("skill://rutter-workflow/SKILL.md").unwrap();
    assert_eq!(skills.entries(), std::slice::from_ref(&entry));
    assert_eq!(uris(&skills), ["skill://rutter-workflow/SKILL.md"]);
    assert_eq!(entry.resources.len(), 2);
    for file in entry.resources {
        let Content::Text(text) = skills.read(&file.uri).unwrap().unwrap().content else {
            panic!("{} is not text", file.uri);
        };
        assert_eq!((file.size, file.digest), (text.len() as u64, digest(text.as_bytes())));
        // What an agent can be expected to read at once.
        assert!(text.lines().count() < 200, "{}", file.uri);
    }
}

#[test]
fn a_digest_is_sha_256() {
    assert_eq!(
        digest(b"abc"),
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn frontmatter_is_as_its_author_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "---\nname: odd\ndescription: |\n  Two\n  lines.\nmetadata: {version: \"1.0\", on: yes, count: 3, when: 2026-01-02}\n---\n";
    write(folder.path(), "odd/SKILL.md", text);
    let entry = of(folder.path()).entry("skill://odd/SKILL.md").unwrap();
    assert_eq!(
        Value::Object(entry.frontmatter),
        json!({"name": "odd", "description": "Two\nlines.\n",
            "metadata": {"version": "1.0", "on": "yes", "count": 3, "when": "2026-01-02"}})
    );
}

#[test]
fn skills_may_be_grouped_nested_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "acme/billing/refunds/SKILL.md", page("refunds"));
    write(at, "acme/billing/refunds/inner/SKILL.md", page("inner"));
    write(at, "acme/billing/refunds/assets/a b.png", [0xFF, 0xD8]);
    write(at, "rutter-workflow/SKILL.md", page("rutter-workflow"));
    let skills = of(at);
    assert_eq!(skills.problems(), []);
    let base = "skill://acme/billing/refunds";
    assert_eq!(
        uris(&skills),
        [
            format!("{base}/SKILL.md"),
            format!("{base}/inner/SKILL.md"),
            "skill://rutter-workflow/SKILL.md".to_owned(),
        ]
    );
    let outer = skills.entry(&format!("{base}/SKILL.md")).unwrap();
    assert_eq!(outer.resources.len(), 3);
    assert_eq!(skills.entry(&format!("{base}/inner/SKILL.md")).unwrap().resources.len(), 1);
    let image = skills.read(&format!("{base}/assets/a%20b.png")).unwrap().unwrap();
    assert_eq!(image.content, Content::Bytes(vec![0xFF, 0xD8]));
    assert_eq!(image.mime_type, Some("image/png"));

    let children = |uri: &str| {
        let of = |child: Resource| (child.name, child.mime_type.unwrap_or_default());
        skills.children(uri).map(|list| list.into_iter().map(of).collect::<Vec<_>>())
    };
    let pair = |name: &str, kind: &str| (name.to_owned(), kind.to_owned());
    assert_eq!(children("skill://acme"), Some(vec![pair("billing", "inode/directory")]));
    assert_eq!(
        children(base),
        Some(vec![
            pair("refunds", "text/markdown"),
            pair("assets", "inode/directory"),
            pair("inner", "inode/directory"),
        ])
    );
    for uri in
        ["skill://", "skill:/", "", "skill://acme/", "skill://nowhere", &format!("{base}/SKILL.md")]
    {
        assert_eq!(children(uri), None, "{uri}");
    }
}

#[test]
fn what_is_no_skill_is_not_served_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "SKILL.md", page("x"));
    write(at, "bare/SKILL.md", "# no frontmatter\n");
    write(at, "binary/SKILL.md", [0xFF]);
    write(at, "bomb/SKILL.md", format!("---\nname: {}\n---\n", "[".repeat(500)));
    write(at, "Upper/SKILL.md", page("Upper"));
    write(at, "other/SKILL.md", page("another"));
    write(at, "mute/SKILL.md", "---\nname: mute\ndescription: ' '\n---\n");
    write(
        at,
        "long/SKILL.md",
        format!("---\nname: long\ndescription: {}\n---\n", "x".repeat(1025)),
    );
    write(at, "large/SKILL.md", page("large"));
    write(at, "large/data.bin", vec![0; 2049]);
    write(at, "many/SKILL.md", page("many"));
    for number in 0..512 {
        write(at, &format!("many/{number}.txt"), "");
    }
    write(at, "notes/README.md", "no skill, no problem");
    let skills = of(at);
    assert_eq!(skills.names(), [COMPANION]);
    let name = at.file_name().unwrap().to_str().unwrap();
    let problems: Vec<String> = skills
        .problems()
        .iter()
        .map(|problem| problem.to_string().replace(&format!("{name}/"), ""))
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r"
    SKILL.md: a skill is a folder; move it into one of its name
    Upper/SKILL.md: `name` must be at most 64 lower case letters, digits and single hyphens between them
    bare/SKILL.md:1: there is no frontmatter; begin the file with `---`, the fields, and `---`
    binary/SKILL.md: it is not UTF-8 text
    bomb/SKILL.md:2: recursion limit exceeded
    large/SKILL.md: its file `large/data.bin` has more bytes than an answer may have (`limits.payload`)
    long/SKILL.md: `description` has more than 1024 characters
    many/SKILL.md: the skill has 513 files, more than 512
    mute/SKILL.md: `description` is missing in the frontmatter
    other/SKILL.md: `name` must be the name of the folder
    ");
    for file in ["skill://other/SKILL.md", "skill://large/data.bin", "skill://notes/README.md"] {
        assert!(skills.read(file).unwrap().is_err(), "{file}");
    }
    assert!(skills.entry("skill://other/SKILL.md").is_none());
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_can_be_read() {
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "secret.md", "secret");
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "linked/SKILL.md", page("linked"));
    std::os::unix::fs::symlink(outside.path().join("secret.md"), at.join("linked/out.md")).unwrap();
    std::os::unix::fs::symlink("SKILL.md", at.join("linked/in.md")).unwrap();
    let fifo = at.join("linked/fifo.md");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let skills = of(at);
    let entry = skills.entry("skill://linked/SKILL.md").unwrap();
    let files: Vec<&str> = entry.resources.iter().map(|file| file.uri.as_str()).collect();
    assert_eq!(files, ["skill://linked/SKILL.md", "skill://linked/in.md"]);
    for uri in [
        "skill://linked/out.md",
        "skill://linked/fifo.md",
        "skill://linked/../linked/SKILL.md",
        "skill://linked/%2e%2e/linked/SKILL.md",
        "skill:///etc/passwd",
        "skill://linked//SKILL.md",
        "skill://linked",
    ] {
        assert!(skills.read(uri).unwrap().is_err(), "{uri}");
    }
    assert!(skills.read("acdc://docs/a").is_none());
}
