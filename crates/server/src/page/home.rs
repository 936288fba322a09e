//! The first page: what this server serves, and how to connect to it.

mod board;
mod prompts;
mod tools;
mod workflow;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use rutter_base::failure::Report;

use super::clients::{self, Client, Step};
use super::frame::{Frame, answer, counted, far, number};
use super::markdown::{self, Markup};
use super::sources::{self, Source};
use super::visit::Visit;
use crate::cost::Cost;
use board::Board;
use prompts::Prompt;
use tools::Group;
use workflow::Workflow;

#[derive(Template)]
#[template(path = "page/home.html")]
struct Page {
    frame: Frame,
    /// What agents are told when they connect.
    instructions: Option<Markup>,
    /// Why the caller's session has no tools.
    closed: Option<String>,
    indexing: Option<String>,
    figures: Vec<Figure>,
    mcp: String,
    preparation: Option<Step>,
    clients: Vec<Client>,
    sources: Vec<Source>,
    tools: Vec<Group>,
    tool_count: String,
    total: String,
    prompts: Vec<Prompt>,
    workflow: Option<Part<Workflow>>,
    board: Option<Part<Board>>,
}

/// What the server is in one number.
struct Figure {
    href: &'static str,
    value: String,
    what: String,
}

/// A part of the server that could or could not be asked.
enum Part<T> {
    Shown(T),
    Silent(String),
}

impl<T> Part<T> {
    /// A part that cannot be asked does not keep a reader from the others.
    fn of(outcome: Result<T, Report>) -> Self {
        match outcome {
            Ok(part) => Self::Shown(part),
            Err(report) => {
                tracing::warn!(event = "page_incomplete", reason = %report, cause = report.cause());
                Self::Silent(report.to_string())
            }
        }
    }
}

pub(super) async fn show(visit: Visit) -> Response {
    let sources = sources_of(&visit).await;
    let prompts = prompts::of(&visit).await;
    let tools = tools::of(&visit);
    let workflow = workflow::of(&visit).await;
    let board = board::of(&visit).await;
    let count: usize = tools.iter().map(|group| group.tools.len()).sum();
    let total: Cost = tools.iter().map(|group| group.cost).sum();
    let identity = visit.app.identity();
    let indexing = visit.app.library().ok().and_then(|library| library.indexing());
    let page = Page {
        instructions: identity.instructions.as_deref().map(markdown::render_within),
        closed: visit.view.closed.as_ref().map(ToString::to_string),
        indexing: indexing.filter(|_| !sources.is_empty()).map(far),
        figures: figures(&sources, count, total, prompts.len()),
        preparation: clients::preparation(visit.credential),
        clients: clients::all(&identity.name, &visit.mcp, visit.credential),
        mcp: visit.mcp.clone(),
        frame: visit.frame(&identity.name),
        tool_count: counted(count, "tool"),
        sources,
        tools,
        total: tools::price(total),
        prompts,
        workflow,
        board,
    };
    answer(StatusCode::OK, &page)
}

async fn sources_of(visit: &Visit) -> Vec<Source> {
    let scope = visit.scope().clone();
    let sources = visit.app.with_library(move |library| sources::visible(library, &scope)).await;
    // A library that is off has none.
    sources.unwrap_or_default()
}

fn figures(sources: &[Source], tools: usize, total: Cost, prompts: usize) -> Vec<Figure> {
    let documents: usize = sources.iter().map(|source| source.documents).sum();
    let figure = |href, count: usize, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        Figure { href, value: number(count), what: format!("{what}{plural}") }
    };
    let all = [
        figure("#sources", documents, "document"),
        figure("#tools", tools, "tool"),
        figure("#prompts", prompts, "prompt"),
        Figure { what: "tokens a session".to_owned(), ..figure("#tools", total.tokens, "") },
    ];
    all.into_iter().filter(|figure| figure.value != "0").collect()
}
