//! The built program, as a person starts it.

use std::process::Command;

#[test]
fn the_program_answers() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_{{name}}"));
    let output = program.arg("you").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Hello, you!\n");
}
