//! Tasks that come from other programs.

use rutter_base::failure::Kind;
use rutter_board::{
    Adoption, Foreign, PageRequest, Priority, Ready, Remark, Status, TaskFilter, TaskId,
};

use crate::{Project, actor, told};

fn foreign(id: &str, needs: &[&str]) -> Foreign {
    Foreign {
        id: id.into(),
        feature: "old".into(),
        title: format!("Task {id}"),
        status: Status::Pending,
        priority: Priority::High,
        description: None,
        pseudocode: Some("think".into()),
        acceptance_criteria: vec!["it works".into()],
        tags: vec!["t".into()],
        depends_on: needs.iter().map(ToString::to_string).collect(),
        created: Some("2020-01-01T00:00:00.000Z".into()),
        completed: None,
        remarks: vec![Remark {
            author: "me".into(),
            body: "said".into(),
            created: Some("2020-01-02T00:00:00.000Z".into()),
        }],
    }
}

fn adoption(tasks: Vec<Foreign>) -> Adoption {
    Adoption { source: "test".into(), discipline: "any".into(), tasks }
}

#[tokio::test]
async fn tasks_keep_their_past_and_wait_for_each_other() {
    let project = Project::new().await;
    let done = Foreign {
        status: Status::Done,
        completed: Some("2020-02-01T00:00:00.000Z".into()),
        ..foreign("a", &[])
    };
    // One that depends on a later one, and one on a done one.
    let tasks = vec![foreign("c", &["b", "b"]), foreign("b", &["a"]), done];
    let adopted = project.adopt(&actor(), adoption(tasks.clone())).await.unwrap();
    assert_eq!((adopted.tasks, adopted.features, adopted.disciplines), (3, 1, 1));
    assert_eq!(adopted.comments, 3);
    let task = project.task(adopted.ids["c"]).await.unwrap();
    assert_eq!((task.priority, task.depends_on), (Priority::High, vec![adopted.ids["b"]]));
    assert_eq!(task.created.as_deref(), Some("2020-01-01T00:00:00.000Z"));
    assert_eq!(task.comments[0].created.as_deref(), Some("2020-01-02T00:00:00.000Z"));
    let task = project.task(adopted.ids["a"]).await.unwrap();
    assert_eq!(task.completed.as_deref(), Some("2020-02-01T00:00:00.000Z"));
    let ready = project.list_ready_tasks(Ready::default(), PageRequest::default()).await.unwrap();
    assert_eq!(ready.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [adopted.ids["b"]]);
    assert!(project.integrity().await.unwrap().is_whole());

    let again = project.adopt(&actor(), adoption(tasks)).await.unwrap();
    assert_eq!((again.tasks, again.already, &again.ids), (0, 3, &adopted.ids));
}

#[tokio::test]
async fn one_that_does_not_fit_keeps_all_out() {
    let project = Project::new().await;
    let long = Foreign { title: "x".repeat(501), ..foreign("b", &[]) };
    for (tasks, reason) in [
        (vec![foreign("a", &[]), long], "`b` cannot be imported: /title"),
        (vec![foreign("a", &["gone"])], "`a` cannot be imported: it depends on `gone`"),
        (vec![foreign("a", &["b"]), foreign("b", &["a"])], "a cycle"),
        (vec![foreign("a", &[]), foreign("a", &[])], "two tasks have the id `a`"),
        (vec![Foreign { feature: "No Name".into(), ..foreign("a", &[]) }], "/name"),
    ] {
        let (kind, text) = told(project.adopt(&actor(), adoption(tasks)).await);
        assert_eq!(kind, Kind::Refused);
        assert!(text.contains(reason), "{text}");
    }
    let all = project.list_tasks(TaskFilter::default(), PageRequest::default()).await.unwrap();
    assert!(all.entries.is_empty());
    assert_eq!(project.task_named("next").await.id, TaskId(1));
}
