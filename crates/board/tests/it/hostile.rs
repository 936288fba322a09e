//! Texts that break lesser boards: stored as they are, or refused with the reason.

use rutter_base::failure::Kind;
use rutter_board::{LearningSource, NewComment, NewLearning, NewTask, TaskFilter, TaskPatch};

use crate::{Project, actor, new_task, told};

const TEXTS: &[&str] = &[
    "'; drop table tasks; --",
    "\"quoted\" and \\escaped\\ and `ticked`",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{202e}right to left\u{2066}\u{200f}",
    "line\r\nline\u{2028}line\ttab",
    "{\"json\": [1, null]}",
    "💥 e\u{301} \u{fffd} \u{10ffff}",
    "%_?$1 :name @x",
];

#[tokio::test]
async fn texts_come_back_as_they_were() {
    let project = Project::new().await;
    for &text in TEXTS {
        let new = NewTask {
            fields: TaskPatch {
                description: Some(text.into()),
                tags: Some(vec![text.into()]),
                acceptance_criteria: Some(vec![text.into()]),
                hints: Some(text.into()),
                ..TaskPatch::default()
            },
            ..new_task(text)
        };
        let id = project.create_task(&actor(), new).await.unwrap().id;
        let said = NewComment {
            task: id,
            author: text.into(),
            body: text.into(),
            discipline: None,
            priority: None,
        };
        project.add_comment(&actor(), said).await.unwrap();
        let task = project.again().task(id).await.unwrap();
        assert_eq!((task.title.as_str(), task.description.as_deref()), (text, Some(text)));
        assert_eq!(
            (&task.tags[0], &task.acceptance_criteria[0]),
            (&text.to_owned(), &text.to_owned())
        );
        assert_eq!(
            (&task.comments[0].author, &task.comments[0].body),
            (&text.to_owned(), &text.to_owned())
        );
        for filter in [
            TaskFilter { tag: Some(text.into()), ..TaskFilter::default() },
            TaskFilter { text: Some(text.into()), ..TaskFilter::default() },
        ] {
            let found = project
                .list_tasks(filter.clone(), rutter_board::PageRequest::default())
                .await
                .unwrap();
            assert_eq!(found.entries.len(), 1, "{filter:?}");
            assert_eq!(found.entries[0].id, id);
        }
    }
    assert!(project.integrity().await.unwrap().is_whole());
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_with_the_reason() {
    let project = Project::new().await;
    let big = "x".repeat(2_000_000);
    let described = |text: &str| NewTask {
        fields: TaskPatch { description: Some(text.into()), ..TaskPatch::default() },
        ..new_task("x")
    };
    for (new, reason) in [
        (new_task("a\0b"), "/title: the character U+0000 cannot be stored"),
        (new_task(""), "/title: expected some text"),
        (new_task(&big), "/title: expected at most 500 characters, found 2000000"),
        (described(&big), "/description: expected at most 100000 characters, found 2000000"),
        (described("\0"), "/description: the character U+0000 cannot be stored"),
    ] {
        assert_eq!(told(project.create_task(&actor(), new).await), (Kind::Invalid, reason.into()));
    }
    let many = TaskPatch { tags: Some(vec!["x".into(); 201]), ..TaskPatch::default() };
    let many = NewTask { fields: many, ..new_task("x") };
    assert_eq!(
        told(project.create_task(&actor(), many).await).1,
        "/tags: expected at most 200 entries, found 201"
    );
    let names = ["a'b", "../x", "\u{202e}a", "A", ""];
    for name in names {
        let new = rutter_board::NewFeature {
            name: name.into(),
            display_name: "x".into(),
            ..Default::default()
        };
        assert_eq!(told(project.create_feature(&actor(), new).await).0, Kind::Invalid, "{name}");
    }
    let learning =
        NewLearning { text: big, source: Some(LearningSource::Human), reason: None, task_id: None };
    assert_eq!(told(project.append_learning(&actor(), "auth", learning).await).0, Kind::Invalid);
    // What a caller says is repeated in an error on one line, and not at any length.
    let lost = NewTask { feature: format!("\u{1b}[2J\n{}", "x".repeat(5_000)), ..new_task("x") };
    let (_, text) = told(project.create_task(&actor(), lost).await);
    assert!(text.len() < 250 && !text.contains(['\u{1b}', '\n']), "{text:?}");
    assert_eq!(project.progress().await.unwrap().total, 0);
}

#[tokio::test]
async fn a_task_with_too_much_said_about_it_stays_readable() {
    let project = Project::new().await;
    let id = project.task_named("x").await.id;
    for n in 0..5 {
        let said = NewComment {
            task: id,
            author: "me".into(),
            body: format!("{n}{}", "x".repeat(90_000)),
            discipline: None,
            priority: None,
        };
        project.add_comment(&actor(), said).await.unwrap();
    }
    let task = project.task(id).await.unwrap();
    assert_eq!((task.comments.len(), task.comments_left_out), (2, 3));
    assert!(task.comments[1].body.starts_with('4'));
}

#[tokio::test]
async fn a_folder_with_an_odd_name_works() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a b%20?#&'\u{e4}");
    std::fs::create_dir(&odd).unwrap();
    let board = crate::open(&odd, rutter_board::Options::default());
    board.set_project(&actor(), Some("x".into()), None).await.unwrap();
    assert!(odd.join("db/ralph.db").exists());
}
