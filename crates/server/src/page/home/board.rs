//! How far the work on the board is, for whom the tool that tells it is there.

use std::sync::Arc;

use rutter_base::failure::Report;
use rutter_base::text;
use rutter_board::{Progress, Status};

use super::Part;
use crate::app::blocking;
use crate::page::visit::Visit;

/// The tool that answers the same question.
const TOOL: &str = "get_project_progress";

#[derive(Default)]
pub(super) struct Board {
    pub(super) title: String,
    pub(super) done: i64,
    pub(super) total: i64,
    /// How many tasks have a status, those that some have.
    pub(super) statuses: Vec<(String, i64)>,
    pub(super) features: Vec<Feature>,
}

pub(super) struct Feature {
    pub(super) name: String,
    pub(super) done: i64,
    pub(super) total: i64,
}

pub(super) async fn of(visit: &Visit) -> Option<Part<Board>> {
    visit.app.tool(TOOL, visit.scope())?;
    Some(Part::of(look(visit).await))
}

async fn look(visit: &Visit) -> Result<Board, Report> {
    let board = Arc::clone(visit.app.board()?);
    let asked = Arc::clone(&board);
    // Looking at a page begins no board.
    if !blocking(false, move || asked.exists()).await? {
        return Ok(Board::default());
    }
    let project = board.project().await?;
    let Progress { total, done, by_status, by_feature } = board.progress().await?;
    let statuses = Status::ALL.iter().filter_map(|status| {
        let count = by_status.get(status.as_str()).copied().filter(|count| *count > 0)?;
        Some((status.as_str().replace('_', " "), count))
    });
    let statuses = statuses.collect();
    let features = by_feature.into_iter().map(|(name, of)| Feature {
        name: text::one_line(&name),
        done: of.done,
        total: of.total,
    });
    let features = features.collect();
    Ok(Board { title: text::one_line(&project.title), done, total, statuses, features })
}
