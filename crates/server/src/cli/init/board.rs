//! `rutter init --with board`: the folder `.ralph/`, its database and its files.

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{RelativePath, Root};
use rutter_base::text::{listed, one_line};
use rutter_board::disciplines::Predefined;
use rutter_board::{Actor, Board, BoardError, Options};

use super::plan::{Edit, Plan, What};

/// Where the board is.
const FOLDER: &str = ".ralph";
const DATABASE: &str = "db/ralph.db";

/// The files beside the database. What belongs to one machine is not for version control:
/// prepared sessions, and what the database keeps beside itself.
const FILES: [(&str, &str); 3] = [
    (".gitignore", "mcp/\ndb/*-wal\ndb/*-shm\ndb/*.bak\n"),
    ("learnings.txt", ""),
    ("progress.txt", ""),
];

#[derive(Debug, Args)]
pub(in crate::cli) struct WithBoard {
    /// Also make this part of a project
    #[arg(long, value_name = "PART")]
    with: Vec<Part>,
    /// The title of the project [default: the name of its folder]
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// The disciplines to begin with: names, `all` or `none` [default: frontend,backend,testing,docs]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    disciplines: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The board that several agents share: tasks, features, disciplines
    Board,
}

/// The disciplines of a board that was asked for without naming any.
const USUAL: [&str; 4] = ["frontend", "backend", "testing", "docs"];

/// A board that is going to be made.
pub(super) struct Making {
    /// Whether there is none yet: one that is there keeps what it has, and gets only what was
    /// asked for by name.
    new: bool,
    title: Option<String>,
    disciplines: Vec<&'static Predefined>,
}

impl WithBoard {
    /// Plans the board, if it was asked for. What is wrong with the question is found here.
    pub(super) fn plan(&self, plan: &mut Plan) -> Result<Option<Making>, Report> {
        if self.with.is_empty() {
            if self.title.is_some() || self.disciplines.is_some() {
                let what = "--title and --disciplines are for a board";
                return Err(Report::new(Kind::Invalid, what).hint("add `--with board`"));
            }
            return Ok(None);
        }
        let mut disciplines = self.disciplines()?;
        for (file, text) in FILES {
            let made = |found: Option<&str>| {
                Ok(found.map_or_else(|| Edit::To(text.to_owned()), |_| Edit::Nothing))
            };
            plan.edit(&format!("{FOLDER}/{file}"), made)?;
        }
        let database = format!("{FOLDER}/{DATABASE}");
        let new = !plan.has(&database);
        plan.tell(&database, if new { What::Created } else { What::Unchanged })?;
        if !new && self.disciplines.is_none() {
            disciplines.clear();
        }
        Ok(Some(Making { new, title: self.title.clone(), disciplines }))
    }

    fn disciplines(&self) -> Result<Vec<&'static Predefined>, Report> {
        let all = Predefined::all();
        let wanted: Vec<&str> = match &self.disciplines {
            Some(names) => names.iter().map(|name| name.trim()).collect(),
            None => USUAL.to_vec(),
        };
        match wanted.as_slice() {
            ["all"] => return Ok(all.iter().collect()),
            ["none"] => return Ok(Vec::new()),
            _ => {}
        }
        let find = |name: &&str| {
            all.iter().find(|known| known.name == *name).ok_or_else(|| {
                let known = all.iter().map(|known| known.name.as_str());
                Report::new(
                    Kind::Invalid,
                    format!("there is no discipline `{}` to begin with", one_line(name)),
                )
                .hint(format!("choose from {}, `all` or `none`", listed(known)))
            })
        };
        wanted.iter().map(find).collect()
    }
}

impl Making {
    /// Makes the database, names the project and creates the disciplines that are not there.
    pub(super) async fn make(self, project: &Root) -> Result<(), Report> {
        let folder = RelativePath::new(FOLDER).ok().and_then(|path| project.folder(&path));
        let Some(folder) = folder else {
            return Err(Report::new(Kind::Invalid, format!("`{FOLDER}` cannot be opened"))
                .hint("see that it is a folder, and no link that leads out of the project"));
        };
        let board = Board::new(&folder, Options::default());
        let actor = Actor::of("init");
        let title = self.title.or_else(|| self.new.then(|| name_of(project)));
        if title.is_some() {
            board.set_project(&actor, title, None).await?;
        }
        for predefined in self.disciplines {
            match board.discipline(&predefined.name).await {
                Ok(_) => {}
                Err(BoardError::Missing { .. }) => {
                    board.create_discipline(&actor, predefined.to_new()).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The name of the project's folder.
fn name_of(project: &Root) -> String {
    let path = project.path().and_then(|path| path.canonicalize().ok());
    let name = path.as_deref().and_then(|path| path.file_name()?.to_str());
    one_line(name.unwrap_or("project"))
}
