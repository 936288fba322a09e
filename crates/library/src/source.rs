//! Where documents and prompts come from.

use std::fmt;

use rutter_base::root::{RelativePath, Root};

use crate::prompt::Format;
use crate::uri::Scheme;

/// The name of a source: a part of every URI and prompt name that comes from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName(String);

/// The text cannot name a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a source: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit"
)]
pub struct SourceNameError(String);

impl SourceName {
    /// Checks a name.
    pub fn new(name: impl Into<String>) -> Result<Self, SourceNameError> {
        let name = name.into();
        let fine = name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            && name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if fine { Ok(Self(name)) } else { Err(SourceNameError(rutter_base::text::one_line(&name))) }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the files of a source are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `mcp-resources/` (or `resources/`) and `mcp-prompts/` (or `prompts/`), with frontmatter.
    Acdc,
    /// `resources/{guidelines,patterns,adr}`, as `architecture://` URIs, and `prompts/*.json`,
    /// whose names stand alone.
    Architecture,
    /// Any folder of Markdown files; what the frontmatter lacks comes from the text.
    Plain,
    /// One Markdown file of a folder that holds other things as well, such as the `README.md`
    /// beside a project's `docs/`: `acdc://<source>/README`. Its name is as [`Layout::Plain`]'s.
    File(&'static str),
    /// The prompts of the first layout, without its documents.
    PromptsOnly,
    /// The same files as prompts of the architecture layout: by their names alone, with its
    /// limits, and each only where no source before this one has a prompt of its name.
    ArchitecturePrompts,
}

impl Layout {
    /// Whether documents can come from it.
    pub fn has_documents(self) -> bool {
        !matches!(self, Self::PromptsOnly | Self::ArchitecturePrompts)
    }
}

/// A place with documents and prompts.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name.
    pub name: SourceName,
    /// What it holds, for agents.
    pub description: String,
    /// Where it is.
    pub root: Root,
    /// How it is laid out.
    pub layout: Layout,
}

/// A folder of a source with prompts in it.
pub(crate) struct PromptFolder {
    /// The folder below the source's root.
    pub(crate) folder: &'static str,
    /// What its files are.
    pub(crate) format: Format,
    /// Whether a prompt yields to one of the same name without a word.
    pub(crate) yields: bool,
}

/// A folder of a source that holds documents of one URI prefix.
pub(crate) struct Shelf {
    pub(crate) scheme: Scheme,
    /// What stands after `://`.
    pub(crate) source: String,
    /// The folder below the source's root; `None` is the root itself.
    pub(crate) folder: Option<&'static str>,
    /// The only file of the folder that belongs to it; `None` is all of them.
    pub(crate) only: Option<&'static str>,
    /// Whether name and description may be missing.
    pub(crate) lenient: bool,
}

impl Source {
    /// Finds out how a folder is laid out.
    pub fn detect(root: &Root) -> Layout {
        if has(root, "mcp-resources") || has(root, "mcp-prompts") {
            Layout::Acdc
        } else if ["resources/guidelines", "resources/patterns", "resources/adr"]
            .iter()
            .any(|folder| has(root, folder))
            || has_json_prompts(root)
        {
            Layout::Architecture
        } else if has(root, "resources") {
            Layout::Acdc
        } else {
            Layout::Plain
        }
    }

    pub(crate) fn shelves(&self) -> Vec<Shelf> {
        match self.layout {
            Layout::Acdc => {
                let folder =
                    if has(&self.root, "mcp-resources") { "mcp-resources" } else { "resources" };
                vec![Shelf {
                    scheme: Scheme::Acdc,
                    source: self.name.to_string(),
                    folder: Some(folder),
                    only: None,
                    lenient: false,
                }]
            }
            Layout::Architecture => [
                ("guidelines", "resources/guidelines"),
                ("patterns", "resources/patterns"),
                ("adr", "resources/adr"),
            ]
            .into_iter()
            .map(|(source, folder)| Shelf {
                scheme: Scheme::Architecture,
                source: source.into(),
                folder: Some(folder),
                only: None,
                lenient: true,
            })
            .collect(),
            Layout::PromptsOnly | Layout::ArchitecturePrompts => Vec::new(),
            Layout::Plain | Layout::File(_) => vec![Shelf {
                scheme: Scheme::Acdc,
                source: self.name.to_string(),
                folder: None,
                only: self.only(),
                lenient: true,
            }],
        }
    }

    /// The only file that is served, where it is a single one.
    pub(crate) fn only(&self) -> Option<&'static str> {
        match self.layout {
            Layout::File(name) => Some(name),
            _ => None,
        }
    }

    /// The folder with prompts, if there is one.
    pub(crate) fn prompts(&self) -> Option<PromptFolder> {
        let (folders, format): (&[&'static str], _) = match self.layout {
            Layout::Acdc | Layout::PromptsOnly => (&["mcp-prompts", "prompts"], Format::Markdown),
            Layout::ArchitecturePrompts => (&["mcp-prompts", "prompts"], Format::PlainMarkdown),
            Layout::Architecture => (&["prompts"], Format::Json),
            Layout::Plain | Layout::File(_) => return None,
        };
        let folder = folders.iter().find(|folder| has(&self.root, folder))?;
        let yields = self.layout == Layout::ArchitecturePrompts;
        Some(PromptFolder { folder, format, yields })
    }
}

fn has(root: &Root, folder: &str) -> bool {
    RelativePath::new(folder).is_ok_and(|folder| root.folder(&folder).is_some())
}

fn has_json_prompts(root: &Root) -> bool {
    let prompts = RelativePath::new("prompts").ok().and_then(|folder| root.folder(&folder));
    prompts.is_some_and(|folder| !folder.walk(&["json"]).files.is_empty())
}
