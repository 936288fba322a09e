//! `rutter serve --transport http`

use std::io::{self, IsTerminal};
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::super::Surroundings;
use super::super::screen::Screen;
use super::auth::AuthFlags;
use super::{no_runtime, reload_on_hangup, stop_on_signals, watch};
use crate::address::is_local;
use crate::settings::Variable;
use crate::setup::Setup;
use crate::transport::http::{Certificate, Credentials, Listening, Names, Proxies, Server};
use clap::Args;
use rutter_base::failure::{Kind, Report};

const DEFAULT_HOST: &str = "127.0.0.1";
const EVERYWHERE: &str = "0.0.0.0";
const DEFAULT_PORT: u16 = 8080;

/// How long open connections may take to end.
const DRAIN: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct OverHttp {
    /// The interface to listen on over HTTP [default: 127.0.0.1, and 0.0.0.0 with --auth-type]
    #[arg(short = 'H', long)]
    host: Option<String>,
    /// The port to listen on over HTTP; 0 takes a free one [default: 8080]
    #[arg(short, long)]
    port: Option<u16>,
    #[command(flatten)]
    auth: AuthFlags,
}

impl OverHttp {
    pub(super) fn run(&self, setup: &Setup, surroundings: &Surroundings) -> Result<(), Report> {
        raise_file_limit();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| no_runtime(&error))?;
        let result = runtime.block_on(self.serve(setup, surroundings));
        runtime.shutdown_background();
        result
    }

    async fn serve(&self, setup: &Setup, surroundings: &Surroundings) -> Result<(), Report> {
        check_names(&setup.http.public_names)?;
        let proxies = proxies(&setup.http.trusted_proxies)?;
        let credentials = self.auth.resolve(surroundings, setup).await?;
        let certificate = certificate(setup, surroundings)?;
        let (host, listening) = self.listen(setup, surroundings, &credentials).await?;
        let base = listening.base(certificate.is_some());
        if credentials.is_open() && !is_local(&host) {
            tracing::warn!(
                event = "open_to_network",
                host,
                "anyone who reaches this address can use the server"
            );
        }
        let shutdown = stop_on_signals();
        let _watches = watch(setup);
        let renewed = certificate.clone();
        reload_on_hangup(setup, move || {
            if let Some(certificate) = &renewed {
                certificate.renew();
            }
        });
        let own_name = host.parse::<IpAddr>().is_err().then_some(host);
        let server = Server {
            app: Arc::clone(&setup.app),
            proxies,
            public_names: own_name.into_iter().chain(setup.http.public_names.clone()).collect(),
            credentials,
            limits: setup.http.limits.clone(),
            certificate,
        };
        announce(&base, &server);
        systemd::ready(&shutdown);
        let mut served = pin!(listening.serve(server, shutdown.clone()));
        tokio::select! {
            // First: a server without connections ends in the same moment.
            biased;
            () = shutdown.cancelled() => systemd::stopping(),
            served = &mut served => return served,
        }
        tokio::time::timeout(DRAIN, served).await.unwrap_or(Ok(()))
    }

    /// Opens the port, unless systemd has.
    async fn listen(
        &self,
        setup: &Setup,
        surroundings: &Surroundings,
        credentials: &Credentials,
    ) -> Result<(String, Listening), Report> {
        let environment = &surroundings.environment;
        let host = self.host.as_deref().or_else(|| environment.get(Variable::HOST));
        // A server that asks who is there may be reached from elsewhere.
        let default = if credentials.is_open() { DEFAULT_HOST } else { EVERYWHERE };
        let host = host.or(setup.http.host.as_deref()).unwrap_or(default).to_owned();
        let port = match self.port {
            Some(port) => Some(port),
            None => environment.parse(Variable::PORT, |port| port.parse().ok(), "a port number")?,
        };
        let port = port.or(setup.http.port).unwrap_or(DEFAULT_PORT);
        let cannot = |error: io::Error| {
            let message = format!("cannot listen on {host}:{port}: {}", error.kind());
            Report::new(Kind::Invalid, message).hint("choose another with --host and --port")
        };
        let listening = match systemd::listener().map_err(cannot)? {
            Some(listener) => Listening::with(listener).map_err(cannot)?,
            None => Listening::on(&host, port).await.map_err(cannot)?,
        };
        Ok((host, listening))
    }
}

/// A name that is none would only show in requests that are refused.
fn check_names(names: &[String]) -> Result<(), Report> {
    match names.iter().position(|name| !Names::is_name(name)) {
        None => Ok(()),
        Some(index) => Err(Report::new(
            Kind::Invalid,
            format!(
                "`http.public_names[{index}]`: expected a name, such as docs.example or docs.example:8443"
            ),
        )),
    }
}

/// The proxies that the operator believes.
fn proxies(texts: &[String]) -> Result<Proxies, Report> {
    Proxies::new(texts).map_err(|index| {
        let message = format!(
            "`http.trusted_proxies[{index}]`: expected an address or a network, such as 10.0.0.7 or 10.0.0.0/8"
        );
        Report::new(Kind::Invalid, message)
    })
}

/// Says where the server is: in the log, and to a person who watches.
fn announce(base: &str, server: &Server) {
    let url = format!("{base}/mcp");
    tracing::info!(event = "listening", url, page = format!("{base}/"));
    if io::stderr().is_terminal() {
        let header =
            if server.credentials.has_keys() { " --header \"X-API-Key: $RUTTER_KEY\"" } else { "" };
        Screen::stderr().line(&format!(
            "Open {base}/ in a browser, or connect a client: claude mcp add --transport http rutter {url}{header}"
        ));
    }
}

/// The certificate that the settings name.
fn certificate(
    setup: &Setup,
    surroundings: &Surroundings,
) -> Result<Option<Arc<Certificate>>, Report> {
    let environment = &surroundings.environment;
    let of = |variable: Variable, configured: Option<&String>| -> Option<PathBuf> {
        let given = environment.get(variable).map(|path| surroundings.folder.join(path));
        given.or_else(|| configured.map(|path| setup.base.join(path)))
    };
    let tls = setup.http.tls.as_ref();
    let chain = of(Variable::TLS_CERTIFICATE, tls.map(|tls| &tls.certificate));
    let key = of(Variable::TLS_KEY, tls.map(|tls| &tls.key));
    match (chain, key) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => Ok(Some(Arc::new(Certificate::read(chain, key)?))),
        _ => Err(Report::new(
            Kind::Invalid,
            format!(
                "{} and {} belong together, and one of them is missing",
                Variable::TLS_CERTIFICATE.name,
                Variable::TLS_KEY.name
            ),
        )),
    }
}

/// Each connection is a file descriptor: as many as the machine allows.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With fewer there are fewer connections.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// There is no such limit.
#[cfg(not(unix))]
fn raise_file_limit() {}

/// What systemd wants to know, and what it opened.
#[cfg(unix)]
mod systemd {
    use std::io;

    use sd_notify::NotifyState;
    use tokio::net::TcpListener;
    use tokio_util::sync::CancellationToken;

    /// The port that was opened for this process.
    pub(super) fn listener() -> io::Result<Option<TcpListener>> {
        let Some(listener) = listenfd::ListenFd::from_env().take_tcp_listener(0)? else {
            return Ok(None);
        };
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener).map(Some)
    }

    /// Says that the server is there, and again and again that it lives.
    pub(super) fn ready(shutdown: &CancellationToken) {
        tell(NotifyState::Ready);
        let Some(period) = sd_notify::watchdog_enabled() else { return };
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            while !shutdown.is_cancelled() {
                tell(NotifyState::Watchdog);
                tokio::time::sleep(period / 2).await;
            }
        });
    }

    /// Says that the server is about to stop.
    pub(super) fn stopping() {
        tell(NotifyState::Stopping);
    }

    fn tell(state: NotifyState<'_>) {
        // Without systemd nobody listens, and that is fine.
        let _ = sd_notify::notify(&[state]);
    }
}

/// There is no systemd.
#[cfg(not(unix))]
mod systemd {
    use std::io;

    use tokio::net::TcpListener;
    use tokio_util::sync::CancellationToken;

    pub(super) fn listener() -> io::Result<Option<TcpListener>> {
        Ok(None)
    }

    pub(super) fn ready(_: &CancellationToken) {}

    pub(super) fn stopping() {}
}
