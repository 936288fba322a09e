//! `rutter selftest`, with processes that are really killed.

use serde_json::{Value, json};

use crate::session_files::{fine, refused};

#[test]
fn a_disk_is_proved_and_left_clean() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("disk")).unwrap();
    let verdict = fine(
        at,
        &["selftest", "disk", "--procs", "3", "--ops", "60", "--seconds", "120", "--json"],
    );
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert!(verdict["acknowledged"].as_u64().unwrap() >= 60, "{verdict}");
    for trouble in ["lost", "doubled", "errors", "damage"] {
        assert_eq!(verdict[trouble], json!([]), "{verdict}");
    }
    assert_eq!(std::fs::read_dir(at.join("disk")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = refused(folder.path(), &["selftest", "none"]);
    assert_eq!(
        told,
        "rutter: `none` cannot be used: entity not found; name a folder that can be written to\n"
    );
}
