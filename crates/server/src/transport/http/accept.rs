//! Connections: how many there may be, how long they may take, and how they end.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::held::{Hold, hold};
use super::requests::Requests;
use super::stalling::Stalling;
use crate::config::HttpLimits;
use crate::metrics::Gauge;

/// The bytes of one request's headers, all together.
const MAX_HEADERS: usize = 32 * 1024;
/// How many requests one connection of HTTP/2 may have open.
const MAX_STREAMS: u32 = 128;
/// How long the server rests when the machine has no more file descriptors.
const REST: Duration = Duration::from_millis(200);
/// What every connection of HTTP/2 begins with.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Accepts connections until `shutdown` is cancelled, and waits for those that are open.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &HttpLimits,
    tls: Option<TlsAcceptor>,
    open: Gauge,
    shutdown: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections.get()));
    let draining = GracefulShutdown::new();
    let (header, stall) = (limits.header(), limits.stall());
    let connections =
        Arc::new(Connections { router, header, stall, tls, shutdown: shutdown.clone() });
    loop {
        // Without a place nothing is accepted: those who wait do so in the kernel's queue.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = shutdown.cancelled() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_of_the_connection(&error) => continue,
            Err(error) => {
                tracing::warn!(event = "accept_failed", cause = %error, "no new connections for a moment");
                sleep(REST).await;
                continue;
            }
        };
        // Without it, an answer to a client of the older era waits for the acknowledgement of
        // its headers: 40 ms a call.
        let _ = stream.set_nodelay(true);
        let (connections, watcher) = (Arc::clone(&connections), draining.watcher());
        let counted = open.enter();
        tokio::spawn(async move {
            connections.serve(stream, peer, watcher).await;
            drop((place, counted));
        });
    }
    drop(listener);
    draining.shutdown().await;
}

/// Whether an error is about the connection that was to be accepted, and not about accepting.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// What all connections have in common.
struct Connections {
    router: Router,
    header: Duration,
    stall: Duration,
    tls: Option<TlsAcceptor>,
    shutdown: CancellationToken,
}

impl Connections {
    async fn serve(&self, stream: TcpStream, peer: SocketAddr, watcher: Watcher) {
        let greeting = async {
            match &self.tls {
                None => {
                    let http2 = speaks_http2(&stream).await?;
                    Ok((Stream::Plain(stream), http2))
                }
                Some(tls) => {
                    let stream = tls.accept(stream).await?;
                    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    Ok::<_, io::Error>((Stream::Encrypted(Box::new(stream)), http2))
                }
            }
        };
        let greeted = tokio::select! {
            greeted = timeout(self.header, greeting) => greeted,
            () = self.shutdown.cancelled() => return,
        };
        match greeted {
            Ok(Ok((Stream::Plain(stream), http2))) => {
                self.speak(stream, peer, http2, watcher).await;
            }
            Ok(Ok((Stream::Encrypted(stream), http2))) => {
                self.speak(stream, peer, http2, watcher).await;
            }
            // Whoever does not say what it wants is not waited for.
            Ok(Err(_)) | Err(_) => {}
        }
    }

    async fn speak(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: SocketAddr,
        http2: bool,
        watcher: Watcher,
    ) {
        let io = TokioIo::new(Stalling::new(stream, self.stall));
        let router = TowerToHyperService::new(self.router.clone());
        let answer = move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.call(request)
        };
        if !http2 {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(self.header);
            builder.max_header_size(MAX_HEADERS).max_buf_size(2 * MAX_HEADERS);
            let _ = watcher.watch(builder.serve_connection(io, service_fn(answer))).await;
            return;
        }
        // HTTP/2 has no timer for headers, and to a reader without a window no write begins that could
        // stall: both are looked for here.
        let requests = Requests::none();
        let counted = {
            let requests = Arc::clone(&requests);
            service_fn(move |request| {
                let (open, answer) = (requests.enter(), answer(request));
                async move {
                    let answer = answer.await;
                    open.asked(false);
                    answer.map(|response| hold(response, open))
                }
            })
        };
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(u32::try_from(MAX_HEADERS).unwrap_or(u32::MAX))
            .max_pending_accept_reset_streams(32)
            .max_local_error_reset_streams(64)
            .keep_alive_interval(Some(self.stall))
            .keep_alive_timeout(self.stall);
        let mut connection = pin!(builder.serve_connection(io, counted));
        let idle = loop {
            tokio::select! {
                // First: a request that has come is not left behind.
                biased;
                _ = &mut connection => return,
                () = self.shutdown.cancelled() => break false,
                () = sleep(self.header.min(self.stall) / 4) => {
                    if requests.untaken() >= self.stall {
                        return;
                    }
                    if requests.idle() >= self.header {
                        break true;
                    }
                }
            }
        };
        // The client is told which of its requests are the last that are answered.
        connection.as_mut().graceful_shutdown();
        if idle {
            let _ = timeout(self.header, connection).await;
        } else {
            let _ = connection.await;
        }
        drop(watcher);
    }
}

enum Stream {
    Plain(TcpStream),
    Encrypted(Box<tokio_rustls::server::TlsStream<TcpStream>>),
}

/// Whether a client begins as HTTP/2 does, by the first byte that tells.
async fn speaks_http2(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0; HTTP2.len()];
    loop {
        let length = stream.peek(&mut first).await?;
        let seen = first.get(..length).unwrap_or_default();
        if length == 0 || !HTTP2.starts_with(seen) {
            return Ok(false);
        }
        if length == HTTP2.len() {
            return Ok(true);
        }
        // What was seen stays readable, so there is no other sign that there is more.
        sleep(Duration::from_millis(5)).await;
    }
}
