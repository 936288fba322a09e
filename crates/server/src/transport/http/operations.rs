//! What operators and their programs ask for: health, counters, and who issues tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing};
use serde::Serialize;
use serde_json::json;

use super::HEALTH;
use super::auth::Tokens;
use crate::app::{App, blocking};

const OPENMETRICS: &str = "application/openmetrics-text";

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route(HEALTH, routing::get(health))
        .route("/metrics", routing::get(metrics))
        .with_state(app)
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: String,
    modules: BTreeMap<&'static str, ModuleHealth>,
}

#[derive(Serialize)]
struct ModuleHealth {
    status: &'static str,
    /// How many; what they are is in the log, and not for everyone.
    problems: usize,
}

/// That the server lives, and how each part of it is. Anyone may ask, so nothing is named.
async fn health(State(app): State<Arc<App>>) -> Response {
    let asked = Arc::clone(&app);
    let modules = blocking(app.is_immutable(), move || {
        let modules = asked.modules().iter().map(|module| {
            let problems = module.problems().len();
            let status = if problems == 0 { "ok" } else { "degraded" };
            (module.id().as_str(), ModuleHealth { status, problems })
        });
        modules.collect::<BTreeMap<_, _>>()
    });
    let Ok(modules) = modules.await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let version = app.identity().version.clone();
    let health = Health { status: "ok", version, modules };
    ([(CACHE_CONTROL, "no-store")], Json(health)).into_response()
}

/// What is counted, for Prometheus.
async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let documents = app.library().map_or(0, |library| library.catalog().documents().count());
    let Ok(page) = app.metrics().render(documents) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let kind = if accept.contains(OPENMETRICS) {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
    };
    ([(CONTENT_TYPE, kind)], page).into_response()
}

/// Who issues the tokens that the server takes (RFC 9728), for the address it was asked at.
pub(super) fn metadata(
    app: &App,
    tokens: &Tokens,
) -> impl Fn(&str) -> Response + Clone + Send + Sync + 'static {
    let (issuer, audience) = (tokens.issuer().to_owned(), tokens.audience().to_owned());
    let name = app.identity().name.clone();
    move |base| {
        // Clients ask for a token for this resource, which becomes its audience.
        let named = audience.starts_with("https://") || audience.starts_with("http://");
        let resource = if named { audience.clone() } else { format!("{base}/mcp") };
        let metadata = json!({
            "resource": resource,
            "resource_name": name,
            "authorization_servers": [issuer],
            "bearer_methods_supported": ["header"],
        });
        Json(metadata).into_response()
    }
}
