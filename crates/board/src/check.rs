//! What a caller may say: lengths in characters, names, paths. Anything that passes is stored as
//! it is; anything else is refused with the reason.

use rutter_base::root::RelativePath;

use crate::error::BoardError;
use crate::model::Acronym;

/// The longest name.
pub(crate) const NAME: usize = 64;
/// The longest text that is meant for one line.
pub(crate) const LINE: usize = 500;
/// The longest text.
pub(crate) const TEXT: usize = 100_000;
/// The longest learning.
pub(crate) const LEARNING: usize = 5_000;
/// The longest entry of a list.
const ENTRY: usize = 2_000;
/// The most entries of a list.
const ENTRIES: usize = 200;

type Checked<T = ()> = Result<T, BoardError>;

/// Checks a text that may be empty.
pub(crate) fn text(field: &str, text: &str, most: usize) -> Checked {
    let count = text.chars().count();
    if count > most {
        return Err(BoardError::invalid(
            field,
            format!("expected at most {most} characters, found {count}"),
        ));
    }
    if text.contains('\0') {
        return Err(BoardError::invalid(field, "the character U+0000 cannot be stored"));
    }
    Ok(())
}

/// Checks a text that must say something.
pub(crate) fn required(field: &str, value: &str, most: usize) -> Checked {
    if value.trim().is_empty() {
        return Err(BoardError::invalid(field, "expected some text"));
    }
    text(field, value, most)
}

/// Checks a text that may be absent, and makes an empty one absent.
pub(crate) fn optional<'a>(
    field: &str,
    value: Option<&'a str>,
    most: usize,
) -> Checked<Option<&'a str>> {
    text(field, value.unwrap_or_default(), most)?;
    Ok(value.filter(|value| !value.is_empty()))
}

/// Checks the name of a feature or a discipline.
pub(crate) fn name(field: &str, value: &str) -> Checked {
    let fine = !value.is_empty()
        && value.len() <= NAME
        && value
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
        && !value.starts_with(['-', '_']);
    if fine {
        return Ok(());
    }
    Err(BoardError::invalid(
        field,
        format!("expected a name of at most {NAME} of a-z, 0-9, `-` and `_`"),
    ))
}

/// Checks an acronym.
pub(crate) fn acronym(field: &str, value: &str) -> Checked<Acronym> {
    Acronym::new(value).ok_or_else(|| BoardError::invalid(field, "expected four of A-Z and 0-9"))
}

/// Checks a list of texts.
pub(crate) fn list(field: &str, values: &[String]) -> Checked {
    entries(field, values.len())?;
    for (index, value) in values.iter().enumerate() {
        required(&format!("{field}/{index}"), value, ENTRY)?;
    }
    Ok(())
}

/// Checks how many entries a list has.
pub(crate) fn entries(field: &str, count: usize) -> Checked {
    if count > ENTRIES {
        return Err(BoardError::invalid(
            field,
            format!("expected at most {ENTRIES} entries, found {count}"),
        ));
    }
    Ok(())
}

/// Checks a list of paths relative to the project, and writes them in one way, each once.
pub(crate) fn paths(field: &str, values: &[String]) -> Checked<Vec<String>> {
    entries(field, values.len())?;
    let mut paths = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let path = path(&format!("{field}/{index}"), value)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Checks a path relative to the project, and writes it without `./` before and `/` after it.
pub(crate) fn path(field: &str, value: &str) -> Checked<String> {
    text(field, value, ENTRY)?;
    let plain = value.strip_prefix("./").unwrap_or(value);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    let drive =
        plain.get(1..2) == Some(":") && plain.starts_with(|c: char| c.is_ascii_alphabetic());
    match RelativePath::new(plain) {
        Ok(path) if !drive => Ok(path.to_string()),
        _ => Err(BoardError::invalid(
            field,
            "expected a path relative to the project: names joined with `/`, without `..`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_in_characters() {
        assert!(text("title", &"ä".repeat(LINE), LINE).is_ok());
        let error = text("title", &"ä".repeat(LINE + 1), LINE).unwrap_err();
        assert_eq!(error.to_string(), "/title: expected at most 500 characters, found 501");
        assert!(text("title", "a\0b", LINE).is_err());
        assert!(text("title", "\u{202e}abc\u{1b}[2J'\"\\", LINE).is_ok());
        assert!(required("title", " \n", LINE).is_err());
    }

    #[test]
    fn paths_stay_in_the_project() {
        assert_eq!(path("f", "./src/a.rs").unwrap(), "src/a.rs");
        assert_eq!(path("f", "src/").unwrap(), "src");
        for bad in
            ["", "/etc/passwd", "../a", "a/../b", "C:/a", "C:\\a", "a\\b", "~/..", "a//b", "\0"]
        {
            assert!(path("f", bad).is_err(), "{bad:?}");
        }
        let twice = ["a".to_owned(), "./a".to_owned()];
        assert_eq!(paths("f", &twice).unwrap(), ["a"]);
    }

    #[test]
    fn names_are_plain() {
        for fine in ["auth", "a-b_c", "3d"] {
            assert!(name("name", fine).is_ok(), "{fine}");
        }
        for bad in ["", "Auth", "a b", "-a", "ä", "a/b", &"a".repeat(65)] {
            assert!(name("name", bad).is_err(), "{bad}");
        }
    }
}
