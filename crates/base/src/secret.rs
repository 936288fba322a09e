//! Values that must not be seen in a log.

use std::borrow::Cow;

/// What stands in a log where a secret would have stood.
pub const REDACTED: &str = "[redacted]";

const SECRET_NAMES: [&str; 8] =
    ["key", "secret", "token", "password", "passwd", "credential", "authorization", "cookie"];

/// Whether the value under this name must not be logged.
pub fn is_secret_name(name: &str) -> bool {
    // Every field of every log line is asked for: no copy is made, and most letters begin none
    // of the names.
    let name = name.as_bytes();
    let begins = |part: &[u8], secret: &str| {
        part.get(..secret.len()).is_some_and(|part| part.eq_ignore_ascii_case(secret.as_bytes()))
    };
    (0..name.len()).filter_map(|start| name.get(start..)).any(|part| {
        part.first().is_some_and(|first| b"kstpac".contains(&first.to_ascii_lowercase()))
            && SECRET_NAMES.iter().any(|secret| begins(part, secret))
    })
}

/// The values of all configured secrets, to be struck out wherever they appear.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Collects the values. Very short ones are left out: striking out every `a` would make the
    /// log unreadable and tell the secret by its gaps.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= 4).collect();
        // Longest first, so that a secret that contains another is struck out whole.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self(values)
    }

    /// Strikes out every secret in `text`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_secrets_are_known_in_any_case() {
        for name in ["API_KEY", "clientSecret", "access-token", "Authorization", "set-cookie"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["HOME", "", "ke", "cooki"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_secret_is_struck_out_wherever_it_appears() {
        let secrets = Secrets::new(["hunter22".into(), "hunter22-long".into(), "ab".into()]);
        assert_eq!(secrets.redact("x hunter22-long y hunter22 ab"), "x [redacted] y [redacted] ab");
        assert!(matches!(secrets.redact("nothing"), Cow::Borrowed(_)));
    }
}
