use super::links::{Target, target};
use super::*;

fn html(text: &str) -> String {
    render(text, "").html.to_string()
}

/// The elements that a rendered document may have. Everything in `<…>` must be one of them.
const ELEMENTS: [&str; 28] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
/// And the attributes.
const ATTRIBUTES: [&str; 9] =
    ["aria-label", "class", "href", "id", "rel", "role", "scope", "start", "tabindex"];

/// Reads HTML as strictly as it was written: every `<` begins a tag that is on the lists.
fn check(html: &str, source: &str) {
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(!text.contains('>') || !text.is_empty(), "{source:?}: {html}");
        let mut name = String::new();
        let mut chars = tag.char_indices().peekable();
        chars.next_if(|(_, c)| *c == '/');
        while let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_alphanumeric()) {
            name.push(c);
        }
        assert!(ELEMENTS.contains(&name.as_str()), "{source:?}: <{name}> in {html}");
        let mut end = None;
        while let Some((at, c)) = chars.next() {
            match c {
                '>' => {
                    end = Some(at + 1);
                    break;
                }
                ' ' | '/' => {}
                _ => {
                    let mut attribute = c.to_string();
                    while let Some((_, c)) =
                        chars.next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '-')
                    {
                        attribute.push(c);
                    }
                    assert!(
                        ATTRIBUTES.contains(&attribute.as_str()),
                        "{source:?}: {attribute} in {html}"
                    );
                    assert_eq!(chars.next().map(|(_, c)| c), Some('='), "{source:?}: {html}");
                    assert_eq!(chars.next().map(|(_, c)| c), Some('"'), "{source:?}: {html}");
                    let value: String =
                        chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '"').collect();
                    if attribute == "href" {
                        let harmless = ["http://", "https://", "mailto:", "/", "#"]
                            .iter()
                            .any(|start| value.to_ascii_lowercase().starts_with(start))
                            || !value.split(['/', '?', '#']).next().unwrap().contains(':');
                        assert!(harmless && !value.starts_with("//"), "{source:?}: {value}");
                    }
                }
            }
        }
        rest = &tag[end.unwrap_or_else(|| panic!("{source:?}: a tag without end in {html}"))..];
    }
}

/// What has been tried against renderers of Markdown.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "text <script>alert(1)</script> text",
    "<img src=x onerror=alert(1)>",
    "a <img src=x onerror=alert(1)> b",
    "<svg/onload=alert(1)>",
    "<iframe src=\"javascript:alert(1)\"></iframe>",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content=0;url=https://evil.example>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example><button>x</button></form>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<!-- --><script>alert(1)</script><!-- -->",
    "<!--><script>alert(1)</script>-->",
    "<!-- a --!><script>alert(1)</script>",
    "<div\n\n<script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo 1 ?><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](java&NewLine;script:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](&#1;javascript:alert(1))",
    "[x](&#x20;javascript:alert(1))",
    "[x](<\u{a0}javascript:alert(1)>)",
    "[x](javascript\\:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://evil.example/1)",
    "[x](//evil.example)",
    "[x](/\\\\evil.example)",
    "[x](\\\\\\\\evil.example)",
    "[x](https:evil.example)",
    "[x](http://a\"onmouseover=alert(1)//)",
    "[x](https://a 'onmouseover=alert(1)')",
    "[x](https://a.example \"\\\" onmouseover=alert(1) x=\\\"\")",
    "[x][r]\n\n[r]: javascript:alert(1)",
    "[r]\n\n[r]: <java&Tab;script:alert(1)>",
    "<javascript:alert(1)>",
    "<https://a.example/\"onmouseover=\"alert(1)>",
    "<a@b.example>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
    "![x\" onerror=\"alert(1)](https://a.example/x.png)",
    "![<script>alert(1)</script>](https://a.example/x.png)",
    "[![x](https://a.example/x.png)](https://b.example)",
    "![[x](javascript:alert(1))](https://a.example)",
    "```\"><script>alert(1)</script>\ncode\n```",
    "```\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "    </code></pre><script>alert(1)</script>",
    "# <script>alert(1)</script>",
    "# \" onclick=\"alert(1)",
    "# x {#\" onclick=alert(1)}",
    "| <script>alert(1)</script> |\n|:-:|\n| <img src=x onerror=alert(1)> |",
    "[^\"><script>alert(1)</script>]\n\n[^\"><script>alert(1)</script>]: x",
    "x[^1]\n\n[^1]: <script>alert(1)</script>",
    "- [x] <script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u{0}<scr\u{0}ipt>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "***[x](javascript:alert(1))***",
    "> [x](acdc://docs/\"onclick=alert(1))",
    "[x](acdc://docs/a#\"onclick=alert(1))",
];

#[test]
fn nothing_that_an_author_writes_becomes_markup() {
    for source in HOSTILE {
        let html = html(source);
        check(&html, source);
        for forbidden in ["<script", "<img", "<svg", "<iframe", "<style", "<form", "<base"] {
            assert!(!html.to_ascii_lowercase().contains(forbidden), "{source:?}: {html}");
        }
    }
}

#[test]
fn what_is_hostile_stays_hostile_in_no_combination() {
    for one in HOSTILE {
        for other in HOSTILE {
            for between in ["", "\n", "\n\n", " "] {
                let source = format!("{one}{between}{other}");
                check(&html(&source), &source);
            }
        }
    }
}

#[test]
fn a_check_that_finds_nothing_would_be_worth_nothing() {
    for html in [
        "<script>",
        "<img src=\"x\">",
        "<p onclick=\"x\">",
        "<a href=\"javascript:x\">",
        "<a href=\"//x\">",
        "<p id=x>",
        "<p id=\"x",
    ] {
        assert!(std::panic::catch_unwind(|| check(html, "")).is_err(), "{html}");
    }
}

#[test]
fn only_addresses_of_known_kinds_are_followed() {
    let here = |address: &str| Some(Target::Here(address.into()));
    let elsewhere = |address: &str| Some(Target::Elsewhere(address.into()));
    for (address, expected) in [
        ("https://a.example/b?c#d", elsewhere("https://a.example/b?c#d")),
        ("HTTP://a.example", elsewhere("HTTP://a.example")),
        ("mailto:a@b.example", elsewhere("mailto:a@b.example")),
        ("#part", here("#part")),
        ("other.md", here("other.md")),
        ("../a b.md", here("../a%20b.md")),
        ("/search?q=a:b", here("/search?q=a:b")),
        ("a/b:c", here("a/b:c")),
        ("acdc://docs/guides/start.md", here("/documents/docs/guides/start")),
        ("acdc://docs/a#b", here("/documents/docs/a#b")),
        ("architecture://adr/7", here("/documents/architecture:adr/7")),
        ("acdc://docs/../x", None),
        ("ralph://progress", None),
        ("", None),
        ("//evil.example", None),
        ("/\\evil.example", None),
        ("a:b", None),
        ("java\tscript:x", None),
        (" https://a.example", None),
        ("\u{1}javascript:x", None),
        ("http:a", None),
    ] {
        assert_eq!(target(address), expected, "{address:?}");
    }
}

#[test]
fn markdown_is_what_people_expect() {
    insta::assert_snapshot!(html(
        "## Usage\n\nSome *words*, **more**, ~~fewer~~, `code` and [a link](acdc://docs/a#b).\n\n\
         - [x] done\n- [ ] to do\n\n| a | b |\n|---|--:|\n| 1<br>2 | 3 |\n\n\
         ```rust\nlet a = 1 < 2;\n```\n\n## Usage\n\n> quoted[^1]\n\n[^1]: A note.\n\n\
         ![A picture](https://a.example/p.png) and ![beside](p.png)\n\n\
         [![badge](https://a.example/b.svg)](https://a.example)\n\n<!-- nothing -->\n\n<details>\n<summary>More</summary>\n</details>\n"
    ), @r##"
    <h2 id="usage">Usage</h2>
    <p>Some <em>words</em>, <strong>more</strong>, <del>fewer</del>, <code>code</code> and <a class="link" href="/documents/docs/a#b">a link</a>.</p>
    <ul>
    <li><span class="task" role="img" aria-label="done">☑</span> done</li>
    <li><span class="task" role="img" aria-label="to do">☐</span> to do</li>
    </ul>
    <div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">a</th><th scope="col" class="right">b</th></tr></thead><tbody>
    <tr><td>1<br />
    2</td><td class="right">3</td></tr>
    </tbody></table></div>
    <pre tabindex="0"><code>let a = 1 &lt; 2;
    </code></pre>
    <h2 id="usage-1">Usage</h2>
    <blockquote>
    <p>quoted<sup class="footnote-reference"><a id="fnref:1" href="#fn:1">1</a></sup></p>
    </blockquote>
    <div class="footnote" id="fn:1"><span class="footnote-number">1</span>
    <p>A note.</p>
    </div>
    <p><a class="image" href="https://a.example/p.png" rel="external noreferrer">A picture</a> and <span class="image">beside</span></p>
    <p><a class="link" href="https://a.example" rel="external noreferrer"><span class="image">badge</span></a></p>
    <p class="raw">&#60;details&#62;
    &#60;summary&#62;More&#60;/summary&#62;
    &#60;/details&#62;</p>
    "##);
}

#[test]
fn the_heading_that_repeats_the_name_is_the_pages_own() {
    let rendered = render("# The Guide\n\n## One\n\n### Two\n", "the guide");
    assert_eq!(rendered.title.as_deref(), Some("the-guide"));
    assert_eq!(rendered.html.to_string(), "<h2 id=\"one\">One</h2>\n<h3 id=\"two\">Two</h3>\n");
    let rendered = render("# Other\n\n## One\n\n# More\n\n###### Deep\n", "The Guide");
    assert_eq!(rendered.title, None);
    let levels: Vec<_> =
        rendered.headings.iter().map(|heading| (heading.level, heading.anchor.as_str())).collect();
    assert_eq!(levels, [(2, "other"), (3, "one"), (2, "more"), (6, "deep")]);
    let rendered = render("Words.\n\n# The Guide\n", "The Guide");
    assert_eq!(rendered.title, None);
}

#[test]
fn a_text_within_a_page_leaves_the_pages_own_headings_alone() {
    let html = render_within("# Tools\n\n## Connect\n").to_string();
    assert_eq!(html, "<h3>Tools</h3>\n<h4>Connect</h4>\n");
    for source in HOSTILE {
        check(&render_within(source).to_string(), source);
    }
}

#[test]
fn anchors_are_those_that_a_search_names() {
    let text = "# A `b` *c*\n\n## Über uns!\n\nTwo\nlines\n===\n\n## Über uns!\n";
    let anchors: Vec<_> = render(text, "").headings.into_iter().map(|h| h.anchor).collect();
    let known: Vec<_> =
        rutter_base::document::sections("# A `b` *c*\n\n## Über uns!\n\n## Über uns!\n")
            .into_iter()
            .map(|section| section.anchor)
            .collect();
    assert_eq!(anchors, ["a-b-c", "über-uns", "two-lines", "über-uns-1"]);
    assert!(known.iter().all(|anchor| anchors.contains(anchor)), "{known:?}");
}

#[test]
fn a_large_document_takes_no_longer_than_its_size() {
    let begun = std::time::Instant::now();
    for piece in ["> ", "[", "![", "*a ", "<!--", "<a ", "`", "- ", "|a", "[a](", "[^1]", "# a\n"] {
        let text = piece.repeat(200_000 / piece.len());
        let rendered = render(&text, "");
        assert!(rendered.html.to_string().len() < 60 * text.len(), "{piece:?}");
    }
    // Each takes milliseconds; what grows with the square would take minutes.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_written_with_known_elements_only(
            text in "([<>\"'&=\\[\\]()!#*_`~|:\\-+ \\n\\t\\\\/]|script|javascript:|onclick|x|acdc://){0,60}",
        ) {
            check(&html(&text), &text);
        }
    }
}
