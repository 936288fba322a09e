//! THE TABLE: every tool that is always there, one line each.
//!
//! To add one, write a struct with its arguments that implements [`Tool`](crate::tool::Tool) in
//! the file of its module, and name it here. Tools that content makes come from
//! [`Module::tools`](crate::module::Module::tools).

mod board;
mod knowledge;
mod process;
mod search;

use crate::tool::Entry;

/// All tools that are always there.
pub fn table() -> Vec<Entry> {
    let mut table = vec![
        // knowledge
        Entry::of::<knowledge::Read>(),
        Entry::of::<search::Search>(),
        // process
        Entry::of::<process::GetStage>(),
    ];
    table.extend(board::table());
    table
}
