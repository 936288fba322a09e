//! `Caller`: who asks, and what is left of the server for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use rutter_base::text;

use crate::app::App;
use crate::changes::Change;
use crate::scope::{Rule, Scope};
use crate::session::{Session, View};

/// The most bytes of a name in the log and in the journal.
const MAX_NAME: usize = 200;

/// How a caller proved who it is. The same name may stand in several places for several people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Proof {
    /// By having started the server.
    Start,
    /// Not at all.
    Nothing,
    Password,
    Key,
    /// By a token that was given to someone.
    Subject,
    /// By a token that was given to a program.
    Client,
}

/// What tells one caller from all others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    proof: Proof,
    /// As it was shown, however long and odd.
    whole: Arc<str>,
}

/// Who asks.
#[derive(Debug, Clone)]
pub struct Caller {
    identity: Identity,
    /// Short, and on one line.
    name: Arc<str>,
    scope: Arc<Scope>,
    session: Option<Arc<Session>>,
}

impl Caller {
    /// The user at this machine, who started the server.
    pub fn user() -> Self {
        Self::new(Proof::Start, "user")
    }

    /// Someone on the network who showed no credential, because none is asked for.
    pub fn anyone() -> Self {
        Self::new(Proof::Nothing, "anyone")
    }

    /// Someone on the network with a name and a password.
    pub fn with_password(name: &str) -> Self {
        Self::new(Proof::Password, name)
    }

    /// Someone on the network with the key of this name.
    pub fn with_key(name: &str) -> Self {
        Self::new(Proof::Key, name)
    }

    /// Someone on the network with a token that was given to this name.
    pub fn with_subject(name: &str) -> Self {
        Self::new(Proof::Subject, name)
    }

    /// A program on the network with a token that was given to it.
    pub fn with_client(name: &str) -> Self {
        Self::new(Proof::Client, name)
    }

    fn new(proof: Proof, name: &str) -> Self {
        let identity = Identity { proof, whole: name.into() };
        let name = text::cap(text::one_line(name), MAX_NAME).into();
        Self { identity, name, scope: Arc::default(), session: None }
    }

    /// Someone who may see nothing.
    pub fn nobody() -> Self {
        Self::new(Proof::Nothing, "nobody").within(&Scope::of(Rule::Modules(BTreeSet::new())), None)
    }

    /// The same caller with less of the server.
    #[must_use]
    pub fn within(mut self, scope: &Scope, session: Option<Arc<Session>>) -> Self {
        self.scope = Arc::new(self.scope.and(scope));
        self.session = session;
        self
    }

    /// Who it is, to be told from all others.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The name of the credential that was shown, if one was.
    pub fn name(&self) -> Option<&Arc<str>> {
        let shown = !matches!(self.identity.proof, Proof::Start | Proof::Nothing);
        shown.then_some(&self.name)
    }

    /// Whether this is the user at this machine, and not someone on the network.
    pub fn is_local(&self) -> bool {
        self.identity.proof == Proof::Start
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
                let (own, shrunk) = session.look().await;
                if shrunk {
                    app.changes().announce(Change::Tools);
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_is_not_the_same_caller() {
        let long = "x".repeat(MAX_NAME);
        let (one, other) = (format!("{long}1"), format!("{long}2"));
        let callers = [
            Caller::with_key("ada"),
            Caller::with_password("ada"),
            Caller::with_subject("ada"),
            Caller::with_client("ada"),
            Caller::with_subject(&one),
            Caller::with_subject(&other),
            Caller::with_subject("a\nda"),
        ];
        for (place, caller) in callers.iter().enumerate() {
            let same = callers.iter().filter(|other| other.identity() == caller.identity());
            assert_eq!(same.count(), 1, "{place}");
            let name = caller.name().unwrap();
            assert!(name.len() <= MAX_NAME + 3 && !name.contains('\n'), "{name}");
        }
        assert_eq!(Caller::with_key("ada").identity(), callers[0].identity());
        assert_eq!((Caller::user().name(), Caller::anyone().name()), (None, None));
    }
}
