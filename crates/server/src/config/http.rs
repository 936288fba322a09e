//! The part of the configuration that is about HTTP.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::module::ModuleId;

/// The server over HTTP.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// The interface
    pub host: Option<String>,
    /// The port
    pub port: Option<u16>,
    /// The names under which clients reach the server
    pub public_names: Vec<String>,
    /// Proxies before the server, by address or network: what they say of a caller's address is believed
    pub trusted_proxies: Vec<String>,
    /// What callers must show; by default whatever `keys` and `oauth` describe
    pub auth: Option<AuthType>,
    /// Keys, each with what its holder may see
    pub keys: Vec<HttpKey>,
    /// Tokens of an authorization server
    pub oauth: Option<OAuth>,
    /// A certificate, to encrypt connections in this process
    pub tls: Option<Tls>,
    /// What bounds callers
    pub limits: HttpLimits,
}

/// How callers over HTTP prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum AuthType {
    /// Anyone may call
    None,
    /// A name and a password
    Basic,
    /// One of several keys, as X-API-Key
    Apikey,
    /// A token of an authorization server, or a key of the configuration file
    Oauth,
}

/// A key, and what its holder may see.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpKey {
    /// What the holder is called in the log and in the board's journal
    pub name: String,
    /// A file with the key
    #[serde(default)]
    pub key_file: Option<String>,
    /// A variable of the environment with the key
    #[serde(default)]
    pub key_env: Option<String>,
    /// Only the tools of this recipe
    #[serde(default)]
    pub recipe: Option<String>,
    /// The discipline that the holder works in
    #[serde(default)]
    pub discipline: Option<String>,
    /// Only these modules
    #[serde(default)]
    pub modules: Option<Vec<ModuleId>>,
    /// No tool that writes
    #[serde(default)]
    pub read_only: bool,
}

/// Tokens of an authorization server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    /// Who issues them: their `iss`
    pub issuer: String,
    /// Whom they are for: their `aud`
    pub audience: String,
    /// The keys that they are signed with: a file, or an https address if requests to other servers are allowed
    pub jwks: String,
}

/// A certificate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// A file with the chain of certificates, PEM
    pub certificate: String,
    /// A file with the private key, PEM
    pub key: String,
}

/// What bounds callers over HTTP.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpLimits {
    /// Seconds for the headers of a request, and between two requests
    pub header_seconds: NonZeroU32,
    /// Seconds for the body of a request
    pub body_seconds: NonZeroU32,
    /// Bytes of the body of a request
    pub body_bytes: NonZeroUsize,
    /// Seconds for a reader that takes nothing
    pub stall_seconds: NonZeroU32,
    /// Connections; those beyond wait
    pub connections: NonZeroUsize,
    /// Sessions; those beyond are refused for now
    pub sessions: NonZeroUsize,
    /// Seconds after which a session without a request or a stream ends
    pub idle_seconds: NonZeroU32,
    /// Messages that wait for one stream
    pub queue: NonZeroUsize,
    /// Requests a second of one caller, and twice as many at once; unbounded unless set
    pub requests_per_second: Option<NonZeroU32>,
    /// Wrong credentials a minute from one address
    pub failed_logins_per_minute: NonZeroU32,
}

impl Default for HttpLimits {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let size = |number| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        Self {
            header_seconds: number(10),
            body_seconds: number(30),
            body_bytes: size(4 * 1024 * 1024),
            stall_seconds: number(30),
            connections: size(4_096),
            sessions: size(256),
            idle_seconds: number(300),
            queue: size(64),
            requests_per_second: None,
            failed_logins_per_minute: number(60),
        }
    }
}

impl HttpLimits {
    /// For the headers of a request.
    pub fn header(&self) -> Duration {
        Duration::from_secs(self.header_seconds.get().into())
    }

    /// For the body of a request.
    pub fn body(&self) -> Duration {
        Duration::from_secs(self.body_seconds.get().into())
    }

    /// For a reader that takes nothing.
    pub fn stall(&self) -> Duration {
        Duration::from_secs(self.stall_seconds.get().into())
    }

    /// For a session that nobody uses.
    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_seconds.get().into())
    }
}
