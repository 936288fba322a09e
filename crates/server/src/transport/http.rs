//! HTTP: both transports of MCP, a page for people, and what operators need.
//!
//! Every request takes the same way: is it for this server ([`guard`]), who sends it ([`auth`]),
//! does it come too often ([`throttle`]), and only then what it asks for.

mod accept;
mod auth;
mod direct;
mod guard;
mod held;
mod messages;
mod older;
mod operations;
mod proxies;
mod requests;
mod sessions;
mod stalling;
mod streamable;
mod throttle;
mod tls;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::connect_info::ConnectInfo;
use axum::extract::{Request, State};
use axum::http::header::{AsHeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing};
use rutter_base::failure::Report;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use auth::{Credentials, KeySource, Tokens};
pub use guard::Names;
pub use proxies::Proxies;
pub use tls::Certificate;

use crate::address;
use crate::app::App;
use crate::config::HttpLimits;
use crate::page::{self, Credential};
use auth::Stranger;
use throttle::Throttle;

const HEALTH: &str = "/health";
/// Where clients learn who issues the tokens that they need.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// A server that listens, and is not serving yet.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// Everything that a server over HTTP is made of.
#[derive(Debug)]
pub struct Server {
    /// What is served.
    pub app: Arc<App>,
    /// The names, besides those of this machine for itself, under which it may be reached.
    pub public_names: Vec<String>,
    /// The proxies before it.
    pub proxies: Proxies,
    /// What callers must show.
    pub credentials: Credentials,
    /// What bounds them.
    pub limits: HttpLimits,
    /// The certificate, if connections are encrypted here.
    pub certificate: Option<Arc<Certificate>>,
}

impl Listening {
    /// Opens the port.
    pub async fn on(host: &str, port: u16) -> io::Result<Self> {
        Self::with(TcpListener::bind((host, port)).await?)
    }

    /// Takes over a port that someone else opened.
    pub fn with(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where the server is for someone at this machine, without a path.
    pub fn base(&self, encrypted: bool) -> String {
        let scheme = if encrypted { "https" } else { "http" };
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("{scheme}://{address}")
    }

    /// Serves until `shutdown` is cancelled, and until what is open then has ended.
    pub async fn serve(self, server: Server, shutdown: CancellationToken) -> Result<(), Report> {
        let acceptor = server.certificate.as_ref().map(Certificate::acceptor).transpose()?;
        let limits = server.limits.clone();
        let open = server.app.metrics().connections().clone();
        let names = Names::new(server.public_names.iter().cloned(), self.address.ip());
        let router = router(server, names, &shutdown);
        accept::serve(self.listener, router, &limits, acceptor, open, shutdown).await;
        Ok(())
    }
}

/// What every request passes.
struct Gate {
    app: Arc<App>,
    names: Names,
    proxies: Proxies,
    credentials: Credentials,
    throttle: Throttle,
    encrypted: bool,
}

fn router(server: Server, names: Names, shutdown: &CancellationToken) -> Router {
    let Server { app, proxies, credentials, limits, certificate, .. } = server;
    let encrypted = certificate.is_some();
    let places = sessions::Places::new(&limits, app.metrics().sessions().clone());
    let streamable =
        streamable::router(Arc::clone(&app), places.clone(), &limits, shutdown.clone());
    let older = older::Older::router(Arc::clone(&app), places, &limits, shutdown.clone());
    let credential = match &credentials {
        known if known.is_open() => Credential::None,
        known if known.has_keys() => Credential::ApiKey,
        known if known.tokens().is_some() => Credential::Bearer,
        _ => Credential::Basic,
    };
    let settings = page::Settings { tls: encrypted, credential };
    let page = page::router(Arc::clone(&app), settings);
    let mut router =
        streamable.merge(older).merge(operations::router(Arc::clone(&app))).merge(page);
    if let Some(tokens) = credentials.tokens() {
        let metadata = operations::metadata(&app, tokens);
        let metadata = routing::get(move |uri: Uri, headers: HeaderMap| async move {
            metadata(&address::base(&headers, &uri, encrypted))
        });
        router =
            router.route(METADATA, metadata.clone()).route(&format!("{METADATA}/mcp"), metadata);
    }
    let throttle = Throttle::new(limits.requests_per_second, limits.failed_logins_per_minute);
    let gate = Gate { app, names, proxies, credentials, throttle, encrypted };
    router.layer(from_fn_with_state(Arc::new(gate), pass))
}

/// Lets a request pass, or says why not; counts it either way.
async fn pass(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = route(request.uri().path());
    let response = match gate.admit(&mut request).await {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal,
    };
    let seconds = began.elapsed().as_secs_f64();
    gate.app.metrics().request(route, response.status().as_u16(), seconds);
    response
}

impl Gate {
    async fn admit(&self, request: &mut Request) -> Result<(), Response> {
        let (uri, headers) = (request.uri(), request.headers());
        let from = self.sender(request);
        if let Err(refused) = self.names.check(uri, headers) {
            self.deny(refused.reason(), uri, from);
            return Err((refused.status(), refused.advice()).into_response());
        }
        if self.is_public(request) {
            return Ok(());
        }
        let admitted = match self.credentials.admit(headers).await {
            Ok(admitted) => admitted,
            Err(stranger) => return Err(self.turn_away(request, stranger, from)),
        };
        let caller = admitted.caller;
        if admitted.guessable && self.throttle.is_guessing(from, caller.identity()) {
            self.deny("rate", uri, from);
            return Err(too_often(Duration::from_secs(1)));
        }
        if let Err(wait) = self.throttle.request(caller.identity()) {
            self.deny("rate", uri, from);
            return Err(too_often(wait));
        }
        request.extensions_mut().insert(caller);
        Ok(())
    }

    /// What anyone may see: that the server lives, and where to get a token.
    fn is_public(&self, request: &Request) -> bool {
        let path = request.uri().path();
        let metadata = || {
            self.credentials.tokens().is_some()
                && path.strip_prefix(METADATA).is_some_and(|rest| matches!(rest, "" | "/mcp"))
        };
        request.method() == Method::GET && (path == HEALTH || metadata())
    }

    fn turn_away(&self, request: &Request, stranger: Stranger, from: IpAddr) -> Response {
        // Asking how to come in is no guess.
        if stranger == Stranger::Wrong
            && let Err(wait) = self.throttle.failure(from)
        {
            self.app.metrics().denied("rate");
            return too_often(wait);
        }
        let (uri, headers) = (request.uri(), request.headers());
        self.deny("credential", uri, from);
        let base = address::base(headers, uri, self.encrypted);
        let mut response = StatusCode::UNAUTHORIZED.into_response();
        for challenge in self.credentials.challenges(headers, stranger, &base) {
            response.headers_mut().append(WWW_AUTHENTICATE, challenge);
        }
        response
    }

    fn sender(&self, request: &Request) -> IpAddr {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
        self.proxies.sender(peer, request.headers())
    }

    fn deny(&self, reason: &'static str, uri: &Uri, from: IpAddr) {
        self.app.metrics().denied(reason);
        let path = rutter_base::text::cap(rutter_base::text::one_line(uri.path()), 200);
        tracing::warn!(event = "denied", reason, path, %from, "a request was not let in");
    }
}

/// What a path is counted as: there are a few of these, and strangers choose paths.
fn route(path: &str) -> &'static str {
    match path {
        "/" => "/",
        "/mcp" => "/mcp",
        "/sse" => "/sse",
        "/messages" => "/messages",
        "/metrics" => "/metrics",
        "/search" => "/search",
        HEALTH => HEALTH,
        path if path.starts_with("/documents/") => "/documents",
        path if path.starts_with("/sources/") => "/sources",
        _ => "other",
    }
}

/// The value of a header; an error if it is there more than once, and could mean either.
fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(Repeated) } else { Ok(first) }
}

/// A header is there more than once.
#[derive(Debug)]
struct Repeated;

fn too_often(wait: Duration) -> Response {
    let seconds = wait.as_secs_f64().ceil().max(1.0).to_string();
    let what = "too many requests; try again later\n";
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, seconds)], what).into_response()
}

fn no_place() -> Response {
    let what = "there are too many sessions; try again later\n";
    (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "30")], what).into_response()
}

fn ending() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, "the server is about to end\n").into_response()
}

fn not_found(what: &'static str) -> Response {
    (StatusCode::NOT_FOUND, what).into_response()
}
