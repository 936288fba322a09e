//! Who may talk to the server over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// What a caller must show. Secrets are kept and compared as digests.
#[derive(Clone, PartialEq, Eq)]
pub enum Auth {
    /// Nothing.
    None,
    /// A user's name and password, as `Authorization: Basic …`.
    Basic(Fingerprint),
    /// One of these keys, as `X-API-Key: …`.
    ApiKeys(Vec<Fingerprint>),
}

/// The digest of a secret.
type Fingerprint = [u8; 32];

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Basic(_) => "Basic",
            Self::ApiKeys(_) => "ApiKeys",
        })
    }
}

impl Auth {
    /// A user's name and password.
    pub fn basic(name: &str, password: &str) -> Self {
        Self::Basic(fingerprint(format!("{name}:{password}").as_bytes()))
    }

    /// Any of several keys.
    pub fn api_keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self::ApiKeys(keys.into_iter().map(|key| fingerprint(key.as_bytes())).collect())
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        match self {
            Self::None => true,
            Self::Basic(known) => {
                let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
                let shown = shown.and_then(|value| {
                    let (scheme, text) = value.split_once(' ')?;
                    scheme
                        .eq_ignore_ascii_case("basic")
                        .then(|| STANDARD.decode(text.trim()).ok())?
                });
                shown.is_some_and(|shown| same(&fingerprint(&shown), known))
            }
            Self::ApiKeys(known) => headers.get("x-api-key").is_some_and(|shown| {
                let shown = fingerprint(shown.as_bytes());
                // All of them are looked at, so that the time does not tell which was near.
                known.iter().fold(false, |found, key| found | same(&shown, key))
            }),
        }
    }

    fn challenge(&self) -> &'static str {
        match self {
            Self::Basic(_) => "Basic realm=\"rutter\", charset=\"UTF-8\"",
            Self::None | Self::ApiKeys(_) => "ApiKey realm=\"rutter\"",
        }
    }
}

fn fingerprint(secret: &[u8]) -> Fingerprint {
    Sha256::digest(secret).into()
}

/// Compares in a time that does not depend on where they differ.
fn same(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.iter().zip(other).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Lets a request pass, or answers 401.
pub(super) async fn guard(State(auth): State<Arc<Auth>>, request: Request, next: Next) -> Response {
    if auth.admits(request.headers()) {
        return next.run(request).await;
    }
    tracing::warn!(
        event = "denied",
        path = request.uri().path(),
        "a caller showed no valid credential"
    );
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, auth.challenge())]).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn only_the_right_name_and_password_pass() {
        let auth = Auth::basic("ada", "s3:cret");
        let with =
            |text: &str| headers("authorization", &format!("Basic {}", STANDARD.encode(text)));
        assert!(auth.admits(&with("ada:s3:cret")));
        for wrong in ["ada:s3", "ada:", ":", "", "ADA:s3:cret", "ada:s3:cret "] {
            assert!(!auth.admits(&with(wrong)), "{wrong}");
        }
        assert!(!auth.admits(&headers("authorization", "Basic !!!")));
        assert!(!auth.admits(&headers("authorization", "Bearer abc")));
        assert!(!auth.admits(&HeaderMap::new()));
    }

    #[test]
    fn any_of_the_keys_passes_and_nothing_else() {
        let auth = Auth::api_keys(["one", "two"]);
        assert!(
            auth.admits(&headers("x-api-key", "one")) && auth.admits(&headers("x-api-key", "two"))
        );
        for wrong in ["", "one,two", "One", "on"] {
            assert!(!auth.admits(&headers("x-api-key", wrong)), "{wrong}");
        }
        assert!(!auth.admits(&headers("authorization", "one")));
        assert!(!format!("{auth:?}").contains("one"));
    }
}
