//! The board: what can be asked of it.

mod adopt;
mod exchange;
mod follow;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rutter_base::root::Root;

use crate::error::BoardError;
use crate::journal::{self, LogFilter};
use crate::model::{
    Actor, Change, Comment, CommentId, Discipline, DisciplineEntry, DisciplinePatch, Enrichment,
    Entity, Feature, FeatureEntry, FeaturePatch, Learning, LinkedTask, NewComment, NewDiscipline,
    NewFeature, NewLearning, NewTask, Page, PageRequest, Progress, Project, Ready, Status, Task,
    TaskEntry, TaskFilter, TaskId, TaskPatch,
};
use crate::rules::{
    claims, comments, disciplines, features, learnings, lists, project, tasks, undo,
};
use crate::store::{Integrity, Options, Store};

pub use crate::rules::claims::Claim;
pub use adopt::{Adopted, Adoption, Foreign, Remark};
pub use exchange::Imported;
pub use follow::{Follower, Happened, Touched};

type Done<T = ()> = Result<T, BoardError>;

/// Tasks, features, disciplines and what was learned: what several agents share.
///
/// Making one opens nothing. Every method that changes something does so in one transaction: when
/// it returns, the change and its row in the journal are on disk, or nothing is.
#[derive(Debug)]
pub struct Board {
    store: Store,
    numbers: Mutex<Numbers>,
}

/// Which id the next task will get, as long as nobody else creates any.
#[derive(Debug, Default)]
struct Numbers {
    next: Option<i64>,
    /// Whether it was right the last time.
    right: bool,
}

impl Numbers {
    fn expected(&self) -> Option<TaskId> {
        self.next.filter(|_| self.right).map(TaskId)
    }

    /// A task got this id without being expected to.
    fn learn(&mut self, id: TaskId) {
        self.right = self.next == Some(id.0);
        self.next = Some(id.0 + 1);
    }

    /// A task was expected to get this id.
    fn tried(&mut self, id: TaskId, right: bool) {
        self.right = right;
        if right {
            self.next = Some(id.0 + 1);
        }
    }
}

impl Board {
    /// The board in a project's `.ralph/` folder.
    pub fn new(root: &Root, options: Options) -> Self {
        Self { store: Store::new(root, options), numbers: Mutex::default() }
    }

    /// What the project is.
    pub async fn project(&self) -> Done<Project> {
        self.store.read(|read| Box::pin(project::get(read))).await
    }

    /// Names the project and says what it is about. What is absent stays.
    pub async fn set_project(
        &self,
        actor: &Actor,
        title: Option<String>,
        description: Option<String>,
    ) -> Done<Project> {
        self.store.write(actor, |write| Box::pin(project::set(write, title, description))).await
    }

    /// How many tasks are in which state.
    pub async fn progress(&self) -> Done<Progress> {
        self.store.read(|read| Box::pin(project::progress(read))).await
    }

    /// Tasks in order of id.
    pub async fn list_tasks(&self, filter: TaskFilter, page: PageRequest) -> Done<Page<TaskEntry>> {
        self.store
            .read(|read| Box::pin(async move { lists::tasks(read, &filter, &page).await }))
            .await
    }

    /// Tasks that can be worked on, by priority, then id.
    pub async fn list_ready_tasks(&self, ready: Ready, page: PageRequest) -> Done<Page<TaskEntry>> {
        let now = crate::store::now();
        self.store
            .read(|read| {
                Box::pin(async move { lists::ready_page(read, &ready, &now, &page).await })
            })
            .await
    }

    /// Every task with what it depends on, in order of id.
    pub async fn linked_tasks(&self) -> Done<Vec<LinkedTask>> {
        self.store.read(|read| Box::pin(lists::linked(read))).await
    }

    /// A task with its comments.
    pub async fn task(&self, id: TaskId) -> Done<Task> {
        self.store.read(|read| Box::pin(tasks::get(read, id))).await
    }

    /// The ids that begin with these digits, the first hundred and one.
    pub async fn task_ids(&self, digits: &str) -> Done<Vec<TaskId>> {
        let digits = digits.to_owned();
        self.store.read(|read| Box::pin(async move { lists::ids(read, &digits).await })).await
    }

    /// Creates a task.
    pub async fn create_task(&self, actor: &Actor, new: NewTask) -> Done<Task> {
        let expected = self.numbers().expected();
        if expected.is_some()
            && let Some(task) = self.create_at_once(actor, new.clone()).await?
        {
            return Ok(task);
        }
        let ground = tasks::ground(&new);
        let task = self
            .store
            .write_upon(actor, ground, |write, row| {
                Box::pin(async move { tasks::create(write, &row, new).await })
            })
            .await?;
        self.numbers().learn(task.id);
        Ok(task)
    }

    /// Creates a task with the id that is expected, if nothing stands against it.
    async fn create_at_once(&self, actor: &Actor, new: NewTask) -> Done<Option<Task>> {
        let make = |now: &str| {
            let id = self.numbers().expected()?;
            tasks::at_once(new, id, now, actor)
        };
        let Some((task, row)) = self.store.write_at_once(make).await? else { return Ok(None) };
        let created = tasks::as_expected(&row, task.id)?;
        self.numbers().tried(task.id, created);
        Ok(created.then_some(task))
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes fields of a task.
    pub async fn update_task(&self, actor: &Actor, id: TaskId, fields: TaskPatch) -> Done<Task> {
        self.store.write(actor, |write| Box::pin(tasks::update(write, id, fields))).await
    }

    /// Moves a task to another status.
    pub async fn set_task_status(&self, actor: &Actor, id: TaskId, status: Status) -> Done<Task> {
        self.store.write(actor, |write| Box::pin(tasks::set_status(write, id, status))).await
    }

    /// Makes a draft a pending task.
    pub async fn enrich_task(
        &self,
        actor: &Actor,
        id: TaskId,
        enrichment: Enrichment,
    ) -> Done<Task> {
        self.store.write(actor, |write| Box::pin(tasks::enrich(write, id, enrichment))).await
    }

    /// Deletes a task on which no other depends.
    pub async fn delete_task(&self, actor: &Actor, id: TaskId) -> Done {
        self.store.write(actor, |write| Box::pin(tasks::delete(write, id))).await
    }

    /// Takes a task for an owner.
    pub async fn claim_task(&self, actor: &Actor, claim: Claim) -> Done<Task> {
        self.store.write(actor, |write| Box::pin(claims::claim(write, claim))).await
    }

    /// Adds a comment to a task.
    pub async fn add_comment(&self, actor: &Actor, new: NewComment) -> Done<Comment> {
        self.store.write(actor, |write| Box::pin(comments::add(write, new))).await
    }

    /// Edits a comment.
    pub async fn update_comment(
        &self,
        actor: &Actor,
        task: TaskId,
        id: CommentId,
        body: String,
    ) -> Done<Comment> {
        self.store.write(actor, |write| Box::pin(comments::update(write, task, id, body))).await
    }

    /// Deletes a comment.
    pub async fn delete_comment(&self, actor: &Actor, task: TaskId, id: CommentId) -> Done {
        self.store.write(actor, |write| Box::pin(comments::delete(write, task, id))).await
    }

    /// Features in order of name.
    pub async fn list_features(&self, page: PageRequest) -> Done<Page<FeatureEntry>> {
        self.store.read(|read| Box::pin(async move { lists::features(read, &page).await })).await
    }

    /// A feature with its learnings.
    pub async fn feature(&self, name: &str) -> Done<Feature> {
        let name = name.to_owned();
        self.store.read(|read| Box::pin(async move { features::get(read, &name).await })).await
    }

    /// Creates a feature.
    pub async fn create_feature(&self, actor: &Actor, new: NewFeature) -> Done<Feature> {
        self.store.write(actor, |write| Box::pin(features::create(write, new))).await
    }

    /// Changes fields of a feature.
    pub async fn update_feature(
        &self,
        actor: &Actor,
        name: &str,
        fields: FeaturePatch,
    ) -> Done<Feature> {
        let name = name.to_owned();
        self.store
            .write(actor, |write| {
                Box::pin(async move { features::update(write, &name, fields).await })
            })
            .await
    }

    /// Deletes a feature that has no tasks.
    pub async fn delete_feature(&self, actor: &Actor, name: &str) -> Done {
        let name = name.to_owned();
        self.store
            .write(actor, |write| Box::pin(async move { features::delete(write, &name).await }))
            .await
    }

    /// Records a learning, or that one was made again, and gives it as it stands then.
    pub async fn append_learning(
        &self,
        actor: &Actor,
        feature: &str,
        new: NewLearning,
    ) -> Done<(Feature, Learning)> {
        let feature = feature.to_owned();
        self.store
            .write(actor, |write| {
                Box::pin(async move { learnings::append(write, &feature, new).await })
            })
            .await
    }

    /// Registers a file that matters to a feature.
    pub async fn add_context_file(
        &self,
        actor: &Actor,
        feature: &str,
        file: &str,
    ) -> Done<Feature> {
        let (feature, file) = (feature.to_owned(), file.to_owned());
        self.store
            .write(actor, |write| {
                Box::pin(async move { features::add_context_file(write, &feature, &file).await })
            })
            .await
    }

    /// Disciplines in order of name.
    pub async fn list_disciplines(&self, page: PageRequest) -> Done<Page<DisciplineEntry>> {
        self.store.read(|read| Box::pin(async move { lists::disciplines(read, &page).await })).await
    }

    /// A discipline.
    pub async fn discipline(&self, name: &str) -> Done<Discipline> {
        let name = name.to_owned();
        self.store.read(|read| Box::pin(async move { disciplines::get(read, &name).await })).await
    }

    /// Creates a discipline.
    pub async fn create_discipline(&self, actor: &Actor, new: NewDiscipline) -> Done<Discipline> {
        self.store.write(actor, |write| Box::pin(disciplines::create(write, new))).await
    }

    /// Changes fields of a discipline.
    pub async fn update_discipline(
        &self,
        actor: &Actor,
        name: &str,
        fields: DisciplinePatch,
    ) -> Done<Discipline> {
        let name = name.to_owned();
        self.store
            .write(actor, |write| {
                Box::pin(async move { disciplines::update(write, &name, fields).await })
            })
            .await
    }

    /// Deletes a discipline that has no tasks.
    pub async fn delete_discipline(&self, actor: &Actor, name: &str) -> Done {
        let name = name.to_owned();
        self.store
            .write(actor, |write| Box::pin(async move { disciplines::delete(write, &name).await }))
            .await
    }

    /// The latest changes, newest first.
    pub async fn log(&self, filter: LogFilter, limit: i64) -> Done<Vec<Change>> {
        self.store
            .read(|read| Box::pin(async move { journal::latest(read, &filter, limit).await }))
            .await
    }

    /// Takes a change back: the latest, or the one with this number. Gives what was taken back.
    pub async fn undo(&self, actor: &Actor, change: Option<i64>) -> Done<Change> {
        self.store.write(actor, |write| Box::pin(undo::undo(write, change))).await
    }

    /// Brings back a record that was deleted, by its id or name.
    pub async fn restore_record(&self, actor: &Actor, entity: Entity, record: &str) -> Done {
        let record = record.to_owned();
        self.store
            .write(actor, |write| {
                Box::pin(async move { undo::restore(write, entity, &record).await })
            })
            .await
    }

    /// Writes a copy of the whole database to a new file.
    pub async fn back_up(&self, to: &Path) -> Done {
        self.store.back_up(to).await
    }

    /// Puts what a backup holds in the place of what is there. Gives the name, beside the
    /// database, of a backup of the latter.
    pub async fn restore_backup(&self, actor: &Actor, from: &Path) -> Done<String> {
        self.store.restore(from, actor).await
    }

    /// Examines the whole database.
    pub async fn integrity(&self) -> Done<Integrity> {
        self.store.examine().await
    }

    /// The version of the database engine that is linked.
    pub async fn engine_version(&self) -> Done<String> {
        self.store.engine_version().await
    }
}
