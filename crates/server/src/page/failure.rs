//! Pages for what went wrong.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use rutter_base::failure::{Kind, Report};

use super::Site;
use super::frame::{Frame, answer};
use super::visit::Visit;

#[derive(Template)]
#[template(path = "page/failure.html")]
struct Page {
    frame: Frame,
    message: String,
    hints: Vec<String>,
}

/// The answer to an address that leads nowhere.
pub(super) async fn nowhere(visit: Visit) -> Response {
    not_found(&visit)
}

/// The same page for what is not there, what cannot be read, and what the caller may not see.
pub(super) fn not_found(visit: &Visit) -> Response {
    page(
        visit.frame("Nothing here"),
        StatusCode::NOT_FOUND,
        "There is no such page, or it is not for you to see.",
        &[],
    )
}

/// The answer when `report` is why there is no page.
pub(super) fn failed(visit: &Visit, report: &Report) -> Response {
    let (status, title) = match report.kind() {
        Kind::NotFound => return not_found(visit),
        Kind::Invalid | Kind::Refused => (StatusCode::BAD_REQUEST, "That does not work"),
        Kind::TooLarge => (StatusCode::BAD_REQUEST, "Too much"),
        Kind::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
        Kind::Internal => {
            tracing::error!(event = "internal_error", reason = %report, cause = report.cause());
            (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong")
        }
    };
    page(visit.frame(title), status, report.message(), report.hints())
}

/// The answer when making a page panicked.
pub(super) fn defect(site: &Arc<Site>) -> Response {
    let frame = Frame::new(&site.app, "Something went wrong");
    let message = "This page could not be made. The reason is in the server's log.";
    page(frame, StatusCode::INTERNAL_SERVER_ERROR, message, &[])
}

/// The answer when making a page took too long.
pub(super) fn overdue(site: &Arc<Site>) -> Response {
    let frame = Frame::new(&site.app, "That took too long");
    let message = "This page took longer than it may and was given up. Try again in a moment.";
    page(frame, StatusCode::SERVICE_UNAVAILABLE, message, &[])
}

fn page(frame: Frame, status: StatusCode, message: &str, hints: &[String]) -> Response {
    answer(status, &Page { frame, message: message.to_owned(), hints: hints.to_vec() })
}
