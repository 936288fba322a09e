//! The server as its users meet it. Client and server run in one process over a pipe, except in
//! `binary`, which starts the real thing.

#![expect(clippy::disallowed_methods, reason = "tests write the folders that are served")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod binary;
mod board;
mod board_cli;
mod board_exchange;
mod board_resources;
mod changes;
mod definitions;
mod errors;
mod hostile;
mod http;
mod init;
mod pack;
mod page;
mod process;
mod prompts;
mod protocol;
mod reading;
mod recipes;
mod references;
mod scopes;
mod searching;
mod selftest;
mod server;
mod session_files;
mod sessions;
mod skills;
mod workflow;
mod workflow_crash;
mod workflow_terminal;

/// A file of tests that nobody names here would never run.
#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        let named =
            module == "main" || module == "snapshots" || main.contains(&format!("mod {module};"));
        assert!(named, "{name} is not named in main.rs");
    }
}
