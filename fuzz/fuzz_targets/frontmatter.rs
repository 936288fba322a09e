//! Any text as a document: read or refused, and its sections lie within it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_base::document::{Document, sections};

fuzz_target!(|text: &str| {
    if let Ok(document) = Document::<Option<serde_json::Value>>::parse_lenient(text) {
        assert!(document.body.len() <= text.len());
        for section in sections(&document.body) {
            assert!(document.body.get(section.range).is_some());
        }
    }
});
