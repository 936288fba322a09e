//! Templates with placeholders: `{{name}}`, `{{.name}}`, `{{if .name}}…{{else}}…{{end}}` and
//! `{{resource:URI}}`.
//!
//! A template is parsed once and rendered in one pass: what came from an argument or a document
//! is output, never input, so nothing in it is expanded again.

use crate::text::Capped;

/// How deep `{{if}}` may be nested. Deeper ones are a mistake, and recursion needs a bound.
const MAX_NESTING: usize = 32;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Text(String),
    Placeholder { name: String, source: String },
    Resource { uri: String, source: String },
    If { name: String, then: Vec<Node>, otherwise: Vec<Node> },
}

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// The line within the text, counted from 1.
    pub line: u32,
    /// What is wrong and what is supported instead.
    pub message: String,
}

/// What a template asks of whoever renders it.
pub trait Values {
    /// The value of an argument: `None` when no such argument is declared, in which case the
    /// placeholder stays as it is; an empty string when it is declared but absent.
    fn argument(&self, name: &str) -> Option<&str>;

    /// The text to embed for `{{resource:URI}}`: `None` leaves the placeholder as it is.
    fn resource(&self, uri: &str) -> Option<&str> {
        let _ = uri;
        None
    }
}

/// Words that begin an action of the template language that the documents' authors may know,
/// but that is not supported: such a template would be served with its machinery showing.
const UNSUPPORTED: [&str; 27] = [
    "range", "with", "template", "block", "define", "break", "continue", "and", "or", "not", "len",
    "index", "slice", "print", "printf", "println", "html", "js", "urlquery", "call", "eq", "ne",
    "lt", "le", "gt", "ge", "if",
];

struct Open {
    name: String,
    line: u32,
    then: Vec<Node>,
    in_else: bool,
    nodes: Vec<Node>,
}

impl Template {
    /// Parses a template. Braces that are no action (`{{ a b }}`, `${{ matrix.os }}`) are text.
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        let mut stack: Vec<Open> = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        let mut rest = source;
        let mut line = 1;
        while let Some((before, action, after)) = next_action(rest) {
            line += count_lines(before);
            push_text(&mut nodes, before);
            let whole = rest.get(before.len()..rest.len() - after.len()).unwrap_or_default();
            let fail = |message: String| TemplateError { line, message };
            match Action::of(action) {
                Action::Text => push_text(&mut nodes, whole),
                Action::Placeholder(name) => {
                    nodes.push(Node::Placeholder { name: name.into(), source: whole.into() });
                }
                Action::Resource(uri) => {
                    nodes.push(Node::Resource { uri: uri.into(), source: whole.into() });
                }
                Action::If(name) => {
                    if stack.len() == MAX_NESTING {
                        return Err(fail(format!(
                            "`{{{{if}}}}` is nested more than {MAX_NESTING} deep"
                        )));
                    }
                    let nodes = std::mem::take(&mut nodes);
                    stack.push(Open {
                        name: name.into(),
                        line,
                        then: Vec::new(),
                        in_else: false,
                        nodes,
                    });
                }
                Action::Else => match stack.last_mut() {
                    Some(open) if !open.in_else => {
                        open.then = std::mem::take(&mut nodes);
                        open.in_else = true;
                    }
                    _ => return Err(fail("`{{else}}` without an open `{{if}}`".into())),
                },
                Action::End => {
                    let Some(open) = stack.pop() else {
                        return Err(fail("`{{end}}` without an open `{{if}}`".into()));
                    };
                    let last = std::mem::replace(&mut nodes, open.nodes);
                    let (then, otherwise) =
                        if open.in_else { (open.then, last) } else { (last, Vec::new()) };
                    nodes.push(Node::If { name: open.name, then, otherwise });
                }
                Action::Unsupported => {
                    return Err(fail(format!(
                        "`{{{{{}}}}}` is not supported; use {{{{name}}}} or {{{{if .name}}}}…{{{{else}}}}…{{{{end}}}}",
                        crate::text::one_line(action.trim())
                    )));
                }
            }
            line += count_lines(whole);
            rest = after;
        }
        if let Some(open) = stack.pop() {
            return Err(TemplateError {
                line: open.line,
                message: format!("`{{{{if .{}}}}}` has no `{{{{end}}}}`", open.name),
            });
        }
        push_text(&mut nodes, rest);
        Ok(Self { nodes })
    }

    /// Renders the template into at most `limit` bytes (see [`crate::text::cap`]).
    pub fn render(&self, values: &impl Values, limit: usize) -> String {
        let mut out = Capped::new(limit);
        render(&self.nodes, values, &mut out);
        out.finish()
    }

    /// The names of all arguments that the template uses, in order of first appearance.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect(&self.nodes, &mut |node| {
            if let Node::Placeholder { name, .. } | Node::If { name, .. } = node
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        });
        names
    }

    /// The URIs of all resources that the template embeds.
    pub fn resources(&self) -> Vec<&str> {
        let mut uris = Vec::new();
        collect(&self.nodes, &mut |node| {
            if let Node::Resource { uri, .. } = node {
                uris.push(uri.as_str());
            }
        });
        uris
    }
}

fn collect<'a>(nodes: &'a [Node], visit: &mut impl FnMut(&'a Node)) {
    for node in nodes {
        visit(node);
        if let Node::If { then, otherwise, .. } = node {
            collect(then, visit);
            collect(otherwise, visit);
        }
    }
}

fn render(nodes: &[Node], values: &impl Values, out: &mut Capped) {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Placeholder { name, source } => {
                out.push_str(values.argument(name).unwrap_or(source));
            }
            Node::Resource { uri, source } => out.push_str(values.resource(uri).unwrap_or(source)),
            Node::If { name, then, otherwise } => {
                let holds = values.argument(name).is_some_and(|value| !value.is_empty());
                render(if holds { then } else { otherwise }, values, out);
            }
        }
    }
}

fn push_text(nodes: &mut Vec<Node>, text: &str) {
    match nodes.last_mut() {
        _ if text.is_empty() => {}
        Some(Node::Text(last)) => last.push_str(text),
        _ => nodes.push(Node::Text(text.into())),
    }
}

fn count_lines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|&b| b == b'\n').count()).unwrap_or(u32::MAX)
}

/// Splits at the next `{{…}}` that is closed on its own line: text before, inside, text after.
fn next_action(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find("{{")?;
        let inside = text.get(start + 2..)?;
        let line_end = inside.find('\n').unwrap_or(inside.len());
        if let Some(length) = inside.get(..line_end)?.find("}}") {
            return Some((text.get(..start)?, inside.get(..length)?, inside.get(length + 2..)?));
        }
        // Everything up to the line's end can hold no action that is closed on the line.
        from = start + 2 + line_end;
    }
}

enum Action<'a> {
    Text,
    Placeholder(&'a str),
    Resource(&'a str),
    If(&'a str),
    Else,
    End,
    Unsupported,
}

impl<'a> Action<'a> {
    fn of(inside: &'a str) -> Self {
        let inside = inside.trim();
        if let Some(uri) = inside.strip_prefix("resource:") {
            return Self::Resource(uri.trim());
        }
        let first = inside.split_whitespace().next().unwrap_or_default();
        match first {
            "else" if inside == "else" => return Self::Else,
            "end" if inside == "end" => return Self::End,
            "if" => {
                let name = inside.strip_prefix("if").unwrap_or_default().trim();
                return argument_name(name).map_or(Self::Unsupported, Self::If);
            }
            _ => {}
        }
        if let Some(name) = argument_name(inside) {
            return Self::Placeholder(name);
        }
        let unsupported = UNSUPPORTED.contains(&first)
            || first == "else"
            || inside.starts_with(['.', '$', '-'])
            || inside.starts_with("/*");
        if unsupported { Self::Unsupported } else { Self::Text }
    }
}

/// `name` or `.name`, without the dot.
fn argument_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('.').unwrap_or(text);
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    (starts && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    impl Values for BTreeMap<&str, &str> {
        fn argument(&self, name: &str) -> Option<&str> {
            self.get(name).copied()
        }
        fn resource(&self, uri: &str) -> Option<&str> {
            self.get(uri).copied()
        }
    }

    #[track_caller]
    fn check(source: &str, values: &[(&str, &str)], expected: &str) {
        let template = Template::parse(source).unwrap();
        let values: BTreeMap<_, _> = values.iter().copied().collect();
        assert_eq!(template.render(&values, 10_000), expected);
    }

    #[test]
    fn both_spellings_are_the_same_placeholder() {
        check("{{a}} {{.a}} {{ a }} {{ .a }}", &[("a", "x")], "x x x x");
    }

    #[test]
    fn values_are_not_expanded_again() {
        check("{{a}}{{b}}", &[("a", "{{b}}"), ("b", "{{a}}")], "{{b}}{{a}}");
        check("{{resource:u}}", &[("u", "{{a}}"), ("a", "no")], "{{a}}");
    }

    #[test]
    fn undeclared_placeholders_stay_and_absent_values_vanish() {
        check("[{{x}}] [{{ .x }}] [{{a}}]", &[("a", "")], "[{{x}}] [{{ .x }}] []");
    }

    #[test]
    fn conditions_choose() {
        let source = "{{if .a}}A{{.a}}{{if b}}B{{end}}{{else}}none{{end}}.";
        check(source, &[("a", "1"), ("b", "")], "A1.");
        check(source, &[("a", "1"), ("b", "2")], "A1B.");
        check(source, &[("a", "")], "none.");
    }

    #[test]
    fn braces_that_are_no_action_are_text() {
        for text in
            ["${{ matrix.os }}", "{{ a b }}", "{{", "}}", "{{}}", "{{a\n}}", "{ {a} }", "{{é}}"]
        {
            check(text, &[("a", "x")], text);
        }
        check("{{{a}}}", &[("a", "x")], "{{{a}}}");
    }

    #[test]
    fn other_actions_are_refused_with_their_line() {
        for source in [
            "{{range .x}}",
            "{{with .x}}",
            "{{.a.b}}",
            "{{.a | upper}}",
            "{{- .a -}}",
            "{{if eq .a 1}}",
            "{{else}}",
            "{{end}}",
            "{{if .a}}",
            "{{if .a}}{{else}}{{else}}{{end}}",
            "{{/* c */}}",
            "{{else if .b}}",
            "{{printf \"%s\" .a}}",
        ] {
            let error = Template::parse(&format!("one\ntwo {source}")).expect_err(source);
            assert_eq!(error.line, 2, "{source}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_not_followed() {
        let deep = "{{if .a}}".repeat(100_000);
        assert!(Template::parse(&deep).is_err());
    }

    #[test]
    fn rendering_is_bounded_however_often_a_value_is_used() {
        let template = Template::parse(&"{{a}}".repeat(10_000)).unwrap();
        let value = "v".repeat(100_000);
        let values: BTreeMap<_, _> = [("a", value.as_str())].into();
        let rendered = template.render(&values, 1_000);
        assert_eq!(rendered.len(), 1_000);
        assert!(rendered.ends_with("… [truncated 999999031 bytes]"), "{rendered}");
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_text_round_trips(source in "[{}a.\\n if else end\\PC]{0,60}") {
            if let Ok(template) = Template::parse(&source) && !source.contains("if") {
                prop_assert_eq!(template.render(&BTreeMap::new(), 10_000), source);
            }
        }
    }
}
