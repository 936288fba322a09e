//! The least that a server on `rmcp` can be: one tool, on the pipe transport, on one thread.
//!
//! What it costs is the floor that Rutter is measured against, so it has no logs, no signal
//! handling and no schema generation; arguments are taken as they come.

mod echo;

use std::error::Error;

use rmcp::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    echo::Echo.serve(rmcp::transport::stdio_pipes()).await?.waiting().await?;
    Ok(())
}
