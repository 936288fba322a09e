//! Where things are: the configuration file, and the folders that are served when it says nothing.
//!
//! All of these are the operator's: they may be links to anywhere. What is below them may not.

use std::path::{Path, PathBuf};

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{ReadError, RelativePath, Root, read_named};
use rutter_base::text::one_line;
use rutter_library::Layout;

use crate::config::Config;

/// The names under which a configuration file is found.
const CONFIG_NAMES: [&str; 2] = ["rutter.yaml", "mcp-metadata.yaml"];
/// The largest configuration file.
const MAX_CONFIG: u64 = 1024 * 1024;

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
pub(super) fn workflow(folder: &Path) -> Option<(Root, RelativePath)> {
    let root = Root::open(&folder.join("resources")).ok()?;
    let file = RelativePath::new(META).ok()?;
    root.stamp(&file).ok()?;
    Some((root, file))
}

/// Reads the configuration file: the one that was named, or the one in the working directory.
pub(super) fn config(
    named: Option<&Path>,
    folder: &Path,
) -> Result<(Option<PathBuf>, Config), Report> {
    if let Some(path) = named {
        let path = folder.join(path.to_str().map_or_else(|| path.to_owned(), expand));
        let config = read_config(&path)?.ok_or_else(|| unusable(&path, &ReadError::NotFound))?;
        return Ok((Some(path), config));
    }
    for name in CONFIG_NAMES {
        let path = folder.join(name);
        if let Some(config) = read_config(&path)? {
            return Ok((Some(path), config));
        }
    }
    Ok((None, Config::default()))
}

fn read_config(path: &Path) -> Result<Option<Config>, Report> {
    match read_named(path, MAX_CONFIG) {
        Ok(text) => Config::parse(&shown(path), &text).map(Some),
        Err(ReadError::NotFound) => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

fn unusable(path: &Path, error: &ReadError) -> Report {
    Report::new(
        Kind::Invalid,
        format!("the configuration file `{}` cannot be used: {error}", shown(path)),
    )
}

/// A file as it stands in messages to the operator: by its name alone.
pub(super) fn shown(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    one_line(&name)
}

/// `~/` is the home of whoever runs the server.
pub(super) fn expand(path: &str) -> PathBuf {
    match path.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => PathBuf::from(path),
    }
}
