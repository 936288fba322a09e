//! What is kept for as long as an answer is being sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// A body, and what goes when it does.
struct Held<T> {
    body: Body,
    _held: T,
}

/// Keeps `held` until the body of the answer is sent, or nobody wants it any more.
pub(super) fn hold(answer: Response, held: impl Send + Unpin + 'static) -> Response {
    answer.map(|body| Body::new(Held { body, _held: held }))
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
