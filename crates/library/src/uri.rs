//! The only parser of document URIs: `acdc://source/path` and `architecture://folder/path`.

use std::fmt;

use rutter_base::root::RelativePath;

/// Which kind of URI it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `acdc://<source>/<path>`.
    Acdc,
    /// `architecture://<folder>/<path>`.
    Architecture,
}

impl Scheme {
    /// The text before `://`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acdc => "acdc",
            Self::Architecture => "architecture",
        }
    }
}

/// A document's address. The path has no `.md`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uri {
    /// Which kind of URI it is.
    pub scheme: Scheme,
    /// The source's name, or the folder of an `architecture://` URI.
    pub source: String,
    /// The document, without `.md`.
    pub path: RelativePath,
    /// The section, if one was named after `#`.
    pub anchor: Option<String>,
}

/// The text is not a document's URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document's URI: use `acdc://<source>/<path>`")]
pub struct UriError;

impl Uri {
    /// The address of a document.
    pub fn new(scheme: Scheme, source: impl Into<String>, path: RelativePath) -> Self {
        Self { scheme, source: source.into(), path, anchor: None }
    }

    /// Reads a URI. A trailing `.md` is accepted and dropped; characters may be percent-encoded.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let (scheme, rest) = text.split_once("://").ok_or(UriError)?;
        let scheme = [Scheme::Acdc, Scheme::Architecture]
            .into_iter()
            .find(|known| known.as_str().eq_ignore_ascii_case(scheme))
            .ok_or(UriError)?;
        let (rest, anchor) = match rest.split_once('#') {
            Some((rest, anchor)) => (rest, Some(decode(anchor)?)),
            None => (rest, None),
        };
        if rest.contains('?') {
            return Err(UriError);
        }
        let (source, path) = rest.split_once('/').ok_or(UriError)?;
        let source = decode(source)?;
        if source.is_empty() || source.contains('/') {
            return Err(UriError);
        }
        let path = decode(path)?;
        let path = path.strip_suffix(".md").unwrap_or(&path);
        let path = RelativePath::new(path).map_err(|_| UriError)?;
        Ok(Self { scheme, source, path, anchor })
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, path) = (Encoded(&self.source), Encoded(self.path.as_str()));
        write!(f, "{}://{source}/{path}", self.scheme.as_str())?;
        if let Some(anchor) = &self.anchor {
            write!(f, "#{}", Encoded(anchor))?;
        }
        Ok(())
    }
}

/// Text as it stands in a URI: everything but what RFC 3986 leaves unreserved, and `/`, is
/// percent-encoded.
#[derive(Debug, Clone, Copy)]
pub struct Encoded<'a>(pub &'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
                fmt::Write::write_char(f, char::from(byte))?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}

/// Undoes percent-encoding.
pub(crate) fn decode(text: &str) -> Result<String, UriError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit =
            |byte: Option<u8>| byte.and_then(|b| char::from(b).to_digit(16)).ok_or(UriError);
        let value = digit(rest.next())? * 16 + digit(rest.next())?;
        bytes.push(u8::try_from(value).map_err(|_| UriError)?);
    }
    String::from_utf8(bytes).map_err(|_| UriError)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_of_one_address() {
        let plain = Uri::parse("acdc://docs/guides/start").unwrap();
        assert_eq!(plain.to_string(), "acdc://docs/guides/start");
        for form in [
            "acdc://docs/guides/start.md",
            "ACDC://docs/guides/st%61rt",
            "acdc://docs/guides%2Fstart",
        ] {
            assert_eq!(Uri::parse(form).unwrap(), plain, "{form}");
        }
        assert_eq!(Uri::parse("acdc://docs/a#b-c").unwrap().anchor.as_deref(), Some("b-c"));
        assert_eq!(Uri::parse("acdc://docs/ä b").unwrap().to_string(), "acdc://docs/%C3%A4%20b");
    }

    #[test]
    fn addresses_that_lead_elsewhere_are_no_addresses() {
        for text in [
            "",
            "acdc",
            "acdc://",
            "acdc://docs",
            "acdc://docs/",
            "acdc:///etc/passwd",
            "file:///etc/passwd",
            "acdc://docs/../x",
            "acdc://docs/%2e%2e/x",
            "acdc://docs/a/%2E%2E/b",
            "acdc://docs//etc/passwd",
            "acdc://docs/a%00",
            "acdc://docs/%zz",
            "acdc://docs/%",
            "acdc://docs/%ff",
            "acdc://docs/a?b",
            "acdc://docs/.md",
            "acdc://docs/a\\..\\b",
            "acdc://a%2Fb/c",
            "http://docs/a",
        ] {
            assert_eq!(Uri::parse(text), Err(UriError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn uris_round_trip(source in "[a-z][a-z0-9._-]{0,8}", path in "[^/\\\\\0]{1,12}(/[^/\\\\\0]{1,8}){0,3}") {
            if let Ok(path) = RelativePath::new(path) {
                prop_assume!(path.as_str().strip_suffix(".md").is_none());
                let uri = Uri::new(Scheme::Acdc, source, path);
                prop_assert_eq!(Uri::parse(&uri.to_string()), Ok(uri));
            }
        }

        #[test]
        fn parsing_never_panics(text in "(acdc|architecture)?(://)?\\PC{0,40}") {
            let _ = Uri::parse(&text);
        }
    }
}
