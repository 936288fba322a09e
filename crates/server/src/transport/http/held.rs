//! What is kept for as long as an answer is being sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Something that goes when an answer is sent, or nobody wants it any more.
pub(super) trait Hold: Send + Unpin + 'static {
    /// The connection asked for more of the answer. Either there was some, and it is for the reader
    /// to take it before more is asked for, or the connection waits for the server.
    fn asked(&self, waits: bool) {
        let _ = waits;
    }
}

impl Hold for TaskTrackerToken {}

/// A body, and what goes when it does.
struct Held<T> {
    body: Body,
    held: T,
}

/// Keeps `held` until the body of the answer is sent.
pub(super) fn hold(answer: Response, held: impl Hold) -> Response {
    answer.map(|body| Body::new(Held { body, held }))
}

impl<T: Hold> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.held.asked(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
