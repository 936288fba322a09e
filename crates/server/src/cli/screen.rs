//! What a person or a program reads: text with colours on a terminal, or JSON.

use std::io::{IsTerminal, Write};

use serde::Serialize;

/// A stream to write to.
pub(super) struct Screen {
    out: Box<dyn Write>,
    colours: bool,
}

/// How a piece of text looks on a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    Heading,
    Good,
    Warning,
    Bad,
    Faint,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Heading => "1",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
            Self::Faint => "2",
        }
    }
}

impl Screen {
    pub(super) fn stdout() -> Self {
        let stream = std::io::stdout();
        let colours = colours(stream.is_terminal());
        Self { out: Box::new(stream), colours }
    }

    pub(super) fn stderr() -> Self {
        let stream = std::io::stderr();
        let colours = colours(stream.is_terminal());
        Self { out: Box::new(stream), colours }
    }

    /// Writes a line. A reader that went away (`rutter tools | head`) is no error.
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    /// Writes data as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        self.line(&text);
    }

    /// Text in a style, where there is one.
    pub(super) fn styled(&self, style: Style, text: &str) -> String {
        if self.colours {
            format!("\u{1b}[{}m{text}\u{1b}[0m", style.code())
        } else {
            text.to_owned()
        }
    }

    pub(super) fn raw(&mut self) -> &mut dyn Write {
        &mut self.out
    }
}

fn colours(terminal: bool) -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    terminal && !unwanted && !dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_alone() {
        let mut screen = Screen { out: Box::new(std::io::sink()), colours: false };
        assert_eq!(screen.styled(Style::Bad, "x"), "x");
        screen.colours = true;
        assert_eq!(screen.styled(Style::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert!(!colours(false));
    }
}
