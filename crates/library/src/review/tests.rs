#![expect(clippy::disallowed_methods, reason = "tests write the files that are reviewed")]

use std::fs;

use rutter_base::root::Root;

use crate::{Library, Source, SourceName};

/// The findings in a folder with these files.
fn review(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = Root::open(folder.path()).unwrap();
    let layout = Source::detect(&root);
    let name = SourceName::new("docs").unwrap();
    let library = Library::new(vec![Source { name, description: String::new(), root, layout }]);
    let said =
        |problem: &rutter_base::failure::Problem| format!("{:?} {problem}", problem.severity);
    library.catalog().review().iter().map(said).collect()
}

#[test]
fn links_that_lead_nowhere_are_found_with_their_line() {
    let page = "---\nname: A\ndescription: d\n---\n# A\n\n[b](sub/b.md)\n[x](sub/x.md#y)\n\
                [b](b.md)\n`[z](z.md)`\n\n[r]: ../README.md\n[u](acdc://docs/none) [v](acdc://other/none)\n\
                [f](file.txt) [g](gone) [s](sub/)\n";
    let b = "---\nname: B\ndescription: d\n---\n[a](../a.md) [a](../a) [c](../c.md)\n";
    let found = review(&[
        ("mcp-resources/a.md", page),
        ("mcp-resources/sub/b.md", b),
        ("mcp-resources/c.md", "no frontmatter"),
    ]);
    assert_eq!(
        found,
        [
            "Error docs/mcp-resources/a.md:8: links to `sub/x.md#y`, which does not exist; did you mean `sub/b.md`?",
            "Error docs/mcp-resources/a.md:9: links to `b.md`, which does not exist; did you mean `sub/b.md`?",
            "Warning docs/mcp-resources/a.md:12: links to `../README.md`, outside of what is served: agents cannot follow it",
            "Error docs/mcp-resources/a.md:13: links to `acdc://docs/none`: there is no such document",
            "Warning docs/mcp-resources/sub/b.md:5: links to `../c.md`, which is not served",
        ]
    );
}

#[test]
fn links_to_headings_that_are_not_there_are_found() {
    let a = "# First steps\n\n[ok](#first-steps) [ok](#First-Steps) [ok](#top) [ok](#by-hand)\n\
             <a id=\"by-hand\"></a>\n[no](#first-step)\n[ok](b.md#x%C3%A4) [no](b.md#zzz)\n[no](acdc://docs/b#qqq)\n";
    assert_eq!(
        review(&[("a.md", a), ("b.md", "# B\n\n## Xä\n## Own {#own}\n")]),
        [
            "Warning docs/a.md:5: links to `#first-step`: there is no such heading; did you mean `first-steps`?",
            "Warning docs/a.md:6: links to `b.md#zzz`: there is no such heading",
            "Warning docs/a.md:7: links to `acdc://docs/b#qqq`: there is no such heading",
        ]
    );
}

#[test]
fn a_name_that_is_there_twice_is_found() {
    assert_eq!(
        review(&[("a.md", "# Setup\n"), ("b.md", "# setup\n"), ("c.md", "# Use\n")]),
        ["Warning docs/b.md: is called `setup`, as `docs/a.md` is; give each its own name"]
    );
}

#[test]
fn unseen_characters_are_found_with_their_line_in_the_file() {
    let text = "---\nname: A\ndescription: d\n---\n# A\n\nad\u{202E}nim\n";
    assert_eq!(
        review(&[("mcp-resources/a.md", text)]),
        [
            "Warning docs/mcp-resources/a.md:7: has U+202E (changes the order in which text is shown): remove it"
        ]
    );
}

#[test]
fn a_file_too_long_for_an_agent_is_found() {
    let long = "word ".repeat(60_000);
    assert_eq!(
        review(&[("a.md", &long), ("b.md", &long[..200_000])]),
        ["Warning docs/a.md: is 293 KiB long; split it: agents can use 256 KiB at most"]
    );
}

#[test]
fn links_between_the_folders_of_one_source_are_followed() {
    let folder = &[
        ("resources/adr/001-use-rust.md", "# Use Rust\n\n[p](../patterns/retry.md#when)\n"),
        ("resources/patterns/retry.md", "# Retry\n\n## When\n\n[a](../adr/002.md)\n"),
    ];
    assert_eq!(
        review(folder),
        [
            "Error docs/resources/patterns/retry.md:5: links to `../adr/002.md`, which does not exist"
        ]
    );
}
