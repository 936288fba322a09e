//! The style sheet.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

const SHEET: &str = include_str!("style.css");

/// Where it is.
pub(super) const PATH: &str = "/style.css";

/// What tells it from the sheet of another version.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::digest(SHEET);
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
});

static HREF: LazyLock<String> = LazyLock::new(|| format!("{PATH}?{}", *VERSION));

/// Its address as pages name it: another sheet has another, so this one may be kept for ever.
pub(super) fn href() -> &'static str {
    &HREF
}

pub(super) async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    let tag = format!("\"{}\"", *VERSION);
    let lasting = uri.query() == Some(VERSION.as_str());
    let cache = if lasting { "private, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|value| value.split(',')).map(str::trim);
    let mut shown = known.map(|value| value.strip_prefix("W/").unwrap_or(value));
    let head = [(ETAG, tag.clone()), (CACHE_CONTROL, cache.to_owned())];
    if shown.any(|value| value == tag || value == "*") {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, [(CONTENT_TYPE, "text/css; charset=utf-8")], SHEET).into_response()
}
