//! Where things are: the configuration file, and the folders that are served when it says nothing.
//!
//! All of these are the operator's: they may be links to anywhere. What is below them may not.

use std::path::{Path, PathBuf};

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{ReadError, RelativePath, Root, read_named};
use rutter_base::text::one_line;
use rutter_library::Layout;

use crate::config::Config;
use crate::projects::expand;

/// The names under which a configuration file is found.
const CONFIG_NAMES: [&str; 2] = ["rutter.yaml", "mcp-metadata.yaml"];
/// The largest configuration file.
const MAX_CONFIG: u64 = 1024 * 1024;

/// A folder whose content is served when it is found in the working directory.
pub(super) struct Folder {
    /// The name of the source.
    pub(super) name: &'static str,
    /// The folder.
    pub(super) path: &'static str,
    /// How it is laid out, where that is known.
    pub(super) layout: Option<Layout>,
    /// The file that is served with it.
    pub(super) beside: Option<Beside>,
}

/// A file in the working directory that is served together with a folder.
///
/// It is a source of its own: `README.md` beside `docs/` is `acdc://project/README`, so that a
/// `docs/README.md` keeps its address.
pub(super) struct Beside {
    /// The name of the source.
    name: &'static str,
    /// The spellings of the file's name.
    files: &'static [&'static str],
}

/// The folders that are looked for.
pub(super) const CONTENT: &[Folder] = &[
    Folder { name: "architecture", path: "mcp", layout: Some(Layout::Architecture), beside: None },
    Folder {
        name: "docs",
        path: "docs",
        layout: None,
        beside: Some(Beside { name: "project", files: &["README.md", "Readme.md", "readme.md"] }),
    },
];

impl Beside {
    /// The source's name, the file and its folder, if there is such a file.
    pub(super) fn look(&self, folder: &Path) -> Option<(&'static str, &'static str, Root)> {
        let root = Root::open(folder).ok()?;
        let file = self.files.iter().find(|file| !root.found(file).is_empty())?;
        Some((self.name, file, root))
    }
}

/// Whether a folder has a part of the architecture layout.
pub(super) fn is_served(root: &Root) -> bool {
    ["resources", "prompts"]
        .iter()
        .any(|part| RelativePath::new(*part).is_ok_and(|part| root.folder(&part).is_some()))
}

/// The folder of the board.
pub(super) const BOARD: &str = ".ralph";

/// The folder of a capabilities registry.
pub(super) const REGISTRY: &str = "capabilities-registry";

/// The registry in the folder of a process, or beside it.
pub(super) fn registry(process: &Path) -> Option<Root> {
    let beside = process.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    let places = std::iter::once(process.to_owned()).chain(beside);
    places.into_iter().find_map(|place| Root::open(&place.join(REGISTRY)).ok())
}

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
