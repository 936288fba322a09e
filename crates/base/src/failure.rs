//! How anything goes wrong, in words that a caller can act on.
//!
//! Domain code returns small error enums that implement [`Failure`]. Nothing but a [`Report`]
//! is ever shown to a client, so a cause (a path, an SQL text, a parser's internals) cannot leak
//! by being formatted somewhere by accident.

use std::fmt;

/// What sort of failure it is: decides the protocol code, the HTTP status and the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The caller asked for something that is not there, or that it may not see.
    NotFound,
    /// The caller's input is wrong; calling again with the same input fails again.
    Invalid,
    /// The input is fine, but a rule or the present state forbids it.
    Refused,
    /// A limit was exceeded.
    TooLarge,
    /// It may work when it is tried again.
    Busy,
    /// A defect or a fault of the machine; the cause is in the log.
    Internal,
}

/// A failure in words: what went wrong, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    kind: Kind,
    message: String,
    hints: Vec<String>,
    cause: Option<String>,
}

impl Report {
    /// Starts a report. The message is lower case, has no final period and names things in
    /// backticks.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), cause: None }
    }

    /// Adds what the caller can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds what only the log may say.
    #[must_use]
    pub fn because(mut self, cause: &(dyn std::error::Error + 'static)) -> Self {
        let mut text = cause.to_string();
        let mut next = cause.source();
        while let Some(error) = next {
            text = format!("{text}: {error}");
            next = error.source();
        }
        self.cause = Some(text);
        self
    }

    /// What only the log may say.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// The sort of failure.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What went wrong, without the hints.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

/// The one line that a client reads: the message, then the hints.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for hint in &self.hints {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// An error that can say itself to a caller.
pub trait Failure: std::error::Error + 'static {
    /// The words for the caller. Causes stay behind, for the log.
    fn report(&self) -> Report;
}

impl<E: Failure> From<E> for Report {
    fn from(error: E) -> Self {
        let report = error.report();
        if report.cause.is_some() { report } else { report.because(&error) }
    }
}

/// A failure that was found in a piece of content while everything else was loaded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, relative to its root, with `/` between the parts.
    pub file: String,
    /// The line, counted from 1, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether something is not there for a reader (`Error`), or there with a flaw (`Warning`).
    pub severity: Severity,
    /// What is wrong and how to mend it.
    pub message: String,
}

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file is served, but not as its author meant.
    Warning,
    /// The file is skipped, or something in it leads nowhere.
    Error,
}

impl Problem {
    /// A file that cannot be served.
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, severity: Severity::Error, message: message.into() }
    }

    /// A file that is served with a flaw.
    pub fn warning(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(file, message) }
    }

    /// Adds the line where it was found.
    #[must_use]
    pub fn at_line(mut self, line: Option<u32>) -> Self {
        self.line = line;
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_one_line_with_its_hints() {
        let report = Report::new(Kind::NotFound, "stage `deliver` is not supported")
            .hint("use discover, design or develop");
        assert_eq!(
            report.to_string(),
            "stage `deliver` is not supported; use discover, design or develop"
        );
    }

    #[test]
    fn a_problem_names_its_file_and_line() {
        let problem = Problem::error("guides/a.md", "`name` is missing").at_line(Some(3));
        assert_eq!(problem.to_string(), "guides/a.md:3: `name` is missing");
    }
}
