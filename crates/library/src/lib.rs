//! What can be read: an organisation's Markdown documents and prompts, from any number of
//! sources, as one catalogue that follows the files.
//!
//! This crate knows documents, not protocols: it has never heard of MCP, HTTP or a command line.

mod cache;
mod catalog;
mod excerpt;
mod library;
mod links;
mod prompt;
mod review;
pub mod search;
mod source;
mod uri;

pub use catalog::{Body, Catalog, DocumentEntry, LookupError};
pub use excerpt::{Excerpt, ExcerptError, Part};
pub use library::{Difference, Library};
pub use prompt::{Argument, Message, Prompt, PromptError, Role};
pub use source::{Layout, Source, SourceName, SourceNameError};
pub use uri::{Encoded, Scheme, Uri, UriError};
