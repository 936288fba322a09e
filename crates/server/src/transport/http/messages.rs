//! The bodies of requests: bounded in size and time, and JSON or nothing.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::single;
use crate::config::HttpLimits;
use crate::transport::decode::{self, Incoming, Refusal};

/// What the body of a request may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    bytes: usize,
    time: Duration,
}

impl Bounds {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        Self { bytes: limits.body_bytes.get(), time: limits.body() }
    }

    /// The whole body of a request that says that it is JSON, or the answer to any other.
    pub(super) async fn read(self, headers: &HeaderMap, body: Body) -> Result<Bytes, Response> {
        if !is_json(headers) {
            let what = "the content type must be application/json\n";
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, what).into_response());
        }
        let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let announced = announced.and_then(|value| value.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.bytes as u64) {
            return Err(self.too_large());
        }
        match tokio::time::timeout(self.time, Limited::new(body, self.bytes).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(self.too_large()),
            Ok(Err(_)) => Err(StatusCode::BAD_REQUEST.into_response()),
            Err(_) => {
                let what = "the body of the request took too long\n";
                Err((StatusCode::REQUEST_TIMEOUT, what).into_response())
            }
        }
    }

    fn too_large(self) -> Response {
        let what = format!("the body of a request may have {} bytes\n", self.bytes);
        (StatusCode::PAYLOAD_TOO_LARGE, what).into_response()
    }
}

/// Whether the one content type is JSON, with or without parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(kind)) = single(headers, CONTENT_TYPE) else { return false };
    let kind = kind.to_str().unwrap_or_default();
    let kind = kind.split_once(';').map_or(kind, |(kind, _)| kind);
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// What a body is: unlike a line, it must be something.
pub(super) fn decode(body: &[u8]) -> Incoming {
    match decode::decode(body) {
        Incoming::Nothing if body.trim_ascii().is_empty() => Incoming::Refused(Refusal::empty()),
        incoming => incoming,
    }
}

/// The answer to a body that is no message.
pub(super) fn refused(refusal: &Refusal) -> Response {
    let json = [(CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, json, refusal.to_bytes()).into_response()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    fn bounds() -> Bounds {
        Bounds { bytes: 16, time: Duration::from_secs(30) }
    }

    fn json(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    async fn status(headers: &HeaderMap, body: Body) -> u16 {
        bounds().read(headers, body).await.map_or_else(|answer| answer.status().as_u16(), |_| 200)
    }

    #[tokio::test]
    async fn only_json_is_read() {
        for kind in ["application/json", "Application/JSON; charset=utf-8"] {
            assert_eq!(status(&json(&[("content-type", kind)]), Body::empty()).await, 200);
        }
        for kind in ["text/plain", "application/jsonp", "application/json-seq", ""] {
            assert_eq!(status(&json(&[("content-type", kind)]), Body::empty()).await, 415);
        }
        let both = [("content-type", "application/json"), ("content-type", "text/plain")];
        assert_eq!(status(&json(&both), Body::empty()).await, 415);
        assert_eq!(status(&HeaderMap::new(), Body::empty()).await, 415);
    }

    #[tokio::test]
    async fn too_much_is_refused_announced_or_not() {
        let kind = ("content-type", "application/json");
        assert_eq!(status(&json(&[kind]), Body::from("0123456789abcdef")).await, 200);
        assert_eq!(status(&json(&[kind]), Body::from("0123456789abcdefg")).await, 413);
        let announced = [kind, ("content-length", "17")];
        assert_eq!(status(&json(&announced), Body::empty()).await, 413);
    }

    #[tokio::test(start_paused = true)]
    async fn a_byte_a_second_is_too_slow() {
        let drops = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            Some((Ok::<_, Infallible>("1"), ()))
        });
        let headers = json(&[("content-type", "application/json")]);
        assert_eq!(status(&headers, Body::from_stream(drops)).await, 408);
    }
}
