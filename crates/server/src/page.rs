//! The pages for people: what this server serves, a search over its documents, the documents, and
//! how to connect a client.
//!
//! They are made here and need nothing else: no script, no font, no request to anyone. What they
//! show is what the caller's scope admits, asked with the same questions as over MCP. What a
//! person cannot see looks exactly like what is not there.

mod clients;
mod documents;
mod failure;
mod frame;
mod home;
mod markdown;
mod search;
mod sources;
mod style;
mod visit;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use futures_util::FutureExt;

use crate::app::App;

/// What the pages must know of the server that they are on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Whether it speaks TLS itself.
    pub tls: bool,
    /// What a client must show.
    pub credential: Credential,
}

/// What a client must show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Credential {
    /// Nothing.
    #[default]
    None,
    /// A user's name and password.
    Basic,
    /// A key, as `X-API-Key`.
    ApiKey,
    /// A token, as `Authorization: Bearer`.
    Bearer,
}

/// What all pages are made from.
#[derive(Debug)]
struct Site {
    app: Arc<App>,
    settings: Settings,
}

/// The pages. Whoever mounts them puts a [`Caller`](crate::caller::Caller) into every request, and
/// has checked its Host.
///
/// Addresses that lead nowhere get a page as well, so this router brings the fallback of the
/// router that it is merged into.
pub fn router(app: Arc<App>, settings: Settings) -> Router {
    let site = Arc::new(Site { app, settings });
    Router::new()
        .route("/", get(home::show))
        .route("/search", get(search::show))
        .route("/sources/{name}", get(sources::show))
        .route("/documents/{*path}", get(documents::show))
        .route(style::PATH, get(style::serve))
        .fallback(failure::nowhere)
        .layer(from_fn_with_state(Arc::clone(&site), guarded))
        .with_state(site)
}

/// Nothing on a page may come from elsewhere or run, whatever a document says; no other page may
/// frame it; and what one reader may see is kept by nobody.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// What happens to every request: it ends in time, a defect is an answer instead of silence, and
/// the answer has the headers that keep its reader safe.
async fn guarded(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    let mut response = match tokio::time::timeout(site.app.limits().deadline, work).await {
        Ok(Ok(response)) => response,
        // The panic itself was logged by the hook.
        Ok(Err(_)) => failure::defect(&site),
        Err(_) => failure::overdue(&site),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
    response
}
