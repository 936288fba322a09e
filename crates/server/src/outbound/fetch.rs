//! One request to another server: encrypted unless it is this machine, bounded, not redirected.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{ACCEPT, HOST, USER_AGENT};
use axum::http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rutter_base::failure::{Kind, Report};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::address::is_local;

/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The text at an address.
pub(crate) async fn get(address: &str, limit: usize) -> Result<String, Report> {
    let invalid = |what: &str| Report::new(Kind::Invalid, format!("`{address}`: {what}"));
    let uri: Uri = address.parse().map_err(|_| invalid("it is no address"))?;
    let encrypted = uri.scheme_str() == Some("https");
    let host = uri.host().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| invalid("it names no server"))?.to_owned();
    let plain = uri.scheme_str() == Some("http") && is_local(&host);
    if !encrypted && !plain {
        return Err(invalid("expected an https address"));
    }
    let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
    let asked = async {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare, port)).await.map_err(|error| failed(&error))?;
        if encrypted {
            let name =
                ServerName::try_from(bare.to_owned()).map_err(|_| invalid("it names no server"))?;
            let stream = connector()?.connect(name, stream).await;
            ask(stream.map_err(|error| failed(&error))?, &uri, limit).await
        } else {
            ask(stream, &uri, limit).await
        }
    };
    tokio::time::timeout(PATIENCE, asked)
        .await
        .unwrap_or_else(|_| Err(Report::new(Kind::Busy, "the server took too long")))
}

async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    uri: &Uri,
    limit: usize,
) -> Result<String, Report> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    // It ends with the sender, or with its fault, which the sender then has.
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path)
        .header(HOST, uri.authority().map_or("", |authority| authority.as_str()))
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("rutter/", env!("CARGO_PKG_VERSION")))
        .body(Empty::<Bytes>::new())
        .map_err(|error| failed(&error))?;
    let response = sender.send_request(request).await.map_err(|error| failed(&error))?;
    if response.status() != StatusCode::OK {
        let status = response.status().as_u16();
        return Err(Report::new(Kind::Invalid, format!("the server answered with {status}")));
    }
    let body = Limited::new(response.into_body(), limit).collect().await.map_err(|error| {
        Report::new(Kind::Invalid, "the answer broke off or is too long").because(&*error)
    })?;
    String::from_utf8(body.to_bytes().into())
        .map_err(|error| Report::new(Kind::Invalid, "the answer is no text").because(&error))
}

/// Trusts whom this machine trusts.
fn connector() -> Result<TlsConnector, Report> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Report {
    Report::new(Kind::Invalid, "the server cannot be reached").because(error)
}
