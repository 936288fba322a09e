//! Streamable HTTP at `/mcp`, and what is counted at `/metrics`.

mod auth;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::serve::ListenerExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use auth::Auth;

use crate::app::App;
use crate::caller::Caller;
use crate::mcp::Handler;

/// The origins whose pages may talk to a server on this machine.
const LOCAL_ORIGINS: [&str; 4] =
    ["http://localhost:*", "http://127.0.0.1:*", "https://localhost:*", "http://[::1]:*"];

/// A server that listens, and is not serving yet.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Opens the port.
    pub async fn on(host: &str, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((host, port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `shutdown` is cancelled. Clients may reach the server under `names`, and
    /// under the names of this machine for itself.
    pub async fn serve(
        self,
        app: Arc<App>,
        names: Vec<String>,
        auth: Auth,
        shutdown: CancellationToken,
    ) -> io::Result<()> {
        // Without it, an answer to a client of the older era waits for the acknowledgement of
        // its headers: 40 ms a call.
        let listener = self.listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let router = router(app, names, auth, &shutdown);
        axum::serve(listener, router).with_graceful_shutdown(shutdown.cancelled_owned()).await
    }
}

fn router(app: Arc<App>, names: Vec<String>, auth: Auth, shutdown: &CancellationToken) -> Router {
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.into_iter().chain(local))
        .with_allowed_origins(LOCAL_ORIGINS)
        .with_cancellation_token(shutdown.child_token());
    let handler_shutdown = shutdown.child_token();
    let counted = Arc::clone(&app);
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(Arc::clone(&app), Caller::anyone(), handler_shutdown.clone())),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let metrics = axum::routing::get(move || async move { metrics(&counted) });
    let guard = axum::middleware::from_fn_with_state(Arc::new(auth), auth::guard);
    Router::new().route_service("/mcp", service).route("/metrics", metrics).layer(guard)
}

/// What is counted, for Prometheus.
fn metrics(app: &App) -> Result<impl IntoResponse + use<>, StatusCode> {
    const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let page = app.metrics().render().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(([(CONTENT_TYPE, OPENMETRICS)], page))
}
