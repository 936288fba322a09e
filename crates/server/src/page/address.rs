//! Where clients reach this server: what the reader's browser called it.

use axum::http::header::{HOST, HeaderName};
use axum::http::{HeaderMap, Uri};

/// The scheme that a proxy in front of this server was asked with.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The address of MCP on this server.
pub(super) fn of_mcp(headers: &HeaderMap, uri: &Uri, tls: bool) -> String {
    let forwarded = headers.get(FORWARDED_PROTO).is_some_and(|value| value == "https");
    let scheme = if tls || forwarded { "https" } else { "http" };
    let host = headers.get(HOST).and_then(|value| value.to_str().ok());
    // HTTP/2 has no Host: the name is part of the request's address.
    let host = host.or_else(|| uri.authority().map(axum::http::uri::Authority::as_str));
    let host = host.filter(|host| is_plain(host)).unwrap_or("localhost");
    format!("{scheme}://{host}/mcp")
}

/// Whether a name can stand in a command without meaning anything to a shell. It was checked
/// before, but a command is something that people paste.
fn is_plain(host: &str) -> bool {
    !host.is_empty()
        && host.len() <= 300
        && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(headers: &[(&'static str, &str)], uri: &str, tls: bool) -> String {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a header")));
        of_mcp(&headers.collect(), &uri.parse().expect("an address"), tls)
    }

    #[test]
    fn the_address_is_what_the_browser_called_it() {
        for (headers, uri, tls, expected) in [
            (&[("host", "a.example:8080")][..], "/", false, "http://a.example:8080/mcp"),
            (&[("host", "[::1]:80")], "/", false, "http://[::1]:80/mcp"),
            (&[("host", "a.example")], "/", true, "https://a.example/mcp"),
            (
                &[("host", "a.example"), ("x-forwarded-proto", "https")],
                "/",
                false,
                "https://a.example/mcp",
            ),
            (
                &[("host", "a.example"), ("x-forwarded-proto", "javascript")],
                "/",
                false,
                "http://a.example/mcp",
            ),
            (&[], "https://b.example/", true, "https://b.example/mcp"),
            (&[("host", "a;rm -rf ~")], "/", false, "http://localhost/mcp"),
            (&[("host", "$(x)")], "/", false, "http://localhost/mcp"),
            (&[("host", "")], "/", false, "http://localhost/mcp"),
            (&[], "/", false, "http://localhost/mcp"),
        ] {
            assert_eq!(address(headers, uri, tls), expected, "{headers:?}");
        }
    }
}
