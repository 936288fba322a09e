//! `rutter board export` and `rutter board import`

mod backlog_md;
mod beads;
mod foreign;
mod task_master;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{Created, ReadError, RelativePath, Root, read_named};
use rutter_base::text::one_line;
use rutter_board::{Actor, Adopted, Adoption};
use serde::Serialize;

use super::super::FINE;
use super::super::screen::{Style, printable_json};
use super::{At, Outcome, Trouble, disciplines};
use foreign::{Gathered, arrange};

/// The largest file that is imported.
const MAX_FILE: u64 = 256 * 1024 * 1024;
/// The feature of tasks that belong to none.
const FEATURE: &str = "imported";
/// The discipline of tasks that nobody named one for.
const DISCIPLINE: &str = "general";
/// How many remarks are shown to a person.
const SHOWN: usize = 40;

#[derive(Debug, Args)]
#[command(
    after_help = "The first line says what it is, each other is one record. An import of it gives the
same board, and the same lines again, byte for byte. The journal is not part of it; `rutter board backup`
has everything.

Examples:
  rutter board export > board.jsonl
  rutter board export --to board.jsonl"
)]
pub(super) struct Export {
    /// The file to write, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Everything is imported, or nothing. A board's own lines go into an empty board. Tasks of
other programs go into any: what has no place here is kept as a comment and reported, and tasks that
were imported before are left as they are.

Examples:
  rutter init --with board --disciplines none && rutter board import board.jsonl
  rutter board import --from backlog-md                 the files in backlog/
  rutter board import --from task-master                .taskmaster/tasks/tasks.json
  rutter board import --from beads --feature core       .beads/issues.jsonl"
)]
pub(super) struct Import {
    /// The file, or the folder of Backlog.md [default: where the other program keeps it]
    #[arg(value_name = "FILE", required_unless_present = "from")]
    file: Option<PathBuf>,
    /// The program that wrote it [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    from: Option<Program>,
    /// The feature for all tasks [default: their milestone or list, else `imported`]
    #[arg(long, value_name = "NAME", requires = "from")]
    feature: Option<String>,
    /// The discipline for all tasks [default: the only one, else `general`]
    #[arg(long, value_name = "NAME", requires = "from")]
    discipline: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Program {
    /// Backlog.md: Markdown files in backlog/
    BacklogMd,
    /// task-master-ai: .taskmaster/tasks/tasks.json
    TaskMaster,
    /// beads: .beads/issues.jsonl
    Beads,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Self::BacklogMd => "backlog-md",
            Self::TaskMaster => "task-master",
            Self::Beads => "beads",
        }
    }

    /// Where it keeps its tasks.
    fn usual(self) -> &'static str {
        match self {
            Self::BacklogMd => "backlog",
            Self::TaskMaster => ".taskmaster/tasks/tasks.json",
            Self::Beads => ".beads/issues.jsonl",
        }
    }
}

/// What an import of another program's tasks did.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    adopted: &'a Adopted,
    /// What has no exact place here, and what became of it.
    notes: &'a [String],
}

impl Export {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let lines = printable_json(&at.board.export().await?);
        let Some(to) = &self.to else {
            at.screen.line(lines.trim_end_matches('\n'));
            return Ok(FINE);
        };
        let shown = one_line(&to.display().to_string());
        match create(&at.folder.join(to), lines.as_bytes()) {
            Ok(Created::New) => {}
            Ok(Created::Kept) => {
                let exists = Report::new(Kind::Refused, format!("`{shown}` exists already"));
                return Err(exists.hint("name another file").into());
            }
            Err(reason) => {
                return Err(Report::new(
                    Kind::Invalid,
                    format!("`{shown}` cannot be written: {reason}"),
                )
                .into());
            }
        }
        let records = lines.lines().count().saturating_sub(1);
        if at.json {
            at.screen.json(&serde_json::json!({ "file": shown, "records": records }));
        } else {
            at.screen.line(&format!("written {shown}: {records} records"));
        }
        Ok(FINE)
    }
}

fn create(path: &Path, bytes: &[u8]) -> Result<Created, String> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.and_then(|name| RelativePath::new(name).ok()).ok_or("not a name of a file")?;
    let folder = path.parent().ok_or("not a name of a file")?;
    let folder = Root::open(folder).map_err(|error| error.kind().to_string())?;
    folder.create(&name, bytes).map_err(|error| error.kind().to_string())
}

impl Import {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        match (self.from, &self.file) {
            (Some(program), file) => {
                let file = file.as_deref().unwrap_or(Path::new(program.usual()));
                self.adopt(at, program, file).await
            }
            (None, Some(file)) => restore_lines(at, file).await,
            (None, None) => Err(Report::new(Kind::Invalid, "there is no file to import").into()),
        }
    }

    async fn adopt(&self, at: &mut At<'_>, program: Program, file: &Path) -> Outcome {
        let gathered = read(program, &at.folder.join(file)).map_err(|reason| {
            let shown = one_line(&file.display().to_string());
            Report::new(Kind::Invalid, format!("`{shown}` cannot be imported: {reason}"))
                .hint("nothing was imported")
        })?;
        let arranged = arrange(gathered, self.feature.as_deref(), FEATURE);
        let adoption = Adoption {
            source: program.name().to_owned(),
            discipline: self.discipline(at).await?,
            tasks: arranged.tasks,
        };
        let adopted = at.board.adopt(&Actor::of("board import"), adoption).await?;
        // Of tasks that were here before, nothing was translated now.
        let notes = if adopted.tasks > 0 { arranged.notes } else { Vec::new() };
        print(at, &adopted, &notes);
        Ok(FINE)
    }

    async fn discipline(&self, at: &At<'_>) -> Result<String, Trouble> {
        if let Some(name) = &self.discipline {
            return Ok(name.clone());
        }
        let all = disciplines(&at.board).await?;
        match all.as_slice() {
            [only] => Ok(only.name.to_string()),
            _ => Ok(DISCIPLINE.to_owned()),
        }
    }
}

async fn restore_lines(at: &mut At<'_>, file: &Path) -> Outcome {
    let lines = read_named(&at.folder.join(file), MAX_FILE).map_err(|error| {
        let shown = one_line(&file.display().to_string());
        Report::new(Kind::Invalid, format!("`{shown}` cannot be imported: {error}"))
    })?;
    let imported = at.board.import(&Actor::of("board import"), &lines).await?;
    if at.json {
        at.screen.json(&imported);
    } else {
        let rutter_board::Imported { disciplines, features, tasks, comments } = imported;
        at.screen.line(&format!(
            "imported {tasks} tasks, {features} features, {disciplines} disciplines, {comments} comments"
        ));
    }
    Ok(FINE)
}

fn read(program: Program, path: &Path) -> Result<Gathered, String> {
    let text = || {
        read_named(path, MAX_FILE).map_err(|error| match error {
            ReadError::NotFound => "there is no such file".to_owned(),
            other => other.to_string(),
        })
    };
    match program {
        Program::BacklogMd => backlog_md::read(path),
        Program::TaskMaster => task_master::read(&text()?),
        Program::Beads => beads::read(&text()?),
    }
}

fn print(at: &mut At<'_>, adopted: &Adopted, notes: &[String]) {
    if at.json {
        at.screen.json(&Summary { adopted, notes });
        return;
    }
    let Adopted { disciplines, features, tasks, comments, already, .. } = adopted;
    at.screen.line(&format!(
        "imported {tasks} tasks, {features} new features, {disciplines} new disciplines, {comments} comments"
    ));
    if *already > 0 {
        at.screen.line(&format!("{already} tasks were imported before and are left as they are"));
    }
    for note in notes.iter().take(SHOWN) {
        at.screen.line(&format!("{} {}", at.screen.styled(Style::Warning, "!"), one_line(note)));
    }
    if notes.len() > SHOWN {
        at.screen.line(&format!("and {} more; `--json` shows all", notes.len() - SHOWN));
    }
}
