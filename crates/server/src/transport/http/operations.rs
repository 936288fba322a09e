//! What operators and their programs ask for: health, counters, and who issues tokens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::HEALTH;
use super::auth::Tokens;
use crate::app::{App, blocking};

const OPENMETRICS: &str = "application/openmetrics-text";

/// How old an answer about health may be: anyone may ask, as often as they like, and each time
/// every module looks at its content.
const HEALTH_AGE: Duration = Duration::from_secs(1);

pub(super) fn router(app: Arc<App>) -> Router {
    let known = Arc::<Known>::default();
    let health = {
        let app = Arc::clone(&app);
        routing::get(move || health(Arc::clone(&app), Arc::clone(&known)))
    };
    Router::new().route(HEALTH, health).route("/metrics", routing::get(metrics)).with_state(app)
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

type Known = Mutex<Option<(Instant, Health)>>;

/// That the server lives, and how each part of it is. Anyone may ask, so nothing is named.
async fn health(app: Arc<App>, known: Arc<Known>) -> Response {
    // In a task of its own: whoever hangs up does not make the next one look again.
    let answer = tokio::spawn(async move {
        // Those who ask meanwhile wait for the same answer.
        let mut known = known.lock().await;
        if known.as_ref().is_none_or(|(at, _)| at.elapsed() >= HEALTH_AGE) {
            // A server with more work than threads is alive: what was known last is said again.
            match timeout(HEALTH_AGE, look(app)).await {
                Ok(health) => *known = health.map(|health| (Instant::now(), health)),
                Err(_) => known.iter_mut().for_each(|(at, _)| *at = Instant::now()),
            }
        }
        let (_, health) = known.as_ref()?;
        Some(([(CACHE_CONTROL, "no-store")], Json(health)).into_response())
    });
    let answer = answer.await.ok().flatten();
    answer.unwrap_or_else(|| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn look(app: Arc<App>) -> Option<Health> {
    let version = app.identity().version.clone();
    let modules = blocking(app.is_immutable(), move || {
        let modules = app.modules().iter().map(|module| {
            let problems = module.problems().len();
            let status = if problems == 0 { "ok" } else { "degraded" };
            (module.id().as_str(), ModuleHealth { status, problems })
        });
        modules.collect()
    });
    Some(Health { status: "ok", version, modules: modules.await.ok()? })
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
