//! What is being done: the state that several agents share.
//!
//! This crate has never heard of MCP, HTTP or a command line.

pub mod recipes;
mod state_files;

pub use state_files::{StateFile, StateFileError, StateFiles};
