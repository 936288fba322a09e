//! `rutter board add` and `rutter board move`

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::text::listed;
use rutter_board::{
    Actor, BoardError, NewFeature, NewTask, Priority, Status, Task, TaskId, TaskPatch,
};

use super::super::FINE;
use super::{At, Outcome, Trouble, disciplines, features, priority, shown_status, status};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter board add \"Log in\" --feature auth --discipline backend --priority high
  rutter board add \"Log out\" --feature auth --discipline backend --after 1 --criterion \"the token is void\"
  rutter board add \"Pay\" --feature billing --new-feature --discipline backend --draft")]
pub(super) struct Add {
    /// What is to be done, in a line
    title: String,
    /// The feature that it belongs to [default: the only one]
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
    /// Create the feature if it is not there
    #[arg(long, requires = "feature")]
    new_feature: bool,
    /// The discipline that does it [default: the only one]
    #[arg(long, value_name = "NAME")]
    discipline: Option<String>,
    /// What is to be done, at length
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// How much it matters [default: medium]
    #[arg(long, value_name = "PRIORITY", value_parser = priority())]
    priority: Option<Priority>,
    /// It is not thought through yet
    #[arg(long)]
    draft: bool,
    /// The tasks that must be done before it
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    after: Vec<i64>,
    /// When it is done; may be given several times
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,
    /// Words to find it by
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    tag: Vec<String>,
    /// Files to read before it, relative to the project
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    file: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  rutter board move 7 done")]
pub(super) struct Move {
    /// The task
    id: i64,
    /// Where it stands now
    #[arg(value_parser = status())]
    status: Status,
}

impl Add {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let actor = Actor::of("board add");
        let feature = if let Some(name) = &self.feature {
            name.clone()
        } else {
            let all = features(&at.board).await?;
            only("feature", all.iter().map(|entry| entry.name.as_str()))?
        };
        let discipline = if let Some(name) = &self.discipline {
            name.clone()
        } else {
            let all = disciplines(&at.board).await?;
            only("discipline", all.iter().map(|entry| entry.name.as_str()))?
        };
        if self.new_feature {
            self.ensure_feature(at, &actor, &feature).await?;
        }
        let fields = TaskPatch {
            description: self.description.clone(),
            priority: self.priority,
            acceptance_criteria: some(&self.criterion),
            depends_on: some(&self.after.iter().copied().map(TaskId).collect::<Vec<_>>()),
            tags: some(&self.tag),
            context_files: some(&self.file),
            ..TaskPatch::default()
        };
        let new = NewTask {
            feature,
            discipline,
            title: self.title.clone(),
            status: self.draft.then_some(Status::Draft),
            idempotency_key: None,
            fields,
        };
        let task = at.board.create_task(&actor, new).await?;
        told(at, &task, "added");
        Ok(FINE)
    }

    async fn ensure_feature(&self, at: &At<'_>, actor: &Actor, name: &str) -> Result<(), Trouble> {
        match at.board.feature(name).await {
            Ok(_) => Ok(()),
            Err(BoardError::Missing { .. }) => {
                // Whatever else is wrong is found before anything is made.
                if let Some(discipline) = &self.discipline {
                    at.board.discipline(discipline).await?;
                }
                let new = NewFeature {
                    name: name.to_owned(),
                    display_name: name.to_owned(),
                    ..NewFeature::default()
                };
                at.board.create_feature(actor, new).await?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Move {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let actor = Actor::of("board move");
        let task = at.board.set_task_status(&actor, TaskId(self.id), self.status).await?;
        told(at, &task, "moved");
        Ok(FINE)
    }
}

fn told(at: &mut At<'_>, task: &Task, done: &str) {
    if at.json {
        at.screen.json(task);
        return;
    }
    let status = shown_status(at.screen, task.status);
    let title = rutter_base::text::one_line(&task.title);
    at.screen.line(&format!("{done} {}  {status}  {title}", task.id));
}

fn some<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// The only name there is.
fn only<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<String, Report> {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [name] => Ok((*name).to_owned()),
        [] => Err(Report::new(Kind::Invalid, format!("the board has no {what} yet")).hint(
            if what == "feature" {
                "add `--feature NAME --new-feature`"
            } else {
                "make some with `rutter init --with board --disciplines …`"
            },
        )),
        several => Err(Report::new(Kind::Invalid, format!("which {what} is it?")).hint(format!(
            "add `--{what}` with one of {}",
            listed(several.iter().copied().take(20))
        ))),
    }
}
