//! The whole board as lines of JSON, and back.

use rutter_base::failure::Kind;
use rutter_board::{
    Claim, FeaturePatch, LearningSource, NewComment, NewLearning, NewTask, Status, TaskId,
    TaskPatch,
};

use crate::{Project, actor, new_task, told};

#[tokio::test]
async fn what_goes_out_comes_in_the_same() {
    let project = Project::new().await;
    project.feature_named("billing").await;
    let needs =
        FeaturePatch { dependencies: Some(vec!["billing".into()]), ..FeaturePatch::default() };
    project.update_feature(&actor(), "auth", needs).await.unwrap();
    let learning = NewLearning {
        text: "a \"learning\"\n\u{202e}".into(),
        source: Some(LearningSource::Human),
        reason: Some("why".into()),
        task_id: None,
    };
    project.append_learning(&actor(), "auth", learning).await.unwrap();
    let a = project.task_named("a").await.id;
    let b = project.task_named("b").await.id;
    // An earlier task that depends on a later one.
    let fields = TaskPatch { depends_on: Some(vec![b]), ..TaskPatch::default() };
    project.update_task(&actor(), a, fields).await.unwrap();
    project.set_task_status(&actor(), b, Status::Done).await.unwrap();
    project
        .create_task(&actor(), NewTask { idempotency_key: Some("k".into()), ..new_task("\u{1b}c") })
        .await
        .unwrap();
    let claim = Claim { owner: "me".into(), id: Some(a), ..Claim::default() };
    project.claim_task(&actor(), claim).await.unwrap();
    let said = NewComment {
        task: a,
        author: "me".into(),
        body: "said".into(),
        discipline: Some("backend".into()),
        priority: None,
    };
    project.add_comment(&actor(), said).await.unwrap();
    let lines = project.export().await.unwrap();
    let other = Project::untouched();
    let imported = other.import(&actor(), &lines).await.unwrap();
    assert_eq!((imported.tasks, imported.features, imported.comments), (3, 2, 1));
    assert_eq!(other.export().await.unwrap(), lines);
    assert!(other.integrity().await.unwrap().is_whole());
    assert_eq!(other.task_named("next").await.id, TaskId(4));
    let (kind, text) = told(other.import(&actor(), &lines).await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.starts_with("the board is not empty"), "{text}");
}

#[tokio::test]
async fn lines_that_do_not_fit_import_nothing() {
    let project = Project::new().await;
    project.task_after("b", &[project.task_named("a").await.id]).await;
    let lines = project.export().await.unwrap();
    let without = |part: &str| {
        let kept: Vec<&str> = lines.lines().filter(|line| !line.contains(part)).collect();
        kept.join(
            "
",
        )
    };
    for (lines, reason) in [
        (String::new(), "the first line does not say"),
        (without("\"kind\":\"board\""), "the first line does not say"),
        (without("\"kind\":\"feature\""), "line 3: there is no feature `auth`"),
        (without("\"title\":\"a\""), "names task 1, which does not exist"),
        (format!("{lines}{{\n"), "line 6 is not a record"),
        (format!("{lines}{}", lines.lines().last().unwrap()), "line 6: a record with this id"),
        (lines.replace("\"depends_on\":[1]", "\"depends_on\":[2]"), "itself"),
        (lines.replace("\"format\":1", "\"format\":9"), "format 1"),
    ] {
        let other = Project::untouched();
        let (kind, text) = told(other.import(&actor(), &lines).await);
        assert_eq!(kind, Kind::Refused);
        assert!(text.contains(reason), "{reason}: {text}");
        assert_eq!(other.progress().await.unwrap().by_feature.len(), 0);
    }
}
