//! Tools over the library.

use rutter_base::failure::Report;
use rutter_base::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::module::ModuleId;
use crate::tool::{Call, Data, Effect, Tool};

/// The `read` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// The document's URI, e.g. `acdc://docs/guide`
    uri: String,
}

/// A document that was read.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Document {
    /// Its URI as listed
    uri: String,
    /// Its title
    name: String,
    /// The Markdown without frontmatter
    text: String,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read a document";
    const DESCRIPTION: &'static str = "Read a document of the knowledge base as Markdown. \
        Use it with a URI from resources/list; it does not search.";
    const MODULE: ModuleId = ModuleId::Knowledge;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Document>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let limit = call.app.limits().payload;
        let body =
            call.app.with_library(move |library| library.catalog().read(&self.uri)).await??;
        let text = text::cap(body.text, limit);
        Ok(Data {
            text: Some(text.clone()),
            value: Document { uri: body.uri, name: body.name, text },
        })
    }
}
