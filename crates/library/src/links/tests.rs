use proptest::prelude::*;

use super::*;

/// Rewrites with a resolver that knows every `.md` file.
fn rewritten(text: &str) -> String {
    rewrite(text.to_owned(), |target| {
        let link = Relative::parse(target).filter(Relative::is_markdown)?;
        let path = link.path.trim_start_matches("../").trim_end_matches(".md").to_owned();
        let uri = Uri::new(Scheme::Acdc, "docs", RelativePath::new(path).ok()?);
        Some(Uri { anchor: link.anchor, ..uri })
    })
}

#[test]
fn links_to_documents_become_uris() {
    for (written, read) in [
        ("[a](a.md)", "[a](acdc://docs/a)"),
        ("[a](../g/a.md#b)", "[a](acdc://docs/g/a#b)"),
        ("[a](a.md \"title (x)\")", "[a](acdc://docs/a \"title (x)\")"),
        ("[a]( <a b.md> )", "[a]( <acdc://docs/a%20b> )"),
        ("[a](a%20b.md)", "[a](acdc://docs/a%20b)"),
        ("[a](a\\_b.md)", "[a](acdc://docs/a_b)"),
        ("[a](a_(x).md)", "[a](acdc://docs/a_%28x%29)"),
        (
            "[*a* `](x.md)` \\] b](a.md), [](b.md)",
            "[*a* `](x.md)` \\] b](acdc://docs/a), [](acdc://docs/b)",
        ),
        ("[![i](i.md)](a.md)", "[![i](i.md)](acdc://docs/a)"),
        (
            "# H [a](a.md)\n\n- [b](b.md)\n\n> [c](c.md)\n",
            "# H [a](acdc://docs/a)\n\n- [b](acdc://docs/b)\n\n> [c](acdc://docs/c)\n",
        ),
        ("| a |\n|---|\n| [a](a.md) |\n", "| a |\n|---|\n| [a](acdc://docs/a) |\n"),
        (
            "[a][r] and [r]\n\n[r]: ../a.md#b 'title'\n",
            "[a][r] and [r]\n\n[r]: acdc://docs/a#b 'title'\n",
        ),
        ("[x\\]y]\n\n[x\\]y]: <a.md>\n", "[x\\]y]\n\n[x\\]y]: <acdc://docs/a>\n"),
        ("ä[ö](ü.md)ß", "ä[ö](acdc://docs/%C3%BC)ß"),
        ("a[^1]\n\n[^1]: see [a](a.md)\n", "a[^1]\n\n[^1]: see [a](acdc://docs/a)\n"),
    ] {
        assert_eq!(rewritten(written), read, "{written}");
    }
}

#[test]
fn everything_else_stays_as_it_was_written() {
    for text in [
        "`[a](a.md)`",
        "```md\n[a](a.md)\n[r]: a.md\n```\n",
        "    [a](a.md)\n",
        "<!-- [a](a.md) -->\n",
        "![a](a.md)",
        "![a [b](b.md)](i.png)",
        "[a](#b)",
        "[a](https://example.org/a.md)",
        "[a](mailto:a.md)",
        "[a](//host/a.md)",
        "[a](/a.md)",
        "[a](C:\\a.md)",
        "[a](a.md?plain=1)",
        "[a](a.png) [b](%zz.md) [c](%ff.md)",
        "\\[a](a.md)",
        "[a] (a.md)",
        "<https://example.org/a.md>",
    ] {
        assert_eq!(rewritten(text), text);
    }
}

#[test]
fn a_link_leads_from_the_folder_of_its_file() {
    let root = Root::open(Path::new(".")).unwrap();
    let place = Place::new(root, "docs/".into(), Scheme::Acdc, "docs".into());
    let from = RelativePath::new("guides/start.md").unwrap();
    let lead = |target: &str| {
        let location = place.follow(&from, &Relative::parse(target)?)?;
        place.uri_of(&location).map(|uri| uri.to_string())
    };
    assert_eq!(lead("a.md").as_deref(), Some("acdc://docs/guides/a"));
    assert_eq!(lead("./../b/./a.MD#x").as_deref(), Some("acdc://docs/b/a"));
    assert_eq!(lead("a").as_deref(), Some("acdc://docs/guides/a"));
    for elsewhere in ["../../a.md", "a/", "..", ".", "../../../../../../../../../../a.md"] {
        assert_eq!(lead(elsewhere), None, "{elsewhere}");
    }
}

proptest! {
    #[test]
    fn nothing_but_targets_is_touched(text in "([\\[\\]()<>!`#:\\\\\n >a-c]|\\.md|\\]\\(|\\]: ){0,60}") {
        let changed = rewritten(&text);
        prop_assert_eq!(rewritten(&changed), changed.clone(), "a second time changes nothing");
        if !changed.contains("acdc://") {
            prop_assert_eq!(changed, text);
        }
    }
}
