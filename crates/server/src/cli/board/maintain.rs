//! `rutter board backup`, `restore` and `integrity`

use std::path::{Path, PathBuf};

use chrono::Utc;
use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{RelativePath, Root};
use rutter_base::text::one_line;
use rutter_board::{Action, Actor, BoardError, Entity, Integrity as Examined, LogFilter};
use serde_json::json;

use super::super::screen::Style;
use super::super::{FINE, FOUND_ERRORS};
use super::{At, Outcome, Trouble};

#[derive(Debug, Args)]
#[command(after_help = "Others may go on working: the copy is one consistent state.

Examples:
  rutter board backup
  rutter board backup before-release.bak")]
pub(super) struct Backup {
    /// The file to write, which must not exist [default: a new one beside the database]
    #[arg(value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Nothing is lost: what a backup replaces is itself backed up first.

Examples:
  rutter board restore 7                      a deleted task, with its comments
  rutter board restore auth                   a deleted feature or discipline
  rutter board restore before-release.bak     everything that a backup holds")]
pub(super) struct Restore {
    /// The id or the name of a deleted record, or the file of a backup
    #[arg(value_name = "ID|NAME|FILE")]
    what: String,
    /// What it is [default: a number is a task, a file that exists a backup, anything else a name]
    #[arg(long, value_name = "KIND")]
    kind: Option<Restored>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Restored {
    /// A deleted task
    Task,
    /// A deleted comment, as task/comment
    Comment,
    /// A deleted feature
    Feature,
    /// A deleted discipline
    Discipline,
    /// The file of a backup
    File,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 when all is well, 1 when something is wrong.

Example:
  rutter board integrity && rutter board backup")]
pub(super) struct Integrity {}

impl Backup {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let path = if let Some(to) = &self.to {
            at.folder.join(to)
        } else {
            let name = format!("ralph.backup-{}.bak", Utc::now().format("%Y%m%dT%H%M%S%3fZ"));
            at.root.path().unwrap_or(Path::new(".")).join("db").join(name)
        };
        at.board.back_up(&path).await?;
        let shown = path.strip_prefix(at.folder).unwrap_or(&path).display().to_string();
        if at.json {
            at.screen.json(&json!({ "file": shown }));
        } else {
            at.screen.line(&format!("written {}", one_line(&shown)));
        }
        Ok(FINE)
    }
}

impl Restore {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let entity = match self.kind {
            Some(Restored::Task) => Entity::Task,
            Some(Restored::Comment) => Entity::Comment,
            Some(Restored::Feature) => Entity::Feature,
            Some(Restored::Discipline) => Entity::Discipline,
            Some(Restored::File) => return self.restore_file(at).await,
            None if self.what.parse::<i64>().is_ok() => Entity::Task,
            None if at.folder.join(&self.what).exists() => return self.restore_file(at).await,
            None if self.what.contains('/') => Entity::Comment,
            None => self.named(at).await?,
        };
        at.board.restore_record(&Actor::of("board restore"), entity, &self.what).await?;
        if at.json {
            at.screen.json(&json!({ "restored": entity.as_str(), "record": self.what }));
        } else {
            at.screen.line(&format!("{entity} {} is back", one_line(&self.what)));
        }
        Ok(FINE)
    }

    /// Whether a feature or a discipline of this name was deleted.
    async fn named(&self, at: &At<'_>) -> Result<Entity, Trouble> {
        for entity in [Entity::Feature, Entity::Discipline] {
            let filter = LogFilter {
                entity: Some(entity),
                record: Some(self.what.clone()),
                ..LogFilter::default()
            };
            let last = at.board.log(filter, 1).await?.pop();
            if last.is_some_and(|change| change.action == Action::Delete) {
                return Ok(entity);
            }
        }
        let name = one_line(&self.what);
        Err(Report::new(
            Kind::NotFound,
            format!("there is no file `{name}`, and no feature or discipline `{name}` was deleted"),
        )
        .hint("`rutter board log` shows what was changed")
        .into())
    }

    async fn restore_file(&self, at: &mut At<'_>) -> Outcome {
        let path = at.folder.join(&self.what);
        is_file(&path).map_err(|reason| {
            let name = one_line(&self.what);
            Report::new(Kind::Invalid, format!("`{name}` cannot be restored: {reason}"))
                .hint("name the file of a backup")
        })?;
        let kept = at.board.restore_backup(&Actor::of("board restore"), &path).await?;
        if at.json {
            at.screen.json(&json!({ "restored": "backup", "file": self.what, "kept": kept }));
        } else {
            at.screen.line("the board is as it was in the backup");
            at.screen.line(&format!("what was there until now is in `db/{kept}` of the board"));
        }
        Ok(FINE)
    }
}

/// A FIFO in the file's place would be waited for without end.
fn is_file(path: &Path) -> Result<(), String> {
    let path = path.canonicalize().map_err(|_| "there is no such file".to_owned())?;
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| RelativePath::new(name).ok());
    let (Some(folder), Some(name)) = (path.parent(), name) else {
        return Err("it is not a regular file".to_owned());
    };
    let folder = Root::open(folder).map_err(|error| error.kind().to_string())?;
    folder.stamp(&name).map(drop).map_err(|error| error.to_string())
}

impl Integrity {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let found = match at.board.integrity().await {
            // What the engine cannot even look at is a finding as well.
            Err(error @ (BoardError::Damaged(_) | BoardError::Foreign)) => {
                Examined { problems: vec![error.to_string()] }
            }
            found => found?,
        };
        if at.json {
            at.screen.json(&json!({ "whole": found.is_whole(), "problems": found.problems }));
        } else if found.is_whole() {
            at.screen.line(&at.screen.styled(Style::Good, "all is well"));
        } else {
            for problem in &found.problems {
                let mark = at.screen.styled(Style::Bad, "✗");
                at.screen.line(&format!("{mark} {}", one_line(problem)));
            }
            at.screen.line("`rutter board restore FILE` brings a backup back");
        }
        Ok(if found.is_whole() { FINE } else { FOUND_ERRORS })
    }
}
