//! TLS in the process: a certificate that can be renewed without a restart.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rutter_base::failure::{Kind, Report};
use rutter_base::root::read_named;
use tokio_rustls::TlsAcceptor;

/// A chain of certificates is a few pages at most.
const MAX_FILE: u64 = 1024 * 1024;

/// The certificate that the server shows, and the files that it comes from.
#[derive(Debug)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: ArcSwap<CertifiedKey>,
}

impl Certificate {
    /// Reads a chain of certificates and its private key, both PEM.
    pub fn read(chain: PathBuf, key: PathBuf) -> Result<Self, Report> {
        let current = ArcSwap::from_pointee(certified(&chain, &key)?);
        Ok(Self { chain, key, current })
    }

    /// Reads the files again. What cannot be used leaves the certificate that there is.
    pub fn renew(&self) {
        match certified(&self.chain, &self.key) {
            Ok(next) => self.current.store(Arc::new(next)),
            Err(report) => {
                tracing::error!(event = "certificate_not_renewed", reason = %report, "the old one is kept");
            }
        }
    }

    /// Greets connections with whatever certificate there is by then.
    pub(super) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, Report> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Report::new(Kind::Internal, "TLS cannot start").because(&error))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Current(Arc::clone(self))));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

#[derive(Debug)]
struct Current(Arc<Certificate>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.current.load_full())
    }
}

fn certified(chain: &Path, key: &Path) -> Result<CertifiedKey, Report> {
    let wrong = |setting: &str, what: &dyn std::fmt::Display| {
        Report::new(Kind::Invalid, format!("`http.tls.{setting}`: {what}"))
    };
    let read = |setting: &'static str, path: &Path| {
        read_named(path, MAX_FILE)
            .map_err(|error| wrong(setting, &format_args!("the file cannot be used: {error}")))
    };
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(read("certificate", chain)?.as_bytes()).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| wrong("certificate", &"there is no PEM certificate in it"))?;
    let key = PrivateKeyDer::from_pem_slice(read("key", key)?.as_bytes())
        .map_err(|_| wrong("key", &"there is no PEM private key in it"))?;
    CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
        .map_err(|_| wrong("key", &"it is not the key of the certificate"))
}
