//! `rutter board graph`

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::text::one_line;
use rutter_board::{BoardError, LinkedTask, Status, TaskId};
use serde::Serialize;

use super::super::FINE;
use super::super::screen::{Screen, Style};
use super::{At, Outcome, style};
use crate::draw;

#[derive(Debug, Args)]
#[command(after_help = "In the tree, a task stands above those that must be done before it.

Examples:
  rutter board graph                        everything
  rutter board graph 7                      what must be done before task 7
  rutter board graph --feature auth --open  what is left of a feature
  rutter board graph --format svg > board.svg
  rutter board graph --format mermaid       for Markdown")]
pub(super) struct Graph {
    /// Only this task and what must be done before it
    id: Option<i64>,
    /// Only the tasks of this feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
    /// Leave out what is done or skipped
    #[arg(long)]
    open: bool,
    /// How it is drawn
    #[arg(long, value_name = "FORMAT", default_value = "tree")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A tree for the terminal
    Tree,
    /// A flowchart for Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

/// How far to the right a tree goes, in characters.
const DEEPEST: usize = 150;

#[derive(Serialize)]
struct Tasks<'a> {
    tasks: Vec<&'a LinkedTask>,
}

/// The tasks that are shown, by id; what they depend on is among them.
type Shown = BTreeMap<TaskId, LinkedTask>;

impl Graph {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        if let Some(name) = &self.feature {
            at.board.feature(name).await?;
        }
        let all = at.board.linked_tasks().await?;
        let all: Shown = all.into_iter().map(|task| (task.entry.id, task)).collect();
        let shown = self.shown(all)?;
        if at.json {
            at.screen.json(&Tasks { tasks: shown.values().collect() });
            return Ok(FINE);
        }
        let drawn = match self.format {
            Format::Tree => {
                tree(at.screen, &shown);
                return Ok(FINE);
            }
            Format::Mermaid => drawing(&shown).mermaid(),
            Format::Dot => drawing(&shown).dot(),
            Format::Svg => drawing(&shown).svg().map_err(|error| {
                Report::new(Kind::TooLarge, error.to_string())
                    .hint("draw less with `--open`, `--feature` or the id of a task")
                    .hint("or use `--format dot` and a tool of your own")
            })?,
        };
        at.screen.line(drawn.trim_end());
        Ok(FINE)
    }

    fn shown(&self, mut all: Shown) -> Result<Shown, BoardError> {
        if let Some(id) = self.id.map(TaskId) {
            if !all.contains_key(&id) {
                let name = id.to_string();
                return Err(BoardError::Missing { what: "task", name, hint: "" });
            }
            let needed = before(&all, id);
            all.retain(|id, _| needed.contains(id));
        }
        all.retain(|_, task| {
            let entry = &task.entry;
            let closed = matches!(entry.status, Status::Done | Status::Skipped);
            let other = self.feature.as_ref().is_some_and(|name| entry.feature.as_str() != name);
            !(other || self.open && closed)
        });
        let kept: BTreeSet<TaskId> = all.keys().copied().collect();
        for task in all.values_mut() {
            task.depends_on.retain(|id| kept.contains(id));
        }
        Ok(all)
    }
}

/// A task and everything that must be done before it.
fn before(all: &Shown, id: TaskId) -> BTreeSet<TaskId> {
    let mut found = BTreeSet::new();
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        if found.insert(id) {
            pending.extend(all.get(&id).into_iter().flat_map(|task| task.depends_on.iter()));
        }
    }
    found
}

/// Whether everything that a task waits for is done.
fn is_free(shown: &Shown, task: &LinkedTask) -> bool {
    let done = |id| shown.get(id).is_none_or(|task: &LinkedTask| task.entry.status == Status::Done);
    task.depends_on.iter().all(done)
}

fn drawing(shown: &Shown) -> draw::Graph {
    let places: BTreeMap<TaskId, usize> =
        shown.keys().enumerate().map(|(place, id)| (*id, place)).collect();
    let nodes = shown.values().map(|task| {
        let entry = &task.entry;
        let state = match entry.status {
            Status::Done => draw::State::Done,
            Status::InProgress => draw::State::Active,
            Status::Pending if is_free(shown, task) => draw::State::Ready,
            Status::Pending | Status::Draft => draw::State::Waiting,
            Status::Blocked => draw::State::Blocked,
            Status::Skipped => draw::State::Aside,
        };
        let caption =
            format!("{} · {}/{} · {}", entry.id, entry.feature, entry.discipline, entry.status);
        draw::Node { label: entry.title.clone(), caption, state }
    });
    let edges = shown.values().flat_map(|task| {
        let after = places.get(&task.entry.id).copied();
        let places = &places;
        task.depends_on.iter().filter_map(move |id| Some((*places.get(id)?, after?)))
    });
    draw::Graph {
        title: "Tasks and what they depend on".into(),
        nodes: nodes.collect(),
        edges: edges.collect(),
    }
}

/// A line of the tree that is still to be written.
struct Branch {
    id: TaskId,
    /// What stands left of it, and left of what is below it.
    here: String,
    below: String,
}

/// Tasks on which no other depends, and below each what it waits for. What was shown before is
/// named again, but not opened again.
fn tree(screen: &mut Screen, shown: &Shown) {
    if shown.is_empty() {
        screen.line("there is no task to show");
    }
    let needed: BTreeSet<TaskId> =
        shown.values().flat_map(|task| task.depends_on.iter().copied()).collect();
    let roots = shown.keys().filter(|id| !needed.contains(id));
    let root = |id: &TaskId| Branch { id: *id, here: String::new(), below: String::new() };
    let mut pending: Vec<Branch> = roots.map(root).collect();
    pending.reverse();
    let mut opened = BTreeSet::new();
    while let Some(Branch { id, here, below }) = pending.pop() {
        let Some(task) = shown.get(&id) else { continue };
        let again = !task.depends_on.is_empty() && !opened.insert(id);
        screen.line(&format!("{here}{}", line(screen, shown, task, again)));
        if again {
            continue;
        }
        if below.chars().count() > DEEPEST && !task.depends_on.is_empty() {
            screen.line(&format!("{below}└─ … `rutter board graph {id}` shows what is before it"));
            continue;
        }
        let last = task.depends_on.len().saturating_sub(1);
        let children = task.depends_on.iter().enumerate().map(|(place, child)| {
            let (branch, room) =
                if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            Branch { id: *child, here: format!("{below}{branch}"), below: format!("{below}{room}") }
        });
        let children: Vec<Branch> = children.collect();
        pending.extend(children.into_iter().rev());
    }
}

fn line(screen: &Screen, shown: &Shown, task: &LinkedTask, again: bool) -> String {
    let entry = &task.entry;
    let mark = match entry.status {
        Status::Done => "✓",
        Status::InProgress => "▶",
        Status::Blocked => "✗",
        Status::Skipped => "-",
        Status::Draft => "?",
        Status::Pending if is_free(shown, task) => "○",
        Status::Pending => "·",
    };
    let text = format!("{mark} {} {} ({})", entry.id, one_line(&entry.title), entry.status);
    let text = style(entry.status).map_or(text.clone(), |style| screen.styled(style, &text));
    let again = if again { screen.styled(Style::Faint, " (see above)") } else { String::new() };
    format!("{text}{again}")
}
