//! The vocabulary that every other crate of Rutter speaks: how things fail, where files come
//! from, what a document is, how a template is filled.
//!
//! It is synchronous and knows nothing of MCP, HTTP, the command line or the environment, and
//! nothing here talks to a user.

pub mod bucket;
pub mod document;
pub mod failure;
pub mod root;
pub mod secret;
pub mod template;
pub mod text;
pub mod watch;
pub mod yaml;
