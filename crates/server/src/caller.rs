//! `Caller`: who asks, and what is left of the server for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::app::App;
use crate::scope::{Rule, Scope};
use crate::session::{Session, View};

/// Who asks.
#[derive(Debug, Clone)]
pub struct Caller {
    name: Arc<str>,
    local: bool,
    scope: Arc<Scope>,
    session: Option<Arc<Session>>,
}

impl Caller {
    /// The user at this machine, who started the server.
    pub fn user() -> Self {
        Self { local: true, ..Self::named("user") }
    }

    /// Someone on the network who showed no credential, because none is asked for.
    pub fn anyone() -> Self {
        Self::named("anyone")
    }

    /// Someone on the network whose credential has this name.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), local: false, scope: Arc::default(), session: None }
    }

    /// Someone who may see nothing.
    pub fn nobody() -> Self {
        Self::named("nobody").within(&Scope::of(Rule::Modules(BTreeSet::new())), None)
    }

    /// The same caller with less of the server.
    #[must_use]
    pub fn within(mut self, scope: &Scope, session: Option<Arc<Session>>) -> Self {
        self.scope = Arc::new(self.scope.and(scope));
        self.session = session;
        self
    }

    /// The name of the credential.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is the user at this machine, and not someone on the network.
    pub fn is_local(&self) -> bool {
        self.local
    }

    /// What the caller may see at most, whatever the sessions say now.
    pub fn scope(&self, app: &App) -> Arc<Scope> {
        if *self.scope == Scope::everything() {
            return Arc::clone(app.scope());
        }
        Arc::new(app.scope().and(&self.scope))
    }

    /// What the caller may see now: what the server's session and its own leave.
    pub async fn view(&self, app: &App) -> View {
        let view = app.view().await.within(&self.scope);
        match &self.session {
            None => view,
            Some(session) => {
                let (own, _) = session.look().await;
                view.and(own)
            }
        }
    }

    /// What was left when it was last looked at, without looking again.
    pub fn last(&self, app: &App) -> View {
        let view = app
            .session()
            .map_or_else(|| View::of(Arc::clone(app.scope())), |session| session.last());
        let view = view.within(&self.scope);
        match &self.session {
            None => view,
            Some(session) => view.and(session.last()),
        }
    }

    /// The session that the credential puts its caller in, or else the server's.
    pub fn session<'a>(&'a self, app: &'a App) -> Option<&'a Arc<Session>> {
        self.session.as_ref().or_else(|| app.session())
    }
}
