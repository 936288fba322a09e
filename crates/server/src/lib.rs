//! Rutter's server: the only crate that knows MCP, HTTP, the command line, the environment and
//! standard output. `ARCHITECTURE.md` at the root of the repository is the map.

pub mod address;
pub mod app;
pub mod caller;
pub mod changes;
pub mod cli;
pub mod config;
#[cfg(feature = "conformance")]
mod conformance;
pub mod cost;
pub mod draw;
pub mod logging;
pub mod mcp;
pub mod metrics;
pub mod module;
pub mod outbound;
pub mod pack;
pub mod page;
pub mod profiles;
pub mod projects;
pub mod schema;
pub mod scope;
pub mod session;
pub mod settings;
pub mod setup;
pub mod skills;
pub mod tool;
pub mod tools;
pub mod transport;
