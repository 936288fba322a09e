//! `rutter board export` and `import`, from this program and from others.

use std::path::Path;

use serde_json::{Value, json};

use crate::board_cli::{board, data, no, project};
use crate::session_files::fine;

/// A board that nothing is on.
fn empty() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fine(folder.path(), &["init", "--with", "board", "--disciplines", "none"]);
    folder
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_board_goes_out_and_comes_in_the_same() {
    let from = project();
    let odd = "\u{1b}[2J \"quoted\\\" \u{202e}\u{9b} \u{1f600} \\u001b é";
    board(
        from.path(),
        &["add", odd, "--feature", "f", "--new-feature", "--description", "a\nb\tc"],
    );
    board(from.path(), &["add", "b", "--after", "1", "--tag", odd]);
    board(from.path(), &["move", "1", "done"]);
    board(from.path(), &["export", "--to", "board.jsonl"]);
    let lines = std::fs::read_to_string(from.path().join("board.jsonl")).unwrap();
    assert_eq!(board(from.path(), &["export"]), lines);
    assert!(no(from.path(), &["export", "--to", "board.jsonl"]).contains("exists already"));
    assert!(no(from.path(), &["export", "--to", "none/x"]).contains("cannot be written"));

    let to = empty();
    write(to.path(), "board.jsonl", &lines);
    let imported = data(to.path(), &["import", "board.jsonl"]);
    assert_eq!(imported, json!({"disciplines": 1, "features": 1, "tasks": 2, "comments": 0}));
    assert_eq!(board(to.path(), &["export"]), lines);
    assert_eq!(data(to.path(), &["show", "1"])["title"], odd);
    // A second time nothing is doubled.
    let told = no(to.path(), &["import", "board.jsonl"]);
    assert!(told.contains("the board is not empty; import into a new one"), "{told}");
    assert_eq!(board(to.path(), &["export"]), lines);
}

#[test]
fn a_broken_file_imports_nothing() {
    let folder = empty();
    let at = folder.path();
    let before = board(at, &["export"]);
    write(at, "cut.jsonl", "{\"kind\":\"board\",\"format\":1,\"title\":\"x\"}\n{\"kind\":\"ta");
    write(at, "other.jsonl", "{\"a\":1}\n");
    std::fs::write(at.join("binary"), [0xff, 0xfe, 0]).unwrap();
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo").arg(at.join("fifo")).status().unwrap();
        assert!(made.success());
        for from in [&[][..], &["--from", "task-master"], &["--from", "beads"]] {
            let told = no(at, &[&["import", "fifo"], from].concat());
            assert!(told.contains("`fifo` cannot be imported: it is not a regular file"), "{told}");
        }
        let told = no(at, &["restore", "fifo"]);
        assert!(told.contains("it is not a regular file"), "{told}");
    }
    write(at, "tm.json", "{\"master\": {\"tasks\": [{\"id\": 1}]}}");
    write(at, "list.json", "{\"master\": {\"tasks\": 1}}");
    write(at, "bd.jsonl", "{\"id\":\"a\",\"title\":\"x\"}\n{\"id\":\"b\"}\n");
    write(at, "long.jsonl", &json!({"id": "a", "title": "x".repeat(501)}).to_string());
    write(at, "backlog/tasks/task-1 - a.md", "---\nid: task-1\ntitle: a\n---\n");
    write(at, "backlog/tasks/task-2 - b.md", "---\nid: [\n---\n");
    for (arguments, expected) in [
        (&["cut.jsonl"][..], "line 2 is not a record of a board; nothing was imported"),
        (&["other.jsonl"], "line 1 is not a record"),
        (&["binary"], "it is not UTF-8 text"),
        (&["none.jsonl"], "there is no such file"),
        (&["cut.jsonl", "--from", "task-master"], "line 2 is not JSON; nothing was imported"),
        (&["tm.json", "--from", "task-master"], "task 1 of `master` has no `title`"),
        (&["list.json", "--from", "task-master"], "`tasks` of `master` is not a list"),
        (&["other.jsonl", "--from", "task-master"], "it has no list of tasks"),
        (&["bd.jsonl", "--from", "beads"], "line 2 has no `title`"),
        (
            &["long.jsonl", "--from", "beads"],
            "`a` cannot be imported: /title: expected at most 500",
        ),
        (&["--from", "backlog-md"], "tasks/task-2 - b.md:"),
        (&["--from", "beads"], "`.beads/issues.jsonl` cannot be imported: there is no such file"),
        (&["none", "--from", "backlog-md"], "there is no such folder"),
    ] {
        let told = no(at, &[&["import"], arguments].concat());
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
    assert_eq!(board(at, &["export"]), before);
}

fn find<'a>(tasks: &'a [Value], title: &str) -> &'a Value {
    tasks.iter().find(|task| task["title"] == title).unwrap()
}

/// Every task of a board, with its comments.
fn tasks(at: &Path) -> Vec<Value> {
    let listed = data(at, &["list"]);
    let ids = listed["tasks"].as_array().unwrap().iter().map(|task| task["id"].to_string());
    ids.map(|id| data(at, &["show", &id])).collect()
}

#[test]
fn tasks_of_backlog_md_come_with_everything() {
    let folder = project();
    let at = folder.path();
    write(
        at,
        "backlog/tasks/task-2 - two.md",
        "---\nid: TASK-2\ntitle: Two\nstatus: In Progress\nassignee: @me\ncreated_date: '2025-06-03 10:00'\n\
         labels: [ui]\ntype: bug\npriority: high\nmilestone: M1 - First\ndependencies: [task-1, task-99]\n---\n\n\
         ## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nWhy.\n\n## Not a section\n<!-- SECTION:DESCRIPTION:END -->\n\n\
         ## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [x] #1 one\n- [ ] #2 two\n<!-- AC:END -->\n\n\
         ## Implementation Plan\n\nFirst this\n\n## Implementation Notes\n\nIt was hard\n",
    );
    write(
        at,
        "backlog/tasks/task-2.1 - part.md",
        "---\nid: task-2.1\ntitle: Part\nstatus: To Do\nparent_task_id: old-02\n---\n",
    );
    write(
        at,
        "backlog/completed/task-1 - one.md",
        "---\nid: task-1\ntitle: One\nstatus: Done\n---\n",
    );
    write(
        at,
        "backlog/drafts/draft-1 - idea.md",
        "---\nid: draft-1\ntitle: Idea\nstatus: Draft\n---\n",
    );
    write(at, "backlog/tasks/readme.md", "# Tasks\n");
    write(at, "backlog/archive/tasks/task-0 - gone.md", "---\nid: task-0\ntitle: Gone\n---\n");
    let report = data(at, &["import", "--from", "backlog-md"]);
    assert_eq!((&report["tasks"], &report["already"]), (&json!(4), &json!(0)), "{report}");
    let notes = report["notes"].to_string();
    for note in [
        "depends on `task-99`, which is not among the tasks",
        "`assignee` of 1 tasks has no exact place",
        "`tasks/readme.md` is no task",
        "1 files in `archive` are left out",
        "`old-02` is read as `task-2`, and 0 others in the same way",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let all = tasks(at);
    let (one, two, part) = (find(&all, "One"), find(&all, "Two"), find(&all, "Part"));
    assert_eq!((&one["status"], &find(&all, "Idea")["status"]), (&json!("done"), &json!("draft")));
    assert_eq!((&two["status"], &two["priority"]), (&json!("in_progress"), &json!("high")));
    assert_eq!((&two["feature"], &one["feature"]), (&json!("m1-first"), &json!("imported")));
    assert_eq!((&two["discipline"], &two["tags"]), (&json!("backend"), &json!(["ui", "bug"])));
    assert_eq!(two["description"], "Why.\n\n## Not a section");
    assert_eq!(two["acceptance_criteria"], json!(["one", "two"]));
    assert_eq!(two["pseudocode"], "First this");
    assert_eq!(two["created"], "2025-06-03T10:00:00.000Z");
    assert_eq!(two["depends_on"], json!([one["id"], part["id"]]));
    assert_eq!(part["depends_on"], json!([one["id"]]));
    let said = two["comments"].to_string();
    for kept in
        ["It was hard", "assignee: @me", "criteria that are met: 1", "task-99", "M1 - First"]
    {
        assert!(said.contains(kept), "{kept}: {said}");
    }
    let again = data(at, &["import", "--from", "backlog-md"]);
    assert_eq!((&again["tasks"], &again["already"]), (&json!(0), &json!(4)));
    assert_eq!(tasks(at).len(), 4);
    assert_eq!(board(at, &["integrity"]), "all is well\n");
}

#[test]
fn tasks_of_task_master_come_with_their_parts() {
    let folder = empty();
    let at = folder.path();
    let file = json!({
        "master": {"tasks": [
            {"id": 1, "title": "One", "description": "d", "details": "how", "testStrategy": "try it",
             "status": "done", "priority": "high", "dependencies": []},
            {"id": 2, "title": "Two", "status": "in-progress", "dependencies": [1], "complexity": 7, "subtasks": [
                {"id": 1, "title": "Two one", "status": "deferred", "dependencies": []},
                {"id": 2, "title": "Two two", "status": "pending", "dependencies": [1, "1"], "acceptanceCriteria": "- a\n- b"},
                {"id": 2, "title": "Two two again", "status": "pending"}]}],
            "metadata": {"created": "2025-06-13"}},
        "Other Tag": {"tasks": [{"id": "1", "title": "Else", "status": "cancelled", "dependencies": ["7"]}]}
    });
    write(at, ".taskmaster/tasks/tasks.json", &file.to_string());
    let report = data(at, &["import", "--from", "task-master"]);
    assert_eq!((&report["tasks"], &report["features"]), (&json!(6), &json!(2)), "{report}");
    let notes = report["notes"].to_string();
    for note in
        ["`metadata` of the list `master`", "there is another `master/2.2`", "`Other Tag/7`"]
    {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let all = tasks(at);
    let (one, two) = (find(&all, "One"), find(&all, "Two"));
    let (first, second) = (find(&all, "Two one"), find(&all, "Two two"));
    assert_eq!((&one["pseudocode"], &one["discipline"]), (&json!("how"), &json!("general")));
    assert_eq!(one["acceptance_criteria"], json!(["Test: try it"]));
    // The whole waits for its parts, and they for what it waits for.
    let third = find(&all, "Two two again");
    assert_eq!(two["depends_on"], json!([one["id"], first["id"], second["id"], third["id"]]));
    assert_eq!(second["depends_on"], json!([one["id"], first["id"]]));
    assert_eq!(second["acceptance_criteria"], json!(["a", "b"]));
    assert_eq!(first["status"], "blocked");
    assert!(first["comments"][0]["body"].as_str().unwrap().contains("deferred"));
    assert!(two["comments"][0]["body"].as_str().unwrap().contains("complexity: 7"));
    let other = find(&all, "Else");
    assert_eq!((&other["feature"], &other["status"]), (&json!("other-tag"), &json!("skipped")));

    // A file of older versions has one list.
    let older = json!({"meta": {"v": 1}, "tasks": [{"id": 9, "title": "Old"}]});
    write(at, "old.json", &older.to_string());
    let report = data(at, &["import", "old.json", "--from", "task-master", "--feature", "legacy"]);
    assert_eq!(report["tasks"], 1);
    assert_eq!(find(&tasks(at), "Old")["feature"], "legacy");
}

#[test]
fn issues_of_beads_come_with_their_relations() {
    let folder = project();
    let at = folder.path();
    let issues = [
        json!({"id": "bd-1", "title": "Epic", "status": "open", "priority": 0, "issue_type": "epic",
            "created_at": "2025-10-12T14:43:03.423-07:00", "updated_at": "2025-10-13T00:00:00Z"}),
        json!({"id": "bd-1.1", "title": "Child", "status": "closed", "priority": 4, "issue_type": "task",
            "closed_at": "2025-10-14T00:00:00Z", "close_reason": "did it", "design": "like so",
            "acceptance_criteria": "- [x] a\n- [ ] b", "labels": ["x"], "assignee": "me",
            "dependencies": [
                {"issue_id": "bd-1.1", "depends_on_id": "bd-1", "type": "parent-child"},
                {"issue_id": "bd-1.1", "depends_on_id": "bd-2", "type": "blocks"},
                {"issue_id": "bd-1.1", "depends_on_id": "bd-2", "type": "discovered-from"}],
            "comments": [{"id": 1, "author": "ann", "text": "hello", "created_at": "2025-10-12T00:00:00Z"}]}),
        json!({"id": "bd-2", "title": "Base", "status": "hooked", "priority": 1, "notes": "mind the gap"}),
        json!({"id": "bd-3", "title": "Gone", "status": "tombstone"}),
    ];
    let lines: Vec<String> = issues.iter().map(Value::to_string).collect();
    write(at, ".beads/issues.jsonl", &lines.join("\n"));
    let report = data(at, &["import", "--from", "beads", "--feature", "core"]);
    assert_eq!(report["tasks"], 3, "{report}");
    assert!(report["notes"].to_string().contains("1 issues were deleted in beads"));
    let all = tasks(at);
    let (epic, child, base) = (find(&all, "Epic"), find(&all, "Child"), find(&all, "Base"));
    assert_eq!(epic["depends_on"], json!([child["id"]]));
    assert_eq!(child["depends_on"], json!([base["id"]]));
    assert_eq!((&epic["priority"], &child["priority"]), (&json!("critical"), &json!("low")));
    assert_eq!(epic["created"], "2025-10-12T21:43:03.423Z");
    assert_eq!((&child["status"], &base["status"]), (&json!("done"), &json!("in_progress")));
    assert_eq!(child["completed"], "2025-10-14T00:00:00.000Z");
    assert_eq!((&child["pseudocode"], &child["tags"]), (&json!("like so"), &json!(["x"])));
    assert_eq!(child["comments"][0]["created"], "2025-10-12T00:00:00.000Z");
    let said = child["comments"].to_string();
    for kept in ["hello", "did it", "assignee: me", "discovered-from bd-2", "4 (it is low here)"] {
        assert!(said.contains(kept), "{kept}: {said}");
    }
    assert!(base["comments"].to_string().contains("mind the gap"));
}
