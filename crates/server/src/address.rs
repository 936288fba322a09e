//! Names and addresses of this server, as those who reach it write them.

use std::net::IpAddr;

use axum::http::header::{HOST, HeaderName};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};

/// The scheme that a proxy in front of this server was asked with.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Where a client reached this server, without a path: what it called it, and by which scheme.
pub fn base(headers: &HeaderMap, uri: &Uri, tls: bool) -> String {
    let forwarded = headers.get(FORWARDED_PROTO).is_some_and(|value| value == "https");
    let scheme = if tls || forwarded { "https" } else { "http" };
    let host = headers.get(HOST).and_then(|value| value.to_str().ok());
    // HTTP/2 has no Host: the name is part of the request's address.
    let host = host.or_else(|| uri.authority().map(Authority::as_str));
    let host = host.filter(|host| is_plain(host)).unwrap_or("localhost");
    format!("{scheme}://{host}")
}

/// Whether a host is this machine's name for itself: `localhost`, or an address that leads
/// nowhere else, with or without brackets.
pub fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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
        base(&headers.collect(), &uri.parse().expect("an address"), tls)
    }

    #[test]
    fn this_machine_has_names_for_itself() {
        for host in ["localhost", "LocalHost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["", "0.0.0.0", "::", "localhost.example", "10.0.0.1", "127.0.0.1.example"] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn the_address_is_what_the_browser_called_it() {
        for (headers, uri, tls, expected) in [
            (&[("host", "a.example:8080")][..], "/", false, "http://a.example:8080"),
            (&[("host", "[::1]:80")], "/", false, "http://[::1]:80"),
            (&[("host", "a.example")], "/", true, "https://a.example"),
            (
                &[("host", "a.example"), ("x-forwarded-proto", "https")],
                "/",
                false,
                "https://a.example",
            ),
            (
                &[("host", "a.example"), ("x-forwarded-proto", "javascript")],
                "/",
                false,
                "http://a.example",
            ),
            (&[], "https://b.example/", true, "https://b.example"),
            (&[("host", "a;rm -rf ~")], "/", false, "http://localhost"),
            (&[("host", "$(x)")], "/", false, "http://localhost"),
            (&[("host", "")], "/", false, "http://localhost"),
            (&[], "/", false, "http://localhost"),
        ] {
            assert_eq!(address(headers, uri, tls), expected, "{headers:?}");
        }
    }
}
