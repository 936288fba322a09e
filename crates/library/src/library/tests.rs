#![expect(clippy::disallowed_methods, reason = "tests write the files that are loaded")]

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rutter_base::failure::Report;

use super::*;
use crate::source::{Layout, SourceName};

fn source(path: &Path) -> Source {
    let root = Root::open(path).unwrap();
    let layout = Source::detect(&root);
    Source { name: SourceName::new("docs").unwrap(), description: String::new(), root, layout }
}

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn page(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: About {name}.\nkeywords: [k]\n---\n# {name}\n\nBody of {name}.\n"
    )
}

fn uris(catalog: &Catalog) -> Vec<String> {
    catalog.documents().map(|entry| entry.uri.to_string()).collect()
}

fn found(library: &Library, query: &str) -> Vec<String> {
    let answer = library.search(query, None, 50, Boosts::default()).unwrap();
    answer.hits.into_iter().map(|hit| hit.uri).collect()
}

#[test]
fn one_bad_file_never_hides_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "mcp-resources/good.md", page("Good"));
    write(at, "mcp-resources/sub/deep.md", page("Deep"));
    write(at, "mcp-resources/no-frontmatter.md", "# Hello\n");
    write(at, "mcp-resources/no-description.md", "---\nname: x\n---\n");
    write(at, "mcp-resources/broken.md", "---\nname: [\n---\n");
    write(at, "mcp-resources/latin.md", b"---\nname: caf\xe9\n---\n");
    write(at, "mcp-resources/bomb.md", format!("---\nname: {}\n---\n", "[".repeat(100_000)));
    write(at, "mcp-prompts/adr.md", "---\nname: adr\n---\nHello\n");
    write(at, "mcp-prompts/twice.md", "---\nname: adr\n---\nHello\n");
    let library = Library::new(vec![source(at)]);
    let catalog = library.catalog();
    assert_eq!(uris(&catalog), ["acdc://docs/good", "acdc://docs/sub/deep"]);
    assert_eq!(catalog.prompts().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["docs:adr"]);
    let files: Vec<_> = catalog.problems().iter().map(|p| p.file.as_str()).collect();
    assert_eq!(
        files,
        [
            "docs/mcp-prompts/twice.md",
            "docs/mcp-resources/bomb.md",
            "docs/mcp-resources/broken.md",
            "docs/mcp-resources/latin.md",
            "docs/mcp-resources/no-description.md",
            "docs/mcp-resources/no-frontmatter.md",
        ]
    );
    assert_eq!(catalog.skipped(), 6);
}

#[test]
fn a_plain_folder_needs_no_frontmatter() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.md", "# Alpha\n\nFirst sentence. Second.\n");
    write(folder.path(), "b.md", "just words");
    write(folder.path(), "c.md", "---\n\n# Rule above\n");
    let library = Library::new(vec![source(folder.path())]);
    assert_eq!(library.sources()[0].layout, Layout::Plain);
    let catalog = library.catalog();
    let shown: Vec<_> =
        catalog.documents().map(|e| (e.name.as_str(), e.description.as_str())).collect();
    assert_eq!(shown, [("Alpha", "First sentence."), ("b", "just words"), ("Rule above", "")]);
}

#[test]
fn the_architecture_layout_has_its_own_uris() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "resources/adr/001-use-rust.md", "# Use Rust\n\nAccepted.\n");
    write(folder.path(), "resources/patterns/retry.md", "# Retry\n");
    let catalog = Library::new(vec![source(folder.path())]).catalog();
    assert_eq!(
        uris(&catalog),
        ["architecture://adr/001-use-rust", "architecture://patterns/retry"]
    );
}

#[test]
fn reading_shows_the_file_as_it_is_now() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "mcp-resources/a.md", page("A"));
    let catalog = Library::new(vec![source(folder.path())]).catalog();
    assert_eq!(catalog.read("acdc://docs/a").unwrap().text, "# A\n\nBody of A.\n");
    assert_eq!(catalog.read("acdc://docs/a.md#a").unwrap().uri, "acdc://docs/a");
    write(folder.path(), "mcp-resources/a.md", "---\nname: A\ndescription: b\n---\nNew.\n");
    assert_eq!(catalog.read("acdc://docs/a").unwrap().text, "New.\n");
    fs::remove_file(folder.path().join("mcp-resources/a.md")).unwrap();
    let gone = Report::from(catalog.read("acdc://docs/a").unwrap_err());
    assert_eq!(
        gone.to_string(),
        "document `acdc://docs/a` cannot be read any more; list the resources to see what there is"
    );
    let unknown = Report::from(catalog.read("acdc://docs/aa").unwrap_err());
    assert_eq!(
        unknown.to_string(),
        "there is no document `acdc://docs/aa`; did you mean `acdc://docs/a`?"
    );
}

#[test]
fn a_reload_says_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "mcp-resources/a.md", page("A"));
    write(at, "mcp-resources/b.md", page("B"));
    write(at, "mcp-prompts/p.md", "---\nname: p\n---\none\n");
    let library = Library::new(vec![source(at)]);
    assert_eq!(library.reload(), Difference::default(), "nothing was asked for yet");
    library.catalog();
    assert_eq!(library.reload(), Difference::default());
    write(at, "mcp-resources/b.md", page("Better"));
    write(at, "mcp-resources/c.md", page("C"));
    fs::remove_file(at.join("mcp-resources/a.md")).unwrap();
    let difference = library.reload();
    assert_eq!(difference.updated, ["acdc://docs/a", "acdc://docs/b", "acdc://docs/c"]);
    assert!(difference.documents && !difference.prompts);
    write(at, "mcp-prompts/p.md", "---\nname: p\n---\ntwo\n");
    assert!(library.reload().prompts);
}

#[test]
fn a_folder_that_was_replaced_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("docs");
    write(&at, "mcp-resources/a.md", page("A"));
    let library = Arc::new(Library::new(vec![source(&at)]));
    library.catalog();
    let (sender, changes) = mpsc::channel();
    let _watches =
        library.watch(Mode::Auto, move |change| sender.send(change).unwrap_or(())).unwrap();
    fs::rename(&at, folder.path().join("old")).unwrap();
    write(&at, "mcp-resources/new.md", page("New"));
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while uris(&library.catalog()) != ["acdc://docs/new"] {
        assert!(std::time::Instant::now() < deadline, "{:?}", uris(&library.catalog()));
        let _ = changes.recv_timeout(Duration::from_secs(1));
    }
}

#[test]
fn a_single_file_is_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "README.md", "# Ours\n\nWhat it is.\n");
    write(at, "CHANGELOG.md", "# Changes\n");
    let library = Library::new(vec![Source { layout: Layout::File("README.md"), ..source(at) }]);
    let shown = || -> Vec<String> {
        library.catalog().documents().map(|e| format!("{} {}", e.uri, e.description)).collect()
    };
    assert_eq!(shown(), ["acdc://docs/README What it is."]);
    fs::remove_file(at.join("README.md")).unwrap();
    library.reload();
    assert_eq!(shown(), [""; 0]);
}

#[test]
fn edits_renames_and_deletions_in_quick_succession_converge() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for number in 0..20 {
        write(at, &format!("mcp-resources/page-{number}.md"), page("Before"));
    }
    let library = Arc::new(Library::new(vec![source(at)]));
    assert_eq!(found(&library, "before").len(), 20);
    let (sender, changes) = mpsc::channel();
    let _watches =
        library.watch(Mode::Auto, move |change| sender.send(change).unwrap_or(())).unwrap();
    for edit in 0..1_000 {
        let number = edit % 20;
        let file = at.join(format!("mcp-resources/page-{number}.md"));
        match edit % 7 {
            0 => drop(fs::rename(&file, at.join(format!("mcp-resources/moved-{number}.md")))),
            1 => drop(fs::remove_file(&file)),
            _ => fs::write(&file, page(&format!("Edit {edit}"))).unwrap(),
        }
    }
    for number in 0..20 {
        let _ = fs::remove_file(at.join(format!("mcp-resources/moved-{number}.md")));
        write(at, &format!("mcp-resources/page-{number}.md"), page("After"));
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while found(&library, "after").len() != 20 || !found(&library, "before").is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", uris(&library.catalog()));
        let _ = changes.recv_timeout(Duration::from_millis(200));
    }
    assert_eq!(library.catalog().documents().count(), 20);
}

mod keeping {
    //! What was indexed of many documents is kept for the next start.

    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Enough documents to be kept: five megabytes.
    fn corpus(at: &Path) {
        let filler = "words that fill a page. ".repeat(2_000);
        for number in 0..110 {
            let text = format!("{}\nunique{number}\n\n{filler}", page(&format!("Page {number}")));
            write(at, &format!("mcp-resources/page-{number}.md"), text);
        }
    }

    /// A library as a new process would open it, and how many bytes it had to index.
    fn start(at: &Path, cache: &Path) -> (Library, Arc<AtomicU64>) {
        let library = Library::new(vec![source(at)]).keeping_index(cache.to_owned());
        let indexed = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&indexed);
        library.on_indexing(move |indexing| count.store(indexing.total, Ordering::Relaxed));
        library.index_everything().unwrap();
        (library, indexed)
    }

    fn generations(cache: &Path) -> Vec<std::path::PathBuf> {
        let key = fs::read_dir(cache).unwrap().next().unwrap().unwrap().path();
        let entries = fs::read_dir(key).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    }

    #[test]
    fn a_second_start_does_not_index_again() {
        let (docs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        corpus(docs.path());
        let (first, indexed) = start(docs.path(), cache.path());
        assert!(indexed.load(Ordering::Relaxed) > 5_000_000);
        assert_eq!(found(&first, "unique7"), ["acdc://docs/page-7"]);
        let (second, indexed) = start(docs.path(), cache.path());
        assert_eq!(indexed.load(Ordering::Relaxed), 0);
        assert_eq!(found(&second, "unique7"), ["acdc://docs/page-7"]);
        assert_eq!(uris(&second.catalog()), uris(&first.catalog()));
        write(docs.path(), "mcp-resources/page-7.md", page("Changed"));
        fs::remove_file(docs.path().join("mcp-resources/page-8.md")).unwrap();
        let (third, indexed) = start(docs.path(), cache.path());
        assert_eq!(indexed.load(Ordering::Relaxed), 0, "little is indexed without a word");
        assert_eq!(found(&third, "unique7"), [""; 0]);
        assert_eq!(found(&third, "changed"), ["acdc://docs/page-7"]);
        assert_eq!(found(&third, "unique8"), [""; 0]);
        assert_eq!(found(&third, "unique9"), ["acdc://docs/page-9"]);
    }

    #[test]
    fn a_state_that_was_replaced_serves_those_who_have_it_open() {
        let (docs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        corpus(docs.path());
        drop(start(docs.path(), cache.path()));
        let before = generations(cache.path());
        let (early, _) = start(docs.path(), cache.path());
        for number in 0..110 {
            let path = docs.path().join(format!("mcp-resources/page-{number}.md"));
            let text = fs::read_to_string(&path).unwrap() + "\nagain\n";
            fs::write(path, text).unwrap();
        }
        let (late, _) = start(docs.path(), cache.path());
        let after = generations(cache.path());
        assert!(before.len() == 1 && after.len() == 1 && before != after, "{before:?} {after:?}");
        assert_eq!(found(&late, "unique7"), ["acdc://docs/page-7"]);
        assert_eq!(found(&early, "unique7"), ["acdc://docs/page-7"]);
        early.reload();
        early.index_everything().unwrap();
        assert_eq!(found(&early, "unique9 again").first().unwrap(), "acdc://docs/page-9");
    }

    #[test]
    fn a_damaged_state_is_made_again() {
        let (docs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        corpus(docs.path());
        drop(start(docs.path(), cache.path()));
        for damaged in ["documents.json", "meta.json"] {
            let generation = generations(cache.path()).pop().unwrap();
            fs::write(generation.join(damaged), "{").unwrap();
            let (library, indexed) = start(docs.path(), cache.path());
            assert!(indexed.load(Ordering::Relaxed) > 0, "{damaged}");
            assert_eq!(found(&library, "unique7"), ["acdc://docs/page-7"], "{damaged}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_done_without() {
        let (docs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        corpus(docs.path());
        write(cache.path(), "file", "not a folder");
        let (library, _) = start(docs.path(), &cache.path().join("file"));
        assert_eq!(found(&library, "unique7"), ["acdc://docs/page-7"]);
    }

    #[test]
    fn few_documents_leave_nothing_behind() {
        let (docs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(docs.path(), "mcp-resources/a.md", page("A"));
        drop(start(docs.path(), cache.path()));
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }
}
