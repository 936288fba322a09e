//! `rutter board show`

use clap::{Args, ValueEnum};
use rutter_base::text::one_line;
use rutter_board::{BoardError, Discipline, Feature, FeatureName, Task, TaskId};
use serde::Serialize;

use super::super::FINE;
use super::super::screen::{Screen, Style};
use super::explain::no_name;
use super::{At, Outcome, disciplines, features, shown_status};

#[derive(Debug, Args)]
#[command(
    after_help = "A number is a task's id; anything else is the name of a feature or a discipline.

Examples:
  rutter board show 7
  rutter board show auth
  rutter board show docs --kind discipline --json"
)]
pub(super) struct Show {
    /// A task's id, or the name of a feature or a discipline
    #[arg(value_name = "ID|NAME")]
    what: String,
    /// What it is [default: what there is of this name]
    #[arg(long, value_name = "KIND")]
    kind: Option<Shown>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shown {
    Task,
    Feature,
    Discipline,
}

impl Show {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let name = &self.what;
        let id = name.parse().map(TaskId).ok();
        let kind = self.kind.or_else(|| id.is_some().then_some(Shown::Task));
        match (kind, id) {
            (Some(Shown::Task), Some(id)) => {
                let task = at.board.task(id).await?;
                show(at, &task, print_task);
            }
            (Some(Shown::Task), None) => return Err(no_name("task", name, []).into()),
            (Some(Shown::Feature), _) => {
                let feature = at.board.feature(name).await?;
                show(at, &feature, print_feature);
            }
            (Some(Shown::Discipline), _) => {
                let discipline = at.board.discipline(name).await?;
                show(at, &discipline, print_discipline);
            }
            (None, _) => return self.show_named(at).await,
        }
        Ok(FINE)
    }

    async fn show_named(&self, at: &mut At<'_>) -> Outcome {
        match at.board.feature(&self.what).await {
            Ok(feature) => {
                show(at, &feature, print_feature);
                return Ok(FINE);
            }
            Err(BoardError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match at.board.discipline(&self.what).await {
            Ok(discipline) => {
                show(at, &discipline, print_discipline);
                Ok(FINE)
            }
            Err(BoardError::Missing { .. }) => {
                let (features, disciplines) =
                    (features(&at.board).await?, disciplines(&at.board).await?);
                let names = features.iter().map(|entry| entry.name.as_str());
                let names = names.chain(disciplines.iter().map(|entry| entry.name.as_str()));
                Err(no_name("feature or discipline", &self.what, names).into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn show<T: Serialize>(at: &mut At<'_>, record: &T, print: fn(&mut Screen, &T)) {
    if at.json { at.screen.json(record) } else { print(at.screen, record) }
}

/// What a task says of itself, for whoever added or moved it as well.
pub(super) fn print_task(screen: &mut Screen, task: &Task) {
    let title = format!("{}  {}", task.id, one_line(&task.title));
    screen.line(&screen.styled(Style::Heading, &title));
    let status = shown_status(screen, task.status);
    screen.line(&format!("{:11}  {status}", "status"));
    fact(screen, "priority", task.priority.as_str());
    fact(screen, "feature", task.feature.as_str());
    fact(screen, "discipline", task.discipline.as_str());
    let needed: Vec<String> = task.depends_on.iter().map(ToString::to_string).collect();
    fact(screen, "depends on", &needed.join(", "));
    fact(screen, "tags", &task.tags.join(", "));
    fact(screen, "claimed by", task.claimed_by.as_deref().unwrap_or_default());
    fact(screen, "until", task.claim_expires.as_deref().unwrap_or_default());
    fact(screen, "turns", &task.estimated_turns.map_or_else(String::new, |n| n.to_string()));
    fact(screen, "key", task.idempotency_key.as_deref().unwrap_or_default());
    fact(screen, "created", task.created.as_deref().unwrap_or_default());
    fact(screen, "updated", task.updated.as_deref().unwrap_or_default());
    fact(screen, "completed", task.completed.as_deref().unwrap_or_default());
    text(screen, "description", task.description.as_deref());
    text(screen, "blocked by", task.blocked_by.as_deref());
    list(screen, "acceptance criteria", &task.acceptance_criteria);
    text(screen, "pseudocode", task.pseudocode.as_deref());
    text(screen, "hints", task.hints.as_deref());
    list(screen, "context files", &task.context_files);
    list(screen, "output artifacts", &task.output_artifacts);
    if task.comments_left_out > 0 {
        screen.line(&format!("\n{} older comments are left out", task.comments_left_out));
    }
    for comment in &task.comments {
        let when = comment.created.as_deref().unwrap_or_default();
        let who = format!("{} ({when})", one_line(&comment.author));
        text(screen, &format!("comment {} by {who}", comment.id), Some(&comment.body));
    }
}

fn print_feature(screen: &mut Screen, feature: &Feature) {
    let title = format!("{}  {}", feature.name, one_line(&feature.display_name));
    screen.line(&screen.styled(Style::Heading, &title));
    fact(screen, "acronym", feature.acronym.as_str());
    let needed: Vec<&str> = feature.dependencies.iter().map(FeatureName::as_str).collect();
    fact(screen, "needs", &needed.join(", "));
    fact(screen, "created", feature.created.as_deref().unwrap_or_default());
    text(screen, "description", feature.description.as_deref());
    text(screen, "architecture", feature.architecture.as_deref());
    text(screen, "boundaries", feature.boundaries.as_deref());
    list(screen, "knowledge", &feature.knowledge_paths);
    list(screen, "context files", &feature.context_files);
    let learnings: Vec<String> = feature
        .learnings
        .iter()
        .map(|learning| format!("{} ({}, {}x)", learning.text, learning.source, learning.hit_count))
        .collect();
    list(screen, "learnings", &learnings);
}

fn print_discipline(screen: &mut Screen, discipline: &Discipline) {
    let title = format!("{}  {}", discipline.name, one_line(&discipline.display_name));
    screen.line(&screen.styled(Style::Heading, &title));
    fact(screen, "acronym", discipline.acronym.as_str());
    fact(screen, "icon", &discipline.icon);
    fact(screen, "color", &discipline.color);
    text(screen, "description", discipline.description.as_deref());
    text(screen, "system prompt", discipline.system_prompt.as_deref());
    list(screen, "skills", &discipline.skills);
    text(screen, "conventions", discipline.conventions.as_deref());
    let servers: Vec<String> = discipline
        .mcp_servers
        .iter()
        .map(|server| format!("{}: {} {}", server.name, server.command, server.args.join(" ")))
        .collect();
    list(screen, "tool servers", &servers);
    if let Some(overrides) = &discipline.mcp_tool_overrides {
        list(screen, "tools taken away", &overrides.additional_disabled);
    }
}

/// A line, unless there is nothing to say.
fn fact(screen: &mut Screen, name: &str, what: &str) {
    if !what.is_empty() {
        screen.line(&format!("{name:11}  {}", one_line(what)));
    }
}

/// A text of several lines, each safe to print.
fn text(screen: &mut Screen, name: &str, what: Option<&str>) {
    let Some(what) = what else { return };
    screen.line(&screen.styled(Style::Heading, &format!("\n{name}")));
    for line in what.lines() {
        screen.line(&format!("  {}", one_line(&line.replace('\t', "    "))));
    }
}

fn list(screen: &mut Screen, name: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    screen.line(&screen.styled(Style::Heading, &format!("\n{name}")));
    for entry in entries {
        screen.line(&format!("  - {}", one_line(entry)));
    }
}
