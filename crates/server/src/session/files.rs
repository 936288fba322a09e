//! The files of prepared sessions: for each a context, and a configuration for its client.

use std::io::ErrorKind;
use std::path::Path;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{Created, RelativePath, Root};
use rutter_base::text::one_line;
use serde_json::Value;

use super::Context;

/// Where they are, below the board's folder.
const FOLDER: &str = "mcp/sessions";
const CONTEXT: &str = ".json";
const CLIENT: &str = ".mcp.json";
/// Larger files are none of ours.
const MAX_FILE: u64 = 64 * 1024;

/// The files of prepared sessions.
#[derive(Debug, Clone)]
pub struct Files<'a> {
    board: &'a Root,
}

/// Where the files of a session are, below the board's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The context.
    pub context: RelativePath,
    /// The configuration of the client.
    pub client: RelativePath,
}

/// Whether a text can be the name of a session: a part of a file's name.
pub fn is_name(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=200).contains(&name.len())
        && name.chars().all(fine)
        && !name.starts_with('.')
        && Path::new(name).extension().is_none_or(|end| !end.eq_ignore_ascii_case("mcp"))
}

impl<'a> Files<'a> {
    /// The files in a board's folder.
    pub fn new(board: &'a Root) -> Self {
        Self { board }
    }

    /// The paths of a session's files.
    pub fn of(name: &str) -> Result<Prepared, Report> {
        if !is_name(name) {
            return Err(Report::new(
                Kind::Invalid,
                format!("`{}` cannot be the name of a session", one_line(name)),
            )
            .hint("use up to 200 of A-Z, a-z, 0-9, `_`, `-` and `.`, and name it with --name"));
        }
        let path = |end: &str| {
            RelativePath::new(format!("{FOLDER}/{name}{end}"))
                .map_err(|error| Report::new(Kind::Internal, error.to_string()))
        };
        Ok(Prepared { context: path(CONTEXT)?, client: path(CLIENT)? })
    }

    /// Writes the files of a session. With `new`, a session of this name must not be there yet:
    /// `false` if it is, and nothing was written.
    pub fn write(
        &self,
        prepared: &Prepared,
        context: &Context,
        client: &Value,
        new: bool,
    ) -> Result<bool, Report> {
        let context = pretty(context)?;
        let created = self.board.create(&prepared.context, context.as_bytes());
        let created = created.map_err(|error| cannot_write(&prepared.context, &error))?;
        if created == Created::Kept {
            if new {
                return Ok(false);
            }
            self.put(&prepared.context, context.as_bytes())?;
        }
        self.put(&prepared.client, pretty(client)?.as_bytes())?;
        Ok(true)
    }

    /// Puts a file in place; one that is there already is not touched if it is the same.
    fn put(&self, path: &RelativePath, bytes: &[u8]) -> Result<(), Report> {
        if self.board.read(path, MAX_FILE).is_ok_and(|found| found.bytes == bytes) {
            return Ok(());
        }
        self.board.replace(path, bytes).map_err(|error| cannot_write(path, &error))
    }

    /// The prepared sessions by name: what each is for, or what is wrong with its file.
    pub fn list(&self) -> Vec<(String, Result<Context, String>)> {
        let folder = RelativePath::new(FOLDER).ok().and_then(|path| self.board.folder(&path));
        let Some(folder) = folder else { return Vec::new() };
        let mut sessions: Vec<_> = folder
            .walk(&["json"])
            .files
            .into_iter()
            .filter_map(|found| {
                let name = found.path.as_str().strip_suffix(CONTEXT)?.to_owned();
                is_name(&name).then(|| {
                    let text = folder.read_text(&found.path, MAX_FILE);
                    let text = text.map_err(|error| error.to_string());
                    (name, text.and_then(|text| Context::parse(&text)))
                })
            })
            .collect();
        sessions.sort_by(|a, b| a.0.cmp(&b.0));
        sessions
    }

    /// Removes a session's files, which ends it: a server that runs in it has no tools any more.
    pub fn end(&self, name: &str) -> Result<(), Report> {
        let prepared = Self::of(name)?;
        // The configuration first: while the context is there, the session is.
        for path in [&prepared.client, &prepared.context] {
            match self.board.remove(path) {
                Err(error) if is_absent(&error) && *path == prepared.client => {}
                Err(error) if is_absent(&error) => {
                    let what = format!("there is no session `{name}`");
                    return Err(Report::new(Kind::NotFound, what)
                        .hint("`rutter session list` shows what there is"));
                }
                removed => removed.map_err(|error| cannot_write(path, &error))?,
            }
        }
        Ok(())
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Report> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| {
        Report::new(Kind::Internal, "the session cannot be written").because(&error)
    })
}

fn cannot_write(path: &RelativePath, error: &std::io::Error) -> Report {
    Report::new(Kind::Invalid, format!("`{path}` cannot be written: {}", error.kind()))
        .hint("see that the board's folder holds no links that lead out of it")
}
