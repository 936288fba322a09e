//! Lists: pages, filters, order.

use rutter_base::failure::Kind;
use rutter_board::{
    NewTask, PageRequest, Priority, Ready, Status, TaskEntry, TaskFilter, TaskId, TaskPatch,
};

use crate::{Project, actor, new_task, told};

fn ids(entries: &[TaskEntry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.id.0).collect()
}

async fn found(project: &Project, filter: TaskFilter) -> Vec<i64> {
    ids(&project.list_tasks(filter, PageRequest::default()).await.unwrap().entries)
}

#[tokio::test]
async fn pages_show_everything_once_and_stay_small() {
    let project = Project::new().await;
    for n in 0..60 {
        project.task_named(&format!("Task number {n}")).await;
    }
    let mut shown = Vec::new();
    let mut page = PageRequest::default();
    loop {
        let found = project.list_tasks(TaskFilter::default(), page).await.unwrap();
        let size = serde_json::to_string(&found.entries).unwrap().len();
        assert!(size < 1_800, "{size}");
        shown.extend(ids(&found.entries));
        let Some(next) = found.next else { break };
        page = PageRequest { cursor: Some(next), limit: None };
    }
    assert_eq!(shown, (1..=60).collect::<Vec<_>>());
    let all = PageRequest { cursor: None, limit: Some(60) };
    let all = project.list_tasks(TaskFilter::default(), all).await.unwrap();
    assert_eq!((all.entries.len(), all.next), (60, None));
    for (limit, cursor) in [(Some(0), None), (Some(201), None), (None, Some("x".to_owned()))] {
        let asked = PageRequest { cursor, limit };
        let refused = project.list_tasks(TaskFilter::default(), asked).await;
        assert_eq!(told(refused).0, Kind::Invalid);
    }
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let project = Project::new().await;
    project.feature_named("billing").await;
    let tagged = |title: &str, feature: &str, tags: &[&str], description: &str| NewTask {
        feature: feature.into(),
        fields: TaskPatch {
            tags: Some(tags.iter().map(|&tag| tag.to_owned()).collect()),
            description: Some(description.into()),
            ..TaskPatch::default()
        },
        ..new_task(title)
    };
    for new in [
        tagged("Log in", "auth", &["ui", "50%"], ""),
        tagged("Pay 100%", "billing", &["ui\",\"x"], "money"),
        tagged("Log out", "auth", &["backend_ui", "Übung"], "Ends the SESSION; Ärger"),
    ] {
        project.create_task(&actor(), new).await.unwrap();
    }
    project.set_task_status(&actor(), TaskId(3), Status::Done).await.unwrap();
    let filter = TaskFilter::default;
    for (filter, expected) in [
        (TaskFilter { status: Some(Status::Done), ..filter() }, vec![3]),
        (TaskFilter { feature: Some("auth".into()), ..filter() }, vec![1, 3]),
        (TaskFilter { discipline: Some("backend".into()), ..filter() }, vec![1, 2, 3]),
        (TaskFilter { tag: Some("ui".into()), ..filter() }, vec![1]),
        (TaskFilter { tag: Some("50%".into()), ..filter() }, vec![1]),
        (TaskFilter { tag: Some("x".into()), ..filter() }, vec![]),
        (TaskFilter { tag: Some("ui\",\"x".into()), ..filter() }, vec![2]),
        (TaskFilter { text: Some("log".into()), ..filter() }, vec![1, 3]),
        (TaskFilter { text: Some("session".into()), ..filter() }, vec![3]),
        (TaskFilter { text: Some("Ärger".into()), ..filter() }, vec![3]),
        (TaskFilter { tag: Some("Übung".into()), ..filter() }, vec![3]),
        (TaskFilter { text: Some("0%".into()), ..filter() }, vec![2]),
        (TaskFilter { text: Some("_".into()), ..filter() }, vec![]),
        (TaskFilter { feature: Some("auth".into()), text: Some("in".into()), ..filter() }, vec![1]),
        (TaskFilter { feature: Some("nope".into()), ..filter() }, vec![]),
    ] {
        assert_eq!(found(&project, filter.clone()).await, expected, "{filter:?}");
    }
}

#[tokio::test]
async fn ready_tasks_come_by_priority_then_id() {
    let project = Project::new().await;
    let with = |title: &str, priority, needed: &[i64]| NewTask {
        fields: TaskPatch {
            priority: Some(priority),
            depends_on: Some(needed.iter().map(|&id| TaskId(id)).collect()),
            ..TaskPatch::default()
        },
        ..new_task(title)
    };
    for new in [
        with("1", Priority::Low, &[]),
        with("2", Priority::Critical, &[1]),
        with("3", Priority::High, &[]),
        with("4", Priority::Medium, &[]),
        with("5", Priority::High, &[]),
    ] {
        project.create_task(&actor(), new).await.unwrap();
    }
    let ready = async || {
        ids(&project
            .list_ready_tasks(Ready::default(), PageRequest::default())
            .await
            .unwrap()
            .entries)
    };
    assert_eq!(ready().await, [3, 5, 4, 1]);
    project.set_task_status(&actor(), TaskId(1), Status::Done).await.unwrap();
    assert_eq!(ready().await, [2, 3, 5, 4]);
    project.set_task_status(&actor(), TaskId(1), Status::Skipped).await.unwrap();
    assert_eq!(ready().await, [3, 5, 4]);
    let mut shown = Vec::new();
    let mut cursor = None;
    loop {
        let asked = PageRequest { cursor, limit: Some(1) };
        let page = project.list_ready_tasks(Ready::default(), asked).await.unwrap();
        shown.extend(ids(&page.entries));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(shown, [3, 5, 4]);
    let elsewhere = Ready { feature: Some("nope".into()), discipline: None };
    let page = project.list_ready_tasks(elsewhere, PageRequest::default()).await.unwrap();
    assert!(page.entries.is_empty());
    assert!(project.integrity().await.unwrap().is_whole());
}

#[tokio::test]
async fn progress_counts_by_status_and_feature() {
    let project = Project::new().await;
    project.feature_named("billing").await;
    for title in ["a", "b", "c"] {
        project.task_named(title).await;
    }
    project.set_task_status(&actor(), TaskId(2), Status::Done).await.unwrap();
    let progress = serde_json::to_value(project.progress().await.unwrap()).unwrap();
    assert_eq!(
        progress,
        serde_json::json!({
            "total": 3, "done": 1,
            "by_status": {"draft": 0, "pending": 2, "in_progress": 0, "done": 1, "blocked": 0, "skipped": 0},
            "by_feature": {"auth": {"total": 3, "done": 1}, "billing": {"total": 0, "done": 0}},
        })
    );
}
