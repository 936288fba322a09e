//! Resources and a resource template.

use rmcp::model::{ReadResourceResult, Reference, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::content::{PNG, PNG_TYPE};
use crate::module::Completion;

/// A resource that does not change.
struct Fixture {
    uri: &'static str,
    name: &'static str,
    mime_type: &'static str,
    content: Content,
}

enum Content {
    Text(&'static str),
    /// In base64.
    Bytes(&'static str),
}

const RESOURCES: [Fixture; 3] = [
    Fixture {
        uri: "test://static-text",
        name: "Static text",
        mime_type: "text/plain",
        content: Content::Text("This is the content of the static text resource."),
    },
    Fixture {
        uri: "test://static-binary",
        name: "Static image",
        mime_type: PNG_TYPE,
        content: Content::Bytes(PNG),
    },
    Fixture {
        uri: "test://watched-resource",
        name: "Resource to subscribe to",
        mime_type: "text/plain",
        content: Content::Text("This resource can be watched; it never changes."),
    },
];

/// Any id reads as a resource of its own.
const TEMPLATE: &str = "test://template/{id}/data";

pub(super) fn listed() -> Vec<Resource> {
    let listed = RESOURCES.iter().map(|fixture| {
        Resource::new(fixture.uri, fixture.name)
            .with_description("Fixture of the conformance suite")
            .with_mime_type(fixture.mime_type)
    });
    listed.collect()
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(TEMPLATE, "Data of an id")
            .with_description("Fixture of the conformance suite")
            .with_mime_type("application/json"),
    ]
}

pub(super) fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match RESOURCES.iter().find(|fixture| fixture.uri == uri) {
        Some(Fixture { mime_type, content: Content::Text(text), .. }) => {
            ResourceContents::text(*text, uri).with_mime_type(*mime_type)
        }
        Some(Fixture { mime_type, content: Content::Bytes(base64), .. }) => {
            ResourceContents::blob(*base64, uri).with_mime_type(*mime_type)
        }
        None => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            if id.is_empty() || id.contains('/') {
                return None;
            }
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}

pub(super) fn complete(question: &Completion<'_>) -> Option<Vec<String>> {
    let Reference::Resource(reference) = question.reference else { return None };
    (reference.uri == TEMPLATE && question.argument == "id").then(|| vec!["123".into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_segment() {
        assert!(read("test://template/123/data").is_some());
        for uri in ["test://template//data", "test://template/1/2/data", "test://template/1"] {
            assert!(read(uri).is_none(), "{uri}");
        }
    }
}
