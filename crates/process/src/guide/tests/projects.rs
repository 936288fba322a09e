//! What is checked in a project.

use std::fs;
use std::process::Command;

use super::*;

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
    let text = check("design_to_develop").unwrap().to_text();
    assert!(
        text.contains("✗ docs/design.md has the status complete — missing, or not a text file\n"),
        "{text}"
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
