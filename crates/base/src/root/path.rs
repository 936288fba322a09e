//! Paths that can be asked of a root.

use std::fmt;

/// The longest path that is looked up, in bytes.
const MAX_LENGTH: usize = 1024;

/// A path below a root, with `/` between its parts: never empty, absolute, or leading upwards.
///
/// The kernel would refuse those as well; the type keeps them from ever being asked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(String);

/// The text is not a path below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a path below the folder: use names joined with `/`, without `..`")]
pub struct RelativePathError;

impl RelativePath {
    /// Checks a path.
    pub fn new(path: impl Into<String>) -> Result<Self, RelativePathError> {
        let path = path.into();
        let fine = !path.is_empty()
            && path.len() <= MAX_LENGTH
            && !path.contains(['\0', '\\'])
            && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if fine { Ok(Self(path)) } else { Err(RelativePathError) }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This path below `folder`.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        Self(format!("{folder}/{}", self.0))
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_no_paths() {
        for path in ["", "/", "/etc/passwd", "..", "a/../b", "a//b", "./a", "a/", "a\\b", "a\0b"] {
            assert!(RelativePath::new(path).is_err(), "{path:?}");
        }
        assert!(RelativePath::new("a".repeat(2_000)).is_err());
        for path in ["a", "a/b.md", "..a/b..", "ä/ 1.md"] {
            assert!(RelativePath::new(path).is_ok(), "{path:?}");
        }
    }
}
