//! The default content, embedded in the binary.

use include_dir::{Dir, include_dir};
use rutter_base::root::{RelativePath, Root};

static PACK: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../pack");

/// The name of the pack as a source: the first part of its documents' URIs.
pub const SOURCE: &str = "rutter";

/// The parts of the pack that are content.
pub const PARTS: [&str; 3] = ["content", "process", "workflow"];

/// The folder with the capabilities registry.
pub const REGISTRY: &str = "process/capabilities-registry";

/// The folder with the knowledge base of the process: documents that are served as such as well.
pub const KNOWLEDGE: &str = "content/mcp-resources/practice";
/// Where those documents are below their source.
pub const KNOWLEDGE_URI: &str = "acdc://rutter/practice/";

/// A part of the pack.
pub fn part(name: &str) -> Root {
    let root = Root::embedded(&PACK);
    RelativePath::new(name).ok().and_then(|path| root.folder(&path)).unwrap_or(root)
}
