//! What a person or a program reads: text with colours on a terminal, or JSON.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};

use rutter_base::text::is_hostile;
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
        self.line(&printable_json(&text));
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

/// The same data, without a character that a terminal could act on: such a character stands in a
/// text, where JSON can name it by its number.
pub(super) fn printable_json(json: &str) -> String {
    let mut printable = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_hostile(c) {
            let _ = write!(printable, "\\u{:04x}", u32::from(c));
        } else {
            printable.push(c);
        }
    }
    printable
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
    fn json_is_safe_to_print_and_says_the_same() {
        let value = serde_json::json!({"title": "\u{1b}[2J\u{9b}31m\u{202e}\u{7f}\u{feff}\n\"é"});
        let text = printable_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(text.chars().all(|c| c == '\n' || !is_hostile(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn colours_are_for_terminals_alone() {
        let mut screen = Screen { out: Box::new(std::io::sink()), colours: false };
        assert_eq!(screen.styled(Style::Bad, "x"), "x");
        screen.colours = true;
        assert_eq!(screen.styled(Style::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert!(!colours(false));
    }
}
