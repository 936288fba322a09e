//! How messages come and go.

pub mod decode;
pub mod http;
pub mod stdio;
