//! What is being done: the state that several agents share.
//!
//! [`Board`] is tasks, features, disciplines and what was learned, in one database that many
//! processes write to at once: every change is one transaction with a row in the journal.
//! [`StateFiles`] are the two text files beside it.
//!
//! This crate has never heard of MCP, HTTP or a command line.

mod board;
mod check;
pub mod disciplines;
mod error;
mod journal;
pub mod model;
pub mod recipes;
mod rows;
mod rules;
mod state_files;
mod store;

pub use board::{
    Adopted, Adoption, Board, Claim, Follower, Foreign, Happened, Imported, Remark, Touched,
};
pub use error::BoardError;
pub use journal::LogFilter;
pub use model::*;
pub use state_files::{StateFile, StateFileError, StateFiles};
pub use store::{Integrity, Options};
