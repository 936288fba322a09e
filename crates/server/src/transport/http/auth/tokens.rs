//! Tokens of an authorization server: signed claims, verified with keys that it publishes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::read_named;
use serde::Deserialize;
use tokio::time::Instant;

use crate::app::App;
use crate::caller::Caller;

/// What may sign: nothing whose key the server would have to keep secret.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// A set of keys is a few pages at most.
const MAX_KEYS: usize = 256 * 1024;
/// A token is a few lines at most.
const MAX_TOKEN: usize = 16 * 1024;
/// How far the clocks of two servers may be apart.
const LEEWAY: Duration = Duration::from_mins(1);
/// How long keys are used before they are asked for again.
const FRESH: Duration = Duration::from_mins(15);
/// How soon after that an unknown key makes the server ask again: strangers choose the names of
/// keys in their tokens.
const AGAIN: Duration = Duration::from_secs(30);

/// Verifies tokens.
pub struct Tokens {
    issuer: String,
    audience: String,
    source: KeySource,
    keys: ArcSwap<JwkSet>,
    asked: Mutex<Option<Instant>>,
    app: Arc<App>,
}

/// Where the keys of an authorization server are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Url(String),
}

#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    client_id: Option<String>,
}

impl Tokens {
    /// Tokens from `issuer` for `audience`. The keys are there, or the server does not start.
    pub async fn new(
        issuer: String,
        audience: String,
        source: KeySource,
        app: Arc<App>,
    ) -> Result<Self, Report> {
        let tokens = Self {
            issuer,
            audience,
            source,
            keys: ArcSwap::from_pointee(JwkSet { keys: Vec::new() }),
            asked: Mutex::default(),
            app,
        };
        let keys = tokens
            .fetch()
            .await
            .map_err(|report| Report::new(Kind::Invalid, format!("`http.oauth.jwks`: {report}")))?;
        tokens.keys.store(Arc::new(keys));
        *tokens.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(tokens)
    }

    /// Who issues the tokens.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whom the tokens are for.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// Who holds a token, or why it is worth nothing.
    pub(super) async fn verify(&self, token: &str) -> Result<Caller, String> {
        if token.len() > MAX_TOKEN {
            return Err("it is too long".to_owned());
        }
        let header = decode_header(token).map_err(|_| "it is no signed token")?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err("its algorithm is not accepted".to_owned());
        }
        if self.is_due(FRESH) {
            self.refresh().await;
        }
        let mut key = self.key(header.kid.as_deref());
        if key.is_none() && self.is_due(AGAIN) {
            self.refresh().await;
            key = self.key(header.kid.as_deref());
        }
        let key = key.ok_or("its key is not known")?;
        if key.common.key_algorithm.is_some_and(|algorithm| {
            algorithm.to_string().parse::<Algorithm>().ok() != Some(header.alg)
        }) {
            return Err("its key is for another algorithm".to_owned());
        }
        let key = DecodingKey::from_jwk(&key).map_err(|_| "its key cannot be used")?;
        let mut wanted = Validation::new(header.alg);
        wanted.leeway = LEEWAY.as_secs();
        wanted.validate_nbf = true;
        wanted.set_required_spec_claims(&["exp", "iss", "aud"]);
        wanted.set_issuer(&[&self.issuer]);
        wanted.set_audience(&[&self.audience]);
        let claims = decode::<Claims>(token, &key, &wanted).map_err(|error| error.to_string())?;
        let Claims { sub, client_id } = claims.claims;
        match (sub, client_id) {
            (Some(subject), _) => Ok(Caller::with_subject(&subject)),
            (None, Some(client)) => Ok(Caller::with_client(&client)),
            (None, None) => Err("it does not say whom it was given to".to_owned()),
        }
    }

    fn key(&self, id: Option<&str>) -> Option<Jwk> {
        let keys = self.keys.load();
        let signs = |key: &&Jwk| {
            key.common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature)
        };
        let mut fitting = keys.keys.iter().filter(signs);
        match id {
            Some(id) => fitting.find(|key| key.common.key_id.as_deref() == Some(id)).cloned(),
            // Without a name there must be no choice.
            None => fitting.next().filter(|_| fitting.next().is_none()).cloned(),
        }
    }

    /// Whether the keys were last asked for longer ago; whoever is told so is the one to ask.
    fn is_due(&self, after: Duration) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = asked.is_none_or(|asked| asked.elapsed() >= after);
        if due {
            *asked = Some(Instant::now());
        }
        due
    }

    /// Asks for the keys again; those that there are stay when that fails.
    async fn refresh(&self) {
        match self.fetch().await {
            Ok(keys) => self.keys.store(Arc::new(keys)),
            Err(report) => {
                tracing::warn!(event = "keys_not_renewed", reason = %report, cause = report.cause(), "the old keys are kept");
            }
        }
    }

    async fn fetch(&self) -> Result<JwkSet, Report> {
        let text = match &self.source {
            KeySource::File(path) => read_named(path, MAX_KEYS as u64).map_err(|error| {
                Report::new(Kind::Invalid, format!("the file cannot be used: {error}"))
            })?,
            KeySource::Url(url) => self.app.outbound().get(url, MAX_KEYS).await?,
        };
        let keys: JwkSet = serde_json::from_str(&text).map_err(|error| {
            Report::new(Kind::Invalid, "it is not a set of JSON web keys").because(&error)
        })?;
        if keys.keys.is_empty() {
            return Err(Report::new(Kind::Invalid, "there is no key in it"));
        }
        Ok(keys)
    }
}
