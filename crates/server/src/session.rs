//! The session that a server runs in: what its context, its recipe and its discipline leave.
//!
//! All three may change while the server runs, and are looked at with every list and every call.
//! What they take away is gone at once; what they would give back is not given: a session is
//! narrowed by everything that it ever was.

mod context;
mod files;
mod overrides;
pub mod prepare;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rutter_base::failure::Report;
use rutter_board::Board;
use rutter_board::recipes::Recipes;

use context::Unusable;
pub use context::{Context, ContextFile};
pub use files::{Files, Prepared, is_name};
use overrides::Overrides;

use crate::scope::{Rule, Scope};

/// How often a file that was fine and is not is looked at again before the tools are gone: it
/// may be in the middle of being written.
const LOOKS: u32 = 5;
/// How long it takes between two looks.
const BETWEEN: Duration = Duration::from_millis(20);

/// The session that a server runs in.
#[derive(Debug)]
pub struct Session {
    source: Source,
    recipes: Arc<Recipes>,
    overrides: Option<Overrides>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The text of the context that was understood last.
    text: Option<String>,
    /// What the discipline has taken away so far.
    disabled: BTreeSet<String>,
    /// Whether anyone has seen the view.
    seen: bool,
    view: View,
}

/// What a caller may see at a moment, and why.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// What it may see and call.
    pub scope: Arc<Scope>,
    /// What its session is for; `None` without a context.
    pub context: Option<Arc<Context>>,
    /// Why its session has no tools.
    pub closed: Option<Arc<Report>>,
}

impl View {
    /// A view without a session.
    pub fn of(scope: Arc<Scope>) -> Self {
        Self { scope, context: None, closed: None }
    }

    /// The same with no more than `scope`.
    #[must_use]
    pub fn within(mut self, scope: &Scope) -> Self {
        if *scope != Scope::everything() {
            self.scope = Arc::new(self.scope.and(scope));
        }
        self
    }

    /// What both leave; the other one, if it has a context, says what it is for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            context: other.context.or(self.context),
            closed: self.closed.or(other.closed),
            scope: Arc::new(self.scope.and(&other.scope)),
        }
    }

    /// The same without any tool, and with the reason.
    #[must_use]
    fn close(&self, report: Report) -> Self {
        let none = Scope::of(Rule::Tools(BTreeSet::new()));
        Self {
            scope: Arc::new(self.scope.and(&none)),
            context: self.context.clone(),
            closed: Some(Arc::new(report)),
        }
    }
}

/// Where the context of a session comes from.
#[derive(Debug)]
enum Source {
    File(ContextFile),
    Fixed(Arc<Context>),
}

/// What a look for the context gave.
enum Found {
    /// There is no file, and there need not be one.
    Nothing,
    /// What was there before.
    Same(Arc<Context>),
    /// Another context.
    New { text: String, context: Arc<Context>, scope: Scope },
}

impl Found {
    fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Self::Nothing => None,
            Self::Same(context) | Self::New { context, .. } => Some(context),
        }
    }
}

impl Session {
    /// A session with this context, in which no more than `scope` is shown. Nothing is read yet.
    pub fn new(
        file: ContextFile,
        recipes: Arc<Recipes>,
        board: Option<Arc<Board>>,
        scope: Arc<Scope>,
    ) -> Self {
        let state =
            State { text: None, disabled: BTreeSet::new(), seen: false, view: View::of(scope) };
        let overrides = board.map(Overrides::new);
        Self { source: Source::File(file), recipes, overrides, state: Mutex::new(state) }
    }

    /// A session whose context is known and stays as it is.
    pub fn fixed(
        context: Context,
        recipes: Arc<Recipes>,
        board: Option<Arc<Board>>,
    ) -> Result<Self, Report> {
        let recipe = context.recipe.as_deref().map(|name| recipes.get(name)).transpose()?;
        let scope = context.scope(recipe);
        let context = Arc::new(context);
        let view =
            View { scope: Arc::new(scope), context: Some(Arc::clone(&context)), closed: None };
        let state = State { text: None, disabled: BTreeSet::new(), seen: false, view };
        let overrides = board.map(Overrides::new);
        Ok(Self { source: Source::Fixed(context), recipes, overrides, state: Mutex::new(state) })
    }

    /// What the session was when it was last looked at.
    pub fn last(&self) -> View {
        self.state().view.clone()
    }

    /// What the session is for, as its file says now; `None` without a context that can be followed.
    pub fn context(&self) -> Option<Arc<Context>> {
        self.find().ok().and_then(|found| found.context().cloned())
    }

    /// Why the session has no tools, as far as its file says; without asking the board.
    pub fn fault(&self) -> Option<Report> {
        self.find().err().map(|unusable| unusable.report)
    }

    /// What the session is now, and whether that is less than anyone has seen before.
    pub async fn look(&self) -> (View, bool) {
        let before = self.last();
        if before.closed.is_some() {
            return (before, false);
        }
        let mut found = self.find();
        for _ in 1..LOOKS {
            if found.is_ok() || before.context.is_none() {
                break;
            }
            tokio::time::sleep(BETWEEN).await;
            found = self.find();
        }
        let found = match found {
            Ok(found) => found,
            Err(Unusable { report, passing: true }) => {
                tracing::error!(event = "session_unread", reason = %report, cause = report.cause());
                return (before.close(report), false);
            }
            Err(Unusable { report, passing: false }) => {
                tracing::error!(event = "session_closed", reason = %report);
                let mut state = self.state();
                state.view = state.view.close(report);
                return state.show(&before);
            }
        };
        match self.disabled(found.context().map(Arc::as_ref)).await {
            Ok(disabled) => {
                let mut state = self.state();
                state.follow(found, &disabled);
                state.show(&before)
            }
            // What the board cannot say now it may say next time: the tools are not gone for good.
            Err(report) => {
                let report = Report::new(
                    report.kind(),
                    format!(
                        "this session has no tools while its discipline cannot be read: {report}"
                    ),
                );
                (before.close(report), false)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self) -> Result<Found, Unusable> {
        let file = match &self.source {
            Source::Fixed(context) => return Ok(Found::Same(Arc::clone(context))),
            Source::File(file) => file,
        };
        let Some(text) = file.read()? else { return Ok(Found::Nothing) };
        let state = self.state();
        if let (Some(known), Some(context)) = (&state.text, &state.view.context)
            && *known == text
        {
            return Ok(Found::Same(Arc::clone(context)));
        }
        drop(state);
        let context = Context::parse(&text)
            .map_err(|what| file.unusable(&format!("cannot be understood: {what}")))?;
        let recipe = context.recipe.as_deref().map(|name| self.recipes.get(name)).transpose();
        let recipe = recipe.map_err(|error| {
            file.unusable(&format!("cannot be followed: {}", Report::from(error)))
        })?;
        let scope = context.scope(recipe);
        Ok(Found::New { text, context: Arc::new(context), scope })
    }

    async fn disabled(&self, context: Option<&Context>) -> Result<BTreeSet<String>, Report> {
        let discipline = context.and_then(|context| context.discipline.as_ref());
        match (discipline, &self.overrides) {
            (Some(discipline), Some(overrides)) => overrides.of(discipline).await,
            _ => Ok(BTreeSet::new()),
        }
    }
}

impl State {
    fn show(&mut self, before: &View) -> (View, bool) {
        let shrunk = std::mem::replace(&mut self.seen, true) && self.view.scope != before.scope;
        (self.view.clone(), shrunk)
    }

    /// Takes away what a context and a discipline take away. Nothing is ever given back.
    fn follow(&mut self, found: Found, disabled: &BTreeSet<String>) {
        if let Found::New { text, context, scope } = found {
            self.text = Some(text);
            self.view.context = Some(context);
            self.view.scope = Arc::new(self.view.scope.and(&scope));
        }
        if !disabled.is_subset(&self.disabled) {
            self.disabled.extend(disabled.iter().cloned());
            let rule = Rule::WithoutTools(disabled.clone());
            self.view.scope = Arc::new(self.view.scope.and(&Scope::of(rule)));
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the file that is read")]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_being_written_takes_nothing_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("context.json");
        let context = r#"{"recipe": "discuss"}"#;
        std::fs::write(&path, context).unwrap();
        let file = ContextFile::named(folder.path(), "context.json".as_ref()).unwrap();
        let session = Session::new(file, Arc::default(), None, Arc::default());
        let (before, _) = session.look().await;
        // Half of it is there at the first look, and the rest at the next.
        std::fs::write(&path, "{").unwrap();
        let written = async { std::fs::write(&path, context).unwrap() };
        let ((view, shrunk), ()) = tokio::join!(session.look(), written);
        assert!(!shrunk && view.closed.is_none());
        assert_eq!(view.scope, before.scope);
        std::fs::write(&path, "{").unwrap();
        let (view, shrunk) = session.look().await;
        assert!(shrunk && view.closed.is_some());
    }
}
