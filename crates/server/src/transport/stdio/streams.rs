//! The standard streams, without a thread where the system allows it.
//!
//! Clients connect a server's streams with pipes (Python, shells) or with a socket pair
//! (Node.js). The SDK knows how to drive pipes without the thread pool that Tokio uses for
//! standard streams, which costs a hand-off for every message; sockets are driven here. Anything
//! else, a terminal or a file, takes the slow way.

use tokio::io::{AsyncRead, AsyncWrite};

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output.
pub(super) fn standard() -> (Input, Output) {
    #[cfg(unix)]
    if let Some(streams) = sockets() {
        return streams;
    }
    let (input, output) = rmcp::transport::stdio_pipes();
    (Box::new(input), Box::new(output))
}

#[cfg(unix)]
fn sockets() -> Option<(Input, Output)> {
    use std::os::fd::AsFd;

    let input = socket(std::io::stdin().as_fd())?;
    let output = socket(std::io::stdout().as_fd())?;
    Some((Box::new(input), Box::new(output)))
}

/// The descriptor as a stream, if it is a stream socket.
#[cfg(unix)]
fn socket(descriptor: std::os::fd::BorrowedFd<'_>) -> Option<tokio::net::UnixStream> {
    use std::os::unix::net::UnixStream;

    let stream = UnixStream::from(descriptor.try_clone_to_owned().ok()?);
    // Fails for everything that is not a local socket.
    stream.local_addr().ok()?;
    stream.peer_addr().ok()?;
    stream.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(stream).ok()
}
