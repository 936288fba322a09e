//! Tools over the library.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rutter_base::failure::{Kind, Report};
use rutter_library::{Excerpt, Library, Part, Uri};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::module::ModuleId;
use crate::schema;
use crate::tool::{Call, Effect, Output, Tool};

/// The smallest piece that can be asked for: less costs more in calls than it saves in text.
const LEAST_PIECE: usize = 256;

/// The `read` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// e.g. `acdc://docs/guide` or `acdc://docs/guide#anchor`
    uri: String,
    /// Anchor of a heading: only that section
    #[serde(default)]
    section: Option<String>,
    /// Most bytes of a piece, from 256
    #[serde(default)]
    max_bytes: Option<i64>,
    /// `next_cursor` of the piece before
    #[serde(default)]
    cursor: Option<String>,
}

/// A document, or a part of one.
#[derive(Debug, Serialize, JsonSchema)]
struct Document {
    uri: String,
    name: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What `read` answers with.
#[derive(Debug)]
pub(super) struct Reading {
    document: Document,
    trailer: String,
    left: usize,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read a document";
    const DESCRIPTION: &'static str = "Read a document as Markdown: all of it, a section, or \
        piece by piece. Takes a URI from a search, a listing or a link.";
    const MODULE: ModuleId = ModuleId::Knowledge;
    const EFFECT: Effect = Effect::Reads;
    type Output = Reading;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let limit = call.app.limits().payload;
        let max_bytes = self.max_bytes.map(|size| piece(size, limit)).transpose()?;
        call.app.with_library(move |library| self.read(library, max_bytes, limit)).await?
    }
}

impl Read {
    fn read(
        &self,
        library: &Library,
        max_bytes: Option<usize>,
        limit: usize,
    ) -> Result<Reading, Report> {
        let body = library.catalog().read(&self.uri)?;
        let anchor = Uri::parse(&self.uri).ok().and_then(|uri| uri.anchor);
        let section = self.section.as_deref().or(anchor.as_deref());
        let section = section.filter(|section| !section.is_empty());
        let part = Part { section, max_bytes, cursor: self.cursor.as_deref() };
        let Excerpt { text, trailer, left, next } = body.excerpt(part, limit)?;
        let document = Document { uri: body.uri, name: body.name, text, next_cursor: next };
        Ok(Reading { document, trailer, left })
    }
}

fn piece(size: i64, limit: usize) -> Result<usize, Report> {
    usize::try_from(size).ok().filter(|size| (LEAST_PIECE..=limit).contains(size)).ok_or_else(
        || {
            let message =
                format!("/max_bytes: expected a number from {LEAST_PIECE} to {limit}, not {size}");
            Report::new(Kind::Invalid, message)
        },
    )
}

impl Output for Reading {
    fn schema() -> Option<Arc<JsonObject>> {
        Some(Arc::new(schema::of::<Document>()))
    }

    /// The library has cut the text already. A caller that shows its agent nothing but text
    /// finds the cursor in a block of its own, so that the first is the document's text alone.
    fn into_result(self, _limit: usize) -> CallToolResult {
        let Self { document, trailer, left } = self;
        let mut content = vec![ContentBlock::text(format!("{}{trailer}", document.text))];
        if let Some(cursor) = &document.next_cursor {
            content.push(ContentBlock::text(format!(
                "{left} bytes follow: read on with cursor `{cursor}`"
            )));
        }
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(serde_json::to_value(&document).unwrap_or(Value::Null));
        result
    }
}
