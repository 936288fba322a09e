//! One request: who asks, and what is left of the server for them.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::frame::Frame;
use super::{Credential, Site};
use crate::address;
use crate::app::App;
use crate::caller::Caller;
use crate::module::ModuleId;
use crate::scope::{Scope, Subject};
use crate::session::View;

/// One request.
pub(super) struct Visit {
    pub(super) app: Arc<App>,
    /// What the caller may see now.
    pub(super) view: View,
    /// Where clients reach MCP on this server.
    pub(super) mcp: String,
    /// What they must show.
    pub(super) credential: Credential,
}

impl FromRequestParts<Arc<Site>> for Visit {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, StatusCode> {
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            // Without a caller there is no scope, and without a scope nothing is shown.
            tracing::error!(event = "internal_error", reason = "a request without a caller");
            return Err(StatusCode::INTERNAL_SERVER_ERROR);
        };
        Ok(Self {
            view: caller.view(&site.app).await,
            mcp: format!("{}/mcp", address::base(&parts.headers, &parts.uri, site.settings.tls)),
            credential: site.settings.credential,
            app: Arc::clone(&site.app),
        })
    }
}

impl Visit {
    pub(super) fn scope(&self) -> &Arc<Scope> {
        &self.view.scope
    }

    /// What is around the content of every page.
    pub(super) fn frame(&self, title: &str) -> Frame {
        let any = ["acdc://", "architecture://"].iter().any(|uri| admits(self.scope(), uri));
        Frame { searches: any && self.app.library().is_ok(), ..Frame::new(&self.app, title) }
    }
}

/// Whether a scope shows the document with this address.
pub(super) fn admits(scope: &Scope, uri: &str) -> bool {
    scope.admits(Subject::Resource { module: ModuleId::Knowledge, uri })
}
