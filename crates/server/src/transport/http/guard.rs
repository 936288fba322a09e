//! Which names the server answers to, and which pages may talk to it.
//!
//! A page that a browser shows can send requests to any address that the browser reaches, and a
//! name that its owner points at this machine makes them look like requests of the same site.
//! What gives both away is what the browser says of itself: `Host` and `Origin`.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use super::single;
use crate::address::is_local;

/// The names under which the server may be reached.
#[derive(Debug, Clone)]
pub struct Names {
    public: Vec<(String, Option<u16>)>,
    any_address: bool,
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It does not say clearly whom it is for.
    Malformed,
    /// It is for a server of another name.
    Host,
    /// It comes from a page of someone else.
    Origin,
}

impl Refused {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
        }
    }

    /// For the counters.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Malformed | Self::Host => "host",
            Self::Origin => "origin",
        }
    }

    /// What to do about it.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Malformed => "the request needs one valid Host header\n",
            Self::Host => {
                "this server does not go by that name; its operator can add it to `http.public_names`\n"
            }
            Self::Origin => {
                "pages of that origin may not talk to this server; its operator can add the name to `http.public_names`\n"
            }
        }
    }
}

impl Names {
    /// The names of this machine for itself, and what the operator calls it. A server that
    /// listens everywhere is also reached by any address: nobody else's name leads there.
    pub fn new(public: impl IntoIterator<Item = String>, listening: IpAddr) -> Self {
        let mut public: Vec<_> = public.into_iter().filter_map(|name| parse(&name)).collect();
        if !listening.is_unspecified() {
            public.push((listening.to_string(), None));
        }
        Self { public, any_address: listening.is_unspecified() }
    }

    /// Whether a text is a name, with or without a port, and nothing more.
    pub fn is_name(text: &str) -> bool {
        parse(text).is_some() && !text.contains(char::is_whitespace)
    }

    /// Whether a request may come in, by its address and its headers.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let host = single(headers, HOST).map_err(|_| Refused::Malformed)?;
        let host = host.map(HeaderValue::to_str).transpose().map_err(|_| Refused::Malformed)?;
        // HTTP/2 has the name in the address, as a request for a proxy does.
        let asked = [uri.authority().map(Authority::as_str), host];
        let asked: Vec<_> = asked.into_iter().flatten().collect();
        if asked.is_empty() {
            return Err(Refused::Malformed);
        }
        for name in &asked {
            let (name, port) = parse(name).ok_or(Refused::Malformed)?;
            if !self.knows(&name, port) {
                return Err(Refused::Host);
            }
        }
        match single(headers, ORIGIN) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) => {
                let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
                let page = origin
                    .filter(|(scheme, _)| matches!(*scheme, "http" | "https"))
                    .and_then(|(_, authority)| Some((authority, parse(authority)?)));
                let known = page.is_some_and(|(authority, (name, port))| {
                    asked.iter().any(|asked| asked.eq_ignore_ascii_case(authority))
                        || is_local(&name)
                        || self.is_public(&name, port)
                });
                if known { Ok(()) } else { Err(Refused::Origin) }
            }
            Err(_) => Err(Refused::Origin),
        }
    }

    fn knows(&self, name: &str, port: Option<u16>) -> bool {
        is_local(name)
            || self.is_public(name, port)
            || self.any_address
                && name.parse::<IpAddr>().is_ok_and(|address| !address.is_unspecified())
    }

    fn is_public(&self, name: &str, port: Option<u16>) -> bool {
        self.public.iter().any(|(public, only)| {
            public == name && only.is_none_or(|only| port.is_none_or(|port| port == only))
        })
    }
}

/// A name in lower case and without brackets, and a port. Nobody logs in by a name.
fn parse(text: &str) -> Option<(String, Option<u16>)> {
    let bare = text.parse::<IpAddr>().ok();
    if let Some(address) = bare {
        return Some((address.to_string(), None));
    }
    let authority: Authority = text.trim().parse().ok()?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    // An address has one spelling, however it was written.
    let host = host.parse::<IpAddr>().map_or(host, |address| address.to_string());
    // What is no number is no port, and not none.
    let port = authority.as_str().strip_prefix(authority.host())?;
    let port = port.strip_prefix(':').map(str::parse).transpose().ok()?;
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(listening: &str) -> Names {
        Names::new(
            ["docs.example".to_owned(), "api.example:8443".to_owned()],
            listening.parse().unwrap(),
        )
    }

    fn asked(names: &Names, headers: &[(&'static str, &str)]) -> Result<(), Refused> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        names.check(&Uri::from_static("/mcp"), &map)
    }

    #[test]
    fn own_names_are_answered_and_no_others() {
        let names = names("127.0.0.1");
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "[::1]:8080",
            "docs.example",
            "docs.example:443",
            "Docs.Example.",
            "api.example:8443",
            "api.example",
        ] {
            assert_eq!(asked(&names, &[("host", host)]), Ok(()), "{host}");
        }
        for host in
            ["evil.example", "api.example:1", "docs.example.evil", "10.0.0.1", "0.0.0.0:8080"]
        {
            assert_eq!(asked(&names, &[("host", host)]), Err(Refused::Host), "{host}");
        }
        for host in ["", "user@localhost", "local host", "localhost:99999", "[::1"] {
            assert_eq!(asked(&names, &[("host", host)]), Err(Refused::Malformed), "{host}");
        }
        assert_eq!(asked(&names, &[]), Err(Refused::Malformed));
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(asked(&names, &twice), Err(Refused::Malformed));
    }

    #[test]
    fn what_an_operator_may_mistake_for_a_name_is_none() {
        for name in ["docs.example", "docs.example:8443", "192.168.7.1", "[::1]:80", "::1"] {
            assert!(Names::is_name(name), "{name}");
        }
        for text in ["", "https://docs.example", "docs.example/mcp", "a b", "a@b", "docs.example:x"]
        {
            assert!(!Names::is_name(text), "{text}");
        }
    }

    #[test]
    fn the_name_in_the_address_counts_too() {
        let mut headers = HeaderMap::new();
        let check = |uri: &'static str, headers: &HeaderMap| {
            names("127.0.0.1").check(&Uri::from_static(uri), headers)
        };
        assert_eq!(check("http://localhost:1/mcp", &headers), Ok(()));
        assert_eq!(check("http://evil.example/mcp", &headers), Err(Refused::Host));
        headers.insert("host", "localhost".parse().unwrap());
        assert_eq!(check("http://evil.example/mcp", &headers), Err(Refused::Host));
    }

    #[test]
    fn a_server_that_listens_everywhere_has_any_address_for_a_name() {
        for (listening, known) in [("0.0.0.0", true), ("::", true), ("127.0.0.1", false)] {
            let names = names(listening);
            assert_eq!(asked(&names, &[("host", "192.168.7.1:8080")]).is_ok(), known);
            assert_eq!(asked(&names, &[("host", "0.0.0.0:8080")]), Err(Refused::Host));
            assert_eq!(asked(&names, &[("host", "evil.example")]), Err(Refused::Host));
        }
        assert_eq!(asked(&names("192.168.7.1"), &[("host", "192.168.7.1")]), Ok(()));
    }

    #[test]
    fn pages_of_others_are_refused() {
        let names = names("0.0.0.0");
        let from = |host: &str, origin: &str| asked(&names, &[("host", host), ("origin", origin)]);
        for (host, origin) in [
            ("localhost:8080", "http://localhost:3000"),
            ("localhost", "https://127.0.0.1"),
            ("docs.example", "https://docs.example"),
            ("192.168.7.1:8080", "http://192.168.7.1:8080"),
            ("localhost", "https://api.example:8443"),
        ] {
            assert_eq!(from(host, origin), Ok(()), "{host} {origin}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://192.168.7.2:8080",
            "file://localhost",
            "http://user@localhost",
            "https://api.example:1",
            "localhost",
        ] {
            assert_eq!(from("192.168.7.1:8080", origin), Err(Refused::Origin), "{origin}");
        }
        let twice =
            [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")];
        assert_eq!(asked(&names, &twice), Err(Refused::Origin));
    }
}
