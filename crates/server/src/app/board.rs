//! The board as a module: records as resources.

use std::sync::Arc;

use rmcp::model::{ReadResourceResult, Reference, Resource, ResourceContents, ResourceTemplate};
use rutter_base::failure::{Kind, Report};
use rutter_base::text;
use rutter_board::{
    Board, BoardError, Discipline, Entity, Feature, PageRequest, StateFile, StateFiles, Task,
    TaskId, Touched,
};
use serde::Serialize;

use crate::module::{Completion, Module, ModuleId, Reader};
use crate::session::Context;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// The scheme of the board's URIs.
pub(super) const SCHEME: &str = "ralph://";
const FEATURES: &str = "ralph://features/";
const DISCIPLINES: &str = "ralph://disciplines/";
const TASKS: &str = "ralph://tasks/";
/// What was done.
pub(super) const PROGRESS: &str = "ralph://progress";
/// What was learned.
pub(super) const LEARNINGS: &str = "ralph://learnings";

/// What a session is about.
pub(super) const SESSION: &str = "ralph://session";

const FEATURE_TEMPLATE: &str = "ralph://features/{name}";
const DISCIPLINE_TEMPLATE: &str = "ralph://disciplines/{name}";
const TASK_TEMPLATE: &str = "ralph://tasks/{id}";

/// The URI of a record that was changed.
pub(super) fn uri_of(touched: &Touched) -> Option<String> {
    let record = touched.record.as_str();
    match touched.entity {
        Entity::Task => Some(format!("{TASKS}{record}")),
        // A task's record shows its comments.
        Entity::Comment => Some(format!("{TASKS}{}", record.split('/').next()?)),
        Entity::Feature => Some(format!("{FEATURES}{record}")),
        Entity::Discipline => Some(format!("{DISCIPLINES}{record}")),
        Entity::Project | Entity::Board => None,
    }
}

/// The URIs of what a session is about.
pub(super) fn uris_of(context: &Context) -> Vec<String> {
    let discipline = context.discipline.as_ref().map(|name| format!("{DISCIPLINES}{name}"));
    let feature = context.feature.as_ref().map(|name| format!("{FEATURES}{name}"));
    let task = context.task_id.map(|id| format!("{TASKS}{id}"));
    [discipline, feature, task].into_iter().flatten().collect()
}

/// Whether a URI is one of the board's.
pub(super) fn is_ours(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

#[derive(Debug)]
pub(super) struct Tasks {
    board: Arc<Board>,
    files: Arc<StateFiles>,
}

/// What a session is about: what its context names, as far as it is there.
#[derive(Serialize)]
struct About {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Task>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<Feature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discipline: Option<Discipline>,
}

impl Tasks {
    pub(super) fn new(board: Arc<Board>, files: Arc<StateFiles>) -> Self {
        Self { board, files }
    }

    /// What the session is about.
    async fn about(&self, context: &Context) -> Result<About, BoardError> {
        // Looking at a session begins no board.
        let there = self.board.exists();
        let board = &self.board;
        Ok(About {
            session_id: context.session_id.clone(),
            recipe: context.recipe.clone(),
            task: match context.task_id.filter(|_| there) {
                Some(id) => if_there(board.task(TaskId(id)).await)?,
                None => None,
            },
            feature: match context.feature.as_ref().filter(|_| there) {
                Some(name) => if_there(board.feature(name).await)?,
                None => None,
            },
            discipline: match context.discipline.as_ref().filter(|_| there) {
                Some(name) => if_there(board.discipline(name).await)?,
                None => None,
            },
        })
    }

    /// The names of everything of a kind, however many pages they are on.
    fn names(&self, features: bool) -> Result<Vec<(String, String)>, BoardError> {
        wait(async {
            let mut names = Vec::new();
            let mut cursor = None;
            loop {
                let page = PageRequest { cursor, limit: Some(200) };
                cursor = if features {
                    let found = self.board.list_features(page).await?;
                    let entries = found.entries.into_iter();
                    names.extend(entries.map(|entry| (entry.name.to_string(), entry.display_name)));
                    found.next
                } else {
                    let found = self.board.list_disciplines(page).await?;
                    let entries = found.entries.into_iter();
                    names.extend(entries.map(|entry| (entry.name.to_string(), entry.display_name)));
                    found.next
                };
                if cursor.is_none() {
                    return Ok(names);
                }
            }
        })
    }

    fn names_or_none(&self, features: bool) -> Vec<(String, String)> {
        // Looking at a list begins no board.
        if !self.board.exists() {
            return Vec::new();
        }
        self.names(features).unwrap_or_else(|error| {
            let report = Report::from(error);
            tracing::warn!(event = "board_unreadable", reason = %report, cause = report.cause());
            Vec::new()
        })
    }
}

/// A record, unless it is not there.
fn if_there<T>(found: Result<T, BoardError>) -> Result<Option<T>, BoardError> {
    match found {
        Err(BoardError::Missing { .. }) => Ok(None),
        found => found.map(Some),
    }
}

/// Waits for the board on a thread that may block.
fn wait<T>(work: impl Future<Output = Result<T, BoardError>>) -> Result<T, BoardError> {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.block_on(work),
        // A command of the terminal asks without a runtime of its own.
        Err(_) => tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(BoardError::from)?
            .block_on(work),
    }
}

impl Module for Tasks {
    fn id(&self) -> ModuleId {
        ModuleId::Board
    }

    fn summary(&self) -> String {
        "tasks, features, disciplines, learnings and progress of the project".into()
    }

    fn resources(&self, reader: &Reader) -> Vec<Resource> {
        let mut resources = vec![
            Resource::new(LEARNINGS, "learnings")
                .with_title("Learnings")
                .with_description("What agents learned, line by line")
                .with_mime_type(TEXT),
            Resource::new(PROGRESS, "progress")
                .with_title("Progress")
                .with_description("What agents did, line by line")
                .with_mime_type(TEXT),
        ];
        if reader.context().is_some() {
            resources.push(
                Resource::new(SESSION, "session")
                    .with_title("This session")
                    .with_description("The task, feature and discipline of this session")
                    .with_mime_type(JSON),
            );
        }
        // Tasks are too many to be listed here: they have a template, and tools that list them.
        for (features, before) in [(true, FEATURES), (false, DISCIPLINES)] {
            let names = self.names_or_none(features);
            resources.extend(names.into_iter().map(|(name, title)| {
                Resource::new(format!("{before}{name}"), name)
                    .with_title(text::one_line(&title))
                    .with_mime_type(JSON)
            }));
        }
        resources
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let template = |uri: &str, name: &str, title: &str, description: &str| {
            ResourceTemplate::new(uri, name)
                .with_title(title)
                .with_description(description)
                .with_mime_type(JSON)
        };
        vec![
            template(DISCIPLINE_TEMPLATE, "discipline", "Discipline", "Full discipline details"),
            template(FEATURE_TEMPLATE, "feature", "Feature", "Full feature details"),
            template(TASK_TEMPLATE, "task", "Task", "Full task details"),
        ]
    }

    fn read(&self, uri: &str, reader: &Reader) -> Option<Result<ReadResourceResult, Report>> {
        let limit = reader.limit;
        let file = |file: StateFile| {
            let text = text::cap(self.files.read(file)?, limit);
            Ok((text, TEXT))
        };
        let answer = if uri == PROGRESS {
            file(StateFile::Progress)
        } else if uri == LEARNINGS {
            file(StateFile::Learnings)
        } else if uri == SESSION {
            record(wait(self.about(&*reader.context()?)), limit)
        } else if let Some(name) = uri.strip_prefix(FEATURES) {
            record(wait(self.board.feature(name)), limit)
        } else if let Some(name) = uri.strip_prefix(DISCIPLINES) {
            record(wait(self.board.discipline(name)), limit)
        } else {
            // Only the shortest way to write a number is one: a resource has one URI.
            let id = uri.strip_prefix(TASKS)?;
            let number = id.parse::<i64>().ok().filter(|number| number.to_string() == id);
            match number {
                Some(id) => record(wait(self.board.task(TaskId(id))), limit),
                None => Err(Report::new(Kind::NotFound, "there is no such task")),
            }
        };
        Some(answer.map(|(text, kind)| {
            ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)])
        }))
    }

    fn complete(&self, question: &Completion<'_>) -> Option<Vec<String>> {
        let Reference::Resource(reference) = question.reference else { return None };
        let names = |features| {
            self.names_or_none(features).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        match (reference.uri.as_str(), question.argument) {
            (FEATURE_TEMPLATE, "name") => Some(names(true)),
            (DISCIPLINE_TEMPLATE, "name") => Some(names(false)),
            (TASK_TEMPLATE, "id") => {
                let ids = wait(self.board.task_ids(question.typed)).unwrap_or_default();
                Some(ids.into_iter().map(|id| id.to_string()).collect())
            }
            _ => None,
        }
    }
}

/// A record as it is read: JSON in lines, which people and agents read alike.
fn record<T: Serialize>(
    found: Result<T, BoardError>,
    limit: usize,
) -> Result<(String, &'static str), Report> {
    let text = serde_json::to_string_pretty(&found?)
        .map_err(|error| Report::new(Kind::Internal, "internal error").because(&error))?;
    Ok((text::cap(text, limit), JSON))
}
