#![expect(clippy::disallowed_methods, reason = "tests put damaged files in place")]

use std::collections::BTreeMap;
use std::fs;

use super::*;

const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn store(folder: &tempfile::TempDir, key: Option<&str>) -> Store {
    Store::new(folder.path().to_owned(), key.map(|key| Key::new(key).unwrap()))
}

fn complete(store: &Store, id: &str) -> Result<Updated, StateError> {
    let artifacts = BTreeMap::from([(format!("{id}_file"), format!("docs/{id}.md"))]);
    store.update(|state, now| Ok(state.complete(id, None, Some(artifacts), now)))
}

fn done(store: &Store) -> Vec<String> {
    store.load().unwrap().state.completed().keys().cloned().collect()
}

fn file(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(FOLDER).join(name)
}

fn said(error: StateError) -> String {
    Report::from(error).to_string()
}

#[test]
fn nothing_is_made_before_something_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, None);
    assert!(done(&store).is_empty());
    assert!(!folder.path().join(FOLDER).exists());
    complete(&store, "a").unwrap();
    assert_eq!(done(&store), ["a"]);
}

#[test]
fn what_another_process_wrote_is_seen_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (store(&folder, None), store(&folder, None));
    complete(&one, "a").unwrap();
    assert_eq!(done(&two), ["a"]);
    complete(&two, "b").unwrap();
    complete(&one, "c").unwrap();
    assert_eq!(done(&two), ["a", "b", "c"]);
    assert_eq!(one.load().unwrap().state.artifacts().len(), 3);
}

#[test]
fn many_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = store(&folder, None);
            scope.spawn(move || {
                for step in 0..10 {
                    complete(&store, &format!("w{writer}-{step}")).unwrap();
                }
            });
        }
    });
    assert_eq!(done(&store(&folder, None)).len(), 80);
}

#[test]
fn a_damaged_file_is_kept_aside_and_its_backup_used() {
    for damage in [&b""[..], b"{\"version\": 1, \"comp", b"\0\0\0\0", b"[]"] {
        let folder = tempfile::tempdir().unwrap();
        let before = store(&folder, None);
        complete(&before, "a").unwrap();
        complete(&before, "b").unwrap();
        fs::write(file(&folder, STATE), damage).unwrap();
        let store = store(&folder, None);
        let loaded = store.load().unwrap();
        assert!(loaded.warning.unwrap().contains("its backup is used"));
        assert_eq!(done(&store), ["a"]);
        assert!(complete(&store, "c").unwrap().warning.is_some());
        assert_eq!(done(&store), ["a", "c"]);
        assert!(store.load().unwrap().warning.is_none());
        let names = fs::read_dir(folder.path().join(FOLDER)).unwrap();
        let aside = names
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_str().unwrap().contains("damaged-"))
            .unwrap();
        assert_eq!(fs::read(aside).unwrap(), damage);
        // The good backup was not replaced by the damaged file.
        assert!(State::parse(&fs::read(file(&folder, BACKUP)).unwrap()).is_ok());
    }
}

#[test]
fn when_nothing_is_sure_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    complete(&store(&folder, None), "a").unwrap();
    for (state, backup, reason) in [
        ("{", Some("}"), "the state is damaged, and so is its backup"),
        ("{", None, "the state is damaged, and so is its backup"),
        (r#"{"version": 2}"#, Some("{}"), "the state has version 2"),
        ("{", Some(r#"{"version": 9}"#), "the state has version 9"),
    ] {
        fs::write(file(&folder, STATE), state).unwrap();
        let _ = fs::remove_file(file(&folder, BACKUP));
        if let Some(backup) = backup {
            fs::write(file(&folder, BACKUP), backup).unwrap();
        }
        let store = store(&folder, None);
        assert!(said(store.load().unwrap_err()).starts_with(reason), "{state}");
        assert!(said(complete(&store, "b").unwrap_err()).starts_with(reason), "{state}");
        assert_eq!(fs::read_to_string(file(&folder, STATE)).unwrap(), state);
        assert_eq!(fs::read_to_string(file(&folder, BACKUP)).ok().as_deref(), backup);
    }
}

#[test]
fn a_sealed_state_is_for_its_key_alone() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = store(&folder, Some(HEX));
    complete(&sealed, "secret_step").unwrap();
    complete(&sealed, "another").unwrap();
    assert_eq!(done(&store(&folder, Some(HEX))), ["another", "secret_step"]);
    for name in [STATE, BACKUP] {
        let bytes = fs::read(file(&folder, name)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("secret_step"), "{name}");
    }
    let before = fs::read(file(&folder, STATE)).unwrap();
    for (key, reason) in [
        (None, "the state is encrypted, and there is no key; set `RUTTER_STATE_KEY`"),
        (Some("the wrong key"), "the state cannot be decrypted: the key is wrong"),
    ] {
        let store = store(&folder, key);
        assert!(said(store.load().unwrap_err()).starts_with(reason));
        assert!(said(complete(&store, "b").unwrap_err()).starts_with(reason));
    }
    assert_eq!(fs::read(file(&folder, STATE)).unwrap(), before);
    for index in [0, 20, 40, before.len() - 1] {
        let mut changed = before.clone();
        changed[index] ^= 1;
        fs::write(file(&folder, STATE), &changed).unwrap();
        assert!(store(&folder, Some(HEX)).load().is_err(), "byte {index}");
        assert_eq!(fs::read(file(&folder, STATE)).unwrap(), changed);
    }
}

#[test]
fn plain_text_is_not_taken_for_sealed() {
    let folder = tempfile::tempdir().unwrap();
    complete(&store(&folder, None), "a").unwrap();
    let error = store(&folder, Some(HEX)).load().unwrap_err();
    assert!(
        said(error).starts_with(
            "there is a key, and the state is not encrypted; run `rutter state rekey`"
        )
    );
}

#[test]
fn a_key_is_replaced_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let plain = store(&folder, None);
    for id in ["b", "a", "b", "a"] {
        complete(&plain, id).unwrap();
    }
    plain.update(|state, now| Ok::<_, StateError>(state.undo(now).is_some())).unwrap();
    complete(&plain, "a").unwrap();
    let (first, second) = ("first passphrase", "second passphrase");
    plain.rekey(Some(&Key::new(first).unwrap())).unwrap();
    assert_eq!(done(&store(&folder, Some(first))), ["a", "b"]);
    for entry in fs::read_dir(folder.path().join(FOLDER)).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(bytes.is_empty() || seal::is_sealed(&bytes), "plain text stayed");
    }
    // As after a crash in the middle: the state has the new key, the backup the old one.
    let backup = fs::read(file(&folder, BACKUP)).unwrap();
    store(&folder, Some(first)).rekey(Some(&Key::new(second).unwrap())).unwrap();
    fs::write(file(&folder, BACKUP), backup).unwrap();
    store(&folder, Some(first)).rekey(Some(&Key::new(second).unwrap())).unwrap();
    let key = Key::new(second).unwrap();
    for name in [STATE, BACKUP] {
        let bytes = fs::read(file(&folder, name)).unwrap();
        assert!(State::parse(&key.open(&bytes).unwrap()).is_ok(), "{name}");
    }
    assert!(store(&folder, Some(first)).rekey(None).is_err());
    store(&folder, Some(second)).rekey(None).unwrap();
    assert_eq!(done(&store(&folder, None)), ["a", "b"]);
}

#[cfg(unix)]
#[test]
fn hostile_files_in_the_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(FOLDER).join(STATE)).unwrap();
    assert!(complete(&store(&folder, None), "a").is_err());
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(FOLDER)).unwrap();
    assert!(complete(&store(&folder, None), "a").is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
