//! What is around the content of every page, and how a page becomes an answer.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use rutter_base::text;
use rutter_library::search::Indexing;

use super::style;
use crate::app::App;

/// What is around the content of every page.
pub(super) struct Frame {
    /// What the page is called.
    pub(super) title: String,
    /// Who the server says it is.
    pub(super) name: String,
    pub(super) version: String,
    /// Whether there are documents that the reader may find.
    pub(super) searches: bool,
    /// What is in the search box.
    pub(super) query: String,
    /// The address of the style sheet.
    pub(super) style: &'static str,
}

impl Frame {
    pub(super) fn new(app: &App, title: &str) -> Self {
        let identity = app.identity();
        Self {
            title: text::one_line(title),
            name: text::one_line(&identity.name),
            version: text::one_line(&identity.version),
            searches: false,
            query: String::new(),
            style: style::href(),
        }
    }
}

/// A page as an answer.
pub(super) fn answer(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(event = "internal_error", reason = %error);
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A number as people read it: `12,345`.
pub(super) fn number(number: impl ToString + Copy) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// How far the indexing of documents is.
pub(super) fn far(Indexing { done, total }: Indexing) -> String {
    format!("{} of {}", number(done), number(total))
}

/// `1 tool`, `12 tools`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", number(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (value, expected) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(number(value), expected);
        }
        assert_eq!((counted(1, "tool"), counted(0, "tool")), ("1 tool".into(), "0 tools".into()));
    }
}
