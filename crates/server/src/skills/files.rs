//! A skill's files as resources.

use std::collections::BTreeMap;

use rmcp::model::Resource;
use rutter_base::root::{Found, RelativePath};

pub(super) const MARKDOWN: &str = "text/markdown";
const DIRECTORY: &str = "inode/directory";

/// What a file is, by the end of its name.
const TYPES: [(&str, &str); 18] = [
    ("md", MARKDOWN),
    ("txt", "text/plain"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("gif", "image/gif"),
    ("pdf", "application/pdf"),
];

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// Its URI.
    pub uri: String,
    /// What it is, where that is known.
    pub mime_type: Option<&'static str>,
    /// What is in it.
    pub content: Content,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl FileContent {
    pub(super) fn new(uri: &str, path: &RelativePath, bytes: Vec<u8>) -> Self {
        let content = match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text),
            Err(error) => Content::Bytes(error.into_bytes()),
        };
        Self { uri: uri.to_owned(), mime_type: mime_type(path), content }
    }
}

/// A file as a resource: its own name, its size, and its type where that is known.
pub(super) fn resource(uri: String, file: &Found) -> Resource {
    let path = file.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    let resource = Resource::new(uri, name).with_size(file.stamp.size);
    match mime_type(&file.path) {
        Some(mime_type) => resource.with_mime_type(mime_type),
        None => resource,
    }
}

fn mime_type(path: &RelativePath) -> Option<&'static str> {
    let (_, extension) = path.as_str().rsplit_once('.')?;
    let known = TYPES.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known))?;
    Some(known.1)
}

/// What is directly below a URI that ends with `/`: files and folders.
pub(super) fn children(all: impl Iterator<Item = Resource>, below: &str) -> Vec<Resource> {
    let mut children: BTreeMap<String, Resource> = BTreeMap::new();
    for file in all {
        let Some(rest) = file.uri.strip_prefix(below) else { continue };
        let child = match rest.split_once('/') {
            None => file,
            Some((folder, _)) => {
                Resource::new(format!("{below}{folder}"), folder).with_mime_type(DIRECTORY)
            }
        };
        children.insert(child.uri.clone(), child);
    }
    children.into_values().collect()
}
