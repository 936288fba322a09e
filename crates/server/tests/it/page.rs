//! The pages for people, as a browser gets them.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::{Extension, Router};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use rutter_board::{Actor, NewDiscipline, NewFeature, NewTask, Status};
use rutter_server::caller::Caller;
use rutter_server::cost::Cost;
use rutter_server::module::ModuleId;
use rutter_server::page::{self, Credential, Settings};
use rutter_server::profiles::Profile;
use rutter_server::scope::{Rule, Scope};

use crate::server::{Folder, page as document};

/// The pages of a server, as one caller sees them.
struct Site {
    router: Router,
    app: std::sync::Arc<rutter_server::app::App>,
    folder: Folder,
}

struct Page {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Site {
    fn of(folder: Folder) -> Self {
        Self::seen_by(folder, Caller::anyone(), Settings::default())
    }

    fn seen_by(folder: Folder, caller: Caller, settings: Settings) -> Self {
        let app = folder.setup().unwrap().app;
        let router = page::router(app.clone(), settings).layer(Extension(caller));
        Self { router, app, folder }
    }

    async fn get(&self, path: &str) -> Page {
        self.ask(Request::get(path).header("host", "pilot.example:8080")).await
    }

    async fn ask(&self, request: axum::http::request::Builder) -> Page {
        let service = TowerToHyperService::new(self.router.clone());
        let response = service.call(request.body(Body::empty()).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Page { status: head.status, headers: head.headers, body }
    }

    /// A page that is there.
    async fn body(&self, path: &str) -> String {
        let page = self.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
        page.body
    }
}

impl Page {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The part of a page from one text to another.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("no {from} in {page}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} after {from} in {page}")).0
}

fn handbook() -> Folder {
    let folder = Folder::with(&[(
        "mcp-metadata.yaml",
        "server: {name: Handbook, version: 3.1.0, instructions: 'Read *first*.'}\n\
         content:\n  - {name: kb, path: kb, description: All that we know}\n  - {name: arch, path: arch}\n",
    )]);
    folder.write(
        "kb/mcp-resources/guides/configure.md",
        "---\nname: Configuration\ndescription: How to set it up.\n---\n# Configuration\n\nPut it into a file.\n\n\
         ## Reloading\n\nThe server notices changes. See [deploying](../deploy.md#later).\n\n\
         ## Signals\n\nSome.\n\n## Limits\n\nFew.\n\n### Deep\n\nWater.\n",
    );
    folder.write("kb/mcp-resources/deploy.md", document("Deploying"));
    folder.write("arch/resources/adr/001-rust.md", "# Rust\n\nWe use a compass.\n");
    folder
}

#[tokio::test]
async fn the_first_page_says_what_is_served() {
    let site = Site::of(handbook());
    let page = site.body("/").await;
    assert!(page.contains("<h1 id=\"Name\">Handbook</h1>"), "{page}");
    assert!(page.contains("version 3.1.0") && page.contains("<p>Read <em>first</em>.</p>"));
    let sources = between(&page, "<section id=\"sources\"", "</section>");
    assert!(sources.contains("<a href=\"/sources/kb\">kb</a>"), "{sources}");
    assert!(sources.contains("All that we know") && sources.contains("2 documents"), "{sources}");
    assert!(sources.contains("1 document<"), "{sources}");

    let tools = between(&page, "<section id=\"tools\"", "</section>");
    let scope = site.app.scope();
    let definitions = site.app.tools(scope);
    let costs =
        definitions.iter().map(|tool| Cost::of_definition(&tool.narrowed(&site.app, scope)));
    let total = costs.sum::<Cost>();
    assert!(
        definitions.iter().all(|tool| tools.contains(&format!("<code>{}</code>", tool.name())))
    );
    let bytes = format!("{},{:03} bytes, about", total.bytes / 1_000, total.bytes % 1_000);
    assert!(tools.contains(&bytes), "{bytes}: {tools}");
    assert!(tools.contains("Full-text search over all documents"), "{tools}");

    let workflow = between(&page, "<section id=\"workflow\"", "</section>");
    assert!(workflow.contains("<strong>0</strong> done") && workflow.contains("<h3>Next</h3>"));
    assert!(page.contains("<form role=\"search\" action=\"/search\""), "{page}");
    assert!(!page.contains("id=\"board\""), "there is no board: {page}");
}

#[tokio::test]
async fn each_client_finds_the_command_for_this_server() {
    let site = Site::of(handbook());
    let page = site.body("/").await;
    let connect = between(&page, "<section id=\"connect\"", "</section>");
    for client in ["Claude Code", "Codex", "Gemini CLI", "Cursor", "VS Code"] {
        assert!(connect.contains(&format!("<h3>{client}</h3>")), "{client}: {connect}");
    }
    let command = "claude mcp add --transport http handbook http://pilot.example:8080/mcp<";
    assert!(connect.contains(command), "{connect}");
    assert!(!connect.contains("--header"), "{connect}");

    let settings = Settings { tls: true, credential: Credential::ApiKey };
    let site = Site::seen_by(handbook(), Caller::anyone(), settings);
    let page = site.body("/").await;
    let connect = between(&page, "<section id=\"connect\"", "</section>");
    assert!(connect.contains("https://pilot.example:8080/mcp"), "{connect}");
    assert!(connect.contains("--header &#34;X-API-Key: $RUTTER_KEY&#34;"), "{connect}");

    let request = Request::get("/").header("host", "'><script>").header("x-forwarded-proto", "x");
    let page = site.ask(request).await.body;
    assert!(page.contains("https://localhost/mcp") && !page.contains("<script"), "{page}");
}

#[tokio::test]
async fn a_search_leads_to_the_section_of_a_document() {
    let site = Site::of(handbook());
    let page = site.body("/search?q=server+notices").await;
    let results = between(&page, "<ol class=\"results\">", "</ol>");
    let link = "<h3><a href=\"/documents/kb/guides/configure#reloading\">Configuration</a></h3>";
    assert!(results.contains(link), "{results}");
    assert!(results.contains("<mark>server</mark> <mark>notices</mark>"), "{results}");
    assert!(page.contains("value=\"server notices\""), "{page}");

    let document = site.body("/documents/kb/guides/configure").await;
    let article = between(&document, "<article class=\"document\">", "</article>");
    assert!(article.contains("<h1 id=\"configuration\">Configuration</h1>"), "{article}");
    assert!(article.contains("<h2 id=\"reloading\">Reloading</h2>"), "{article}");
    assert!(article.contains("<p class=\"lead\">How to set it up.</p>"), "{article}");
    assert!(
        article.contains("<a class=\"link\" href=\"/documents/kb/deploy#later\">deploying</a>")
    );
    assert!(article.contains("acdc://kb/guides/configure") && article.contains("<time datetime="));
    let contents = between(&document, "<nav class=\"contents\"", "</nav>");
    assert!(contents.contains("<li class=\"level-3\"><a href=\"#deep\">Deep</a></li>"));
    assert!(!site.body("/documents/kb/deploy").await.contains("class=\"contents\""));

    let page = site.body("/search?q=compass").await;
    assert!(page.contains("href=\"/documents/architecture:adr/001-rust#rust\""), "{page}");
    let page = site.body("/documents/architecture:adr/1").await;
    assert!(page.contains("<h1 id=\"rust\">Rust</h1>"), "{page}");

    let page = site.body("/search?q=compass&source=kb").await;
    assert!(page.contains("Nothing found for “compass” in kb"), "{page}");
    assert!(page.contains("<a href=\"/search?q=compass\">Search in all sources</a>"), "{page}");
}

#[tokio::test]
async fn a_search_for_nothing_or_too_much_is_answered_kindly() {
    let site = Site::of(handbook());
    for path in ["/search", "/search?q=", "/search?q=%20%09", "/search?x=y"] {
        let page = site.body(path).await;
        assert!(page.contains("Type a few words."), "{path}: {page}");
        assert!(!page.contains("class=\"results\""), "{path}");
    }
    let page = site.body("/search?q=zebra").await;
    assert!(page.contains("Nothing found for “zebra”") && page.contains("/sources/kb"), "{page}");
    // Whatever is asked, the answer is a page.
    for query in ["%ff%fe", "%00", "%1b[2J", "%e2%80%ae", "a&q=b&q=c", "%22%22", "%2a%2b", "%"] {
        site.body(&format!("/search?q={query}")).await;
    }
    let long = site.get(&format!("/search?q={}", "word%20".repeat(200))).await;
    assert_eq!(long.status, StatusCode::BAD_REQUEST);
    assert!(long.body.contains("at most 500"), "{}", long.body);
    assert!(!long.body.contains("word word"), "{}", long.body);
    let unknown = site.get("/search?q=a&source=%3Cscript%3E").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert!(unknown.body.contains("There is no source “&#60;script&#62;”"), "{}", unknown.body);
}

#[tokio::test]
async fn embedded_documents_have_pages_too() {
    let site = Site::of(Folder::empty());
    let page = site.body("/documents/rutter/guides/connect-a-client").await;
    assert!(page.contains("<h1 id=\"connect-a-client\">Connect a client</h1>"), "{page}");
    // Never modified, so nothing is said about it.
    assert!(page.contains("<pre tabindex=\"0\"><code>") && !page.contains("<time"), "{page}");
    assert!(page.contains("href=\"/documents/rutter/guides/configure\""), "{page}");
    let page = site.body("/sources/rutter").await;
    assert!(page.contains("href=\"/documents/rutter/guides/connect-a-client\""), "{page}");
    // Every document of the pack can be opened.
    let app = site.app.clone();
    let catalog = app.library().unwrap().catalog();
    for entry in catalog.documents() {
        site.body(&format!("/documents/{}/{}", entry.uri.source, entry.uri.path)).await;
    }
}

#[tokio::test]
async fn what_a_scope_hides_looks_like_what_is_not_there() {
    let missing = Site::of(handbook()).get("/documents/kb/nothing").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    let without = |modules: &[ModuleId]| {
        let scope = Scope::of(Rule::Modules(modules.iter().copied().collect()));
        Site::seen_by(handbook(), Caller::with_key("ada").within(&scope, None), Settings::default())
    };
    let site = without(&[ModuleId::Process]);
    let hidden = site.get("/documents/kb/deploy").await;
    let absent = site.get("/documents/kb/nothing").await;
    assert_eq!((hidden.status, &hidden.body), (StatusCode::NOT_FOUND, &absent.body));
    assert_eq!(site.get("/sources/kb").await.body, absent.body);
    assert_eq!(site.get("/search?q=server").await.status, StatusCode::NOT_FOUND);
    let page = site.body("/").await;
    for part in ["sources", "prompts", "workflow", "board"] {
        assert!(!page.contains(&format!("id=\"{part}\"")), "{part}: {page}");
    }
    assert!(!page.contains("role=\"search\"") && !page.contains("<code>search</code>"), "{page}");
    assert!(page.contains("<code>get_stage</code>"), "{page}");

    // A profile shows one kind of documents, wherever they are asked for.
    let site = Site::of(handbook().profile(Profile::Acdc));
    assert_eq!(site.get("/documents/architecture:adr/001-rust").await.status, 404);
    assert!(site.body("/search?q=compass").await.contains("Nothing found"));
    assert!(site.body("/search?q=compass+server").await.contains("/documents/kb/guides/configure"));
    assert!(!site.body("/").await.contains("/sources/arch"));
    assert_eq!(site.get("/sources/arch").await.status, 404);
    let hidden = site.get("/search?q=a&source=arch").await;
    let absent = site.get("/search?q=a&source=hcra").await;
    assert_eq!(hidden.body.replace("arch”", "hcra”"), absent.body);

    let nothing = Scope::of(Rule::Tools(BTreeSet::new()));
    let caller = Caller::with_key("ada").within(&nothing, None);
    let page = Site::seen_by(handbook(), caller, Settings::default()).body("/").await;
    assert!(page.contains("There are none for you.") && !page.contains("id=\"workflow\""));
}

#[tokio::test]
async fn hits_that_are_hidden_do_not_crowd_out_those_that_are_not() {
    let folder = handbook();
    for number in 1..60 {
        let text = format!("# Rope {number}\n\nRope, rope, rope: rope of ropes.\n");
        folder.write(&format!("arch/resources/patterns/rope-{number}.md"), text);
    }
    folder.write("kb/mcp-resources/deck.md", document("Deck and a rope among other things on it"));
    let site = Site::of(folder.profile(Profile::Acdc));
    let page = site.body("/search?q=rope").await;
    assert!(page.contains("href=\"/documents/kb/deck"), "{page}");
    assert!(!page.contains("architecture"), "{page}");
}

#[tokio::test]
async fn the_board_is_shown_to_whom_it_is_for() {
    let folder = handbook();
    folder.write(".ralph/.keep", "");
    let site = Site::of(folder);
    let page = site.body("/").await;
    assert!(between(&page, "id=\"board\"", "</section>").contains("There are no tasks yet."));
    assert!(!site.folder.path().join(".ralph/db").exists(), "looking at a page begins no board");

    let board = site.app.board().unwrap();
    let actor = Actor::of("test");
    let feature =
        NewFeature { name: "sails".into(), display_name: "Sails".into(), ..NewFeature::default() };
    board.create_feature(&actor, feature).await.unwrap();
    let discipline = NewDiscipline {
        name: "rigging".into(),
        display_name: "Rigging".into(),
        icon: "anchor".into(),
        color: "#00f".into(),
        ..NewDiscipline::default()
    };
    board.create_discipline(&actor, discipline).await.unwrap();
    for title in ["one", "two", "three"] {
        let new = NewTask {
            feature: "sails".into(),
            discipline: "rigging".into(),
            title: title.into(),
            ..NewTask::default()
        };
        let task = board.create_task(&actor, new).await.unwrap();
        if title == "one" {
            board.set_task_status(&actor, task.id, Status::InProgress).await.unwrap();
            board.set_task_status(&actor, task.id, Status::Done).await.unwrap();
        }
    }
    let page = site.body("/").await;
    let shown = between(&page, "id=\"board\"", "</section>");
    assert!(shown.contains("<strong>2</strong> pending"), "{shown}");
    assert!(shown.contains("<strong>1</strong> done"), "{shown}");
    assert!(shown.contains("sails") && shown.contains("1 of 3"), "{shown}");

    let without = Scope::of(Rule::WithoutTools(["get_project_progress".to_owned()].into()));
    let caller = Caller::with_key("ada").within(&without, None);
    let router = page::router(site.app.clone(), Settings::default()).layer(Extension(caller));
    let site = Site { router, ..site };
    assert!(!site.body("/").await.contains("id=\"board\""));
}

const EVIL: &str = "<script>alert('1')</script>\"><img src=x onerror=alert(2)>";

#[tokio::test]
async fn nothing_that_is_served_becomes_markup() {
    let quoted = serde_json::to_string(EVIL).unwrap();
    let folder = Folder::with(&[(
        "mcp-metadata.yaml",
        &format!(
            "server: {{name: {quoted}, version: {quoted}, instructions: {quoted}}}\n\
             content:\n  - {{name: kb, path: kb, description: {quoted}}}\n  - {{name: other, path: other}}\n\
             tools:\n  - {{name: search, description: {quoted}}}\n"
        ),
    )]);
    folder.write(
        "kb/mcp-resources/evil.md",
        format!(
            "---\nname: {quoted}\ndescription: {quoted}\n---\n# {EVIL}\n\n{EVIL} evil\n\n## {EVIL}\n\n## b\n\n## c\n\n## d\n"
        ),
    );
    folder.write("other/mcp-resources/a.md", document("A"));
    folder.write(
        "kb/mcp-prompts/p.md",
        format!("---\nname: p\ndescription: {quoted}\narguments:\n  - {{name: a, description: {quoted}}}\n---\n{EVIL}\n"),
    );
    folder.write(".ralph/.keep", "");
    folder.write(
        "resources/prompts.meta.yaml",
        format!("[{{id: first, title: {quoted}, phase: {quoted}, description: {quoted}}}]"),
    );
    folder.write("resources/prompts/first.md", EVIL);
    let site = Site::of(folder);
    let query = "%3Cscript%3Ealert('1')%3C%2Fscript%3E%22%3E%3Cimg%20src%3Dx%3E";
    for path in [
        "/".to_owned(),
        "/search?q=evil".to_owned(),
        format!("/search?q={query}"),
        format!("/search?q=evil&source={query}"),
        "/sources/kb".to_owned(),
        "/documents/kb/evil".to_owned(),
        format!("/documents/kb/{query}"),
        format!("/{query}"),
    ] {
        let page = site.get(&path).await.body.to_ascii_lowercase();
        for markup in ["<script", "<img", " style=", "<style"] {
            assert!(!page.contains(markup), "{path}: {markup} in {page}");
        }
        // What is text is text: a quote that ended an attribute would leave this behind.
        assert!(!page.contains("\"><img") && !page.contains("\" onerror"), "{path}: {page}");
    }
    let page = site.body("/").await;
    assert!(page.contains("&#60;script&#62;alert"), "it is shown, as text: {page}");
}

#[tokio::test]
async fn every_answer_keeps_its_reader_safe() {
    let site = Site::of(handbook());
    for path in [
        "/",
        "/search?q=a",
        "/sources/kb",
        "/documents/kb/deploy",
        "/documents/kb/none",
        "/none",
        "/style.css",
    ] {
        let page = site.get(path).await;
        assert_eq!(
            page.header("content-security-policy"),
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("referrer-policy"), "no-referrer", "{path}");
        if path != "/style.css" {
            assert_eq!(page.header("cache-control"), "no-store", "{path}");
            assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
            // The policy would forbid them, so there are none.
            for forbidden in ["<script", " style=", "src=", "http-equiv"] {
                assert!(!page.body.contains(forbidden), "{path}: {forbidden}");
            }
        }
    }
    let refused = site.ask(Request::post("/search")).await;
    assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(refused.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn the_style_sheet_is_kept_until_it_changes() {
    let site = Site::of(Folder::empty());
    let page = site.body("/").await;
    let href = between(&page, "<link rel=\"stylesheet\" href=\"", "\"");
    let sheet = site.get(href).await;
    assert_eq!(sheet.header("content-type"), "text/css; charset=utf-8");
    assert_eq!(sheet.header("cache-control"), "private, max-age=31536000, immutable");
    let tag = sheet.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.len() > 10, "{tag}");
    assert_eq!(site.get("/style.css?other").await.header("cache-control"), "no-cache");
    for (shown, status) in
        [(tag.as_str(), 304), ("\"x\", W/\"y\"", 200), ("*", 304), (&format!("\"x\", {tag}"), 304)]
    {
        let answer = site.ask(Request::get("/style.css").header("if-none-match", shown)).await;
        assert_eq!((answer.status.as_u16(), answer.body.is_empty()), (status, status == 304));
    }
    for fetched in ["url(", "@import", "http:", "https:"] {
        assert!(!sheet.body.contains(fetched), "{fetched}");
    }
}

#[tokio::test]
async fn addresses_that_lead_nowhere_all_get_the_same_page() {
    let folder = handbook();
    folder.write("kb/secret.md", "secret");
    folder.write("secret.md", "secret");
    let site = Site::of(folder);
    let nowhere = site.get("/documents/kb/none").await;
    assert_eq!(nowhere.status, StatusCode::NOT_FOUND);
    assert!(nowhere.body.contains("<h1>Nothing here</h1>") && nowhere.body.contains("href=\"/\""));
    let long = format!("/documents/kb/{}", "a/".repeat(20_000));
    for path in [
        "/documents/kb/../secret",
        "/documents/kb/%2e%2e/secret",
        "/documents/kb/%2e%2e/%2e%2e/secret.md",
        "/documents/kb/..%2fsecret",
        "/documents/kb/%2e%2e%2fsecret",
        "/documents/kb/..%5csecret",
        "/documents/kb/%252e%252e/secret",
        "/documents/kb//etc/passwd",
        "/documents/kb/%2fetc%2fpasswd",
        "/documents/kb/deploy%00",
        "/documents/kb/%00",
        "/documents/kb/%ff%fe",
        "/documents/kb/%c0%ae%c0%ae/secret",
        "/documents/kb/%zz",
        "/documents/kb/%",
        "/documents/kb/",
        "/documents/kb",
        "/documents/",
        "/documents",
        "/documents/%2e/deploy",
        "/documents/a%2fb/c",
        "/documents/file:/etc/passwd",
        "/documents/architecture:/adr/1",
        "/documents/ARCHITECTURE:adr/1",
        "/sources/none",
        "/sources/%2e%2e",
        "/sources/kb?page=99",
        "/sources/kb?page=18446744073709551615",
        "/index.html",
        "/mcp",
        "/.env",
        long.as_str(),
    ] {
        let page = site.get(path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(page.body, nowhere.body, "{path}");
    }
    // Other spellings of an address that the library knows lead to the same document.
    for path in
        ["/documents/kb/deploy.md", "/documents/kb/guides%2Fconfigure", "/documents/k%62/deploy"]
    {
        assert_eq!(site.get(path).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_large_document_is_cut_and_says_so() {
    let folder = handbook();
    folder.write(
        "mcp-metadata.yaml",
        "content:\n  - {name: kb, path: kb}\nlimits: {payload: 2048}\n",
    );
    folder.write(
        "kb/mcp-resources/long.md",
        format!("---\nname: Long\ndescription: d\n---\n{}end\n", "line of text\n".repeat(500)),
    );
    let site = Site::of(folder);
    let page = site.body("/documents/kb/long").await;
    let prose = between(&page, "<div class=\"prose\">", "</div>");
    assert!(prose.len() < 2_200 && !prose.contains("end"), "{}", prose.len());
    assert!(page.contains("bytes of the document follow"), "{page}");
}

#[tokio::test]
async fn a_long_source_has_several_pages() {
    let folder = handbook();
    for number in 0..250 {
        folder.write(&format!("kb/mcp-resources/many/{number:03}.md"), document("Many"));
    }
    let site = Site::of(folder);
    let first = site.body("/sources/kb").await;
    assert!(
        first.contains("href=\"/sources/kb?page=2\" rel=\"next\"") && !first.contains("\"prev\"")
    );
    let second = site.body("/sources/kb?page=2").await;
    assert!(second.contains("href=\"/sources/kb?page=1\" rel=\"prev\""), "{second}");
    assert!(second.contains("many/249") && !second.contains("\"next\""), "{second}");
}

#[tokio::test]
async fn without_a_caller_there_is_no_page() {
    let folder = handbook();
    let app = folder.setup().unwrap().app;
    let router = page::router(app.clone(), Settings::default());
    let site = Site { router, app, folder };
    for path in ["/", "/search?q=a", "/documents/kb/deploy", "/none"] {
        let page = site.get(path).await;
        assert_eq!((page.status.as_u16(), page.body.as_str()), (500, ""), "{path}");
    }
}
