//! `rutter init --with board`: the folder `.ralph/`, its database and its files.

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{Created, RelativePath, Root};
use rutter_base::text::{listed, one_line};
use rutter_board::disciplines::Predefined;
use rutter_board::{Actor, Board, BoardError, Options};

use super::super::wait;

/// Where the board is.
const FOLDER: &str = ".ralph";
const DATABASE: &str = "db/ralph.db";
const STATE_FILES: [&str; 2] = ["learnings.txt", "progress.txt"];

/// What belongs to one machine: prepared sessions, and what the database keeps beside itself.
const IGNORED: &str = "mcp/\ndb/*-wal\ndb/*-shm\ndb/*.bak\n";

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

impl WithBoard {
    /// Makes the board, if it was asked for: the files, and whether each was made or was there.
    pub(super) fn run(&self, project: &Root) -> Result<Vec<(String, Created)>, Report> {
        if self.with.is_empty() {
            if self.title.is_some() || self.disciplines.is_some() {
                return Err(Report::new(
                    Kind::Invalid,
                    "--title and --disciplines are for a board",
                )
                .hint("add `--with board`"));
            }
            return Ok(Vec::new());
        }
        // Everything that can be wrong with the question is found before anything is made.
        let disciplines = self.disciplines()?;
        let mut done = vec![create(project, ".gitignore", IGNORED)?];
        for file in STATE_FILES {
            done.push(create(project, file, "")?);
        }
        let folder = RelativePath::new(FOLDER).ok().and_then(|path| project.folder(&path));
        let Some(folder) = folder else {
            return Err(Report::new(Kind::Invalid, format!("`{FOLDER}` cannot be opened"))
                .hint("see that it is a folder, and no link that leads out of the project"));
        };
        let database = RelativePath::new(DATABASE)
            .map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
        let made = match folder.stamp(&database) {
            Ok(_) => Created::Kept,
            Err(_) => Created::New,
        };
        wait(self.fill(&folder, project, made, &disciplines))?;
        done.push((format!("{FOLDER}/{DATABASE}"), made));
        Ok(done)
    }

    /// Names the project and creates the disciplines that are not there. A board that was there
    /// keeps what it has, and gets only what was asked for by name.
    async fn fill(
        &self,
        folder: &Root,
        project: &Root,
        made: Created,
        disciplines: &[&Predefined],
    ) -> Result<(), Report> {
        let board = Board::new(folder, Options::default());
        let actor = Actor::of("init");
        let new = made == Created::New;
        let name = || {
            let path = project.path().and_then(|path| path.canonicalize().ok());
            let name = path.as_deref().and_then(|path| path.file_name()?.to_str());
            one_line(name.unwrap_or("project"))
        };
        let title = self.title.clone().or_else(|| new.then(name));
        if title.is_some() {
            board.set_project(&actor, title, None).await?;
        }
        if !new && self.disciplines.is_none() {
            return Ok(());
        }
        for predefined in disciplines {
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

fn create(project: &Root, file: &str, text: &str) -> Result<(String, Created), Report> {
    let file = format!("{FOLDER}/{file}");
    let path = RelativePath::new(file.as_str())
        .map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
    let created = project.create(&path, text.as_bytes());
    let created = created.map_err(|error| super::cannot_write(&file, &error))?;
    Ok((file, created))
}
