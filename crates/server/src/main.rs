//! The `rutter` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    rutter_server::cli::run(std::env::args_os())
}
