//! Preparing a session: its context, and the configuration with which its client starts.
//!
//! Both follow from the project's state and from what was asked for, and from nothing else: the
//! same question gives the same bytes. A session is named after what it is for, so that preparing
//! it again finds it again; sessions that run at the same time for the same purpose get numbers.

use std::path::Path;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{RelativePath, Root};
use rutter_base::text::one_line;
use rutter_board::recipes::Recipe;
use rutter_board::{Discipline, TaskId};
use serde_json::{Map, Value, json};

use super::{Context, Files, Prepared};
use crate::module::ModuleId;
use crate::profiles::Profile;
use crate::scope::{Rule, Scope};
use crate::setup::Setup;

/// The name of this server in a client's configuration.
const SERVER: &str = "ralph";

/// What a session is to be for.
#[derive(Debug, Clone, Default)]
pub struct Purpose {
    /// The recipe.
    pub recipe: String,
    /// The discipline; the task's by default.
    pub discipline: Option<String>,
    /// The feature; the task's by default.
    pub feature: Option<String>,
    /// The task.
    pub task: Option<i64>,
    /// The name of the session; made from the rest by default.
    pub name: Option<String>,
}

/// How a client starts this server.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program.
    pub command: String,
    /// The project's folder.
    pub project: &'a Path,
    /// The configuration file that was named.
    pub config: Option<&'a Path>,
}

impl Start<'_> {
    /// This server in a client's configuration. The client may be started anywhere.
    fn server(&self, profile: Option<Profile>, context: &str) -> Value {
        let mut arguments = vec!["serve".to_owned()];
        let mut add = |flag: &str, value: &str| arguments.extend([flag.into(), value.into()]);
        add("--directory", &self.project.to_string_lossy());
        if let Some(config) = self.config {
            add("--config", &config.to_string_lossy());
        }
        if let Some(profile) = profile {
            add("--profile", profile.as_str());
        }
        add("--context", context);
        json!({"command": self.command, "args": arguments})
    }
}

/// A file in the board's folder, relative to the project where it is below that.
pub fn below(board: &Root, start: &Start<'_>, file: &RelativePath) -> String {
    let folder = board.path().unwrap_or(start.project);
    let folder = folder.strip_prefix(start.project).unwrap_or(folder);
    folder.join(file.as_str()).to_string_lossy().into_owned()
}

/// A session that was prepared.
#[derive(Debug)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub context: Context,
    /// Where its files are, below the board's folder.
    pub files: Prepared,
}

/// Prepares a session and writes its files. With `new`, it is one that nobody else has.
pub async fn prepare(
    setup: &Setup,
    purpose: &Purpose,
    start: &Start<'_>,
    new: bool,
) -> Result<Ready, Report> {
    let recipe = setup.recipes.get(&purpose.recipe)?;
    let Some(root) = &setup.board else { return Err(no_board()) };
    let (mut context, discipline) = context(setup, purpose, recipe).await?;
    let base = purpose.name.clone().unwrap_or_else(|| name(&context));
    for number in 1.. {
        let name = if number == 1 { base.clone() } else { format!("{base}.{number}") };
        let files = Files::of(&name)?;
        context.session_id = Some(name.clone());
        let server = start.server(profile(setup, recipe), &below(root, start, &files.context));
        let client = client(server, discipline.as_ref())?;
        if Files::new(root).write(&files, &context, &client, new)? {
            return Ok(Ready { name, context, files });
        }
    }
    Err(Report::new(Kind::Internal, "no name is left for the session"))
}

/// That there is nothing to prepare sessions for.
pub fn no_board() -> Report {
    Report::new(Kind::NotFound, "there is no board here")
        .hint("make one with `rutter init --with board`")
}

/// What the session is for, and the record of its discipline.
async fn context(
    setup: &Setup,
    purpose: &Purpose,
    recipe: &Recipe,
) -> Result<(Context, Option<Discipline>), Report> {
    let board = setup.app.board()?;
    let task = match purpose.task {
        Some(id) => Some(board.task(TaskId(id)).await?),
        None => None,
    };
    let of_task =
        |of: fn(&rutter_board::Task) -> &str| task.as_ref().map(|task| of(task).to_owned());
    let discipline =
        purpose.discipline.clone().or_else(|| of_task(|task| task.discipline.as_str()));
    let discipline = match discipline {
        Some(name) => Some(board.discipline(&name).await?),
        None => None,
    };
    let feature = purpose.feature.clone().or_else(|| of_task(|task| task.feature.as_str()));
    if let Some(name) = &feature {
        board.feature(name).await?;
    }
    let mut context = Context {
        session_id: None,
        recipe: Some(recipe.name.clone()),
        discipline: discipline.as_ref().map(|discipline| discipline.name.to_string()),
        feature,
        task_id: purpose.task,
        disabled_tools: Vec::new(),
    };
    let scope = context.scope(Some(recipe)).and(&overrides(discipline.as_ref()));
    let shown = profile(setup, recipe).map(Profile::scope).unwrap_or_default();
    let tools = setup.app.tools(&shown).into_iter().filter(|entry| !scope.admits(entry.subject()));
    context.disabled_tools = tools.map(|entry| entry.name().to_owned()).collect();
    Ok((context, discipline))
}

/// What a discipline leaves of any recipe.
pub fn overrides(discipline: Option<&Discipline>) -> Scope {
    let overrides = discipline.and_then(|discipline| discipline.mcp_tool_overrides.as_ref());
    overrides.map_or_else(Scope::everything, |overrides| {
        Scope::of(Rule::WithoutTools(overrides.additional_disabled.iter().cloned().collect()))
    })
}

/// The client's configuration: this server, and those that the discipline brings.
fn client(server: Value, discipline: Option<&Discipline>) -> Result<Value, Report> {
    let mut servers = Map::from_iter([(SERVER.to_owned(), server)]);
    for own in discipline.iter().flat_map(|discipline| &discipline.mcp_servers) {
        let mut entry = json!({"command": own.command, "args": own.args});
        if let (false, Value::Object(entry)) = (own.env.is_empty(), &mut entry) {
            entry.insert("env".into(), json!(own.env));
        }
        if servers.insert(own.name.clone(), entry).is_some() {
            let discipline = discipline.map(|discipline| discipline.name.as_str());
            return Err(Report::new(
                Kind::Refused,
                format!(
                    "the discipline `{}` has an MCP server called `{}`, and so has the session",
                    discipline.unwrap_or_default(),
                    one_line(&own.name)
                ),
            )
            .hint("give the discipline's server another name"));
        }
    }
    Ok(json!({"mcpServers": servers}))
}

/// A session that needs the board alone gets nothing else: neither tools nor resources.
fn profile(setup: &Setup, recipe: &Recipe) -> Option<Profile> {
    let elsewhere = |tool: &String| {
        let entry = setup.app.tool(tool, &Scope::everything());
        entry.is_some_and(|entry| entry.module() != ModuleId::Board)
    };
    (!recipe.tools.keys().any(elsewhere)).then_some(Profile::Ralph)
}

/// A name that says what the session is for. No part of it can hold the dot between the parts.
fn name(context: &Context) -> String {
    let mut name = context.recipe.clone().unwrap_or_default();
    let parts = [
        ("discipline", context.discipline.clone()),
        ("feature", context.feature.clone()),
        ("task", context.task_id.map(|id| id.to_string())),
    ];
    for (kind, value) in parts {
        if let Some(value) = value {
            name = format!("{name}.{kind}-{value}");
        }
    }
    name
}
