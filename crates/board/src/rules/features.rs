//! Features: created, changed and deleted.

use sqlx::AnyConnection;

use super::{acronyms, patch, patch_text};
use crate::check::{self, LINE, TEXT};
use crate::error::{BoardError, shown};
use crate::model::{Acronym, Entity, Feature, FeatureName, FeaturePatch, NewFeature};
use crate::rows::{self, json};
use crate::store::Write;

pub(crate) async fn get(connection: &mut AnyConnection, name: &str) -> Result<Feature, BoardError> {
    let row = sqlx::query("select * from features where name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    rows::feature(&row.ok_or_else(|| BoardError::no_feature(name))?)
}

/// The name of a feature that exists.
pub(crate) async fn name(
    connection: &mut AnyConnection,
    name: &str,
) -> Result<FeatureName, BoardError> {
    let found = sqlx::query("select 1 from features where name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    match found {
        Some(_) => Ok(FeatureName(name.to_owned())),
        None => Err(BoardError::no_feature(name)),
    }
}

pub(crate) async fn create(write: &mut Write, new: NewFeature) -> Result<Feature, BoardError> {
    check::name("name", &new.name)?;
    check::required("display_name", &new.display_name, LINE)?;
    if name(&mut write.connection, &new.name).await.is_ok() {
        return Err(BoardError::refused(
            format!("there already is a feature `{}`", new.name),
            "use update_feature, or another name",
        ));
    }
    let mut feature = Feature {
        name: FeatureName(new.name),
        display_name: new.display_name,
        acronym: Acronym(String::new()),
        description: None,
        architecture: None,
        boundaries: None,
        knowledge_paths: Vec::new(),
        context_files: Vec::new(),
        dependencies: Vec::new(),
        learnings: Vec::new(),
        created: Some(write.now.clone()),
    };
    let fields = FeaturePatch { acronym: None, ..new.fields.clone() };
    change(&mut write.connection, &mut feature, fields).await?;
    feature.acronym = acronyms::choose(
        &mut write.connection,
        acronyms::FEATURES,
        feature.name.as_str(),
        new.fields.acronym.as_deref().filter(|acronym| !acronym.is_empty()),
    )
    .await?;
    insert(&mut write.connection, &feature).await?;
    write.created(Entity::Feature, &feature.name, &feature);
    Ok(feature)
}

pub(crate) async fn update(
    write: &mut Write,
    name: &str,
    fields: FeaturePatch,
) -> Result<Feature, BoardError> {
    let before = get(&mut write.connection, name).await?;
    let mut feature = before.clone();
    change(&mut write.connection, &mut feature, fields).await?;
    finish(write, &before, feature).await
}

/// Registers a file that matters to a feature. One that is registered already stays as it is.
pub(crate) async fn add_context_file(
    write: &mut Write,
    name: &str,
    file: &str,
) -> Result<Feature, BoardError> {
    let before = get(&mut write.connection, name).await?;
    let mut feature = before.clone();
    let file = check::path("file_path", file)?;
    if !feature.context_files.contains(&file) {
        feature.context_files.push(file);
        check::entries("file_path", feature.context_files.len())?;
    }
    finish(write, &before, feature).await
}

/// Writes a changed record.
pub(crate) async fn finish(
    write: &mut Write,
    before: &Feature,
    feature: Feature,
) -> Result<Feature, BoardError> {
    if feature != *before {
        store(&mut write.connection, &feature).await?;
        write.updated(Entity::Feature, &feature.name, before, &feature);
    }
    Ok(feature)
}

async fn change(
    connection: &mut AnyConnection,
    feature: &mut Feature,
    fields: FeaturePatch,
) -> Result<(), BoardError> {
    if let Some(display_name) = &fields.display_name {
        check::required("display_name", display_name, LINE)?;
    }
    check::optional("description", fields.description.as_deref(), TEXT)?;
    check::optional("architecture", fields.architecture.as_deref(), TEXT)?;
    check::optional("boundaries", fields.boundaries.as_deref(), TEXT)?;
    patch(&mut feature.display_name, fields.display_name);
    patch_text(&mut feature.description, fields.description.as_deref());
    patch_text(&mut feature.architecture, fields.architecture.as_deref());
    patch_text(&mut feature.boundaries, fields.boundaries.as_deref());
    if let Some(paths) = &fields.knowledge_paths {
        feature.knowledge_paths = check::paths("knowledge_paths", paths)?;
    }
    if let Some(files) = &fields.context_files {
        feature.context_files = check::paths("context_files", files)?;
    }
    if let Some(acronym) = &fields.acronym {
        let owner = feature.name.as_str();
        feature.acronym =
            acronyms::choose(connection, acronyms::FEATURES, owner, Some(acronym)).await?;
    }
    if let Some(wanted) = &fields.dependencies {
        feature.dependencies = dependencies(connection, feature.name.as_str(), wanted).await?;
    }
    Ok(())
}

/// Checks that the features exist and that none needs `owner`, and gives each once.
async fn dependencies(
    connection: &mut AnyConnection,
    owner: &str,
    wanted: &[String],
) -> Result<Vec<FeatureName>, BoardError> {
    check::entries("dependencies", wanted.len())?;
    let mut needed: Vec<FeatureName> = Vec::with_capacity(wanted.len());
    for wanted in wanted {
        if wanted == owner {
            return Err(cycle(owner, wanted));
        }
        let found = name(connection, wanted).await?;
        if !needed.contains(&found) {
            needed.push(found);
        }
    }
    // Features are few: what they need is followed here, so that the SQL stays one for all engines.
    for first in &needed {
        let mut seen = vec![first.clone()];
        let mut next = 0;
        while let Some(current) = seen.get(next).cloned() {
            for further in get(connection, current.as_str()).await?.dependencies {
                if further.as_str() == owner {
                    return Err(cycle(owner, first.as_str()));
                }
                if !seen.contains(&further) {
                    seen.push(further);
                }
            }
            next += 1;
        }
    }
    Ok(needed)
}

fn cycle(owner: &str, needed: &str) -> BoardError {
    BoardError::refused(
        format!("feature `{owner}` cannot depend on `{}`: a cycle", shown(needed)),
        "remove one of the dependencies",
    )
}

pub(crate) async fn delete(write: &mut Write, name: &str) -> Result<(), BoardError> {
    let feature = get(&mut write.connection, name).await?;
    let tasks: i64 = sqlx::query_scalar("select count(*) from tasks where feature = $1")
        .bind(name)
        .fetch_one(&mut write.connection)
        .await?;
    if tasks > 0 {
        return Err(BoardError::refused(
            format!("feature `{name}` cannot be deleted: {tasks} of its tasks are there"),
            "delete them first",
        ));
    }
    let rows = sqlx::query("select * from features where dependencies <> '[]'")
        .fetch_all(&mut write.connection)
        .await?;
    for row in &rows {
        let other = rows::feature(row)?;
        if other.dependencies.contains(&feature.name) {
            return Err(BoardError::refused(
                format!("feature `{name}` cannot be deleted: `{}` depends on it", other.name),
                "change its `dependencies` first",
            ));
        }
    }
    sqlx::query("delete from features where name = $1")
        .bind(name)
        .execute(&mut write.connection)
        .await?;
    write.deleted(Entity::Feature, name, &feature);
    Ok(())
}

pub(crate) async fn insert(
    connection: &mut AnyConnection,
    feature: &Feature,
) -> Result<(), BoardError> {
    bound(
        "insert into features (display_name, acronym, description, architecture, boundaries, \
         knowledge_paths, context_files, dependencies, learnings, created, name) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        feature,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn store(connection: &mut AnyConnection, feature: &Feature) -> Result<(), BoardError> {
    bound(
        "update features set display_name = $1, acronym = $2, description = $3, architecture = $4, \
         boundaries = $5, knowledge_paths = $6, context_files = $7, dependencies = $8, learnings = $9, \
         created = $10 where name = $11",
        feature,
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn bound<'q>(
    statement: &'static str,
    feature: &'q Feature,
) -> sqlx::query::Query<'q, sqlx::Any, sqlx::any::AnyArguments> {
    sqlx::query(statement)
        .bind(&feature.display_name)
        .bind(feature.acronym.as_str())
        .bind(&feature.description)
        .bind(&feature.architecture)
        .bind(&feature.boundaries)
        .bind(json(&feature.knowledge_paths))
        .bind(json(&feature.context_files))
        .bind(json(&feature.dependencies))
        .bind(json(&feature.learnings))
        .bind(&feature.created)
        .bind(feature.name.as_str())
}
