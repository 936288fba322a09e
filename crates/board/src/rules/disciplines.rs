//! Disciplines: created, changed and deleted.

use sqlx::AnyConnection;

use super::{acronyms, patch, patch_text};
use crate::check::{self, LINE, TEXT};
use crate::error::BoardError;
use crate::model::{
    Acronym, Discipline, DisciplineName, DisciplinePatch, Entity, NewDiscipline, ToolServer,
};
use crate::rows::{self, json};
use crate::store::Write;

pub(crate) async fn get(
    connection: &mut AnyConnection,
    name: &str,
) -> Result<Discipline, BoardError> {
    let row = sqlx::query("select * from disciplines where name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    rows::discipline(&row.ok_or_else(|| BoardError::no_discipline(name))?)
}

/// The name of a discipline that exists.
pub(crate) async fn name(
    connection: &mut AnyConnection,
    name: &str,
) -> Result<DisciplineName, BoardError> {
    let found = sqlx::query("select 1 from disciplines where name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    match found {
        Some(_) => Ok(DisciplineName(name.to_owned())),
        None => Err(BoardError::no_discipline(name)),
    }
}

pub(crate) async fn create(
    write: &mut Write,
    new: NewDiscipline,
) -> Result<Discipline, BoardError> {
    check::name("name", &new.name)?;
    if name(&mut write.connection, &new.name).await.is_ok() {
        return Err(BoardError::refused(
            format!("there already is a discipline `{}`", new.name),
            "use update_discipline, or another name",
        ));
    }
    let fields = DisciplinePatch {
        display_name: Some(new.display_name),
        icon: Some(new.icon),
        color: Some(new.color),
        ..new.fields
    };
    let mut discipline = Discipline {
        name: DisciplineName(new.name),
        display_name: String::new(),
        acronym: Acronym(String::new()),
        icon: String::new(),
        color: String::new(),
        description: None,
        system_prompt: None,
        skills: Vec::new(),
        conventions: None,
        mcp_servers: Vec::new(),
        mcp_tool_overrides: None,
    };
    change(&mut discipline, fields)?;
    discipline.acronym = acronyms::choose(
        &mut write.connection,
        acronyms::DISCIPLINES,
        discipline.name.as_str(),
        new.acronym.as_deref().filter(|acronym| !acronym.is_empty()),
    )
    .await?;
    insert(&mut write.connection, &discipline).await?;
    write.created(Entity::Discipline, &discipline.name, &discipline);
    Ok(discipline)
}

pub(crate) async fn update(
    write: &mut Write,
    name: &str,
    fields: DisciplinePatch,
) -> Result<Discipline, BoardError> {
    let before = get(&mut write.connection, name).await?;
    let mut discipline = before.clone();
    change(&mut discipline, fields)?;
    finish(write, &before, discipline).await
}

/// Writes a changed record.
pub(crate) async fn finish(
    write: &mut Write,
    before: &Discipline,
    discipline: Discipline,
) -> Result<Discipline, BoardError> {
    if discipline != *before {
        store(&mut write.connection, &discipline).await?;
        write.updated(Entity::Discipline, &discipline.name, before, &discipline);
    }
    Ok(discipline)
}

fn change(discipline: &mut Discipline, fields: DisciplinePatch) -> Result<(), BoardError> {
    for (field, line) in
        [("display_name", &fields.display_name), ("icon", &fields.icon), ("color", &fields.color)]
    {
        if let Some(line) = line {
            check::required(field, line, LINE)?;
        }
    }
    check::optional("description", fields.description.as_deref(), TEXT)?;
    check::optional("system_prompt", fields.system_prompt.as_deref(), TEXT)?;
    check::optional("conventions", fields.conventions.as_deref(), TEXT)?;
    check::list("skills", fields.skills.as_deref().unwrap_or_default())?;
    servers(fields.mcp_servers.as_deref().unwrap_or_default())?;
    if let Some(overrides) = &fields.mcp_tool_overrides {
        check::list("mcp_tool_overrides/additional_disabled", &overrides.additional_disabled)?;
    }
    patch(&mut discipline.display_name, fields.display_name);
    patch(&mut discipline.icon, fields.icon);
    patch(&mut discipline.color, fields.color);
    patch_text(&mut discipline.description, fields.description.as_deref());
    patch_text(&mut discipline.system_prompt, fields.system_prompt.as_deref());
    patch_text(&mut discipline.conventions, fields.conventions.as_deref());
    patch(&mut discipline.skills, fields.skills);
    patch(&mut discipline.mcp_servers, fields.mcp_servers);
    if fields.mcp_tool_overrides.is_some() {
        discipline.mcp_tool_overrides = fields.mcp_tool_overrides;
    }
    Ok(())
}

fn servers(servers: &[ToolServer]) -> Result<(), BoardError> {
    check::entries("mcp_servers", servers.len())?;
    for (index, server) in servers.iter().enumerate() {
        let at = |field: &str| format!("mcp_servers/{index}/{field}");
        check::required(&at("name"), &server.name, LINE)?;
        check::required(&at("command"), &server.command, LINE)?;
        check::list(&at("args"), &server.args)?;
        check::entries(&at("env"), server.env.len())?;
        for (key, value) in &server.env {
            check::required(&at("env"), key, LINE)?;
            check::text(&at("env"), value, LINE)?;
        }
        if servers.iter().take(index).any(|earlier| earlier.name == server.name) {
            return Err(BoardError::invalid(at("name"), "two servers have this name"));
        }
    }
    Ok(())
}

pub(crate) async fn delete(write: &mut Write, name: &str) -> Result<(), BoardError> {
    let discipline = get(&mut write.connection, name).await?;
    let tasks: i64 = sqlx::query_scalar("select count(*) from tasks where discipline = $1")
        .bind(name)
        .fetch_one(&mut write.connection)
        .await?;
    if tasks > 0 {
        return Err(BoardError::refused(
            format!("discipline `{name}` cannot be deleted: {tasks} of its tasks are there"),
            "delete them first",
        ));
    }
    sqlx::query("delete from disciplines where name = $1")
        .bind(name)
        .execute(&mut write.connection)
        .await?;
    write.deleted(Entity::Discipline, name, &discipline);
    Ok(())
}

pub(crate) async fn insert(
    connection: &mut AnyConnection,
    discipline: &Discipline,
) -> Result<(), BoardError> {
    bound(
        "insert into disciplines (display_name, acronym, icon, color, description, system_prompt, skills, \
         conventions, mcp_servers, mcp_tool_overrides, name) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        discipline,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn store(connection: &mut AnyConnection, discipline: &Discipline) -> Result<(), BoardError> {
    bound(
        "update disciplines set display_name = $1, acronym = $2, icon = $3, color = $4, description = $5, \
         system_prompt = $6, skills = $7, conventions = $8, mcp_servers = $9, mcp_tool_overrides = $10 \
         where name = $11",
        discipline,
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn bound<'q>(
    statement: &'static str,
    discipline: &'q Discipline,
) -> sqlx::query::Query<'q, sqlx::Any, sqlx::any::AnyArguments> {
    sqlx::query(statement)
        .bind(&discipline.display_name)
        .bind(discipline.acronym.as_str())
        .bind(&discipline.icon)
        .bind(&discipline.color)
        .bind(&discipline.description)
        .bind(&discipline.system_prompt)
        .bind(json(&discipline.skills))
        .bind(&discipline.conventions)
        .bind(json(&discipline.mcp_servers))
        .bind(discipline.mcp_tool_overrides.as_ref().map(json))
        .bind(discipline.name.as_str())
}
