//! The folders that are served when the configuration says nothing.

use rutter_base::root::{RelativePath, Root};
use rutter_library::Layout;

/// Sources by their conventional folders: name, folder, and the layout where it is known.
pub(super) const CONTENT: &[(&str, &str, Option<Layout>)] =
    &[("architecture", "mcp", Some(Layout::Architecture)), ("docs", "docs", None)];

/// The folder of the board.
pub(super) const BOARD: &str = ".ralph";

/// The metadata of a workflow, in the working directory.
pub(super) const WORKFLOW: &str = "resources/prompts.meta.yaml";
/// The same, within its folder.
pub(super) const META: &str = "prompts.meta.yaml";

/// The workflow in the working directory: the metadata's folder and file.
pub(super) fn workflow(here: &Root) -> Option<(Root, RelativePath)> {
    let file = RelativePath::new(WORKFLOW).ok()?;
    here.stamp(&file).ok()?;
    let folder = here.folder(&RelativePath::new("resources").ok()?)?;
    Some((folder, RelativePath::new(META).ok()?))
}
