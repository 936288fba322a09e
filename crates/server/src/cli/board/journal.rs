//! `rutter board log` and `rutter board undo`

use clap::Args;
use rutter_base::text::{cap, one_line};
use rutter_board::{Action, Actor, Change, Entity, LogFilter};
use serde::Serialize;
use serde_json::Value;

use super::super::FINE;
use super::super::screen::{Screen, Style};
use super::{At, Outcome};

/// How much of a value a line shows.
const SHOWN: usize = 60;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter board log
  rutter board log --task 7
  rutter board log --session task_execution-7 --limit 200 --json")]
pub(super) struct Log {
    /// Only changes of this task
    #[arg(long, value_name = "ID", conflicts_with_all = ["feature", "discipline"])]
    task: Option<i64>,
    /// Only changes of this feature
    #[arg(long, value_name = "NAME", conflicts_with = "discipline")]
    feature: Option<String>,
    /// Only changes of this discipline
    #[arg(long, value_name = "NAME")]
    discipline: Option<String>,
    /// Only changes of this session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Only changes before the one with this number
    #[arg(long, value_name = "NUMBER")]
    before: Option<i64>,
    /// The most changes
    #[arg(long, value_name = "COUNT", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

#[derive(Debug, Args)]
#[command(after_help = "What was undone is a change as well: undoing it brings it back.

Examples:
  rutter board undo          the latest change
  rutter board undo 42       the change that `rutter board log` shows as 42")]
pub(super) struct Undo {
    /// The number of the change [default: the latest]
    #[arg(value_name = "NUMBER")]
    change: Option<i64>,
}

#[derive(Serialize)]
struct Changes<'a> {
    changes: &'a [Change],
}

#[derive(Serialize)]
struct Undone<'a> {
    undone: &'a Change,
}

impl Log {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let (entity, record) = match (&self.task, &self.feature, &self.discipline) {
            (Some(id), _, _) => (Some(Entity::Task), Some(id.to_string())),
            (_, Some(name), _) => (Some(Entity::Feature), Some(name.clone())),
            (_, _, Some(name)) => (Some(Entity::Discipline), Some(name.clone())),
            _ => (None, None),
        };
        let filter =
            LogFilter { entity, record, session: self.session.clone(), before: self.before };
        let changes = at.board.log(filter, self.limit).await?;
        if at.json {
            at.screen.json(&Changes { changes: &changes });
            return Ok(FINE);
        }
        if changes.is_empty() {
            at.screen.line("nothing was changed");
        }
        for change in &changes {
            print(at.screen, change);
        }
        Ok(FINE)
    }
}

impl Undo {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let undone = at.board.undo(&Actor::of("board undo"), self.change).await?;
        if at.json {
            at.screen.json(&Undone { undone: &undone });
        } else {
            at.screen.line("undone:");
            print(at.screen, &undone);
        }
        Ok(FINE)
    }
}

fn print(screen: &mut Screen, change: &Change) {
    let (verb, style) = match change.action {
        Action::Create => ("created", Style::Good),
        Action::Update => ("changed", Style::Warning),
        Action::Delete => ("deleted", Style::Bad),
    };
    let actor = &change.actor;
    let who = [&actor.session, &actor.recipe, &actor.discipline].map(|part| part.as_deref());
    let who: Vec<String> = who.into_iter().flatten().map(one_line).collect();
    let who = if who.is_empty() { String::new() } else { format!(" [{}]", who.join(", ")) };
    screen.line(&format!(
        "{:>6}  {}  {}  {} {} by {}{who}",
        change.id,
        one_line(&change.at),
        screen.styled(style, verb),
        change.entity,
        one_line(&change.record),
        one_line(&actor.tool),
    ));
    for line in differences(change) {
        screen.line(&screen.styled(Style::Faint, &format!("        {line}")));
    }
}

/// The changed fields, or the title of what came or went.
fn differences(change: &Change) -> Vec<String> {
    let of = |state: &Option<Value>, name: &str| {
        state.as_ref().and_then(|state| state.get(name)).map_or_else(String::new, shown)
    };
    if change.action == Action::Update {
        let fields = change.after.as_ref().and_then(Value::as_object);
        let fields = fields.into_iter().flat_map(|fields| fields.keys());
        return fields
            .filter(|name| *name != "updated")
            .map(|name| {
                let (before, after) = (of(&change.before, name), of(&change.after, name));
                format!("{}: {before} → {after}", one_line(name))
            })
            .collect();
    }
    let state = change.after.as_ref().or(change.before.as_ref()).cloned();
    let titles = ["title", "display_name", "body"].map(|name| of(&state, name));
    titles.into_iter().find(|title| !title.is_empty()).into_iter().collect()
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => "nothing".to_owned(),
        other => other.to_string(),
    };
    cap(one_line(&text), SHOWN)
}
