//! What the files of a process say.

use std::fs;

use super::*;

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
