//! How messages come and go.

pub mod http;
pub mod stdio;
