//! Tools whose answer is fixed: one for each kind of content, and one that fails.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use rutter_base::failure::{Kind, Report};

use super::bare;
use crate::tool::Entry;

/// One red pixel.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// The type of [`PNG`].
pub(super) const PNG_TYPE: &str = "image/png";
/// One silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

pub(super) fn tools() -> Vec<Entry> {
    vec![
        fixed("test_simple_text", "Answers with text", || {
            vec![ContentBlock::text("This is a simple text response for testing.")]
        }),
        fixed("test_image_content", "Answers with an image", || {
            vec![ContentBlock::image(PNG, PNG_TYPE)]
        }),
        fixed("test_audio_content", "Answers with a sound", || {
            vec![ContentBlock::audio(WAV, "audio/wav")]
        }),
        fixed("test_embedded_resource", "Answers with a resource", || {
            vec![embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )]
        }),
        fixed("test_multiple_content_types", "Answers with text, an image and a resource", || {
            vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, PNG_TYPE),
                embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                ),
            ]
        }),
        bare("test_error_handling", "Fails", |_, _| async {
            let words = "This tool intentionally returns an error for testing";
            Err(Report::new(Kind::Refused, words).into())
        }),
    ]
}

fn fixed(
    name: &'static str,
    description: &'static str,
    content: fn() -> Vec<ContentBlock>,
) -> Entry {
    bare(
        name,
        description,
        move |_, _| async move { Ok(CallToolResult::success(content()).into()) },
    )
}

/// A text resource inside of an answer or a prompt.
pub(super) fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime_type))
}
