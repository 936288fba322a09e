//! Skills as a module: their files are resources. The methods of the extension are in `mcp`.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::text;

use crate::module::{Module, ModuleId, Reader};
use crate::skills::{Content, Skills};

#[derive(Debug)]
pub(super) struct Served(pub(super) Arc<Skills>);

impl Module for Served {
    fn id(&self) -> ModuleId {
        ModuleId::Skills
    }

    fn summary(&self) -> String {
        text::listed(self.0.names().iter().map(String::as_str))
    }

    fn problems(&self) -> Vec<Problem> {
        self.0.problems()
    }

    fn is_immutable(&self) -> bool {
        self.0.is_immutable()
    }

    fn resources(&self, _: &Reader) -> Vec<Resource> {
        self.0.resources()
    }

    fn read(&self, uri: &str, _: &Reader) -> Option<Result<ReadResourceResult, Report>> {
        // Skills serves no file that is past the limit: a part of one would not match its digest.
        let file = match self.0.read(uri)? {
            Ok(file) => file,
            Err(error) => {
                return Some(Err(
                    Report::new(Kind::NotFound, "there is no such file").because(&error)
                ));
            }
        };
        let contents = match file.content {
            Content::Text(text) => ResourceContents::text(text, file.uri),
            Content::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), file.uri),
        };
        let contents = match file.mime_type {
            Some(mime_type) => contents.with_mime_type(mime_type),
            None => contents,
        };
        Some(Ok(ReadResourceResult::new(vec![contents])))
    }
}
