//! Claims: one task for one owner, until the lease is over.

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use sqlx::AnyConnection;

use super::dependencies::{self, few};
use super::tasks;
use crate::check::{self, LINE};
use crate::error::{BoardError, shown};
use crate::model::{Ready, Status, Task, TaskId};
use crate::store::Write;

/// How long a claim holds unless another time is asked for.
const LEASE: i64 = 15 * 60;
/// The longest lease.
const LONGEST_LEASE: i64 = 24 * 60 * 60;

/// What is to be claimed, by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// Who claims it.
    pub owner: String,
    /// The task; by default the first that is ready.
    pub id: Option<TaskId>,
    /// How many seconds the claim holds; 15 minutes by default.
    pub lease_seconds: Option<i64>,
    /// Which ready tasks are wanted, if no id is given.
    pub ready: Ready,
}

/// Takes a task for an owner. Claiming a task that the owner has already makes the lease longer.
pub(crate) async fn claim(write: &mut Write, claim: Claim) -> Result<Task, BoardError> {
    check::required("owner", &claim.owner, LINE)?;
    let lease = claim.lease_seconds.unwrap_or(LEASE);
    if !(1..=LONGEST_LEASE).contains(&lease) {
        return Err(BoardError::invalid(
            "lease_seconds",
            format!("expected a number from 1 to {LONGEST_LEASE}"),
        ));
    }
    let id = match claim.id {
        Some(id) => id,
        None => first_ready(&mut write.connection, &claim.ready, &write.now).await?.ok_or_else(
            || BoardError::refused("no task is ready", "finish or unblock others, or add tasks"),
        )?,
    };
    let before = tasks::bare(&mut write.connection, id).await?;
    let mut task = before.clone();
    let is_own = before.claimed_by.as_deref() == Some(&claim.owner);
    if !(is_own && before.status == Status::InProgress) {
        release(&mut task, &write.now);
        admit(&mut write.connection, &task).await?;
    }
    tasks::move_to(&mut task, Status::InProgress, &write.now);
    task.claimed_by = Some(claim.owner);
    task.claim_expires = Some(later(&write.now, lease));
    tasks::finish(write, before, task).await
}

/// Makes a task whose claim is over as if it had never been claimed.
fn release(task: &mut Task, now: &str) {
    let over = task.claim_expires.as_deref().is_some_and(|expires| expires <= now);
    if task.status == Status::InProgress && over {
        tasks::move_to(task, Status::Pending, now);
    }
}

/// Whether a task can be claimed.
async fn admit(connection: &mut AnyConnection, task: &Task) -> Result<(), BoardError> {
    let id = task.id;
    if let (Status::InProgress, Some(owner)) = (task.status, &task.claimed_by) {
        let until = task.claim_expires.as_deref().unwrap_or("it is done");
        return Err(BoardError::refused(
            format!("task {id} is claimed by `{}` until {until}", shown(owner)),
            "claim another",
        ));
    }
    if task.status != Status::Pending {
        return Err(BoardError::refused(
            format!("task {id} is {}, and only pending ones are claimed", task.status),
            "claim another, or set its status to pending first",
        ));
    }
    let open = dependencies::open(connection, id).await?;
    if open.is_empty() {
        return Ok(());
    }
    Err(BoardError::refused(
        format!("task {id} waits for {}", few(&open)),
        "claim one of those, or another",
    ))
}

async fn first_ready(
    connection: &mut AnyConnection,
    ready: &Ready,
    now: &str,
) -> Result<Option<TaskId>, BoardError> {
    let first = super::lists::ready(connection, ready, now, None, 1).await?;
    Ok(first.first().map(|(entry, _)| entry.id))
}

fn later(now: &str, seconds: i64) -> String {
    let now = DateTime::parse_from_rfc3339(now).map_or_else(|_| Utc::now(), |now| now.to_utc());
    (now + Duration::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Millis, true)
}
