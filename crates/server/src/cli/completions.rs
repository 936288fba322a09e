//! `rutter completions`

use clap::{Args, Command};
use clap_complete::Shell;

use super::FINE;
use super::screen::Screen;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  rutter completions bash > ~/.local/share/bash-completion/completions/rutter")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, command: &mut Command, screen: &mut Screen) -> u8 {
        clap_complete::generate(self.shell, command, "rutter", &mut screen.raw());
        FINE
    }
}
