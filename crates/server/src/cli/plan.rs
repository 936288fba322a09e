//! `rutter plan`

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::text::one_line;
use rutter_process::workflow::{Graph, Node, Progress, Standing, Workflow, dot, mermaid};
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, Project, Surroundings};
use crate::draw;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter plan                          what is done, ready and blocked
  rutter plan --graph svg > plan.svg   a picture of the whole graph with its state
  rutter plan --json")]
pub(super) struct Plan {
    #[command(flatten)]
    project: Project,
    /// Print JSON
    #[arg(long, conflicts_with = "graph")]
    json: bool,
    /// Draw the whole graph with its state
    #[arg(long, value_name = "FORMAT")]
    graph: Option<Drawing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    /// A flowchart for Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

#[derive(Serialize)]
struct Listing<'a> {
    done: usize,
    ready: usize,
    blocked: usize,
    steps: Vec<Step<'a>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Step<'a> {
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    standing: Where,
    depends_on: Vec<&'a str>,
    produces: &'a [String],
    missing_steps: Vec<&'a str>,
    missing_artifacts: Vec<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Where {
    Done,
    Ready,
    Blocked,
}

impl Plan {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let workflow = self.project.workflow(surroundings)?;
        let snapshot = workflow.snapshot();
        let loaded = workflow.store().load()?;
        let progress = snapshot.graph.progress(&loaded.state);
        if let Some(drawing) = self.graph {
            screen.line(draw(&snapshot.graph, &progress, drawing)?.trim_end());
            return Ok(FINE);
        }
        let listing = Listing::new(&workflow, &snapshot.graph, &progress, loaded.warning);
        if self.json {
            screen.json(&listing);
        } else {
            print(&listing, screen);
        }
        Ok(FINE)
    }
}

fn draw(graph: &Graph, progress: &Progress, drawing: Drawing) -> Result<String, Report> {
    match drawing {
        Drawing::Mermaid => Ok(mermaid(graph, progress)),
        Drawing::Dot => Ok(dot(graph, progress)),
        Drawing::Svg => picture(graph, progress).svg().map_err(|error| {
            Report::new(Kind::TooLarge, error.to_string())
                .hint("draw it with `--graph dot` and a tool of your own")
        }),
    }
}

fn picture(graph: &Graph, progress: &Progress) -> draw::Graph {
    let places: BTreeMap<&str, usize> =
        graph.nodes().iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
    let nodes = graph.nodes().iter().map(|node| draw::Node {
        label: node.title.clone(),
        caption: match &node.phase {
            Some(phase) => format!("{} · {phase}", node.id),
            None => node.id.clone(),
        },
        state: match graph.standing(node, progress) {
            Standing::Done => draw::State::Done,
            Standing::Ready => draw::State::Ready,
            Standing::Blocked => draw::State::Waiting,
        },
    });
    let edges = graph.nodes().iter().enumerate().flat_map(|(place, node)| {
        let before = graph.before(node).filter_map(|id| places.get(id));
        before.map(move |before| (*before, place)).collect::<Vec<_>>()
    });
    draw::Graph {
        title: "The workflow and its state".into(),
        nodes: nodes.collect(),
        edges: edges.collect(),
    }
}

impl<'a> Listing<'a> {
    fn new(
        workflow: &Workflow,
        graph: &'a Graph,
        progress: &Progress,
        warning: Option<String>,
    ) -> Self {
        let steps: Vec<Step<'_>> =
            graph.nodes().iter().map(|node| Step::new(graph, node, progress)).collect();
        let count = |standing| steps.iter().filter(|step| step.standing == standing).count();
        let problems = workflow.problems();
        Self {
            done: count(Where::Done),
            ready: count(Where::Ready),
            blocked: count(Where::Blocked),
            warnings: warning.into_iter().chain(problems.iter().map(ToString::to_string)).collect(),
            steps,
        }
    }
}

impl<'a> Step<'a> {
    fn new(graph: &'a Graph, node: &'a Node, progress: &Progress) -> Self {
        let standing = match graph.standing(node, progress) {
            Standing::Done => Where::Done,
            Standing::Ready => Where::Ready,
            Standing::Blocked => Where::Blocked,
        };
        let missing = graph.missing(node, progress);
        Self {
            id: &node.id,
            title: &node.title,
            phase: node.phase.as_deref(),
            standing,
            depends_on: graph.before(node).collect(),
            produces: &node.produces,
            missing_steps: missing.steps,
            missing_artifacts: missing.artifacts,
        }
    }
}

/// A tree: phases, and in each its steps. Every mark is a word or a sign as well as a colour.
fn print(listing: &Listing<'_>, screen: &mut Screen) {
    let width = listing.steps.iter().map(|step| step.id.len()).max().unwrap_or_default();
    for phase in listing.steps.chunk_by(|one, other| one.phase == other.phase) {
        let Some((last, others)) = phase.split_last() else { continue };
        let heading = last.phase.map_or_else(|| "no phase".to_owned(), one_line);
        screen.line(&screen.styled(Style::Heading, &heading));
        for step in others {
            print_step(step, "├─", width, screen);
        }
        print_step(last, "└─", width, screen);
    }
    let Listing { done, ready, blocked, .. } = listing;
    screen.line(&format!("\n{done} done, {ready} ready, {blocked} blocked"));
    for warning in &listing.warnings {
        screen.line(&format!("{} {}", screen.styled(Style::Warning, "!"), one_line(warning)));
    }
}

fn print_step(step: &Step<'_>, branch: &str, width: usize, screen: &mut Screen) {
    let name = format!("{:width$}  {}", step.id, one_line(step.title));
    let line = match step.standing {
        Where::Done => format!("{branch} {}", screen.styled(Style::Good, &format!("✓ {name}"))),
        Where::Ready => format!("{branch} {}", screen.styled(Style::Heading, &format!("▶ {name}"))),
        Where::Blocked => {
            // Artifacts come from steps: while one is missing, so are its artifacts.
            let waits = match step.missing_steps.as_slice() {
                [] => step.missing_artifacts.join(", "),
                steps => steps.join(", "),
            };
            format!(
                "{branch} {}",
                screen.styled(Style::Faint, &format!("· {name} (waits for {waits})"))
            )
        }
    };
    screen.line(&line);
}
