//! The state file when everything goes wrong: killed at every system call of a save, a disk that is
//! full, writers in several processes. The faults are the system's own, put in by `strace`.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use serde_json::{Value, json};

const META: &str = "[{id: s0}, {id: s1}, {id: s2}]";

/// The calls that open, write, link, rename and sync files. What a save does is made of these.
const CALLS: [&str; 16] = [
    "openat",
    "openat2",
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "linkat",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "fchmod",
    "ftruncate",
    "flock",
    "close",
];

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("resources")).unwrap();
    std::fs::write(folder.path().join("resources/prompts.meta.yaml"), META).unwrap();
    folder
}

fn has_strace() -> bool {
    let works = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
    let works = works.is_ok_and(|output| output.status.success());
    // scripts/test installs it: there, to skip is to fail.
    assert!(works || std::env::var_os("RUTTER_REQUIRE_STRACE").is_none(), "strace does not work");
    works
}

/// Serves one `advance_state` for each step, and gives how the process ended and its answers.
fn advance(folder: &Path, steps: &[&str], faults: &[String]) -> (ExitStatus, Vec<Value>) {
    let program = env!("CARGO_BIN_EXE_rutter");
    let mut command = if faults.is_empty() {
        Command::new(program)
    } else {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null"]).args(faults).arg(program);
        command
    };
    let mut child = command
        .args(["serve", "--log-level", "off"])
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("RUTTER_WATCH", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for (id, step) in steps.iter().enumerate() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "advance_state", "arguments": {"id": step}, "_meta": meta}});
        // A process that was killed reads no more.
        let _ = writeln!(input, "{request}");
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    (output.status, answers.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn completed(folder: &Path) -> Vec<String> {
    let output = crate::binary::run(folder, &["state", "show", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", crate::binary::text(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(shown.get("warning").is_none(), "{shown}");
    shown["completed"].as_object().unwrap().keys().cloned().collect()
}

fn killed(status: ExitStatus) -> bool {
    status.signal() == Some(9) || status.code() == Some(128 + 9)
}

#[test]
fn a_process_killed_at_any_system_call_of_a_save_leaves_the_old_or_the_new_state_whole() {
    if !has_strace() {
        return;
    }
    // A first save makes the backup; later ones write over the spare and exchange names.
    let first = killed_at_every_call(&["state.json.bak", "state.json.spare"]);
    let later = killed_at_every_call(&[]);
    // The faults were where the save is: before its last step the old state stays, after it the new.
    let both = [("openat2", 1), ("flock", 1), ("writev", 1), ("fsync", 1), ("fsync", 2)];
    for (killed_at, calls) in [
        (&first, &[("linkat", 1), ("renameat", 1)][..]),
        (&later, &[("renameat", 1), ("renameat2", 1), ("renameat", 2)]),
    ] {
        for call in both.iter().chain(calls) {
            assert!(killed_at.contains(call), "never killed at {call:?}: {killed_at:?}");
        }
    }
    assert_eq!(later.iter().filter(|(call, _)| *call == "renameat2").count(), 2, "{later:?}");
}

/// Kills a save at each of its calls, in a folder without these files, and gives at which calls
/// and how many steps were done then.
fn killed_at_every_call(without: &[&str]) -> Vec<(&'static str, usize)> {
    let folder = project();
    let path = folder.path().join(".mcp");
    assert!(advance(folder.path(), &["s0"], &[]).0.success());
    let before = std::fs::read(path.join("state.json")).unwrap();
    // What a folder has after some saves.
    assert!(advance(folder.path(), &["s1", "s2"], &[]).0.success());
    let mut killed_at = Vec::new();
    for call in CALLS {
        // Only what touches the state's folder, and what has no path: the rest is the start.
        for when in 1.. {
            std::fs::write(path.join("state.json"), &before).unwrap();
            for name in without {
                let _ = std::fs::remove_file(path.join(name));
            }
            let scope = format!("inject={call}:signal=KILL:when={when}");
            let mut faults = vec!["-e".to_owned(), scope];
            for name in [
                "",
                "state.json",
                "state.json.tmp",
                "state.json.spare",
                "state.json.bak",
                "state.json.bak.tmp",
                "state.lock",
            ] {
                faults.extend(["-P".to_owned(), path.join(name).to_str().unwrap().to_owned()]);
            }
            let (status, _) = advance(folder.path(), &["s1"], &faults);
            let found = completed(folder.path());
            assert!(found == ["s0"] || found == ["s0", "s1"], "{call} {when}: {found:?}");
            // The backup is whole at any moment, once there is one.
            if let Ok(backup) = std::fs::read(path.join("state.json.bak")) {
                let backup: Value = serde_json::from_slice(&backup).unwrap();
                assert!(backup["completed"].get("s0").is_some(), "{call} {when}: {backup}");
            }
            // And the next writer goes on from there.
            assert!(advance(folder.path(), &["s2"], &[]).0.success());
            assert!(completed(folder.path()).contains(&"s2".to_owned()), "{call} {when}");
            if !killed(status) {
                assert!(status.success(), "{call} {when}: {status}");
                break;
            }
            killed_at.push((call, found.len()));
            assert!(when < 100, "{call} is called without end");
        }
    }
    killed_at
}

#[test]
fn a_full_disk_changes_nothing_and_is_told() {
    if !has_strace() {
        return;
    }
    let folder = project();
    assert!(advance(folder.path(), &["s0"], &[]).0.success());
    let before = std::fs::read_to_string(folder.path().join(".mcp/state.json")).unwrap();
    let temporary = folder.path().join(".mcp/state.json.tmp");
    for (call, error) in
        [("writev", "ENOSPC"), ("writev", "EDQUOT"), ("fsync", "EIO"), ("writev", "EFBIG")]
    {
        let faults =
            ["-P", temporary.to_str().unwrap(), "-e", &format!("inject={call}:error={error}")];
        let (status, answers) = advance(folder.path(), &["s1"], &faults.map(str::to_owned));
        assert!(status.success());
        let result = &answers[0]["result"];
        let said = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["isError"], true, "{call} {error}: {said}");
        let expected = if call == "writev" {
            "there is no space left for the state; the state is as it was"
        } else {
            "the state cannot be written"
        };
        assert!(said.starts_with(expected), "{call} {error}: {said}");
        assert_eq!(std::fs::read_to_string(folder.path().join(".mcp/state.json")).unwrap(), before);
        assert!(!temporary.exists());
    }
}

#[test]
fn several_processes_write_at_once_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("resources")).unwrap();
    let steps: Vec<String> = (0..40).map(|n| format!("s{n}")).collect();
    let meta: Vec<String> = steps.iter().map(|id| format!("{{id: {id}}}")).collect();
    std::fs::write(
        folder.path().join("resources/prompts.meta.yaml"),
        format!("[{}]", meta.join(", ")),
    )
    .unwrap();
    std::thread::scope(|scope| {
        for share in steps.chunks(10) {
            let at = folder.path();
            scope.spawn(move || {
                let share: Vec<&str> = share.iter().map(String::as_str).collect();
                let (status, answers) = advance(at, &share, &[]);
                assert!(status.success());
                for answer in answers {
                    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
                }
            });
        }
    });
    assert_eq!(completed(folder.path()).len(), 40);
}
