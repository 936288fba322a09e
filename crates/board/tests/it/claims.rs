//! Claims: one task for one owner, until the lease is over.

use rutter_base::failure::Kind;
use rutter_board::{Claim, PageRequest, Ready, Status, TaskId};

use crate::{Project, actor, sqlite, told};

fn by(owner: &str) -> Claim {
    Claim { owner: owner.into(), ..Claim::default() }
}

#[tokio::test]
async fn each_task_goes_to_one_owner() {
    let project = Project::new().await;
    let a = project.task_named("a").await.id;
    project.task_after("b", &[a]).await;
    project.task_named("c").await;
    let first = project.claim_task(&actor(), by("one")).await.unwrap();
    assert_eq!((first.id, first.status), (a, Status::InProgress));
    assert_eq!(first.claimed_by.as_deref(), Some("one"));
    let second = project.again().claim_task(&actor(), by("two")).await.unwrap();
    assert_eq!(second.id, TaskId(3));
    let (kind, text) = told(project.claim_task(&actor(), by("three")).await);
    assert_eq!(kind, Kind::Refused);
    assert!(text.starts_with("no task is ready"), "{text}");
    let named = |id| Claim { id: Some(TaskId(id)), ..by("three") };
    let (_, text) = told(project.claim_task(&actor(), named(1)).await);
    assert!(text.starts_with("task 1 is claimed by `one` until 2"), "{text}");
    let (_, text) = told(project.claim_task(&actor(), named(2)).await);
    assert!(text.starts_with("task 2 waits for 1"), "{text}");
    assert_eq!(told(project.claim_task(&actor(), named(9)).await).0, Kind::NotFound);
    // Done by its owner, it is no longer claimed, and the next is ready.
    let done = project.set_task_status(&actor(), a, Status::Done).await.unwrap();
    assert_eq!((done.claimed_by, done.claim_expires), (None, None));
    assert_eq!(project.claim_task(&actor(), by("three")).await.unwrap().id, TaskId(2));
}

#[tokio::test]
async fn the_claim_of_an_owner_that_died_expires() {
    let project = Project::new().await;
    let id = project.task_named("a").await.id;
    let first = project.claim_task(&actor(), by("one")).await.unwrap();
    // The owner itself makes the lease longer.
    let again = Claim { id: Some(id), lease_seconds: Some(3_600), ..by("one") };
    let again = project.claim_task(&actor(), again).await.unwrap();
    assert!(again.claim_expires > first.claim_expires);
    sqlite(&project.database(), "update tasks set claim_expires = '2020-01-01T00:00:00.000Z'");
    let ready = project.list_ready_tasks(Ready::default(), PageRequest::default()).await.unwrap();
    assert_eq!(ready.entries[0].id, id);
    let taken = project.claim_task(&actor(), by("two")).await.unwrap();
    assert_eq!((taken.id, taken.claimed_by.as_deref()), (id, Some("two")));
}

#[tokio::test]
async fn many_at_once_never_get_the_same() {
    let project = Project::new().await;
    for n in 0..40 {
        project.task_named(&n.to_string()).await;
    }
    let boards: Vec<_> = (0..4).map(|_| std::sync::Arc::new(project.again())).collect();
    let mut claims = tokio::task::JoinSet::new();
    for n in 0..40 {
        let board = boards[n % 4].clone();
        claims
            .spawn(async move { board.claim_task(&actor(), by(&n.to_string())).await.unwrap().id });
    }
    let mut claimed: Vec<i64> = claims.join_all().await.into_iter().map(|id| id.0).collect();
    claimed.sort_unstable();
    assert_eq!(claimed, (1..=40).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_lease_has_bounds() {
    let project = Project::new().await;
    project.task_named("a").await;
    for seconds in [0, -1, 86_401] {
        let claim = Claim { lease_seconds: Some(seconds), ..by("one") };
        assert_eq!(told(project.claim_task(&actor(), claim).await).0, Kind::Invalid);
    }
    assert_eq!(told(project.claim_task(&actor(), by(" ")).await).0, Kind::Invalid);
}
