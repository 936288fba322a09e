#![expect(clippy::disallowed_methods, reason = "tests write the files that are loaded")]

use std::fs;
use std::path::Path;

use rutter_base::root::Root;

use super::*;
use crate::library::Library;
use crate::source::{Layout, Source, SourceName};

fn parse(format: Format, text: &str) -> Result<(Prompt, Vec<Problem>), Problem> {
    Prompt::parse(format, &SourceName::new("docs").unwrap(), "p", text)
}

fn prompt(text: &str) -> Result<(Prompt, Vec<Problem>), Problem> {
    parse(Format::Markdown, text)
}

fn json(text: &str) -> Result<Prompt, String> {
    parse(Format::Json, text).map(|parsed| parsed.0).map_err(|problem| problem.to_string())
}

fn fill_in(prompt: &Prompt, catalog: &Catalog, values: &[(&str, &str)]) -> Result<String, String> {
    let values = values.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let messages = prompt.render(&values, catalog, 2_000_000);
    let messages = messages.map_err(|error| Report::from(error).to_string())?;
    Ok(messages.into_iter().map(|message| message.text).collect::<Vec<_>>().join("|"))
}

fn fill(prompt: &Prompt, values: &[(&str, &str)]) -> Result<String, String> {
    fill_in(prompt, &Catalog::default(), values)
}

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn source(path: &Path, layout: Layout) -> Source {
    let root = Root::open(path).unwrap();
    Source { name: SourceName::new("docs").unwrap(), description: String::new(), root, layout }
}

fn architecture(folder: &Path) -> Library {
    Library::new(vec![source(folder, Layout::Architecture)])
}

fn problems(catalog: &Catalog) -> Vec<String> {
    catalog.problems().iter().map(ToString::to_string).collect()
}

const ADR: &str = "---\nname: adr\narguments:\n  - name: topic\n  - {name: note, required: false}\n---\n\
                   On {{.topic}}{{if note}} ({{note}}){{end}}.";

#[test]
fn arguments_are_required_unless_they_say_otherwise() {
    let (adr, problems) = prompt(ADR).unwrap();
    assert_eq!(problems, []);
    assert_eq!(adr.name, "docs:adr");
    assert_eq!(fill(&adr, &[("topic", "a")]).unwrap(), "On a.");
    assert_eq!(fill(&adr, &[("topic", "{{note}}"), ("note", "n")]).unwrap(), "On {{note}} (n).");
    assert_eq!(fill(&adr, &[]).unwrap_err(), "/topic: required");
    assert_eq!(fill(&adr, &[("topic", "")]).unwrap_err(), "/topic: required");
    assert_eq!(
        fill(&adr, &[("topic", "a"), ("notes", "")]).unwrap_err(),
        "/notes: unknown argument; did you mean `note`?"
    );
}

#[test]
fn undeclared_placeholders_are_reported_and_other_actions_refused() {
    let (_, problems) = prompt("---\nname: a\n---\n{{x}}").unwrap();
    assert_eq!(problems[0].to_string(), "p: `{{x}}` is no declared argument and stays as it is");
    let problem = prompt("---\nname: a\n---\n\n{{range .x}}").unwrap_err();
    assert_eq!(problem.line, Some(5));
    assert!(prompt("---\ndescription: no name\n---\n").is_err());
}

#[test]
fn the_forms_of_a_json_prompt() {
    let arguments = r#""arguments": [{"name": "a"}, {"name": "b", "required": false}]"#;
    for text in [
        r#""template": "A {{a}}{{b}}""#,
        r#""content": "A {{.a}}""#,
        r#""messages": [{"role": "user", "content": "A {{a}}"}]"#,
        r#""messages": [{"role": "user", "content": {"type": "text", "text": "A {{a}}"}}]"#,
    ] {
        let read = format!(r#"{{"name": "x-1", "version": 2, "tags": [1], {arguments}, {text}}}"#);
        let read = json(&read).unwrap();
        assert_eq!(read.name, "x-1", "its own name, without the source's");
        assert_eq!(fill(&read, &[("a", "{{b}}")]).unwrap(), "A {{b}}");
        assert_eq!(fill(&read, &[("b", "1")]).unwrap_err(), "/a: required");
    }
    let roles = json(
        r#"{"name": "x", "messages": [{"role": "user", "content": "U"}, {"role": "assistant", "content": "A"}]}"#,
    );
    let messages = roles.unwrap().render(&BTreeMap::new(), &Catalog::default(), 100).unwrap();
    assert_eq!(messages[0], Message { role: Role::User, text: "U".into() });
    assert_eq!(messages[1], Message { role: Role::Assistant, text: "A".into() });
}

#[test]
fn a_json_prompt_that_is_not_one_says_why() {
    let cases = [
        ("{", "p:1: EOF while parsing an object"),
        ("[]", "p:1: invalid length 0, expected an object with a `name` and a text"),
        (r#"{"template": "x"}"#, "p:1: missing field `name`"),
        ("{\n\"name\": 1}", "p:2: invalid type: integer `1`, expected a string"),
        (
            r#"{"name": "A b", "template": "x"}"#,
            "p: `A b` cannot name a prompt: use lower-case letters, digits and `-`",
        ),
        (
            r#"{"name": "docs:a", "template": "x"}"#,
            "p: `docs:a` cannot name a prompt: use lower-case letters, digits and `-`",
        ),
        (
            r#"{"name": "a"}"#,
            "p: the text is missing or there twice: use one of `messages`, `template` and `content`",
        ),
        (r#"{"name": "a", "messages": []}"#, "p: `messages` is empty"),
        (
            r#"{"name": "a", "messages": [{"role": "system", "content": "x"}]}"#,
            "p:1: unknown variant `system`, expected `user` or `assistant`",
        ),
        (
            r#"{"name": "a", "messages": [{"role": "user", "content": {"type": "image"}}]}"#,
            "p:1: `content` is neither a text nor {\"type\": \"text\", \"text\": …}",
        ),
        (
            r#"{"name": "a", "template": "x", "arguments": [{"name": "a"}, {"name": "a"}]}"#,
            "p:1: argument `a` is empty or there twice",
        ),
        (
            r#"{"name": "a", "template": "x", "arguments": [{"name": "a", "maxLength": "9"}]}"#,
            "p:1: invalid type: string \"9\", expected a number",
        ),
        (
            r#"{"name": "a", "template": "{{range .x}}"}"#,
            "p: `{{range .x}}` is not supported; use {{name}} or {{if .name}}…{{else}}…{{end}}",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text).unwrap_err(), expected);
    }
    assert!(json(&"[".repeat(100_000)).is_err());
}

#[test]
fn architecture_arguments_have_limits_in_characters() {
    let read = json(
        r#"{"name": "a", "template": "{{code}}", "arguments": [
            {"name": "code", "required": false}, {"name": "other", "required": false},
            {"name": "short", "required": false, "maxLength": 3}]}"#,
    )
    .unwrap();
    for (name, limit) in [("code", 10_000), ("other", 2_000), ("short", 3)] {
        assert!(fill(&read, &[(name, &"ä".repeat(limit))]).is_ok(), "{name}");
        assert_eq!(
            fill(&read, &[(name, &"ä".repeat(limit + 1))]).unwrap_err(),
            format!("/{name}: at most {limit} characters")
        );
    }
    let plain = parse(Format::PlainMarkdown, ADR).unwrap().0;
    assert_eq!(plain.name, "adr");
    assert!(fill(&plain, &[("topic", &"t".repeat(2_001))]).is_err());
}

#[test]
fn markdown_arguments_have_only_the_limits_that_they_declare() {
    let (adr, _) = prompt(ADR).unwrap();
    assert!(fill(&adr, &[("topic", &"t".repeat(50_000))]).is_ok());
    let (read, _) =
        prompt("---\nname: a\narguments: [{name: b, maxLength: 2}]\n---\n{{b}}").unwrap();
    assert_eq!(fill(&read, &[("b", "éé")]).unwrap(), "éé");
    assert_eq!(fill(&read, &[("b", "ééé")]).unwrap_err(), "/b: at most 2 characters");
}

#[test]
fn declared_values_are_the_only_ones() {
    let (read, _) = prompt(
        "---\nname: a\narguments: [{name: b, required: false, enum: [one, two]}]\n---\n[{{b}}]",
    )
    .unwrap();
    assert_eq!(fill(&read, &[("b", "two")]).unwrap(), "[two]");
    assert_eq!(fill(&read, &[]).unwrap(), "[]");
    assert_eq!(fill(&read, &[("b", "three")]).unwrap_err(), "/b: expected one of `one`, `two`");
}

#[test]
fn documents_are_embedded_as_they_are_now_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "resources/patterns/retry.md", "# Retry\n\nAgain. {{a}} {{resource:x}}\n");
    write(at, "resources/patterns/cache.md", "# Cache\n\nKeep.\n");
    write(at, "resources/patterns/deep/er.md", "# Deeper\n");
    write(at, "resources/adr/007-use-rust.md", "# Use Rust\n");
    write(
        at,
        "prompts/p.json",
        r#"{"name": "p", "arguments": [{"name": "a"}], "template": "{{a}}: {{resource:architecture://patterns/*}}."}"#,
    );
    write(
        at,
        "prompts/q.json",
        r#"{"name": "q", "template": "{{resource:architecture://adr/7}}, {{resource:architecture://none/*}}"}"#,
    );
    let catalog = architecture(at).catalog();
    let p = catalog.prompt("p").unwrap();
    assert_eq!(
        fill_in(p, &catalog, &[("a", "{{resource:architecture://adr/*}}")]).unwrap(),
        "{{resource:architecture://adr/*}}: \
         ## Cache (architecture://patterns/cache)\n\n# Cache\n\nKeep.\n\n\
         ## Retry (architecture://patterns/retry)\n\n# Retry\n\nAgain. {{a}} {{resource:x}}."
    );
    write(at, "resources/patterns/cache.md", "Changed.\n");
    assert!(fill_in(p, &catalog, &[("a", "1")]).unwrap().contains("Changed."));
    let q = catalog.prompt("q").unwrap();
    assert_eq!(
        fill_in(q, &catalog, &[]).unwrap(),
        "## Use Rust (architecture://adr/007-use-rust)\n\n# Use Rust, \
         (There is no document `architecture://none/*`.)"
    );
    assert_eq!(
        problems(&catalog),
        ["docs/prompts/q.json: `{{resource:architecture://none/*}}` matches no document"]
    );
}

#[test]
fn a_section_of_a_document_can_be_embedded() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "resources/patterns/retry.md", "# Retry\n\n## When\n\nLate.\n\n## How\n\nAgain.\n");
    write(
        at,
        "prompts/p.json",
        r#"{"name": "p", "template": "{{resource:architecture://patterns/retry#how}} {{resource:architecture://patterns/retry#why}}"}"#,
    );
    let catalog = architecture(at).catalog();
    assert_eq!(
        fill_in(catalog.prompt("p").unwrap(), &catalog, &[]).unwrap(),
        "## Retry (architecture://patterns/retry)\n\n## How\n\nAgain. \
         ## Retry (architecture://patterns/retry)\n\n(This document has no such section.)"
    );
}

#[test]
fn too_much_to_embed_is_an_error_and_never_a_cut() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for number in 0..50 {
        write(at, &format!("resources/patterns/{number}.md"), "x");
    }
    let embedding = r#"{"name": "p", "arguments": [{"name": "a", "required": false}],
        "template": "{{if a}}{{resource:architecture://**}}{{end}}"}"#;
    write(at, "prompts/p.json", embedding);
    let library = architecture(at);
    let fill = |value| {
        let catalog = library.catalog();
        fill_in(catalog.prompt("p").unwrap(), &catalog, &[("a", value)])
    };
    assert_eq!(fill("1").unwrap().matches("## ").count(), 50);
    write(at, "resources/patterns/50.md", "x");
    library.reload();
    assert_eq!(
        fill("1").unwrap_err(),
        "the prompt embeds more than 50 documents; \
         narrow its `{{resource:…}}`, or read the documents one by one"
    );
    assert_eq!(fill("").unwrap(), "", "what is not shown does not count");
    assert_eq!(
        problems(&library.catalog()),
        ["docs/prompts/p.json: `{{resource:architecture://**}}` matches more than 50 documents"]
    );
    fs::remove_dir_all(at.join("resources/patterns")).unwrap();
    write(at, "resources/patterns/big.md", "x".repeat(600_000));
    library.reload();
    assert_eq!(
        fill("1").unwrap().len(),
        600_000 + "## big (architecture://patterns/big)\n\n".len()
    );
    write(at, "resources/patterns/more.md", "x".repeat(600_000));
    library.reload();
    assert!(fill("1").unwrap_err().starts_with("the prompt has more than 1048576 bytes"));
}

#[test]
fn what_is_embedded_twice_counts_twice() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "resources/patterns/a.md", "x");
    let twice = "{{resource:architecture://patterns/a}}".repeat(51);
    write(folder.path(), "prompts/p.json", format!(r#"{{"name": "p", "template": "{twice}"}}"#));
    let catalog = architecture(folder.path()).catalog();
    let filled = fill_in(catalog.prompt("p").unwrap(), &catalog, &[]);
    assert!(filled.unwrap_err().starts_with("the prompt embeds more than 50 documents"));
}

#[test]
fn a_text_is_cut_and_a_conversation_refused_past_the_payload() {
    let values = [("a".to_owned(), "v".repeat(500))].into();
    let (single, _) = prompt("---\nname: a\narguments: [{name: a}]\n---\n{{a}}").unwrap();
    let messages = single.render(&values, &Catalog::default(), 100).unwrap();
    assert_eq!(messages[0].text.len(), 100);
    assert!(messages[0].text.contains("[truncated "));
    let two = json(
        r#"{"name": "x", "arguments": [{"name": "a"}],
            "messages": [{"role": "user", "content": "{{a}}"}, {"role": "assistant", "content": "{{a}}"}]}"#,
    )
    .unwrap();
    assert!(two.render(&values, &Catalog::default(), 1_000).is_ok());
    for limit in [0, 1, 400, 499, 500, 999] {
        let error = two.render(&values, &Catalog::default(), limit).unwrap_err();
        assert_eq!(error, PromptError::TooLarge { limit });
    }
}

#[test]
fn the_last_good_prompt_stays_while_a_broken_one_is_on_disk() {
    for (layout, file, name, good, broken) in [
        (Layout::Architecture, "prompts/p.json", "p", r#"{"name": "p", "template": "good"}"#, "{"),
        (Layout::Acdc, "mcp-prompts/p.md", "docs:p", "---\nname: p\n---\ngood", "---\nname: ["),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, file, good);
        let library = Library::new(vec![source(at, layout)]);
        library.catalog();
        write(at, file, broken);
        let difference = library.reload();
        assert!(difference.problems && !difference.prompts, "{difference:?}");
        for _ in 0..2 {
            let catalog = library.catalog();
            assert_eq!(fill(catalog.prompt(name).unwrap(), &[]).unwrap(), "good");
            let found = problems(&catalog);
            assert!(found[0].ends_with("; its last good version is served"), "{found:?}");
            assert_eq!((found.len(), catalog.skipped()), (1, 1));
            assert!(!library.reload().problems, "the same problem is no news");
        }
        write(at, file, good.replace("good", "mended"));
        library.reload();
        let catalog = library.catalog();
        assert_eq!(fill(catalog.prompt(name).unwrap(), &[]).unwrap(), "mended");
        assert_eq!(problems(&catalog), [""; 0]);
        write(at, file, broken);
        library.reload();
        fs::remove_file(at.join(file)).unwrap();
        library.reload();
        assert!(library.catalog().prompt(name).is_none());
        assert_eq!(problems(&library.catalog()), [""; 0]);
    }
}

#[test]
fn a_prompt_of_the_files_replaces_a_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "mcp/prompts/b.json", r#"{"name": "one", "template": "own"}"#);
    write(at, "mcp/prompts/c.json", r#"{"name": "one", "template": "again"}"#);
    write(at, "mcp/prompts/schemas/d.json", r#"{"type": "object"}"#);
    write(at, "pack/mcp-prompts/one.md", "---\nname: one\n---\nbuilt in");
    write(at, "pack/mcp-prompts/two.md", "---\nname: two\n---\nbuilt in");
    let library = Library::new(vec![
        source(&at.join("mcp"), Layout::Architecture),
        source(&at.join("pack"), Layout::ArchitecturePrompts),
    ]);
    let catalog = library.catalog();
    let texts: Vec<_> = catalog
        .prompts()
        .map(|prompt| (prompt.name.as_str(), fill(prompt, &[]).unwrap()))
        .collect();
    assert_eq!(texts, [("one", "own".to_owned()), ("two", "built in".to_owned())]);
    assert_eq!(
        problems(&catalog),
        ["docs/prompts/c.json: prompt `one` is already in `docs/prompts/b.json`"]
    );
    fs::remove_dir_all(at.join("mcp/prompts")).unwrap();
    library.reload();
    let catalog = library.catalog();
    assert_eq!(fill(catalog.prompt("one").unwrap(), &[]).unwrap(), "built in");
}

#[test]
fn a_decision_record_is_read_by_its_number_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "resources/adr/001-first.md", "one");
    write(at, "resources/adr/012-twelfth.md", "twelve");
    write(at, "resources/patterns/001-pattern.md", "pattern");
    let catalog = architecture(at).catalog();
    for uri in ["1", "01", "001", "001.md", "001-first", "001-first.md"] {
        let body = catalog.read(&format!("architecture://adr/{uri}")).unwrap();
        assert_eq!(
            (body.uri.as_str(), body.text.as_str()),
            ("architecture://adr/001-first", "one")
        );
    }
    assert_eq!(catalog.read("architecture://adr/12").unwrap().text, "twelve");
    for uri in ["adr/2", "adr/0", "adr/+1", "adr/99999999999999999999999", "patterns/1", "adr/1-"] {
        assert!(catalog.read(&format!("architecture://{uri}")).is_err(), "{uri}");
    }
}
