//! Who may talk to the server over HTTP.

mod tokens;

use axum::http::header::{ACCEPT, AUTHORIZATION, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub use tokens::{KeySource, Tokens};

use super::{Repeated, single};
use crate::caller::Caller;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What callers may show. Secrets are kept and compared as digests.
#[derive(Default)]
pub struct Credentials {
    password: Option<Known>,
    keys: Vec<Known>,
    tokens: Option<Tokens>,
}

/// A secret, and who shows it.
struct Known {
    fingerprint: Fingerprint,
    caller: Caller,
}

/// The digest of a secret.
type Fingerprint = [u8; 32];

/// A caller who was let in.
#[derive(Debug)]
pub(super) struct Admitted {
    pub caller: Caller,
    /// Whether the secret is one that people choose, and others can guess.
    pub guessable: bool,
}

/// Why a caller was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stranger {
    /// Nothing was shown.
    Silent,
    /// What was shown is wrong.
    Wrong,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("password", &self.password.is_some())
            .field("keys", &self.keys.iter().map(|key| key.caller.name()).collect::<Vec<_>>())
            .field("tokens", &self.tokens.is_some())
            .finish()
    }
}

impl Credentials {
    /// Nothing is asked for.
    pub fn none() -> Self {
        Self::default()
    }

    /// Also a user's name and password, as `Authorization: Basic …`.
    #[must_use]
    pub fn with_password(mut self, name: &str, password: &str) -> Self {
        let fingerprint = fingerprint(format!("{name}:{password}").as_bytes());
        self.password = Some(Known { fingerprint, caller: Caller::with_password(name) });
        self
    }

    /// Also a key, as `X-API-Key: …` or `Authorization: Bearer …`.
    #[must_use]
    pub fn with_key(mut self, key: &str, caller: Caller) -> Self {
        self.keys.push(Known { fingerprint: fingerprint(key.as_bytes()), caller });
        self
    }

    /// Also tokens of an authorization server, as `Authorization: Bearer …`.
    #[must_use]
    pub fn with_tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Whether nothing is asked for.
    pub fn is_open(&self) -> bool {
        self.password.is_none() && self.keys.is_empty() && self.tokens.is_none()
    }

    /// Whether a key is one of those that are known.
    pub fn knows_key(&self, key: &str) -> bool {
        self.key(key.as_bytes()).is_some()
    }

    /// Whether there is a key of this name.
    pub fn knows_name(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.caller.name().is_some_and(|known| &**known == name))
    }

    /// The tokens that are accepted, if any are.
    pub fn tokens(&self) -> Option<&Tokens> {
        self.tokens.as_ref()
    }

    /// Whether callers show a key.
    pub fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Who it is, by what the headers show.
    pub(super) async fn admit(&self, headers: &HeaderMap) -> Result<Admitted, Stranger> {
        let sure = |caller: &Caller| Admitted { caller: caller.clone(), guessable: false };
        if self.is_open() {
            return Ok(sure(&Caller::anyone()));
        }
        if let Some(key) = single(headers, API_KEY)? {
            return self.key(key.as_bytes()).map(sure).ok_or(Stranger::Wrong);
        }
        let shown = single(headers, AUTHORIZATION)?.ok_or(Stranger::Silent)?;
        let (scheme, shown) = shown
            .to_str()
            .ok()
            .and_then(|value| value.trim().split_once(' '))
            .ok_or(Stranger::Wrong)?;
        let shown = shown.trim();
        if scheme.eq_ignore_ascii_case("basic") {
            let pair = STANDARD.decode(shown).map_err(|_| Stranger::Wrong)?;
            let known = self.password.as_ref();
            if let Some(known) = known.filter(|known| same(&fingerprint(&pair), &known.fingerprint))
            {
                return Ok(Admitted { caller: known.caller.clone(), guessable: true });
            }
            // A browser can show a key in no other way.
            let colon = pair.iter().position(|byte| *byte == b':').ok_or(Stranger::Wrong)?;
            let key = pair.get(colon + 1..).unwrap_or_default();
            return self.key(key).map(sure).ok_or(Stranger::Wrong);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Stranger::Wrong);
        }
        if let Some(caller) = self.key(shown.as_bytes()) {
            return Ok(sure(caller));
        }
        let tokens = self.tokens.as_ref().ok_or(Stranger::Wrong)?;
        let caller = tokens.verify(shown).await.map_err(|reason| {
            tracing::info!(event = "token_refused", reason = %reason);
            Stranger::Wrong
        })?;
        Ok(sure(&caller))
    }

    /// How to come in, for whoever did not. `base` is the address of the server.
    pub(super) fn challenges(
        &self,
        headers: &HeaderMap,
        stranger: Stranger,
        base: &str,
    ) -> Vec<HeaderValue> {
        let mut challenges = Vec::new();
        if self.tokens.is_some() {
            let error = match stranger {
                Stranger::Silent => "",
                Stranger::Wrong => ", error=\"invalid_token\"",
            };
            challenges.push(format!(
                "Bearer realm=\"rutter\", resource_metadata=\"{base}{}\"{error}",
                super::METADATA
            ));
        }
        if !self.keys.is_empty() {
            challenges.push("ApiKey realm=\"rutter\"".to_owned());
        }
        // A browser asks its user for a password, or for a key instead of it.
        let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let browser = accept.is_some_and(|accept| accept.contains("text/html"));
        if self.password.is_some() || browser && !self.keys.is_empty() {
            challenges.push("Basic realm=\"rutter\", charset=\"UTF-8\"".to_owned());
        }
        challenges.iter().filter_map(|text| HeaderValue::from_str(text).ok()).collect()
    }

    fn key(&self, shown: &[u8]) -> Option<&Caller> {
        let shown = fingerprint(shown);
        // All of them are looked at, so that the time does not tell which was near.
        self.keys.iter().fold(None, |found, key| {
            if same(&shown, &key.fingerprint) { Some(&key.caller) } else { found }
        })
    }
}

/// Whoever shows two things shows nothing.
impl From<Repeated> for Stranger {
    fn from(_: Repeated) -> Self {
        Self::Wrong
    }
}

fn fingerprint(secret: &[u8]) -> Fingerprint {
    Sha256::digest(secret).into()
}

/// Compares in a time that does not depend on where they differ.
fn same(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.iter().zip(other).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    async fn admitted(
        credentials: &Credentials,
        fields: &[(&'static str, &str)],
    ) -> Option<String> {
        let admitted = credentials.admit(&headers(fields)).await.ok()?;
        admitted.caller.name().map(ToString::to_string)
    }

    fn basic(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[tokio::test]
    async fn only_the_right_name_and_password_pass() {
        let credentials = Credentials::none().with_password("ada", "s3:cret");
        let right = basic("ada:s3:cret");
        assert_eq!(
            admitted(&credentials, &[("authorization", &right)]).await.as_deref(),
            Some("ada")
        );
        for wrong in ["ada:s3", "ada:", ":", "", "ADA:s3:cret", "ada:s3:cret "] {
            let wrong = basic(wrong);
            assert_eq!(admitted(&credentials, &[("authorization", &wrong)]).await, None);
        }
        for wrong in ["Basic !!!", "Bearer abc", "Basic", "", "s3:cret"] {
            assert_eq!(admitted(&credentials, &[("authorization", wrong)]).await, None);
        }
        let twice = [("authorization", right.as_str()), ("authorization", right.as_str())];
        assert_eq!(admitted(&credentials, &twice).await, None);
        assert_eq!(credentials.admit(&headers(&[])).await.unwrap_err(), Stranger::Silent);
    }

    #[tokio::test]
    async fn each_key_has_its_caller_however_it_is_shown() {
        let credentials = Credentials::none()
            .with_key("one", Caller::with_key("first"))
            .with_key("two", Caller::with_key("second"));
        let (bearer, password) = ("Bearer two".to_owned(), basic("anyone:two"));
        for (header, value) in
            [("x-api-key", "two"), ("authorization", &bearer), ("authorization", &password)]
        {
            let name = admitted(&credentials, &[(header, value)]).await;
            assert_eq!(name.as_deref(), Some("second"), "{value}");
        }
        for wrong in ["", "one,two", "One", "on"] {
            assert_eq!(admitted(&credentials, &[("x-api-key", wrong)]).await, None, "{wrong}");
        }
        assert_eq!(admitted(&credentials, &[("authorization", "one")]).await, None);
        let both = [("x-api-key", "one"), ("x-api-key", "two")];
        assert_eq!(admitted(&credentials, &both).await, None);
        assert!(!format!("{credentials:?}").contains("one"));
    }
}
