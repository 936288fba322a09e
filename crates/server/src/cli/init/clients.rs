//! The files in which MCP clients look for servers.

use std::path::Path;

use clap::ValueEnum;
use rutter_base::failure::{Kind, Report};
use serde_json::{Value, json};

use super::edit;
use super::plan::{Edit, Plan, What};

/// The name under which clients know the server.
pub(super) const SERVER: &str = "rutter";

/// A client that can be wired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Client {
    /// Claude Code: .mcp.json, CLAUDE.md, .claude/skills/
    Claude,
    /// Cursor: .cursor/mcp.json, AGENTS.md, .agents/skills/
    Cursor,
    /// VS Code: .vscode/mcp.json, AGENTS.md, .agents/skills/
    Vscode,
    /// Codex: .codex/config.toml, AGENTS.md, .agents/skills/
    Codex,
    /// Gemini CLI: .gemini/settings.json, GEMINI.md, .agents/skills/
    Gemini,
}

impl Client {
    /// The file that names MCP servers.
    fn file(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    /// The key in that file below which the servers are.
    fn key(self) -> &'static str {
        match self {
            Self::Claude | Self::Cursor | Self::Gemini => "mcpServers",
            Self::Vscode => "servers",
            Self::Codex => "mcp_servers",
        }
    }

    /// What is said about the server there.
    fn entry(self) -> Value {
        let command = command();
        match self {
            Self::Cursor | Self::Vscode => {
                json!({"type": "stdio", "command": command, "args": ["serve"]})
            }
            Self::Claude | Self::Codex | Self::Gemini => {
                json!({"command": command, "args": ["serve"]})
            }
        }
    }

    /// The file in which the client looks for guidance.
    pub(super) fn guide(self, plan: &Plan) -> &'static str {
        match self {
            Self::Claude if plan.has(".claude/CLAUDE.md") && !plan.has("CLAUDE.md") => {
                ".claude/CLAUDE.md"
            }
            Self::Claude => "CLAUDE.md",
            Self::Cursor | Self::Vscode | Self::Codex => "AGENTS.md",
            Self::Gemini => "GEMINI.md",
        }
    }

    /// The folder in which the client looks for skills.
    pub(super) fn skills(self) -> &'static str {
        match self {
            Self::Claude => ".claude/skills",
            Self::Cursor | Self::Vscode | Self::Codex | Self::Gemini => ".agents/skills",
        }
    }

    /// Names the server in the client's file. What others wrote there stays, comments and order
    /// included; a server of this name that is there already is somebody's own.
    pub(super) fn wire(self, plan: &mut Plan) -> Result<(), Report> {
        let (file, key, entry) = (self.file(), self.key(), self.entry());
        let edited = |text: Option<&str>| match self {
            Self::Codex => edit::toml(text, key, &entry),
            _ => edit::json(text, key, &entry),
        };
        let by_hand = match self {
            Self::Codex => edit::toml_inline(&entry),
            _ => entry.to_string(),
        };
        let refusal = || {
            let what = format!("`{key}` cannot be found in `{file}` or added to it");
            Report::new(Kind::Invalid, format!("{what}, and the file was left alone"))
        };
        let what = plan.edit(file, |text| edited(text).map(Edit::To).ok_or_else(refusal));
        let hint = || format!("mend it, or add `{SERVER}` below `{key}` yourself: {by_hand}");
        let what = what.map_err(|report| report.hint(hint()))?;
        if self == Self::Codex && what != What::Unchanged {
            plan.note("Codex reads it in a trusted project");
        }
        Ok(())
    }
}

/// How a client starts this program: by its name where the shell finds it, else by its path.
pub(in crate::cli) fn command() -> String {
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join("rutter").is_file())
    });
    let here = || std::env::current_exe().ok().as_deref().and_then(Path::to_str).map(str::to_owned);
    if on_path { None } else { here() }.unwrap_or_else(|| "rutter".to_owned())
}
