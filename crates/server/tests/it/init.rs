//! `rutter init`: what it writes, and what it leaves alone.

use std::collections::BTreeMap;
use std::path::Path;

use rutter_server::settings::Environment;
use rutter_server::setup::{Request, Setup};
use serde_json::{Value, json};

use crate::binary::{run, text};

/// A project with these files.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// Runs it, and gives what became of each file.
#[track_caller]
fn init(folder: &Path, arguments: &[&str]) -> BTreeMap<String, String> {
    let output = run(folder, &[&["init", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let steps: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |step: &Value| {
        (step["file"].as_str().unwrap().to_owned(), step["what"].as_str().unwrap().to_owned())
    };
    steps.as_array().unwrap().iter().map(of).collect()
}

/// Runs it where it must refuse: nothing may change.
#[track_caller]
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let before = files(folder);
    let output = run(folder, &[&["init"], arguments].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(files(folder), before, "{said}");
    assert!(!said.contains(folder.to_str().unwrap()), "{said}");
    said
}

const ALL: [&str; 11] = [
    "--no-content",
    "--client",
    "claude",
    "--client",
    "cursor",
    "--client",
    "vscode",
    "--client",
    "codex",
    "--client",
    "gemini",
];

#[test]
fn a_project_that_is_served_and_nothing_that_exists_is_touched() {
    let folder = project(&[
        (".mcp.json", r#"{"mcpServers": {"other": {"command": "x"}}, "z": 1}"#),
        ("rutter/process/process.yaml", "version: 1\nstages: []\n"),
    ]);
    let at = folder.path();
    let done = init(at, &[]);
    assert_eq!(done["rutter/process/process.yaml"], "kept");
    assert_eq!(done["rutter.yaml"], "created");
    assert_eq!(done[".mcp.json"], "updated");
    assert_eq!(done["CLAUDE.md"], "created");
    assert_eq!(done[".claude/skills/rutter-workflow/SKILL.md"], "created");
    assert_eq!(
        std::fs::read(at.join(".claude/skills/rutter-workflow/references/tool-guide.md")).unwrap(),
        include_bytes!("../../../../skills/rutter-workflow/references/tool-guide.md")
    );
    let clients: Value =
        serde_json::from_slice(&std::fs::read(at.join(".mcp.json")).unwrap()).unwrap();
    assert_eq!(clients["mcpServers"]["other"], json!({"command": "x"}));
    assert_eq!(clients["mcpServers"]["rutter"]["args"], json!(["serve"]));

    let before = files(at);
    let again = init(at, &[]);
    assert_eq!(again.keys().collect::<Vec<_>>(), done.keys().collect::<Vec<_>>());
    for (file, what) in again {
        let expected = if file == "rutter/process/process.yaml" { "kept" } else { "unchanged" };
        assert_eq!(what, expected, "{file}");
    }
    assert_eq!(files(at), before);

    let doctor: Value = serde_json::from_slice(&run(at, &["doctor", "--json"]).stdout).unwrap();
    assert_eq!(doctor["configuration"], "rutter.yaml");
    assert_eq!(doctor["problems"], json!([]));
}

#[test]
fn documentation_that_was_served_before_is_served_after() {
    let folder = project(&[("docs/tides.md", "# Tides\n\nHigh water comes twice a day.\n")]);
    init(folder.path(), &[]);
    let output = run(folder.path(), &["search", "high water", "--json"]);
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows[0]["uri"], "acdc://docs/tides", "{rows}");
}

#[test]
fn the_copy_is_as_whole_as_the_original() {
    let folder = project(&[]);
    init(folder.path(), &[]);
    let setup = Setup::new(&Request::default(), &Environment::of([]), folder.path()).unwrap();
    let guide = setup.app.guide().unwrap();
    assert!(!guide.knowledge("context").unwrap().matches.is_empty());
    assert!(setup.problems.is_empty(), "{:?}", setup.problems);
}

#[test]
fn every_client_gets_its_own_files() {
    let folder = project(&[]);
    let at = folder.path();
    let dry = init(at, &[&ALL[..], &["--dry-run"]].concat());
    assert_eq!(files(at), BTreeMap::new());
    assert_eq!(init(at, &ALL), dry);
    assert!(dry.values().all(|what| what == "created"), "{dry:?}");
    let names: Vec<String> = files(at).into_keys().collect();
    assert_eq!(
        names,
        [
            ".agents/skills/rutter-workflow/.rutter.json",
            ".agents/skills/rutter-workflow/SKILL.md",
            ".agents/skills/rutter-workflow/references/tool-guide.md",
            ".claude/skills/rutter-workflow/.rutter.json",
            ".claude/skills/rutter-workflow/SKILL.md",
            ".claude/skills/rutter-workflow/references/tool-guide.md",
            ".codex/config.toml",
            ".cursor/mcp.json",
            ".gemini/settings.json",
            ".mcp.json",
            ".vscode/mcp.json",
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
        ]
    );
    let read = |file: &str| std::fs::read_to_string(at.join(file)).unwrap();
    let json = |file: &str| serde_json::from_str::<Value>(&read(file)).unwrap();
    let command = env!("CARGO_BIN_EXE_rutter");
    let plain = json!({"command": command, "args": ["serve"]});
    let typed = json!({"type": "stdio", "command": command, "args": ["serve"]});
    assert_eq!(json(".mcp.json"), json!({"mcpServers": {"rutter": plain}}));
    assert_eq!(json(".gemini/settings.json"), json!({"mcpServers": {"rutter": plain}}));
    assert_eq!(json(".cursor/mcp.json"), json!({"mcpServers": {"rutter": typed}}));
    assert_eq!(json(".vscode/mcp.json"), json!({"servers": {"rutter": typed}}));
    assert_eq!(
        read(".codex/config.toml"),
        format!("[mcp_servers.rutter]\ncommand = \"{command}\"\nargs = [\"serve\"]\n")
    );
    assert_eq!(read("AGENTS.md"), read("CLAUDE.md"));
    assert!(init(at, &ALL).values().all(|what| what == "unchanged"));
    let shown = text(&run(at, &[&["init"], &ALL[..]].concat()).stdout);
    assert!(shown.starts_with("unchanged .mcp.json\n"), "{shown}");
}

#[test]
fn what_a_person_wrote_stays_in_every_file() {
    let guide =
        "# Ours\r\n\r\nBe kind.\r\n<!-- rutter:begin -->\r\nold\r\n<!-- rutter:end -->\r\nThe end.";
    let folder = project(&[
        (
            ".vscode/mcp.json",
            "{\r\n  // by hand\r\n  \"servers\": {\"a\": {\"command\": \"a\"}},\r\n}\r\n",
        ),
        (".codex/config.toml", "model = \"x\" # fast\r\n"),
        (".claude/CLAUDE.md", guide),
        ("AGENTS.md", "# Agents"),
    ]);
    let at = folder.path();
    let done = init(at, &ALL);
    for file in [".vscode/mcp.json", ".codex/config.toml", ".claude/CLAUDE.md", "AGENTS.md"] {
        assert_eq!(done[file], "updated", "{file}");
    }
    assert!(!at.join("CLAUDE.md").exists());
    let read = |file: &str| std::fs::read_to_string(at.join(file)).unwrap();
    let vscode = read(".vscode/mcp.json");
    assert!(vscode.starts_with("{\r\n  // by hand\r\n  \"servers\": {"), "{vscode}");
    assert!(vscode.contains("\"a\": {\"command\": \"a\"}") && vscode.contains("\"rutter\": {"));
    assert!(
        read(".codex/config.toml")
            .starts_with("model = \"x\" # fast\r\n\r\n[mcp_servers.rutter]\r\n")
    );
    let claude = read(".claude/CLAUDE.md");
    assert!(claude.starts_with("# Ours\r\n\r\nBe kind.\r\n<!-- rutter:begin -->\r\n## Rutter\r\n"));
    assert!(claude.ends_with("<!-- rutter:end -->\r\nThe end.") && !claude.contains("old"));
    assert!(read("AGENTS.md").starts_with("# Agents\n\n<!-- rutter:begin -->\n"));
}

#[test]
fn a_copy_of_the_skill_is_updated_where_nobody_changed_it() {
    let folder = project(&[]);
    let at = folder.path();
    init(at, &["--no-content"]);
    let skill = at.join(".claude/skills/rutter-workflow");
    let record_file = skill.join(".rutter.json");
    let guide = skill.join("references/tool-guide.md");
    // As an older version would have left it, but for how lines end.
    std::fs::write(skill.join("SKILL.md"), "older\r\n").unwrap();
    let mut record: Value = serde_json::from_slice(&std::fs::read(&record_file).unwrap()).unwrap();
    record["SKILL.md"] = json!(rutter_server::skills::digest(b"older\n"));
    std::fs::write(&record_file, record.to_string()).unwrap();
    std::fs::write(&guide, "mine\n").unwrap();
    let done = init(at, &["--no-content"]);
    assert_eq!(done[".claude/skills/rutter-workflow/SKILL.md"], "updated");
    assert_eq!(done[".claude/skills/rutter-workflow/references/tool-guide.md"], "kept");
    assert_eq!(std::fs::read(&guide).unwrap(), b"mine\n");
    assert!(std::fs::read_to_string(skill.join("SKILL.md")).unwrap().starts_with("---\r\nname"));
    let shown = text(&run(at, &["init", "--no-content"]).stdout);
    assert!(shown.contains("references/tool-guide.md (someone changed it)\n"), "{shown}");
    // Without a record nothing is known of who wrote what.
    std::fs::write(&record_file, "not json").unwrap();
    std::fs::write(skill.join("SKILL.md"), "other\n").unwrap();
    assert_eq!(init(at, &["--no-content"])[".claude/skills/rutter-workflow/SKILL.md"], "kept");
}

#[test]
fn what_it_does_not_understand_it_leaves_alone() {
    for (client, file, broken) in [
        ("claude", ".mcp.json", "// mine\n"),
        ("claude", ".mcp.json", "{\"mcpServers\": "),
        ("claude", ".mcp.json", "{\"mcpServers\": []}"),
        ("cursor", ".cursor/mcp.json", "[1]"),
        ("vscode", ".vscode/mcp.json", "{\"servers\": 1}"),
        ("gemini", ".gemini/settings.json", "{'mcpServers': {}}"),
        ("codex", ".codex/config.toml", "model = "),
        ("codex", ".codex/config.toml", "mcp_servers = {}\n"),
    ] {
        let folder = project(&[(file, broken)]);
        // Not even the files that come before it in the plan are written.
        let said = refused(folder.path(), &["--client", client]);
        assert!(
            said.contains(&format!(" in `{file}` or added to it, and the file was left alone; ")),
            "{said}"
        );
        assert!(
            said.contains("; mend it, or add `rutter` below `") && said.contains("\"serve\""),
            "{said}"
        );
    }
    let begin = "<!-- rutter:begin -->";
    let end = "<!-- rutter:end -->";
    for (guide, what) in [
        (format!("{begin}\n{end}\n{begin}\n{end}\n"), "more than once"),
        (format!("{begin}\n"), "without an end"),
        (format!("{end}\n{begin}\n"), "wrong order"),
    ] {
        let folder = project(&[("CLAUDE.md", &guide)]);
        let said = refused(folder.path(), &[]);
        assert!(said.starts_with("rutter: `CLAUDE.md` has ") && said.contains(what), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn odd_things_in_a_files_place_are_errors() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let outside = project(&[("secret.json", "{}")]);
    let said = |prepare: &dyn Fn(&Path)| {
        let folder = project(&[]);
        prepare(folder.path());
        refused(folder.path(), &["--client", "claude", "--client", "cursor"])
    };
    let start = "rutter: `.mcp.json` cannot be used, and was left alone: ";
    for (reason, prepare) in [
        (
            "it is not a regular file",
            &(|at: &Path| std::fs::create_dir(at.join(".mcp.json")).unwrap()) as &dyn Fn(&Path),
        ),
        ("the path leads out of its folder", &|at| {
            symlink(outside.path().join("secret.json"), at.join(".mcp.json")).unwrap();
        }),
        ("it is not a regular file", &|at| symlink("nowhere.json", at.join(".mcp.json")).unwrap()),
        ("it is not UTF-8 text", &|at| std::fs::write(at.join(".mcp.json"), [0xFF]).unwrap()),
    ] {
        let said = said(prepare);
        assert!(said.starts_with(&format!("{start}{reason}; mend it")), "{said}");
    }
    assert_eq!(std::fs::read(outside.path().join("secret.json")).unwrap(), b"{}");
    let said_file = said(&|at| std::fs::write(at.join(".cursor"), "").unwrap());
    assert!(
        said_file.contains("`.cursor/mcp.json` cannot be used")
            && said_file.contains("not a directory"),
        "{said_file}"
    );
    let said_link = said(&|at| symlink(outside.path(), at.join(".cursor")).unwrap());
    assert!(said_link.contains("leads out of its folder"), "{said_link}");
    let protected = said(&|at| {
        std::fs::write(at.join(".mcp.json"), "{}").unwrap();
        std::fs::set_permissions(at.join(".mcp.json"), PermissionsExt::from_mode(0o444)).unwrap();
    });
    assert!(
        protected.starts_with("rutter: `.mcp.json` is read-only, and was left alone; "),
        "{protected}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_within_the_project_stays_a_link() {
    let folder = project(&[("AGENTS.md", "# Agents\n")]);
    let at = folder.path();
    std::os::unix::fs::symlink("AGENTS.md", at.join("CLAUDE.md")).unwrap();
    let done = init(at, &ALL);
    assert_eq!((done["AGENTS.md"].as_str(), done["CLAUDE.md"].as_str()), ("updated", "unchanged"));
    assert!(at.join("CLAUDE.md").is_symlink());
    let text = std::fs::read_to_string(at.join("CLAUDE.md")).unwrap();
    assert_eq!(text.matches("rutter:begin").count(), 1, "{text}");
}
