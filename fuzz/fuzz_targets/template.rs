//! Any text as a template: parsed or refused, rendered within its limit, in one pass.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_base::template::{Template, Values};

struct Echo;

impl Values for Echo {
    fn argument(&self, name: &str) -> Option<&str> {
        (name.len() % 2 == 0).then_some("{{a}}{{if .b}}")
    }
}

fuzz_target!(|source: &str| {
    if let Ok(template) = Template::parse(source) {
        assert!(template.render(&Echo, 100).len() <= 100);
        let names = template.names().len();
        assert!(names <= source.len());
    }
});
