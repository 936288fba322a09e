//! The project: what it is called, and how far it is.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::check::{self, LINE, TEXT};
use crate::error::BoardError;
use crate::model::{Entity, Progress, Project, Status};
use crate::store::Write;

pub(crate) async fn get(connection: &mut AnyConnection) -> Result<Project, BoardError> {
    let row = sqlx::query("select * from metadata where id = 1").fetch_optional(connection).await?;
    let read = |row: &AnyRow| -> Result<Project, sqlx::Error> {
        Ok(Project {
            title: row.try_get("project_title")?,
            description: row.try_get("project_description")?,
            created: row.try_get("project_created")?,
        })
    };
    match row {
        Some(row) => Ok(read(&row)?),
        None => Ok(Project { title: "project".into(), description: None, created: None }),
    }
}

/// Names the project and says what it is about. What is absent stays; an empty text removes.
pub(crate) async fn set(
    write: &mut Write,
    title: Option<String>,
    description: Option<String>,
) -> Result<Project, BoardError> {
    if let Some(title) = &title {
        check::required("title", title, LINE)?;
    }
    check::optional("description", description.as_deref(), TEXT)?;
    let before = get(&mut write.connection).await?;
    let mut project = before.clone();
    super::patch(&mut project.title, title);
    super::patch_text(&mut project.description, description.as_deref());
    if project.created.is_none() {
        project.created = Some(write.now.clone());
    }
    if project != before {
        store(&mut write.connection, &project).await?;
        write.updated(Entity::Project, "project", &before, &project);
    }
    Ok(project)
}

pub(crate) async fn store(
    connection: &mut AnyConnection,
    project: &Project,
) -> Result<(), BoardError> {
    sqlx::query(
        "insert into metadata (id, project_title, project_description, project_created) \
         values (1, $1, $2, $3) on conflict (id) do update set project_title = excluded.project_title, \
         project_description = excluded.project_description, project_created = excluded.project_created",
    )
    .bind(&project.title)
    .bind(&project.description)
    .bind(&project.created)
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn progress(connection: &mut AnyConnection) -> Result<Progress, BoardError> {
    let mut progress = Progress::default();
    for status in Status::ALL {
        progress.by_status.insert(status.as_str(), 0);
    }
    let names: Vec<String> =
        sqlx::query_scalar("select name from features").fetch_all(&mut *connection).await?;
    for name in names {
        progress.by_feature.entry(name).or_default();
    }
    let rows = sqlx::query(
        "select feature, status, count(*) as number from tasks group by feature, status",
    )
    .fetch_all(connection)
    .await?;
    for row in &rows {
        let (feature, status): (String, String) = (row.try_get("feature")?, row.try_get("status")?);
        let number: i64 = row.try_get("number")?;
        let status = Status::parse(&status).unwrap_or(Status::Draft);
        let of_feature = progress.by_feature.entry(feature).or_default();
        of_feature.total += number;
        progress.total += number;
        *progress.by_status.entry(status.as_str()).or_default() += number;
        if status == Status::Done {
            of_feature.done += number;
            progress.done += number;
        }
    }
    Ok(progress)
}
