#![expect(
    clippy::disallowed_methods,
    reason = "tests build the hostile folders that Root must survive"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;

static PACK: include_dir::Dir<'static> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/src");

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).unwrap()
}

fn folder() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    (folder, root)
}

#[test]
fn reads_what_is_there() {
    let (folder, root) = folder();
    fs::create_dir(folder.path().join("a")).unwrap();
    fs::write(folder.path().join("a/b.md"), "text").unwrap();
    let contents = root.read(&path("a/b.md"), 10).unwrap();
    assert_eq!(contents.stamp, root.stamp(&path("a/b.md")).unwrap());
    assert_eq!(contents.into_text().unwrap(), "text");
    assert!(matches!(root.read(&path("a/c.md"), 10), Err(ReadError::NotFound)));
    assert!(matches!(root.read(&path("a/b.md/c"), 10), Err(ReadError::NotFound)));
    assert!(matches!(root.read(&path("a"), 10), Err(ReadError::NotAFile)));
}

#[test]
fn a_folder_and_embedded_files_answer_alike() {
    let pack = Root::embedded(&PACK);
    assert!(
        pack.read(&path("lib.rs"), 1 << 20).unwrap().into_text().unwrap().contains("vocabulary")
    );
    assert!(matches!(pack.read(&path("lib.rs"), 3), Err(ReadError::TooLarge { .. })));
    assert!(matches!(pack.read(&path("none.rs"), 3), Err(ReadError::NotFound)));
    let below = pack.folder(&path("root")).unwrap();
    assert!(below.read(&path("path.rs"), 1 << 20).is_ok());
    assert!(matches!(below.read(&path("lib.rs"), 1 << 20), Err(ReadError::NotFound)));
    let files: Vec<_> = below.walk(&["rs"]).files.into_iter().map(|f| f.path.to_string()).collect();
    assert_eq!(files, ["durable.rs", "path.rs", "tests.rs", "walk.rs"]);
    assert!(pack.create(&path("x"), b"").is_err());
}

#[test]
fn links_that_leave_are_refused_and_links_within_work() {
    let (folder, root) = folder();
    fs::write(folder.path().join("inside.md"), "in").unwrap();
    symlink("inside.md", folder.path().join("link.md")).unwrap();
    symlink("/etc/passwd", folder.path().join("absolute.md")).unwrap();
    symlink("../../../../../../etc/passwd", folder.path().join("upwards.md")).unwrap();
    symlink("/etc", folder.path().join("etc")).unwrap();
    symlink(".", folder.path().join("loop")).unwrap();
    symlink("self.md", folder.path().join("self.md")).unwrap();
    assert_eq!(root.read(&path("link.md"), 10).unwrap().bytes, b"in");
    for hostile in ["absolute.md", "upwards.md", "etc/passwd", "self.md"] {
        assert!(root.read(&path(hostile), 1 << 20).is_err(), "{hostile}");
    }
    let walk = root.walk(&["md"]);
    let files: Vec<_> = walk.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(files, ["inside.md", "link.md"]);
    let problems: Vec<_> = walk.problems.iter().map(|p| p.file.as_str()).collect();
    assert_eq!(problems, ["absolute.md", "self.md", "upwards.md"]);
}

#[test]
fn what_is_no_regular_file_neither_blocks_nor_is_read() {
    let (folder, root) = folder();
    assert!(Command::new("mkfifo").arg(folder.path().join("fifo.md")).status().unwrap().success());
    let _listener = UnixListener::bind(folder.path().join("socket.md")).unwrap();
    symlink("/dev/zero", folder.path().join("device.md")).unwrap();
    for hostile in ["fifo.md", "socket.md", "device.md"] {
        assert!(root.read(&path(hostile), 10).is_err(), "{hostile}");
    }
    let walk = root.walk(&["md"]);
    assert!(walk.files.is_empty(), "{walk:?}");
    assert_eq!(walk.problems.len(), 3, "{walk:?}");
}

#[test]
fn a_sparse_giant_is_refused_unread() {
    let (folder, root) = folder();
    fs::File::create(folder.path().join("giant.md")).unwrap().set_len(2 << 30).unwrap();
    assert!(matches!(
        root.read(&path("giant.md"), 1 << 20),
        Err(ReadError::TooLarge { size, .. }) if size == 2 << 30
    ));
}

#[test]
fn what_is_not_text_says_so() {
    let (folder, root) = folder();
    fs::write(folder.path().join("latin.md"), b"caf\xe9").unwrap();
    let contents = root.read(&path("latin.md"), 10).unwrap();
    assert!(matches!(contents.into_text(), Err(ReadError::NotText)));
}

#[test]
fn a_mode_of_000_is_an_error_not_an_escape() {
    let (folder, root) = folder();
    let file = folder.path().join("closed.md");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read it all the same.
    assert!(matches!(root.read(&path("closed.md"), 10), Ok(_) | Err(ReadError::Io(_))));
}

#[test]
fn three_thousand_folders_deep_is_a_warning() {
    let (folder, root) = folder();
    fs::write(folder.path().join("top.md"), "x").unwrap();
    let mut dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    for _ in 0..3_000 {
        dir.create_dir("d").unwrap();
        dir = dir.open_dir("d").unwrap();
    }
    dir.write("deep.md", "x").unwrap();
    let walk = root.walk(&["md"]);
    assert_eq!(walk.files.len(), 1);
    assert_eq!(walk.problems.len(), 1);
    assert!(walk.problems[0].message.contains("deep"), "{walk:?}");
    // The folder's own cleaner recurses by path and would fail.
    assert!(Command::new("rm").arg("-rf").arg(folder.path()).status().unwrap().success());
}

#[test]
fn a_root_that_is_a_link_works() {
    let (folder, _) = folder();
    let link = folder.path().join("link");
    fs::create_dir(folder.path().join("real")).unwrap();
    fs::write(folder.path().join("real/a.md"), "x").unwrap();
    symlink("real", &link).unwrap();
    assert!(Root::open(&link).unwrap().read(&path("a.md"), 10).is_ok());
}

#[test]
fn creating_never_touches_what_exists() {
    let (folder, root) = folder();
    assert_eq!(root.create(&path("a/b/c.md"), b"new").unwrap(), Created::New);
    assert_eq!(root.create(&path("a/b/c.md"), b"other").unwrap(), Created::Kept);
    assert_eq!(fs::read(folder.path().join("a/b/c.md")).unwrap(), b"new");
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    assert_eq!(root.create(&path("dangling"), b"x").unwrap(), Created::Kept);
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn replacing_keeps_the_mode_and_leaves_nothing_behind() {
    let (folder, root) = folder();
    let file = folder.path().join("a.json");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    root.replace(&path("a.json"), b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_changed_file_has_another_stamp() {
    let (folder, root) = folder();
    let file = folder.path().join("a.md");
    fs::write(&file, "1").unwrap();
    let before = root.stamp(&path("a.md")).unwrap();
    fs::write(folder.path().join("b.md"), "2").unwrap();
    fs::rename(folder.path().join("b.md"), &file).unwrap();
    assert_ne!(before, root.stamp(&path("a.md")).unwrap());
}

#[test]
fn lines_are_appended_whole_and_links_are_refused() {
    let (folder, root) = folder();
    root.append_line(&path("log.txt"), "one").unwrap();
    root.append_line(&path("log.txt"), "two").unwrap();
    assert_eq!(fs::read(folder.path().join("log.txt")).unwrap(), b"one\ntwo\n");
    symlink("log.txt", folder.path().join("link.txt")).unwrap();
    assert!(root.append_line(&path("link.txt"), "three").is_err());
}

#[test]
fn a_link_is_followed_to_its_file_and_no_further_than_the_folder() {
    let (folder, root) = folder();
    fs::create_dir(folder.path().join("a")).unwrap();
    fs::write(folder.path().join("a/real.md"), "x").unwrap();
    symlink("a/real.md", folder.path().join("link.md")).unwrap();
    symlink("a", folder.path().join("b")).unwrap();
    for known in ["link.md", "b/real.md", "a/real.md"] {
        assert_eq!(root.resolve(&path(known)).unwrap(), path("a/real.md"), "{known}");
    }
    symlink("/etc/passwd", folder.path().join("out.md")).unwrap();
    symlink("nowhere", folder.path().join("dangling.md")).unwrap();
    assert!(matches!(root.resolve(&path("out.md")), Err(ReadError::Escape)));
    assert!(matches!(root.resolve(&path("dangling.md")), Err(ReadError::NotAFile)));
    assert!(matches!(root.resolve(&path("none.md")), Err(ReadError::NotFound)));
}

#[test]
fn a_protected_file_is_known_by_its_mode() {
    let (folder, root) = folder();
    let file = folder.path().join("a.json");
    fs::write(&file, "{}").unwrap();
    assert!(!root.is_read_only(&path("a.json")));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(root.is_read_only(&path("a.json")));
    assert!(!root.is_read_only(&path("none.json")));
}

#[test]
fn a_walk_for_no_endings_finds_every_file() {
    let (folder, root) = folder();
    for name in ["a.md", "LICENSE", "b.tar.gz", ".hidden"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let found: Vec<String> =
        root.walk(&[]).files.into_iter().map(|found| found.path.to_string()).collect();
    assert_eq!(found, ["LICENSE", "a.md", "b.tar.gz"]);
}

#[test]
fn a_folder_is_listed_without_following_links_out() {
    let (folder, root) = folder();
    let at = |name: &str| folder.path().join("a").join(name);
    fs::create_dir_all(at("sub")).unwrap();
    fs::write(at("file"), "").unwrap();
    fs::write(at(".hidden"), "").unwrap();
    symlink("file", at("link")).unwrap();
    symlink("sub", at("sublink")).unwrap();
    symlink("/etc/passwd", at("out")).unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let listed: Vec<_> =
        root.list(&path("a")).into_iter().map(|entry| (entry.name, entry.kind)).collect();
    let expected = [
        (".hidden", EntryKind::File),
        ("fifo", EntryKind::Other),
        ("file", EntryKind::File),
        ("link", EntryKind::File),
        ("out", EntryKind::Other),
        ("sub", EntryKind::Folder),
        ("sublink", EntryKind::Folder),
    ];
    assert_eq!(listed, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(root.list(&path("none")), []);
    let embedded = Root::embedded(&PACK).list(&path("root"));
    assert_eq!(embedded.first().map(|entry| entry.name.as_str()), Some("durable.rs"));
}

#[test]
fn a_folder_that_a_caller_names_is_opened_only_within_another() {
    let outer = tempfile::tempdir().unwrap();
    let at = |name: &str| outer.path().join(name);
    fs::create_dir_all(at("base/inner")).unwrap();
    fs::create_dir_all(at("other")).unwrap();
    symlink("base", at("alias")).unwrap();
    symlink("../other", at("base/out")).unwrap();
    symlink("inner", at("base/in")).unwrap();
    let opened = |base: &str, path: &str| {
        Root::open_within(&at(base), &at(path)).map(|root| root.is_some()).ok()
    };
    for path in ["base", "base/inner", "base/in", "alias/inner", "base/inner/..", "other/../base"] {
        assert_eq!(opened("base", path), Some(true), "{path}");
        assert_eq!(opened("alias", path), Some(true), "{path}");
    }
    for path in ["other", "base/out", "", "base/.."] {
        assert_eq!(opened("base", path), Some(false), "{path}");
    }
    assert_eq!(opened("base", "base/none"), None);
}
