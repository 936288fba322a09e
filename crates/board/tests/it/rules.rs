//! The rules, each as its users meet it.

use rutter_base::failure::Kind;
use rutter_board::{
    DisciplinePatch, Enrichment, Entity, FeaturePatch, LearningSource, LogFilter, NewComment,
    NewDiscipline, NewFeature, NewLearning, NewTask, Options, Priority, Status, TaskId, TaskPatch,
    ToolOverrides, ToolServer,
};

use crate::{Project, actor, new_task, open, told};

#[tokio::test]
async fn a_new_task_is_pending_and_of_medium_priority() {
    let project = Project::new().await;
    let task = project.task_named("Log in").await;
    assert_eq!(
        (task.id, task.status, task.priority),
        (TaskId(1), Status::Pending, Priority::Medium)
    );
    assert_eq!(project.task(task.id).await.unwrap(), task);
}

#[tokio::test]
async fn what_a_task_refers_to_must_exist() {
    let project = Project::new().await;
    let lost = NewTask { feature: "nope".into(), ..new_task("x") };
    assert_eq!(
        told(project.create_task(&actor(), lost).await),
        (Kind::NotFound, "there is no feature `nope`; list_features shows what there is".into())
    );
    let lost = NewTask { discipline: "nope".into(), ..new_task("x") };
    assert_eq!(told(project.create_task(&actor(), lost).await).0, Kind::NotFound);
    let fields = TaskPatch { depends_on: Some(vec![TaskId(7)]), ..TaskPatch::default() };
    let (kind, text) =
        told(project.create_task(&actor(), NewTask { fields, ..new_task("x") }).await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.contains("names task 7, which does not exist"), "{text}");
    assert_eq!(project.progress().await.unwrap().total, 0);
}

/// After some tasks in a row the next is created without asking first; the rules are the same.
#[tokio::test]
async fn the_rules_hold_for_tasks_created_in_a_row() {
    let project = Project::new().await;
    for number in 1..=4 {
        assert_eq!(project.task_named("one of many").await.id, TaskId(number));
    }
    let lost = NewTask { feature: "nope".into(), ..new_task("x") };
    assert_eq!(
        told(project.create_task(&actor(), lost).await),
        (Kind::NotFound, "there is no feature `nope`; list_features shows what there is".into())
    );
    for number in 5..=7 {
        let task = project.task_named("one more").await;
        assert_eq!(task.id, TaskId(number));
        assert_eq!(project.task(task.id).await.unwrap(), task);
    }
    let keyed = NewTask { idempotency_key: Some("k".into()), ..new_task("once") };
    let once = project.create_task(&actor(), keyed.clone()).await.unwrap();
    assert_eq!(project.create_task(&actor(), keyed.clone()).await.unwrap(), once);
    for number in 9..=11 {
        assert_eq!(project.task_named("one more").await.id, TaskId(number));
    }
    assert_eq!(project.create_task(&actor(), keyed).await.unwrap(), once);
    let done = NewTask { status: Some(Status::Done), ..new_task("x") };
    assert_eq!(told(project.create_task(&actor(), done).await).0, Kind::Invalid);
    // The last id was given out, and is not given out again; nor is one that another took.
    let last = project.task_named("last").await.id;
    project.delete_task(&actor(), last).await.unwrap();
    let other = open(project.folder.path(), Options::default());
    assert_eq!(other.create_task(&actor(), new_task("theirs")).await.unwrap().id, TaskId(13));
    let after = project.task_after("needs one", &[once.id]).await;
    assert_eq!((after.id, after.depends_on), (TaskId(14), vec![once.id]));
    let log = project.log(LogFilter::default(), 100).await.unwrap();
    let created = log.iter().filter(|change| change.entity == Entity::Task);
    assert_eq!(created.count(), 14 + 1, "a row for each creation and for the deletion");
    assert!(project.integrity().await.unwrap().is_whole());
}

#[tokio::test]
async fn dependencies_never_go_round_in_a_circle() {
    let project = Project::new().await;
    let a = project.task_named("a").await.id;
    let b = project.task_after("b", &[a]).await.id;
    let c = project.task_after("c", &[b, b]).await;
    assert_eq!(c.depends_on, [b]);
    let on = |id| TaskPatch { depends_on: Some(vec![id]), ..TaskPatch::default() };
    let (kind, text) = told(project.update_task(&actor(), a, on(c.id)).await);
    assert_eq!(
        (kind, text.as_str()),
        (
            Kind::Refused,
            "task 1 cannot depend on 3, which depends on 1: a cycle; remove one of the dependencies",
        )
    );
    let (_, text) = told(project.update_task(&actor(), a, on(a)).await);
    assert!(text.contains("itself"), "{text}");
    assert!(project.task(a).await.unwrap().depends_on.is_empty());
    assert!(project.integrity().await.unwrap().is_whole());
}

#[tokio::test]
async fn only_drafts_are_enriched() {
    let project = Project::new().await;
    let draft = NewTask { status: Some(Status::Draft), ..new_task("x") };
    let id = project.create_task(&actor(), draft).await.unwrap().id;
    let enrichment = Enrichment {
        pseudocode: "do it".into(),
        acceptance_criteria: Some(vec!["it is done".into()]),
        context_files: Some(vec!["./src/a.rs".into()]),
    };
    let task = project.enrich_task(&actor(), id, enrichment.clone()).await.unwrap();
    assert_eq!(task.status, Status::Pending);
    assert_eq!(task.context_files, ["src/a.rs"]);
    assert!(task.enriched_at.is_some());
    let (kind, text) = told(project.enrich_task(&actor(), id, enrichment).await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.starts_with("task 1 is pending, and only drafts are enriched"), "{text}");
}

#[tokio::test]
async fn done_sets_completed_and_anything_else_clears_it() {
    let project = Project::new().await;
    let id = project.task_named("x").await.id;
    let done = project.set_task_status(&actor(), id, Status::Done).await.unwrap();
    assert!(done.completed.is_some());
    let again = project.set_task_status(&actor(), id, Status::Done).await.unwrap();
    assert_eq!(again, done);
    let open = project.set_task_status(&actor(), id, Status::Pending).await.unwrap();
    assert_eq!(open.completed, None);
    let created = NewTask { status: Some(Status::Done), ..new_task("x") };
    assert_eq!(
        told(project.create_task(&actor(), created).await),
        (Kind::Invalid, "/status: expected draft or pending".into())
    );
}

#[tokio::test]
async fn what_others_need_is_not_deleted() {
    let project = Project::new().await;
    let a = project.task_named("a").await.id;
    let b = project.task_after("b", &[a]).await.id;
    let (kind, text) = told(project.delete_task(&actor(), a).await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.starts_with("task 1 cannot be deleted: 2 depend on it"), "{text}");
    for outcome in [
        project.delete_feature(&actor(), "auth").await,
        project.delete_discipline(&actor(), "backend").await,
    ] {
        assert_eq!(told(outcome).0, Kind::Refused);
    }
    project.delete_task(&actor(), b).await.unwrap();
    project.delete_task(&actor(), a).await.unwrap();
    project.feature_named("billing").await;
    let needs = FeaturePatch { dependencies: Some(vec!["auth".into()]), ..FeaturePatch::default() };
    project.update_feature(&actor(), "billing", needs).await.unwrap();
    let (_, text) = told(project.delete_feature(&actor(), "auth").await);
    assert!(text.contains("`billing` depends on it"), "{text}");
    let circle =
        FeaturePatch { dependencies: Some(vec!["billing".into()]), ..FeaturePatch::default() };
    let (_, text) = told(project.update_feature(&actor(), "auth", circle).await);
    assert!(text.contains("cycle"), "{text}");
    project.delete_feature(&actor(), "billing").await.unwrap();
    project.delete_feature(&actor(), "auth").await.unwrap();
    project.delete_discipline(&actor(), "backend").await.unwrap();
}

#[tokio::test]
async fn ids_are_never_given_out_again() {
    let project = Project::new().await;
    let first = project.task_named("a").await.id;
    project.delete_task(&actor(), first).await.unwrap();
    let second = project.task_named("b").await.id;
    assert_eq!(second, TaskId(2));
    let said = |body: &str| NewComment {
        task: second,
        author: "me".into(),
        body: body.into(),
        discipline: Some("backend".into()),
        priority: Some(Priority::High),
    };
    let one = project.add_comment(&actor(), said("one")).await.unwrap();
    project.delete_comment(&actor(), second, one.id).await.unwrap();
    assert_eq!(told(project.delete_comment(&actor(), second, one.id).await).0, Kind::NotFound);
    let two = project.add_comment(&actor(), said("two")).await.unwrap();
    assert!(two.id > one.id);
    let edited = project.update_comment(&actor(), second, two.id, "three".into()).await.unwrap();
    assert_eq!(edited.body, "three");
    assert_eq!(project.task(second).await.unwrap().comments, [edited]);
    // A comment is found under its own task only.
    let other = project.task_named("c").await.id;
    let elsewhere = project.update_comment(&actor(), other, two.id, "x".into()).await;
    assert_eq!(told(elsewhere).0, Kind::NotFound);
}

#[tokio::test]
async fn acronyms_are_derived_and_unique() {
    let project = Project::new().await;
    assert_eq!(project.feature("auth").await.unwrap().acronym.as_str(), "AUTH");
    project.feature_named("authors").await;
    assert_eq!(project.feature("authors").await.unwrap().acronym.as_str(), "AUT2");
    let taken = FeaturePatch { acronym: Some("AUTH".into()), ..FeaturePatch::default() };
    let (kind, text) = told(project.update_feature(&actor(), "authors", taken.clone()).await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.starts_with("the acronym `AUTH` is taken"), "{text}");
    // Its own is no clash.
    project.update_feature(&actor(), "auth", taken).await.unwrap();
    let bad = NewFeature {
        name: "b".into(),
        display_name: "B".into(),
        fields: FeaturePatch { acronym: Some("toolong".into()), ..FeaturePatch::default() },
    };
    assert_eq!(
        told(project.create_feature(&actor(), bad).await),
        (Kind::Invalid, "/acronym: expected four of A-Z and 0-9".into())
    );
    let twice =
        NewFeature { name: "auth".into(), display_name: "A".into(), ..NewFeature::default() };
    let (_, text) = told(project.create_feature(&actor(), twice).await);
    assert!(text.starts_with("there already is a feature `auth`"), "{text}");
    // Disciplines have their own.
    let same = NewDiscipline {
        name: "auth".into(),
        display_name: "A".into(),
        icon: "i".into(),
        color: "c".into(),
        acronym: Some("AUTH".into()),
        ..NewDiscipline::default()
    };
    project.create_discipline(&actor(), same).await.unwrap();
}

fn learning(text: &str, source: LearningSource) -> NewLearning {
    NewLearning { text: text.into(), source: Some(source), reason: None, task_id: None }
}

#[tokio::test]
async fn a_learning_that_is_made_again_is_counted() {
    let project = Project::new().await;
    let text = "The login form rejects passwords that contain spaces";
    for (text, hits) in [
        (text, 1),
        ("login form rejects passwords that contain spaces!", 2),
        ("Sessions expire after thirty minutes without requests", 1),
    ] {
        let new = learning(text, LearningSource::Agent);
        let (_, learning) = project.append_learning(&actor(), "auth", new).await.unwrap();
        assert_eq!(learning.hit_count, hits, "{text}");
    }
    let learnings = project.feature("auth").await.unwrap().learnings;
    assert_eq!(learnings.len(), 2);
    assert_eq!(learnings[0].text, text);
    let lost = NewLearning { task_id: Some(TaskId(9)), ..learning("x y z", LearningSource::Agent) };
    assert_eq!(told(project.append_learning(&actor(), "auth", lost).await).0, Kind::NotFound);
}

#[tokio::test]
async fn the_least_useful_learning_makes_room_and_a_persons_never_does() {
    let project = Project::new().await;
    let text = |n: usize| format!("alpha{n} beta{n} gamma{n} delta{n}");
    for n in 0..50 {
        let source = if n == 0 { LearningSource::Human } else { LearningSource::Auto };
        project.append_learning(&actor(), "auth", learning(&text(n), source)).await.unwrap();
    }
    // The second is made again, so the third is the least useful one.
    project
        .append_learning(&actor(), "auth", learning(&text(1), LearningSource::Auto))
        .await
        .unwrap();
    for n in 50..52 {
        let new = learning(&text(n), LearningSource::Agent);
        project.append_learning(&actor(), "auth", new).await.unwrap();
    }
    let kept = project.feature("auth").await.unwrap().learnings;
    assert_eq!(kept.len(), 50);
    let has = |n: usize| kept.iter().any(|learning| learning.text == text(n));
    assert!(has(0) && has(1) && !has(2) && !has(3) && has(4) && has(50) && has(51));
    for n in 100..149 {
        let new = learning(&text(n), LearningSource::Human);
        project.append_learning(&actor(), "auth", new).await.unwrap();
    }
    let new = learning(&text(200), LearningSource::Human);
    let (kind, told) = told(project.append_learning(&actor(), "auth", new).await);
    assert_eq!(kind, Kind::Refused);
    assert!(told.contains("never pruned"), "{told}");
}

#[tokio::test]
async fn context_files_are_relative_and_registered_once() {
    let project = Project::new().await;
    for file in ["src/a.rs", "./src/a.rs", "src/b.rs"] {
        project.add_context_file(&actor(), "auth", file).await.unwrap();
    }
    assert_eq!(project.feature("auth").await.unwrap().context_files, ["src/a.rs", "src/b.rs"]);
    for file in ["/etc/passwd", "../secret", "a/../../b"] {
        let (kind, text) = told(project.add_context_file(&actor(), "auth", file).await);
        assert_eq!(kind, Kind::Invalid);
        assert!(text.starts_with("/file_path: expected a path relative to the project"), "{text}");
    }
}

#[tokio::test]
async fn a_discipline_takes_servers_and_overrides() {
    let project = Project::new().await;
    let server = |name: &str| ToolServer {
        name: name.into(),
        command: "npx".into(),
        args: vec!["-y".into()],
        env: [("A".to_owned(), "b".to_owned())].into(),
    };
    let overrides = ToolOverrides { additional_disabled: vec!["create_task".into()] };
    let fields = DisciplinePatch {
        mcp_servers: Some(vec![server("shadcn")]),
        mcp_tool_overrides: Some(overrides.clone()),
        ..DisciplinePatch::default()
    };
    project.update_discipline(&actor(), "backend", fields).await.unwrap();
    let discipline = project.again().discipline("backend").await.unwrap();
    assert_eq!(discipline.mcp_servers, [server("shadcn")]);
    assert_eq!(discipline.mcp_tool_overrides, Some(overrides));
    let twice = DisciplinePatch {
        mcp_servers: Some(vec![server("a"), server("a")]),
        ..DisciplinePatch::default()
    };
    let (kind, text) = told(project.update_discipline(&actor(), "backend", twice).await);
    assert_eq!(
        (kind, text.as_str()),
        (Kind::Invalid, "/mcp_servers/1/name: two servers have this name")
    );
}

#[tokio::test]
async fn a_call_that_is_made_again_with_its_key_creates_one_task() {
    let project = Project::new().await;
    let new = || NewTask { idempotency_key: Some("k1".into()), ..new_task("x") };
    let first = project.create_task(&actor(), new()).await.unwrap();
    let second = project.again().create_task(&actor(), new()).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(project.progress().await.unwrap().total, 1);
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_nothing_else() {
    let project = Project::new().await;
    let before = project.task_named("x").await;
    let fields = TaskPatch {
        description: Some("long".into()),
        priority: Some(Priority::Critical),
        tags: Some(vec!["ui".into()]),
        ..TaskPatch::default()
    };
    let after = project.update_task(&actor(), before.id, fields).await.unwrap();
    assert_eq!(after.title, "x");
    assert_eq!(after.description.as_deref(), Some("long"));
    let cleared = TaskPatch { description: Some(String::new()), ..TaskPatch::default() };
    let cleared = project.update_task(&actor(), before.id, cleared).await.unwrap();
    assert_eq!((cleared.description, cleared.tags), (None, vec!["ui".to_owned()]));
    let lost = project.update_task(&actor(), TaskId(99), TaskPatch::default()).await;
    assert_eq!(told(lost).0, Kind::NotFound);
}

#[tokio::test]
async fn the_project_has_a_title_from_the_start() {
    let project = Project::untouched();
    let title = project.project().await.unwrap().title;
    assert!(!title.is_empty());
    let named = project
        .set_project(&actor(), Some("Rutter".into()), Some("A pilot's book".into()))
        .await
        .unwrap();
    assert_eq!(named.title, "Rutter");
    assert_eq!(project.again().project().await.unwrap(), named);
}
