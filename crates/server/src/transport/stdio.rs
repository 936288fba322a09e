//! Messages on standard input and output, one a line.
//!
//! The SDK meets a line that it does not understand with silence, and one that comes too early
//! by ending. This transport reads the lines itself: what is not a message is answered with the
//! error that JSON-RPC has for it, and everything else goes to the SDK's service loop.

mod line;
mod streams;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly_with_ct};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

pub use line::{Line, LineReader, MAX_LINE};

use crate::app::App;
use crate::caller::Caller;
use crate::mcp::Handler;
use crate::transport::decode::{Incoming, Refusal, decode};

/// How long answers that are still being made may take after the input has ended. Together with
/// the start of the next program it must stay below two seconds.
const DRAIN: Duration = Duration::from_millis(1_200);

/// How many refusals may wait to be written before no more lines are read.
const MAX_REFUSALS: usize = 64;

/// Serves one client on the standard streams until the input ends or `shutdown` is cancelled.
pub async fn serve(app: Arc<App>, shutdown: CancellationToken) {
    let (input, output) = streams::standard();
    serve_on(app, input, output, shutdown).await;
}

/// Serves one client on any pair of streams.
pub async fn serve_on(
    app: Arc<App>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: CancellationToken,
) {
    let handler = Handler::new(app, Caller::user(), shutdown.clone());
    let transport = Lines::new(input, output, shutdown.clone());
    // Not `serve`: that ends when the first message is anything but an opening request.
    let service = serve_directly_with_ct(handler, transport, None, shutdown.clone());
    let ended = service.waiting();
    tokio::pin!(ended);
    tokio::select! {
        _ = &mut ended => {}
        () = async { shutdown.cancelled().await; tokio::time::sleep(DRAIN).await } => {}
    }
}

/// The transport: a reader of lines and a writer of lines.
struct Lines<R, W> {
    reader: LineReader<R>,
    writer: Arc<Mutex<W>>,
    refusals: Arc<Semaphore>,
    /// A refusal that waits for a place in the queue; kept here so that it survives a
    /// cancelled `receive`.
    pending: Option<Refusal>,
    shutdown: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    fn new(input: R, output: W, shutdown: CancellationToken) -> Self {
        Self {
            reader: LineReader::new(input, MAX_LINE),
            writer: Arc::new(Mutex::new(output)),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            pending: None,
            shutdown,
        }
    }

    /// Writes a refusal from a task of its own: `receive` may be cancelled at any await, and half
    /// a line on the output would break everything after it.
    async fn refuse(&mut self) {
        if self.pending.is_none() {
            return;
        }
        let Ok(place) = Arc::clone(&self.refusals).acquire_owned().await else { return };
        let Some(refusal) = self.pending.take() else { return };
        tracing::info!(event = "line_refused", code = refusal.code, reason = refusal.message);
        let writer = Arc::clone(&self.writer);
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            if write_line(&writer, refusal.to_bytes()).await.is_err() {
                shutdown.cancel();
            }
            drop(place);
        });
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        let shutdown = self.shutdown.clone();
        async move {
            let sent = write_line(&writer, encode(&item)?).await;
            if sent.is_err() {
                // Nobody reads any more.
                shutdown.cancel();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.refuse().await;
            let incoming = match self.reader.next().await {
                Ok(Line::Whole(line)) => decode(line),
                Ok(Line::TooLong) => Incoming::Refused(Refusal::too_long()),
                Ok(Line::End) | Err(_) => {
                    // What only waits (a listening stream) would hold up the end.
                    self.shutdown.cancel();
                    return None;
                }
            };
            match incoming {
                Incoming::Message(message) => return Some(*message),
                Incoming::Refused(refusal) => self.pending = Some(refusal),
                Incoming::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}

fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

async fn write_line<W: AsyncWrite + Unpin>(writer: &Mutex<W>, line: Vec<u8>) -> io::Result<()> {
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}
