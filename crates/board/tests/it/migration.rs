//! Files of other versions, and files that are none.

use rutter_base::failure::Kind;
use rutter_board::{Options, PageRequest, Ready, TaskFilter, TaskId, TaskPatch};

use crate::{Project, actor, open, sqlite, told};

/// A file as the field makes it, with a row of everything.
const FIELD: &str = "
create table metadata (id integer primary key check (id = 1), schema_version text not null default '1.0',
  project_title text not null, project_description text, project_created text) strict;
create table features (name text primary key, display_name text not null, acronym text not null unique,
  description text, created text, knowledge_paths text default '[]', context_files text default '[]',
  architecture text, boundaries text, learnings text default '[]', dependencies text default '[]') strict;
create table disciplines (name text primary key, display_name text not null, acronym text not null unique,
  icon text not null, color text not null, system_prompt text, skills text default '[]', conventions text,
  mcp_servers text default '[]', stack_id integer default null, image_path text default null,
  crops text default null, description text default null, image_prompt text default null) strict;
create table tasks (id integer primary key, feature text not null references features(name) on delete restrict,
  discipline text not null references disciplines(name) on delete restrict, title text not null,
  description text, status text not null default 'pending', priority text, tags text default '[]',
  depends_on text default '[]', blocked_by text, created text, updated text, completed text,
  acceptance_criteria text default '[]', context_files text default '[]', output_artifacts text default '[]',
  hints text, estimated_turns integer, provenance text, pseudocode text, enriched_at text) strict;
create table task_comments (id integer primary key, task_id integer not null references tasks(id) on delete cascade,
  author text not null, discipline text references disciplines(name) on delete set null, agent_task_id integer,
  priority text default null, body text not null, created text) strict;
create table recipe_configs (name text primary key, base_recipe text not null,
  section_order text not null default '[]', sections text not null default '{}', created text, updated text) strict;
create index idx_tasks_feature on tasks(feature);
insert into metadata (id, project_title) values (1, 'Old');
insert into features (name, display_name, acronym, learnings) values ('auth', 'Auth', 'AUTH',
  '[{\"text\":\"mind the gap\",\"source\":\"opus_reviewed\",\"created\":\"2026-02-01\",\"hit_count\":3,\"reviewed\":true,\"review_count\":1}]');
insert into disciplines (name, display_name, acronym, icon, color, mcp_servers, crops) values
  ('frontend', 'Frontend', 'FRNT', 'x', '#fff', '[{\"name\":\"s\",\"command\":\"c\"}]', 'kept');
insert into tasks (id, feature, discipline, title, status, priority, depends_on, tags) values
  (3, 'auth', 'frontend', 'first', 'done', null, '[]', '[\"a\"]'),
  (7, 'auth', 'frontend', 'second', 'pending', 'high', '[3]', '[]'),
  (9, 'auth', 'frontend', 'third', 'pending', 'low', '[7, 3]', '[]');
insert into task_comments (id, task_id, author, body) values (4, 7, 'me', 'said');
insert into recipe_configs (name, base_recipe) values ('mine', 'yap');
pragma user_version = 1";

fn with_file(script: &str) -> Project {
    let project = Project::untouched();
    std::fs::create_dir(project.folder.path().join("db")).unwrap();
    sqlite(&project.database(), script);
    project
}

fn backups(project: &Project) -> usize {
    let files = std::fs::read_dir(project.folder.path().join("db")).unwrap();
    let is_backup = |name: &str| name.contains(".upgrade-");
    files.filter(|file| is_backup(file.as_ref().unwrap().file_name().to_str().unwrap())).count()
}

#[tokio::test]
async fn a_file_from_the_field_keeps_every_row() {
    let project = with_file(FIELD);
    assert_eq!(project.project().await.unwrap().title, "Old");
    assert_eq!(backups(&project), 1);
    let feature = project.feature("auth").await.unwrap();
    assert_eq!((feature.learnings[0].hit_count, feature.learnings[0].reviewed), (3, true));
    let discipline = project.discipline("frontend").await.unwrap();
    assert_eq!(discipline.mcp_servers[0].name, "s");
    let task = project.task(TaskId(7)).await.unwrap();
    assert_eq!((task.depends_on, task.comments.len()), (vec![TaskId(3)], 1));
    let ready = project.list_ready_tasks(Ready::default(), PageRequest::default()).await.unwrap();
    assert_eq!(ready.entries.len(), 1);
    assert_eq!(ready.entries[0].id, TaskId(7));
    let all = project.list_tasks(TaskFilter::default(), PageRequest::default()).await.unwrap();
    assert_eq!(all.entries.len(), 3);
    assert!(project.integrity().await.unwrap().is_whole());
    assert_eq!(sqlite(&project.database(), "select crops from disciplines"), "kept");
    assert_eq!(sqlite(&project.database(), "select name from recipe_configs"), "mine");
    // New ids follow the old ones, and the second time nothing is upgraded.
    let again = project.again();
    let fields = TaskPatch { title: Some("third, renamed".into()), ..TaskPatch::default() };
    again.update_task(&actor(), TaskId(9), fields).await.unwrap();
    assert_eq!(backups(&project), 1);
}

#[tokio::test]
async fn columns_that_an_early_file_lacks_are_added() {
    let early = FIELD
        .replace("architecture text, boundaries text, learnings text default '[]', dependencies text default '[]'", "x text")
        .replace(", pseudocode text, enriched_at text", "")
        .replace("discipline text references disciplines(name) on delete set null, agent_task_id integer,\n  priority text default null, ", "")
        .replace(", learnings) values ('auth', 'Auth', 'AUTH',\n  '[{\"text\":\"mind the gap\",\"source\":\"opus_reviewed\",\"created\":\"2026-02-01\",\"hit_count\":3,\"reviewed\":true,\"review_count\":1}]')", ") values ('auth', 'Auth', 'AUTH')");
    assert!(!early.contains("learnings") && !early.contains("pseudocode"));
    let project = with_file(&early);
    assert!(project.feature("auth").await.unwrap().learnings.is_empty());
    assert_eq!(project.task(TaskId(7)).await.unwrap().comments[0].body, "said");
}

#[tokio::test]
async fn a_newer_file_is_refused_and_not_touched() {
    for newer in [
        format!("{FIELD};\npragma user_version = 2"),
        format!("{FIELD};\nupdate metadata set schema_version = '2.0'"),
        format!("{FIELD};\nupdate metadata set schema_version = 'next'"),
        FIELD
            .replace(
                "feature text not null references features(name) on delete restrict",
                "feature_id integer",
            )
            .replace(
                "(id, feature, discipline, title, status",
                "(id, feature_id, discipline, title, status",
            )
            .replace("'auth', 'frontend', '", "1, 'frontend', '")
            .replace("\ncreate index idx_tasks_feature on tasks(feature);", ""),
    ] {
        let project = with_file(&newer);
        let before = std::fs::read(project.database()).unwrap();
        let (kind, text) = told(project.project().await);
        assert_eq!(kind, Kind::Refused);
        assert!(text.starts_with("the board's database is of a newer version"), "{text}");
        assert_eq!(backups(&project), 0);
        drop(project.board);
        assert_eq!(
            std::fs::read(project.folder.path().join("db/ralph.db")).unwrap().len(),
            before.len()
        );
    }
    let project = Project::new().await;
    sqlite(&project.database(), "insert into board_migrations values (99, 'x')");
    assert_eq!(told(project.again().project().await).0, Kind::Refused);
}

#[tokio::test]
async fn what_is_no_board_is_refused() {
    let project = with_file("create table notes (x text)");
    let (kind, text) = told(project.project().await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.contains("is not a board's database"), "{text}");
    assert_eq!(sqlite(&project.database(), "select name from sqlite_master"), "notes");
    let project = with_file("create table notes (x text)");
    std::fs::write(
        project.database(),
        "this is a letter to my grandmother, not a database\n".repeat(100),
    )
    .unwrap();
    assert_eq!(told(project.project().await).0, Kind::Refused);
    let project = Project::untouched();
    std::fs::create_dir_all(project.database()).unwrap();
    assert_eq!(told(project.project().await).0, Kind::Refused);
}

#[tokio::test]
async fn many_processes_upgrade_a_file_once() {
    let project = with_file(FIELD);
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let board = project.again();
        opening.spawn(async move { board.project().await.map(|project| project.title) });
    }
    for title in opening.join_all().await {
        assert_eq!(title.unwrap(), "Old");
    }
    assert_eq!(sqlite(&project.database(), "select count(*) from board_migrations"), "1");
}

#[tokio::test]
async fn many_processes_begin_one_board() {
    let project = Project::untouched();
    let mut opening = tokio::task::JoinSet::new();
    for n in 0..8 {
        let board = project.again();
        opening.spawn(async move { board.set_project(&actor(), Some(n.to_string()), None).await });
    }
    for outcome in opening.join_all().await {
        outcome.unwrap();
    }
    assert_eq!(sqlite(&project.database(), "select count(*) from journal"), "8");
}

#[tokio::test]
async fn reading_alone_writes_nothing() {
    let options = Options { read_only: true, ..Options::default() };
    let project = Project::untouched();
    let reader = open(project.folder.path(), options);
    assert_eq!(told(reader.project().await).0, Kind::NotFound);
    assert!(!project.database().exists());
    let project = with_file(FIELD);
    let (kind, text) = told(open(project.folder.path(), options).project().await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.contains("older version"), "{text}");
    assert_eq!(backups(&project), 0);
    project.project().await.unwrap();
    let reader = open(project.folder.path(), options);
    assert_eq!(reader.task(TaskId(7)).await.unwrap().title, "second");
    assert_eq!(told(reader.delete_task(&actor(), TaskId(9)).await).0, Kind::Refused);
}

#[tokio::test]
async fn the_engine_is_one_without_the_corruption_bug() {
    let project = Project::untouched();
    let version = project.engine_version().await.unwrap();
    let parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
    assert!(parts >= vec![3, 51, 3], "{version}");
    assert_eq!(sqlite(&project.database(), "pragma journal_mode"), "wal");
}
