//! Disciplines.

use rutter_base::failure::Report;
use rutter_board::{
    Discipline, DisciplineEntry, DisciplinePatch, NewDiscipline, ToolOverrides, ToolServer,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deleted, Name, Record, board_for, deleted, page};
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Tool};

/// The `list_disciplines` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDisciplines {
    #[serde(default)]
    cursor: Option<String>,
}

/// Some of the disciplines.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Disciplines {
    disciplines: Vec<DisciplineEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for ListDisciplines {
    const NAME: &'static str = "list_disciplines";
    const TITLE: &'static str = "List disciplines";
    const DESCRIPTION: &'static str = "List all disciplines";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Disciplines>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let found = call.app.board()?.list_disciplines(page(self.cursor, None)).await?;
        Ok(Record(Disciplines { disciplines: found.entries, next_cursor: found.next }))
    }
}

/// The `get_discipline` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetDiscipline {
    name: String,
}

impl Tool for GetDiscipline {
    const NAME: &'static str = "get_discipline";
    const TITLE: &'static str = "Get a discipline";
    const DESCRIPTION: &'static str = "Get full discipline details";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Discipline>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Record(call.app.board()?.discipline(&self.name).await?))
    }
}

/// The `create_discipline` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateDiscipline {
    name: String,
    display_name: String,
    icon: String,
    color: String,
    /// Default: derived
    #[serde(default)]
    acronym: Option<String>,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    skills: Option<Vec<String>>,
    #[serde(default)]
    conventions: Option<String>,
}

impl Tool for CreateDiscipline {
    const NAME: &'static str = "create_discipline";
    const TITLE: &'static str = "Create a discipline";
    const DESCRIPTION: &'static str = "Create a new discipline";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Record<Discipline>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let new = NewDiscipline {
            name: self.name,
            display_name: self.display_name,
            icon: self.icon,
            color: self.color,
            acronym: self.acronym,
            fields: DisciplinePatch {
                system_prompt: self.system_prompt,
                skills: self.skills,
                conventions: self.conventions,
                ..DisciplinePatch::default()
            },
        };
        Ok(Record(board.create_discipline(&actor, new).await?))
    }
}

/// The `update_discipline` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateDiscipline {
    name: String,
    #[serde(default)]
    display_name: Option<String>,
    #[serde(default)]
    icon: Option<String>,
    #[serde(default)]
    color: Option<String>,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    skills: Option<Vec<String>>,
    #[serde(default)]
    conventions: Option<String>,
    #[serde(default)]
    mcp_servers: Option<Vec<Server>>,
    #[serde(default)]
    mcp_tool_overrides: Option<Overrides>,
}

/// A server as an argument.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    name: String,
    command: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<std::collections::BTreeMap<String, String>>,
}

/// Overrides as an argument.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Overrides {
    additional_disabled: Vec<String>,
}

impl Tool for UpdateDiscipline {
    const NAME: &'static str = "update_discipline";
    const TITLE: &'static str = "Update a discipline";
    const DESCRIPTION: &'static str = "Update discipline fields";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<Discipline>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let servers = self.mcp_servers.map(|servers| {
            let server = |server: Server| ToolServer {
                name: server.name,
                command: server.command,
                args: server.args.unwrap_or_default(),
                env: server.env.unwrap_or_default(),
            };
            servers.into_iter().map(server).collect()
        });
        let fields = DisciplinePatch {
            display_name: self.display_name,
            icon: self.icon,
            color: self.color,
            description: None,
            system_prompt: self.system_prompt,
            skills: self.skills,
            conventions: self.conventions,
            mcp_servers: servers,
            mcp_tool_overrides: self.mcp_tool_overrides.map(|overrides| ToolOverrides {
                additional_disabled: overrides.additional_disabled,
            }),
        };
        Ok(Record(board.update_discipline(&actor, &self.name, fields).await?))
    }
}

/// The `delete_discipline` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteDiscipline {
    name: String,
}

impl Tool for DeleteDiscipline {
    const NAME: &'static str = "delete_discipline";
    const TITLE: &'static str = "Delete a discipline";
    const DESCRIPTION: &'static str = "Delete a discipline (fails if tasks reference it)";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Deletes;
    type Output = Record<Deleted<Name>>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        board.delete_discipline(&actor, &self.name).await?;
        Ok(deleted(Name { name: self.name }))
    }
}
