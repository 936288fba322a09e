//! `rutter board`, as a person runs it.

use std::path::Path;

use rutter_base::text::is_hostile;
use serde_json::{Value, json};

use crate::session_files::{fine, refused, rutter};

/// A project with a board and one discipline.
pub(crate) fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["init", "--with", "board", "--title", "Shop", "--disciplines", "backend"];
    fine(folder.path(), &arguments);
    folder
}

#[track_caller]
pub(crate) fn board(folder: &Path, arguments: &[&str]) -> String {
    fine(folder, &[&["board"], arguments].concat())
}

#[track_caller]
pub(crate) fn data(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&board(folder, &[arguments, &["--json"]].concat())).unwrap()
}

#[track_caller]
pub(crate) fn no(folder: &Path, arguments: &[&str]) -> String {
    refused(folder, &[&["board"], arguments].concat())
}

#[test]
fn a_person_can_run_a_project_from_the_terminal() {
    let folder = project();
    let at = folder.path();
    assert_eq!(
        no(at, &["add", "Log in"]),
        "rutter: the board has no feature yet; add `--feature NAME --new-feature`\n"
    );
    let added = board(at, &["add", "Log in", "--feature", "auth", "--new-feature"]);
    assert_eq!(added, "added 1  pending      Log in\n");
    let second = data(
        at,
        &[
            "add",
            "Log out",
            "--after",
            "1",
            "--priority",
            "high",
            "--tag",
            "a,b",
            "--criterion",
            "x",
        ],
    );
    assert_eq!((&second["id"], &second["depends_on"]), (&json!(2), &json!([1])));
    assert_eq!((&second["feature"], &second["discipline"]), (&json!("auth"), &json!("backend")));
    board(at, &["add", "Think", "--draft", "--description", "of\ntokens"]);

    let listed = board(at, &["list"]);
    assert_eq!(
        listed,
        "1  pending      medium    auth/backend  Log in\n\
         2  pending      high      auth/backend  Log out\n\
         3  draft        medium    auth/backend  Think\n"
    );
    assert_eq!(data(at, &["list", "--tag", "B"])["tasks"][0]["id"], 2);
    assert_eq!(data(at, &["list", "--text", "TOKENS"])["tasks"][0]["id"], 3);
    assert_eq!(board(at, &["list", "--status", "done"]), "no task is like that\n");
    let first = data(at, &["list", "--limit", "2"]);
    assert_eq!(first["next_cursor"], "2");
    assert_eq!(data(at, &["list", "--cursor", "2"])["tasks"][0]["id"], 3);
    assert_eq!(board(at, &["next"]), "1  pending      medium    auth/backend  Log in\n");

    assert_eq!(board(at, &["move", "1", "done"]), "moved 1  done         Log in\n");
    assert_eq!(data(at, &["next"])["tasks"][0]["id"], 2);
    let shown = board(at, &["show", "2"]);
    assert!(shown.starts_with("2  Log out\n") && shown.contains("depends on   1"), "{shown}");
    assert!(shown.contains("acceptance criteria\n  - x\n"), "{shown}");
    assert!(board(at, &["show", "3"]).contains("description\n  of\n  tokens\n"));
    assert_eq!(data(at, &["show", "auth"])["acronym"], "AUTH");
    assert!(board(at, &["show", "backend"]).starts_with("backend  Backend\n"));

    let stats = board(at, &["stats"]);
    assert!(stats.starts_with("Shop\nall    ████████░"), "{stats}");
    assert!(stats.contains("33 %  1 of 3\n\n1 draft, 1 pending, 1 done"), "{stats}");
    assert_eq!(data(at, &["stats"])["by_feature"]["auth"], json!({"total": 3, "done": 1}));

    let log = data(at, &["log", "--task", "1"]);
    assert_eq!(log["changes"][0]["after"]["status"], "done");
    assert_eq!(log["changes"][0]["tool"], "board move");
    let undone = board(at, &["undo"]);
    assert!(undone.contains("status: pending → done"), "{undone}");
    assert_eq!(data(at, &["show", "1"])["status"], "pending");
    assert!(board(at, &["log", "--limit", "1"]).contains("status: done → pending"));
    assert_eq!(board(at, &["integrity"]), "all is well\n");
}

#[test]
fn what_depends_on_what_is_drawn() {
    let folder = project();
    let at = folder.path();
    board(at, &["add", "a", "--feature", "f", "--new-feature"]);
    board(at, &["add", "b \"<b>\"", "--after", "1"]);
    board(at, &["add", "c", "--after", "1"]);
    board(at, &["add", "d", "--after", "2,3"]);
    board(at, &["move", "1", "done"]);
    assert_eq!(
        board(at, &["graph"]),
        "· 4 d (pending)\n\
         ├─ ○ 2 b \"<b>\" (pending)\n\
         │  └─ ✓ 1 a (done)\n\
         └─ ○ 3 c (pending)\n   \
         └─ ✓ 1 a (done)\n"
    );
    assert_eq!(board(at, &["graph", "2", "--open"]), "○ 2 b \"<b>\" (pending)\n");
    let chart = board(at, &["graph", "--format", "mermaid"]);
    assert!(chart.starts_with("flowchart TB\n") && chart.contains("n1 --> n3"), "{chart}");
    assert!(board(at, &["graph", "--format", "dot"]).contains("n0 -> n1;"));
    let picture = board(at, &["graph", "--format", "svg"]);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    assert_eq!(picture.matches("marker-end").count(), 4);
    assert!(picture.contains("&lt;b&gt;") && !picture.contains("<b>"), "{picture}");
    assert_eq!(data(at, &["graph"])["tasks"][3]["depends_on"], json!([2, 3]));
    assert!(no(at, &["graph", "--feature", "g"]).contains("there is no feature `g`"));
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    for verb in [&["list"][..], &["show", "1"], &["export"], &["import", "x"], &["undo"]] {
        assert_eq!(
            no(folder.path(), verb),
            "rutter: there is no board here; make one with `rutter init --with board`\n"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    let folder = project();
    let at = folder.path();
    board(at, &["add", "a", "--feature", "authentication", "--new-feature"]);
    for (arguments, expected) in [
        (&["show", "9"][..], "there is no task `9`; did you mean 1?"),
        (&["move", "12", "done"], "there is no task `12`; did you mean 1?"),
        (&["show", "autentication"], "did you mean `authentication`?"),
        (&["list", "--feature", "authentcation"], "did you mean `authentication`?"),
        (&["next", "--discipline", "zzz"], "there is no discipline `zzz`; there is `backend`"),
        (&["add", "b", "--discipline", "bakend"], "did you mean `backend`?"),
        (&["add", "b", "--after", "7"], "names task 7, which does not exist; `rutter board list`"),
        (&["add", " "], "`title`: expected some text"),
        (&["add", "b", "--file", "../x"], "`context_files/0`: expected a path relative"),
        (&["graph", "8"], "there is no task `8`"),
        (&["undo", "999"], "there is no change `999`; `rutter board log`"),
        (&["restore", "1"], "no task `1` was deleted"),
        (&["restore", "8"], "no task `8` was deleted"),
        (&["restore", "x.bak"], "there is no file `x.bak`"),
        (&["list", "--cursor", "x"], "`cursor`: not a cursor"),
    ] {
        let told = no(at, arguments);
        assert!(told.contains(expected), "{arguments:?}: {told}");
        assert!(!told.contains(at.to_str().unwrap()), "{told}");
    }
    let told = no(at, &["move", "1", "dune"]);
    assert!(told.contains("'done'"), "{told}");
}

#[test]
fn what_was_deleted_comes_back() {
    let folder = project();
    let at = folder.path();
    board(at, &["add", "a", "--feature", "f", "--new-feature"]);
    // Undoing the creation is a deletion.
    let created = data(at, &["log", "--task", "1"])["changes"][0]["id"].to_string();
    board(at, &["undo", &created]);
    let told = no(at, &["show", "1"]);
    assert!(told.contains("it was deleted; `rutter board restore 1` brings it back"), "{told}");
    assert_eq!(board(at, &["restore", "1"]), "task 1 is back\n");
    assert_eq!(data(at, &["show", "1"])["title"], "a");

    assert_eq!(board(at, &["backup", "b.bak"]), "written b.bak\n");
    assert!(no(at, &["backup", "b.bak"]).contains("exists already"));
    board(at, &["move", "1", "done"]);
    let restored = data(at, &["restore", "b.bak"]);
    let kept = format!(".ralph/db/{}", restored["kept"].as_str().unwrap());
    assert_eq!(data(at, &["show", "1"])["status"], "pending");
    board(at, &["restore", &kept]);
    assert_eq!(data(at, &["show", "1"])["status"], "done");
    let written = data(at, &["backup"])["file"].as_str().unwrap().to_owned();
    assert!(at.join(written).exists());

    std::fs::write(at.join("text.bak"), "no database").unwrap();
    std::fs::create_dir(at.join("folder.bak")).unwrap();
    for file in ["text.bak", "folder.bak", "none.bak"] {
        no(at, &["restore", file]);
    }
    assert_eq!(data(at, &["show", "1"])["status"], "done");
}

#[test]
fn damage_is_found_and_a_backup_mends_it() {
    let folder = project();
    let at = folder.path();
    board(at, &["add", "a", "--feature", "f", "--new-feature"]);
    board(at, &["backup", "fine.bak"]);
    let database = at.join(".ralph/db/ralph.db");
    let whole = std::fs::read(at.join("fine.bak")).unwrap();
    let mut torn = whole.clone();
    for byte in torn.iter_mut().skip(4096).step_by(7) {
        *byte = 0xff;
    }
    for damaged in [torn, b"this is no database at all".repeat(400)] {
        for beside in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(at.join(format!(".ralph/db/ralph.db{beside}")));
        }
        std::fs::write(&database, &damaged).unwrap();
        let output = rutter(at, &["board", "integrity"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let told = no(at, &["show", "1"]);
        assert!(told.contains("damaged") || told.contains("is not a board's database"), "{told}");
        let restored = data(at, &["restore", "fine.bak"]);
        assert_eq!(data(at, &["show", "1"])["title"], "a");
        assert_eq!(board(at, &["integrity"]), "all is well\n");
        // Even the damaged file is kept.
        let kept = at.join(".ralph/db").join(restored["kept"].as_str().unwrap());
        assert_eq!(std::fs::read(kept).unwrap(), damaged);
    }
    assert!(
        no(at, &["restore", "rutter.yaml"]).contains("the backup is damaged: it is no database")
    );
    assert_eq!(data(at, &["show", "1"])["title"], "a");
}

/// Whatever agents write, a terminal acts on none of it.
#[test]
fn titles_never_reach_the_terminal_raw() {
    let folder = project();
    let at = folder.path();
    let odd = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{200b}\r\n\u{feff}end";
    let description = format!("{odd}\n\tlast");
    board(at, &["add", odd, "--feature", "f", "--new-feature"]);
    let more = ["add", odd, "--after", "1", "--tag", odd, "--criterion", odd];
    board(at, &[&more[..], &["--description", &description]].concat());
    board(at, &["move", "2", "blocked"]);
    for verb in [
        &["list"][..],
        &["next"],
        &["show", "2"],
        &["stats"],
        &["log"],
        &["graph"],
        &["graph", "--format", "mermaid"],
        &["graph", "--format", "dot"],
        &["graph", "--format", "svg"],
        &["export"],
    ] {
        for json in [&[][..], &["--json"]] {
            let output = board(at, &[verb, json].concat());
            let raw: Vec<char> = output.chars().filter(|c| *c != '\n' && is_hostile(*c)).collect();
            assert!(raw.is_empty(), "{verb:?} {json:?}: {output:?}");
        }
    }
    // As data it is what it was.
    assert_eq!(data(at, &["show", "2"])["title"], odd);
    let output = rutter(at, &["board", "show", odd]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.trim_end().chars().all(|c| !is_hostile(c)), "{told:?}");
}
