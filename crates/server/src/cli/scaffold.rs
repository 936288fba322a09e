//! `rutter scaffold`

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{Created, RelativePath, Root};
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, Surroundings};
use crate::pack;

const MAX_FILE: u64 = 64 * 1024;

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing that exists is overwritten. `sh scripts/check` in the new folder builds and tests it;
continuous integration runs the same command.

Examples:
  rutter scaffold --kind rust parser      a folder `parser` with a Rust program
  rutter scaffold --kind python           in this folder"
)]
pub(super) struct Scaffold {
    /// The folder, below this one [default: this one]
    folder: Option<String>,
    /// The language
    #[arg(long)]
    kind: Language,
    /// The name of the project [default: the folder's]
    #[arg(long)]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// Cargo, with a library, a program and tests of both
    Rust,
    /// npm, without a dependency
    #[value(alias = "typescript", alias = "javascript")]
    Node,
    /// A package with a pyproject.toml
    Python,
}

impl Language {
    fn folder(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Node => "node",
            Self::Python => "python",
        }
    }
}

#[derive(Serialize)]
struct Done {
    file: String,
    written: bool,
}

impl Scaffold {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let invalid = |message: String| Report::new(Kind::Invalid, message);
        let folder = self.folder.as_deref().map(|path| path.trim_end_matches('/'));
        let folder = folder.map(RelativePath::new).transpose();
        let folder = folder.map_err(|error| invalid(format!("the folder is {error}")))?;
        let here = surroundings.folder.file_name().and_then(|name| name.to_str());
        let below = folder.as_ref().and_then(|path| path.as_str().rsplit('/').next());
        let name = match &self.name {
            Some(name) => name.clone(),
            None => derived(below.or(here).unwrap_or_default()),
        };
        if !is_name(&name) {
            return Err(invalid(format!(
                "`{}` cannot name a project: use a letter, then letters, digits and `-`, in lower case, at most 32",
                rutter_base::text::one_line(&name)
            ))
            .hint("say another with --name"));
        }
        let done = self.write(surroundings, folder.as_ref(), &name)?;
        if self.json {
            screen.json(&done);
            return Ok(FINE);
        }
        for Done { file, written } in &done {
            let (style, word) =
                if *written { (Style::Good, "written") } else { (Style::Faint, "kept   ") };
            screen.line(&format!("{} {file}", screen.styled(style, word)));
        }
        let there = folder.map_or_else(String::new, |folder| format!("cd {folder} && "));
        screen.line(&format!("\nNext: {there}sh scripts/check"));
        Ok(FINE)
    }

    fn write(
        &self,
        surroundings: &Surroundings,
        folder: Option<&RelativePath>,
        name: &str,
    ) -> Result<Vec<Done>, Report> {
        let internal = || Report::new(Kind::Internal, "the embedded pack cannot be read");
        let files = pack::part(&format!("scaffold/{}", self.kind.folder()));
        let module = name.replace('-', "_");
        let cannot = |file: &str, error: &std::io::Error| {
            Report::new(Kind::Invalid, format!("`{file}` cannot be written: {}", error.kind()))
        };
        let root = Root::open(&surroundings.folder).map_err(|error| cannot(".", &error))?;
        let mut done = Vec::new();
        for found in files.walk(&[]).files {
            let text = files.read_text(&found.path, MAX_FILE).map_err(|_| internal())?;
            let text = text.replace("{{name}}", name).replace("{{module}}", &module);
            let path = found.path.as_str().replace("__module__", &module);
            let path = RelativePath::new(path).map_err(|_| internal())?;
            let path = folder.map_or(path.clone(), |folder| path.below(folder.as_str()));
            let created = root.create(&path, text.as_bytes());
            let created = created.map_err(|error| cannot(path.as_str(), &error))?;
            done.push(Done { file: path.to_string(), written: created == Created::New });
        }
        Ok(done)
    }
}

/// A name from a folder's.
fn derived(folder: &str) -> String {
    let lower = folder.to_lowercase();
    let plain: String =
        lower.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = plain.trim_matches(|c: char| c == '-' || c.is_ascii_digit());
    let name = name.get(..32).unwrap_or(name).trim_end_matches('-');
    if name.is_empty() { "project".to_owned() } else { name.to_owned() }
}

/// Whether Cargo, npm and Python all accept it, and no line becomes too long for a formatter.
fn is_name(name: &str) -> bool {
    name.len() <= 32
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !name.ends_with('-')
}
