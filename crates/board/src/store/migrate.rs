//! From any version that is known to the present one: in one transaction, after a backup.

use sqlx::{AnyConnection, Row};

use super::{Store, execute};
use crate::error::BoardError;

/// The version that this program reads and writes: the field's tables, and what was added.
pub(super) const VERSION: i64 = 2;
/// The version of the tables from the field, in `user_version`.
const FIELD_VERSION: i64 = 1;

/// Tables as the field makes them.
const FIELD: &str = include_str!("migrations/0001_field.sql");
/// What was added to them.
const BOARD: &str = include_str!("migrations/0002_board.sql");

/// Columns that some files from the field lack, and those that were added.
const COLUMNS: &[(&str, &str, &str)] = &[
    (
        "features",
        "knowledge_paths",
        "alter table features add column knowledge_paths text default '[]'",
    ),
    (
        "features",
        "context_files",
        "alter table features add column context_files text default '[]'",
    ),
    ("features", "architecture", "alter table features add column architecture text"),
    ("features", "boundaries", "alter table features add column boundaries text"),
    ("features", "learnings", "alter table features add column learnings text default '[]'"),
    ("features", "dependencies", "alter table features add column dependencies text default '[]'"),
    (
        "disciplines",
        "mcp_servers",
        "alter table disciplines add column mcp_servers text default '[]'",
    ),
    ("disciplines", "description", "alter table disciplines add column description text"),
    (
        "disciplines",
        "mcp_tool_overrides",
        "alter table disciplines add column mcp_tool_overrides text",
    ),
    ("tasks", "pseudocode", "alter table tasks add column pseudocode text"),
    ("tasks", "enriched_at", "alter table tasks add column enriched_at text"),
    ("tasks", "waiting_for", "alter table tasks add column waiting_for integer not null default 0"),
    ("tasks", "claimed_by", "alter table tasks add column claimed_by text"),
    ("tasks", "claim_expires", "alter table tasks add column claim_expires text"),
    ("tasks", "idempotency_key", "alter table tasks add column idempotency_key text"),
    ("task_comments", "discipline", "alter table task_comments add column discipline text"),
    ("task_comments", "priority", "alter table task_comments add column priority text"),
    ("task_comments", "updated", "alter table task_comments add column updated text"),
];

/// What is found in a file.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// Nothing at all.
    Nothing,
    /// Tables from the field.
    Field,
    /// The present version.
    Present,
}

impl Store {
    /// Brings a database to the present version.
    pub(super) async fn migrate(&self, connection: &mut AnyConnection) -> Result<(), BoardError> {
        let found = look(connection).await?;
        if found == Found::Present {
            return Ok(());
        }
        if self.options.read_only {
            return Err(if found == Found::Nothing {
                BoardError::Absent
            } else {
                BoardError::Older
            });
        }
        if found == Found::Field {
            self.back_up_for("upgrade", connection).await?;
        }
        self.execute_patiently(connection, "begin immediate").await?;
        let outcome = self.upgrade(connection).await;
        execute(connection, if outcome.is_ok() { "commit" } else { "rollback" }).await?;
        outcome
    }

    async fn upgrade(&self, connection: &mut AnyConnection) -> Result<(), BoardError> {
        // Another process may have done it in the meantime.
        match look(connection).await? {
            Found::Present => return Ok(()),
            Found::Nothing => execute(connection, FIELD).await?,
            Found::Field => {}
        }
        for (table, column, statement) in COLUMNS {
            if !has_column(connection, table, column).await? {
                execute(connection, statement).await?;
            }
        }
        if !has_table(connection, "recipe_configs").await? {
            execute(connection, RECIPE_CONFIGS).await?;
        }
        execute(connection, BOARD).await?;
        execute(connection, MIGRATIONS).await?;
        sqlx::query("insert into board_migrations (version, applied) values ($1, $2)")
            .bind(VERSION)
            .bind(super::now())
            .execute(&mut *connection)
            .await?;
        sqlx::query(
            "insert into metadata (id, project_title, project_created) values (1, $1, $2) \
             on conflict (id) do nothing",
        )
        .bind(self.project_name())
        .bind(super::now())
        .execute(&mut *connection)
        .await?;
        // The field's own programs still open the file: everything was added, nothing changed.
        execute(connection, "pragma user_version = 1").await
    }

    /// The name of the folder that holds the board's folder: a title until there is a better one.
    fn project_name(&self) -> String {
        let folder = self.folder.as_deref().and_then(|folder| folder.canonicalize().ok());
        let name = folder.as_deref().and_then(|folder| folder.parent()?.file_name()?.to_str());
        name.unwrap_or("project").to_owned()
    }
}

const MIGRATIONS: &str = "create table board_migrations (
  version integer primary key,
  applied text not null
) strict";

const RECIPE_CONFIGS: &str = "create table recipe_configs (
  name text primary key,
  base_recipe text not null,
  section_order text not null default '[]',
  sections text not null default '{}',
  created text,
  updated text
) strict";

async fn look(connection: &mut AnyConnection) -> Result<Found, BoardError> {
    let field: i64 = sqlx::query_scalar("pragma user_version").fetch_one(&mut *connection).await?;
    if field > FIELD_VERSION {
        return Err(BoardError::Newer);
    }
    if has_table(connection, "metadata").await? {
        let version = sqlx::query("select schema_version from metadata where id = 1")
            .fetch_optional(&mut *connection)
            .await?;
        let version: Option<String> = version.map(|row| row.try_get(0)).transpose()?;
        let major = version.as_deref().and_then(|version| version.split('.').next());
        if major.is_some_and(|major| major.parse::<u32>().map_or(true, |major| major > 1)) {
            return Err(BoardError::Newer);
        }
    }
    if has_table(connection, "board_migrations").await? {
        let version: Option<i64> = sqlx::query_scalar("select max(version) from board_migrations")
            .fetch_one(&mut *connection)
            .await?;
        return match version {
            Some(version) if version > VERSION => Err(BoardError::Newer),
            _ => Ok(Found::Present),
        };
    }
    let tables: i64 =
        sqlx::query_scalar("select count(*) from sqlite_master where name not like 'sqlite_%'")
            .fetch_one(&mut *connection)
            .await?;
    if tables == 0 {
        return Ok(Found::Nothing);
    }
    for table in ["metadata", "features", "disciplines", "tasks", "task_comments"] {
        if !has_table(connection, table).await? {
            return Err(BoardError::Foreign);
        }
    }
    // Later files from the field have the same number and other tables.
    if has_column(connection, "tasks", "feature").await? {
        Ok(Found::Field)
    } else {
        Err(BoardError::Newer)
    }
}

pub(super) async fn has_table(
    connection: &mut AnyConnection,
    name: &str,
) -> Result<bool, BoardError> {
    let found = sqlx::query("select 1 from sqlite_master where type = 'table' and name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    Ok(found.is_some())
}

async fn has_column(
    connection: &mut AnyConnection,
    table: &str,
    column: &str,
) -> Result<bool, BoardError> {
    let found = sqlx::query("select 1 from pragma_table_info($1) where name = $2")
        .bind(table)
        .bind(column)
        .fetch_optional(connection)
        .await?;
    Ok(found.is_some())
}
