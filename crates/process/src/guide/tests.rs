#![expect(clippy::disallowed_methods, reason = "tests write the files that are read")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn root(&self) -> Root {
        Root::open(self.path()).unwrap()
    }

    fn guide(&self) -> Guide {
        Guide::open(self.root()).unwrap().with_registry(Some(self.root()))
    }

    fn project(&self) -> Project {
        Project::new(self.root(), "/here")
    }
}

fn said<T: std::fmt::Debug>(result: Result<T, GuideError>) -> String {
    Report::from(result.unwrap_err()).to_string()
}

#[test]
fn a_folder_without_a_manifest_follows_the_built_in_process() {
    let folder = Folder::with(&[
        ("ACM-DESIGN-SPEC.md", "# Design\n"),
        ("prompts/ralph-review-prompt.md", "review\n"),
        ("prompts/start-develop-prompt.md", "develop\n"),
        ("stubs/rules-constraints.md", "rules\n"),
        ("stubs/claude-md/app.md", "app\n"),
        ("stubs/claude-md/workflow.md", "workflow\n"),
        ("ACM-PROJECT-CLAUDE-MD-SPEC.md", "project\n"),
        ("ACM-RULES-SPEC.md", " \n"),
    ]);
    let guide = folder.guide();
    assert_eq!(guide.stage("Design ").unwrap(), "# Design\n");
    assert_eq!(guide.artifact("design").unwrap(), "# Design\n");
    assert_eq!(guide.review("discover", "internal").unwrap(), "review\n");
    assert_eq!(guide.transition("design_to_develop").unwrap(), "develop\n");
    assert_eq!(guide.stub("rules_constraints", Some("workflow")).unwrap(), "rules\n");
    assert_eq!(guide.stub("claude_md", None).unwrap(), "app\n");
    assert_eq!(guide.stub("claude_md", Some("workflow")).unwrap(), "workflow\n");
    assert_eq!(guide.context("project").unwrap(), "project\n");
    assert_eq!(guide.stage_names(), ["discover", "design", "develop"]);
    assert_eq!(guide.transitions(), ["discover_to_design", "design_to_develop"]);
    for (text, expected) in [
        (
            said(guide.stage("deliver")),
            "Stage 'deliver' is not yet supported. Supported stages: discover, design, develop. See backlog item B15.",
        ),
        (
            said(guide.stage("a\u{1b}\n")),
            "Stage 'a\u{FFFD}\u{FFFD}' is not yet supported. Supported stages: discover, design, develop.",
        ),
        (
            said(guide.review("deliver", "internal")),
            "Stage 'deliver' is not yet supported. Supported stages: discover, design, develop. See backlog item B15.",
        ),
        (
            said(guide.review("design", "final")),
            "there is no review phase `final`; use one of `internal`, `external`",
        ),
        (
            said(guide.stage("discover")),
            "`ACM-DISCOVER-SPEC.md` of the process cannot be read: there is no such file; \
             put the file back, or name another in process.yaml",
        ),
        (
            said(guide.rules()),
            "`ACM-RULES-SPEC.md` of the process is empty; put the file back, or name another in process.yaml",
        ),
        (
            said(guide.transition("develop_to_deliver")),
            "there is no transition `develop_to_deliver`; use one of `discover_to_design`, `design_to_develop`",
        ),
        (
            said(guide.stub("claude_md", Some("game"))),
            "there is no project type `game`; use one of `app`, `workflow`, `artifact`",
        ),
    ] {
        assert_eq!(text, expected);
    }
}

#[test]
fn what_is_there_later_is_served_later() {
    let folder = Folder::with(&[]);
    let guide = folder.guide();
    assert!(guide.stage("deliver").is_err());
    folder.write("ACM-DELIVER-SPEC.md", "# Deliver\n");
    folder.write("prompts/start-deliver-prompt.md", "ship\n");
    folder.write("prompts/deliver-external-review-prompt.md", "look\n");
    assert_eq!(guide.stage("deliver").unwrap(), "# Deliver\n");
    assert_eq!(guide.stage_names().last().unwrap(), "deliver");
    assert_eq!(guide.transition("develop_to_deliver").unwrap(), "ship\n");
    assert_eq!(guide.review("deliver", "external").unwrap(), "look\n");
    folder.write("process.yaml", "stages: [{id: ship, file: ship.md}]\n");
    folder.write("ship.md", "# Ship\n");
    assert_eq!(guide.stage_names(), ["ship"]);
    assert_eq!(guide.stage("ship").unwrap(), "# Ship\n");
    folder.write("process.yaml", "stages: [{id: ship\n");
    assert_eq!(guide.stage("ship").unwrap(), "# Ship\n", "a broken manifest changes nothing");
    assert_eq!(guide.problems().len(), 1);
    fs::remove_file(folder.path().join("process.yaml")).unwrap();
    assert!(guide.stage("ship").is_err());
}

#[test]
fn the_later_names_of_the_framework_are_recognised() {
    let folder = Folder::with(&[
        ("ADF-DISCOVER-SPEC.md", "discover\n"),
        ("ADF-BRIEF-SPEC.md", "newer\n"),
        ("ACM-INTENT-SPEC.md", "older\n"),
        ("ADF-INTENT-SPEC.md", "newer\n"),
        ("ADF-DELIVER-SPEC.md", "deliver\n"),
        ("prompts/start-design-prompt.md", "start\n"),
        ("prompts/discover-to-design-transition.md", "transition\n"),
        ("prompts/develop-transition.md", "to develop\n"),
        ("prompts/develop-to-deliver-transition.md", "to deliver\n"),
    ]);
    let guide = folder.guide();
    assert_eq!(guide.stage("discover").unwrap(), "discover\n");
    assert_eq!(guide.artifact("brief").unwrap(), "newer\n");
    assert_eq!(guide.artifact("intent").unwrap(), "older\n");
    assert_eq!(guide.stage("deliver").unwrap(), "deliver\n");
    assert_eq!(guide.transition("discover_to_design").unwrap(), "transition\n");
    assert_eq!(guide.transition("design_to_develop").unwrap(), "to develop\n");
    assert_eq!(guide.transition("develop_to_deliver").unwrap(), "to deliver\n");
}

#[test]
fn a_manifest_names_other_stages_and_cannot_lead_out() {
    let manifest = "version: 1\nstages:\n  - {id: ship, title: Ship, file: ../secret.md}\n";
    let folder = Folder::with(&[("process.yaml", manifest)]);
    assert!(folder.guide().stage("ship").is_err());
    folder.write("process.yaml", "version: 1\nstage: []\n");
    let problem = Guide::open(folder.root()).unwrap_err();
    assert_eq!(problem.line, Some(2), "{problem}");
}

const FRONT: &str = "---\nstatus: draft\n---\n";

fn whole_project() -> Folder {
    let folder = Folder::with(&[
        (".claude/rules/constraints.md", "x"),
        ("docs/inbox/.gitkeep", ""),
        ("_archive/.gitkeep", ""),
        ("README.md", "# x\n"),
    ]);
    folder.write(".claude/CLAUDE.md", format!("{FRONT}# P\n\n## Orientation\n"));
    folder.write(
        "docs/intent.md",
        format!("{FRONT}# I\n## Problem/Opportunity\n## Desired Outcome\n## Why It Matters\n"),
    );
    folder.write("docs/brief.md", format!("{FRONT}# B\n## Summary\n## Scope\n## Success Criteria\n## Constraints\n### Decision Log\n"));
    folder.write("status.md", format!("{FRONT}# S\n## Current State\n"));
    folder
}

#[test]
fn the_structure_is_checked_in_the_specified_format() {
    let folder = whole_project();
    let guide = folder.guide();
    fs::remove_file(folder.path().join("docs/brief.md")).unwrap();
    assert_eq!(
        guide.check_structure(&folder.project()).to_text(),
        "Project Structure Check: /here\n✓ .claude/CLAUDE.md\n✓ .claude/rules/\n✓ docs/\n✓ docs/intent.md\n\
         ✗ docs/brief.md — missing\n✓ docs/inbox/\n✓ _archive/\n✓ README.md\n\n\
         Result: 7/8 passed. Missing: docs/brief.md"
    );
    folder.write("docs/brief.md", "x");
    let fine = guide.check_structure(&folder.project());
    assert!(fine.is_fine());
    assert!(fine.to_text().ends_with("\n\nResult: 8/8 passed."));
}

#[test]
fn the_health_is_checked_in_groups() {
    let folder = whole_project();
    let guide = folder.guide();
    let fine = guide.check_health(&folder.project());
    assert!(fine.is_fine(), "{}", fine.to_text());
    assert_eq!(fine.checks.len(), 8 + 4 + 10);
    folder.write("docs/brief.md", "# Brief\n## Summary\n```\n## Scope\n```\n");
    folder.write("docs/intent.md", "---\na: [\n---\n# I\n## Problem\n");
    folder.write("status.md", "---\n---\n");
    fs::remove_file(folder.path().join(".claude/CLAUDE.md")).unwrap();
    let text = guide.check_health(&folder.project()).to_text();
    for line in [
        "File presence\n✗ .claude/CLAUDE.md — missing",
        "✗ docs/intent.md — broken frontmatter at line ",
        "✗ docs/brief.md — no frontmatter",
        "✗ status.md — the frontmatter is empty",
        "✗ .claude/CLAUDE.md: Context Map or Orientation — missing",
        "✓ docs/brief.md: Summary",
        "✗ docs/brief.md: Scope — no heading says `Scope`",
        "✓ docs/intent.md: Problem\n",
    ] {
        assert!(text.contains(line), "{line}\n---\n{text}");
    }
    let result = text.lines().last().unwrap();
    assert!(result.starts_with("Result: 9/22 passed. Failed: .claude/CLAUDE.md, "), "{result}");
}

#[test]
fn odd_files_in_a_project_are_failed_items() {
    use std::os::unix::fs::symlink;
    let folder = whole_project();
    let at = |path: &str| folder.path().join(path);
    for path in ["status.md", "docs/intent.md", "docs/brief.md", "README.md"] {
        fs::remove_file(at(path)).unwrap();
    }
    assert!(Command::new("mkfifo").arg(at("status.md")).status().unwrap().success());
    symlink("/etc/passwd", at("docs/intent.md")).unwrap();
    symlink("/dev/zero", at("README.md")).unwrap();
    fs::create_dir(at("docs/brief.md")).unwrap();
    let guide = folder.guide();
    let text = guide.check_health(&folder.project()).to_text();
    for line in [
        "✗ docs/intent.md — a link that leads out of the project",
        "✗ docs/brief.md — not a regular file",
        "✗ README.md — a link that leads out of the project",
        "✗ status.md — not a regular file",
        "✗ status.md: Current State — not a regular file",
    ] {
        assert!(text.contains(line), "{line}\n---\n{text}");
    }
    assert!(!text.contains("root:"));
    fs::write(at("ok"), "").unwrap();
    folder.write("prompts/start-design-prompt.md", "go\n");
    assert_eq!(
        said(guide.check_readiness("discover_to_design", &folder.project())),
        "`status.md` of the project cannot be used: not a regular file; put a text file in its place"
    );
    fs::remove_file(at("status.md")).unwrap();
    symlink("../../../../../etc/passwd", at("status.md")).unwrap();
    assert!(
        said(guide.check_readiness("discover_to_design", &folder.project())).contains("leads out")
    );
}

#[test]
fn prerequisites_are_met_or_not_with_what_was_found() {
    let folder = Folder::with(&[
        ("prompts/start-design-prompt.md", "go\n"),
        ("prompts/start-develop-prompt.md", "go\n"),
    ]);
    let guide = folder.guide();
    let check = |step: &str| guide.check_readiness(step, &folder.project());
    assert!(said(check("discover_to_design")).starts_with(
        "the project has no status: looked for `status.md`, `docs/status.md`; write one"
    ));
    folder.write(
        "docs/status.md",
        "---\nstage: Discover\n---\n## Current State\n\n- **Phase:** Finalization (complete)\n",
    );
    assert!(
        said(check("discover_to_design"))
            .contains("has no brief: looked for `docs/brief.md`, `docs/inbox/*-brief.md`")
    );
    folder.write("docs/inbox/b-brief.md", "---\nstatus: draft\n---\n");
    folder.write("docs/inbox/a-brief.md", "---\nstatus: Complete\n---\n## Issue Log\n| # | Issue | Severity | Status |\n|---|---|---|---|\n| 1 | x | Critical | Open |\n");
    assert_eq!(
        check("discover_to_design").unwrap().to_text(),
        "Transition Validation (discover → design): /here\n\
         ✓ the stage is discover — found `Discover`\n\
         ✓ the phase is complete — found phase `Finalization (complete)`\n\
         ✓ docs/inbox/a-brief.md has the status complete — found `Complete`\n\
         ✗ no open P1 or Critical entry in the issue log of docs/inbox/a-brief.md — 1 open: 1\n\n\
         Note: 2 files could be meant; `docs/inbox/a-brief.md` is the first in order of name\n\n\
         Result: 3/4 passed. Not met: no open P1 or Critical entry in the issue log of docs/inbox/a-brief.md"
    );
    folder.write("docs/design.md", "no frontmatter\n");
    folder.write("status.md", "---\nstage: design\nphase: Exploration\n---\n");
    let text = check("design_to_develop").unwrap().to_text();
    assert!(text.contains("✓ the stage is design — found `design`\n✗ the phase is complete — found phase `Exploration`\n✗ docs/design.md has the status complete — found nothing; say it in the frontmatter\n✓ no open P1"), "{text}");
}

#[test]
fn ten_thousand_briefs_are_no_trouble() {
    let folder = Folder::with(&[
        ("prompts/start-design-prompt.md", "go\n"),
        ("status.md", "---\nstage: discover\nstatus: complete\n---\n"),
    ]);
    let inbox = folder.path().join("docs/inbox");
    fs::create_dir_all(&inbox).unwrap();
    for number in 0..10_000 {
        fs::write(inbox.join(format!("{number:05}-brief.md")), "---\nstatus: complete\n---\n")
            .unwrap();
    }
    let list = folder.guide().check_readiness("discover_to_design", &folder.project()).unwrap();
    assert!(list.is_fine(), "{}", list.to_text());
    assert_eq!(
        list.notes,
        ["10000 files could be meant; `docs/inbox/00000-brief.md` is the first in order of name"]
    );
}

const TYPES: &str = "---\nname: t\n---\n# Project Types\n\n## Primary Types\n\n### 1. Artifact\n\nA file.\n\n---\n\n### 2. App\n\nSoftware.\n\n#### Examples\n\n- a site\n\n---\n\n## Modifiers\n\n\
    ### Scale Modifiers\n\n| Modifier | Description |\n|---|---|\n| `personal` | Just you. |\n| `commercial` | Revenue. |\n\n\
    ### Scope Modifiers\n\n| Modifier | Description |\n|---|---|\n| `mvp` | Least. |\n| `full-build` | All. |\n\n\
    ## Type Implications\n\n| Aspect | Artifact | App | Workflow |\n|---|---|---|---|\n| Folders | docs/ | src/ | flows/ |\n\n## Hybrid\n\n- **App + Artifact:** both\n";

#[test]
fn guidance_is_an_extract() {
    let folder = Folder::with(&[("ACM-PROJECT-TYPES-SPEC.md", TYPES)]);
    let guide = folder.guide();
    assert_eq!(
        guide.type_guidance("app", Some("personal"), Some("full")).unwrap(),
        "### 2. App\n\nSoftware.\n\n#### Examples\n\n- a site\n\n\
         ## Scale Modifiers\n\n| Modifier | Description |\n|---|---|\n| `personal` | Just you. |\n\n\
         ## Scope Modifiers\n\n| Modifier | Description |\n|---|---|\n| `full-build` | All. |\n\n\
         ## Type Implications: app\n\n| Aspect | App |\n|---|---|\n| Folders | src/ |\n"
    );
    let artifact = guide.type_guidance("artifact", Some("shared"), None).unwrap();
    assert!(
        artifact.starts_with(
            "### 1. Artifact\n\nA file.\n\nThe specification says nothing about `shared`."
        ),
        "{artifact}"
    );
    assert!(artifact.contains("| Folders | docs/ |") && !artifact.contains("src/"));
    assert_eq!(
        said(guide.type_guidance("game", None, None)),
        "there is no project type `game`; use one of `app`, `workflow`, `artifact`"
    );
    assert_eq!(
        said(guide.type_guidance("app", None, Some("huge"))),
        "there is no scope `huge`; use one of `mvp`, `full`, `full-build`"
    );
}

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

#[test]
fn knowledge_is_found_literally_whatever_the_case() {
    let folder = Folder::with(&[
        ("kb/README.md", "# Review cycles\n"),
        ("kb/MCP-SETUP.md", "# Setting up\n\nFirst sentence. More.\n"),
        (
            "kb/reviews.md",
            "---\ntitle: On Reviews\nname: no\n---\n# H\n\nText.\n  A Review.* ÄÖ cycle ends.\u{1b}\n",
        ),
        ("kb/deep/plain.md", "only text about REVIEW.* things\n"),
        ("kb/broken.md", "---\na: [\n---\n# Broken\nnothing\n"),
        ("kb/note.txt", "review.*"),
    ]);
    folder.write("kb/latin.md", b"caf\xe9");
    let guide = folder.guide();
    let found = guide.knowledge(" review.* ").unwrap();
    assert_eq!(
        found.matches,
        [
            Article {
                title: "plain".into(),
                path: "deep/plain.md".into(),
                snippet: "only text about REVIEW.* things".into()
            },
            Article {
                title: "On Reviews".into(),
                path: "reviews.md".into(),
                snippet: "A Review.* ÄÖ cycle ends.\u{FFFD}".into()
            },
        ]
    );
    assert_eq!((found.total, found.searched, found.unreadable), (2, 5, 1));
    assert_eq!(guide.knowledge("äö").unwrap().total, 1);
    assert_eq!(guide.knowledge("MCP-setup").unwrap().matches[0].snippet, "First sentence.");
    assert_eq!(guide.knowledge("review.+").unwrap().total, 0);
    folder.write("kb/broken.md", "now review.+ is here");
    assert_eq!(guide.knowledge("review.+").unwrap().total, 1, "what changed is read again");
    assert_eq!(said(guide.knowledge(" ")), "/query: expected a term to look for");
    let long = format!("{} needle {}", "x ".repeat(300), "y ".repeat(300));
    folder.write("kb/long.md", &long);
    let snippet = guide.knowledge("needle").unwrap().matches[0].snippet.clone();
    assert!(snippet.contains("needle") && snippet.chars().count() <= 162, "{snippet}");
    fs::remove_dir_all(folder.path().join("kb")).unwrap();
    assert!(said(guide.knowledge("x")).starts_with("the process has no knowledge base"));
}

#[test]
fn starters_fill_what_is_missing_and_nothing_else() {
    let stub = format!(
        "{FRONT}# X\n## Problem\n## Outcome\n## Why It Matters\n## Summary\n## Scope\n## Success Criteria\n## Constraints\n## Decisions\n## Current State\n## Context Map\n"
    );
    let process = Folder::with(&[]);
    for file in
        ["brief", "intent", "status", "rules-constraints", "claude-md/app", "claude-md/workflow"]
    {
        process.write(&format!("stubs/{file}.md"), &stub);
    }
    let guide = process.guide();
    let paths = |project: &Folder| -> Vec<String> {
        let starters = guide.starters(&project.project(), Some("workflow")).unwrap();
        starters.into_iter().map(|file| file.path.to_string()).collect()
    };
    let empty = Folder::with(&[]);
    assert_eq!(paths(&empty).len(), 8);
    assert!(!guide.is_project(&empty.project()));
    for file in guide.starters(&empty.project(), None).unwrap() {
        empty.write(file.path.as_str(), file.text);
    }
    let health = guide.check_health(&empty.project());
    assert!(health.is_fine(), "{}", health.to_text());
    assert_eq!(paths(&empty), [""; 0]);
    let own = Folder::with(&[
        (".claude/rules/mine.md", ""),
        ("docs/status.md", ""),
        ("docs/inbox/x-brief.md", ""),
        ("CLAUDE.md", ""),
        ("_archive/x", ""),
        ("README.md", ""),
    ]);
    assert_eq!(paths(&own), ["docs/intent.md"]);
    assert!(guide.is_project(&own.project()));
    assert!(!guide.is_project(&Folder::with(&[("CLAUDE.md", ""), ("docs/x.md", "")]).project()));
}
