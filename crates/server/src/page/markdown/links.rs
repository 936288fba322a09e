//! Which addresses in a document may be followed.
//!
//! The list says what is allowed, not what is forbidden: a browser reads more as `javascript:`
//! than anyone can list. The parser has undone entities and escapes before an address comes here.

use rutter_library::Uri;

use crate::page::documents;

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To a place on this server.
    Here(String),
    /// To somewhere else.
    Elsewhere(String),
}

/// Where an address leads; `None` for one that nobody may follow.
pub(super) fn target(address: &str) -> Option<Target> {
    // Browsers drop some of these and read a backslash as a slash, so that what they see is not
    // what we would.
    if address.is_empty()
        || address.trim() != address
        || address.chars().any(|c| c.is_control() || c == '\\')
    {
        return None;
    }
    if let Ok(uri) = Uri::parse(address) {
        return Some(Target::Here(documents::href(&uri)));
    }
    let end = address.find([':', '/', '?', '#']).unwrap_or(address.len());
    let (scheme, rest) = address.split_at(end);
    if let Some(rest) = rest.strip_prefix(':') {
        let known = match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => rest.starts_with("//"),
            "mailto" => true,
            _ => false,
        };
        return known.then(|| Target::Elsewhere(spaceless(address)));
    }
    // `//name` is a server, not a place on this one.
    (!address.starts_with("//")).then(|| Target::Here(spaceless(address)))
}

/// Spaces are the only characters left that an address may not have.
fn spaceless(address: &str) -> String {
    address.replace(' ', "%20")
}
