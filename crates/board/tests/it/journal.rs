//! Who changed what, taking it back, and noticing it elsewhere.

use rutter_board::{
    Action, Actor, Entity, Follower, Happened, LogFilter, NewComment, Status, TaskId, TaskPatch,
    Touched,
};
use serde_json::json;

use crate::{Project, actor, sqlite, told};

#[tokio::test]
async fn every_change_says_who_made_it_and_what_it_was() {
    let project = Project::new().await;
    let id = project.task_named("x").await.id;
    let agent = Actor {
        session: Some("s1".into()),
        recipe: Some("task_execution".into()),
        discipline: Some("backend".into()),
        tool: "set_task_status".into(),
    };
    project.set_task_status(&agent, id, Status::Blocked).await.unwrap();
    let log = project.log(LogFilter::default(), 10).await.unwrap();
    assert_eq!(log.len(), 4);
    let latest = &log[0];
    assert_eq!(
        (&latest.actor, latest.entity, latest.action),
        (&agent, Entity::Task, Action::Update)
    );
    assert_eq!(latest.record, "1");
    assert_eq!(latest.before.as_ref().unwrap()["status"], json!("pending"));
    assert_eq!(latest.after.as_ref().unwrap()["status"], json!("blocked"));
    assert_eq!(latest.after.as_ref().unwrap().get("title"), None, "{latest:?}");
    let of_session = LogFilter { session: Some("s1".into()), ..LogFilter::default() };
    assert_eq!(project.log(of_session, 10).await.unwrap().len(), 1);
    // What changes nothing and what is refused leaves no row.
    project.set_task_status(&agent, id, Status::Blocked).await.unwrap();
    let _ = project.delete_task(&agent, TaskId(99)).await;
    assert_eq!(project.log(LogFilter::default(), 10).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_deleted_task_comes_back_with_its_comments() {
    let project = Project::new().await;
    let a = project.task_named("a").await.id;
    let b = project.task_after("b", &[a]).await.id;
    let said = NewComment {
        task: b,
        author: "me".into(),
        body: "said".into(),
        discipline: Some("backend".into()),
        priority: None,
    };
    project.add_comment(&actor(), said).await.unwrap();
    let before = project.task(b).await.unwrap();
    project.delete_task(&actor(), b).await.unwrap();
    project.restore_record(&actor(), Entity::Task, "2").await.unwrap();
    assert_eq!(project.task(b).await.unwrap(), before);
    let (_, text) = told(project.restore_record(&actor(), Entity::Task, "2").await);
    assert!(text.starts_with("task `2` is there already"), "{text}");
    let (_, text) = told(project.restore_record(&actor(), Entity::Task, "7").await);
    assert!(text.starts_with("no task `7` was deleted"), "{text}");
    assert!(project.integrity().await.unwrap().is_whole());
}

#[tokio::test]
async fn features_and_disciplines_come_back_too() {
    let project = Project::new().await;
    let (feature, discipline) =
        (project.feature("auth").await.unwrap(), project.discipline("backend").await.unwrap());
    project.delete_feature(&actor(), "auth").await.unwrap();
    project.delete_discipline(&actor(), "backend").await.unwrap();
    project.restore_record(&actor(), Entity::Discipline, "backend").await.unwrap();
    // Undoing a deletion is the same.
    let log = project
        .log(LogFilter { entity: Some(Entity::Feature), ..LogFilter::default() }, 1)
        .await
        .unwrap();
    project.undo(&actor(), Some(log[0].id)).await.unwrap();
    assert_eq!(project.feature("auth").await.unwrap(), feature);
    assert_eq!(project.discipline("backend").await.unwrap(), discipline);
}

#[tokio::test]
async fn a_change_is_taken_back_unless_a_later_one_built_upon_it() {
    let project = Project::new().await;
    let a = project.task_named("a").await.id;
    let b = project.task_named("b").await;
    let renamed = |title: &str| TaskPatch {
        title: Some(title.into()),
        depends_on: Some(vec![a]),
        ..TaskPatch::default()
    };
    project.update_task(&actor(), b.id, renamed("c")).await.unwrap();
    let first = project.log(LogFilter::default(), 1).await.unwrap()[0].id;
    project.update_task(&actor(), b.id, renamed("d")).await.unwrap();
    let (_, text) = told(project.undo(&actor(), Some(first)).await);
    assert!(text.contains("`title` of task `2` was changed again since"), "{text}");
    project.undo(&actor(), None).await.unwrap();
    assert_eq!(project.task(b.id).await.unwrap().title, "c");
    project.undo(&actor(), Some(first)).await.unwrap();
    let back = project.task(b.id).await.unwrap();
    assert_eq!((back.title.as_str(), back.depends_on.len()), ("b", 0));
    // A creation is undone by deleting.
    let log = project
        .log(LogFilter { record: Some("2".into()), ..LogFilter::default() }, 50)
        .await
        .unwrap();
    let created = log.iter().find(|change| change.action == Action::Create).unwrap();
    project.undo(&actor(), Some(created.id)).await.unwrap();
    assert!(project.task(b.id).await.is_err());
    assert!(project.integrity().await.unwrap().is_whole());
}

#[tokio::test]
async fn a_change_of_any_process_is_noticed() {
    let project = Project::new().await;
    let mut follower = Follower::default();
    assert_eq!(project.happened(&mut follower).await.unwrap(), Happened::Nothing);
    let id = project.again().create_task(&actor(), crate::new_task("x")).await.unwrap().id;
    project.set_task_status(&actor(), id, Status::Done).await.unwrap();
    assert_eq!(
        project.happened(&mut follower).await.unwrap(),
        Happened::Records(vec![Touched { entity: Entity::Task, record: "1".into(), listed: true }])
    );
    assert_eq!(project.happened(&mut follower).await.unwrap(), Happened::Nothing);
    sqlite(&project.database(), "update tasks set title = 'other'");
    assert_eq!(project.happened(&mut follower).await.unwrap(), Happened::Anything);
    assert_eq!(project.happened(&mut follower).await.unwrap(), Happened::Nothing);
}
