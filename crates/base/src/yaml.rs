//! YAML from people we do not know: located errors, and a budget that a bomb cannot exceed.

use serde::de::DeserializeOwned;
use serde_saphyr::Options;

use crate::text::one_line;

/// Why a YAML text was not understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// The line, counted from 1, where one is known.
    pub line: Option<u32>,
    /// What is wrong, without the location.
    pub message: String,
}

/// Reads a YAML text as `T`.
///
/// The budget is far below the library's default: a page's frontmatter or a configuration has
/// hundreds of nodes, and a text that expands to a hundred thousand is an attack or an accident.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    serde_saphyr::from_str_with_options(text, options(1)).map_err(|error| located(&error))
}

/// Reads a YAML text that may list tens of thousands of things.
pub fn parse_large<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    serde_saphyr::from_str_with_options(text, options(20)).map_err(|error| located(&error))
}

/// Reads a YAML text as `T`; an error comes with the key that it is about (`a[0].b`).
pub fn parse_with_path<T: DeserializeOwned>(text: &str) -> Result<T, (String, YamlError)> {
    let mut path = String::new();
    let parsed =
        serde_saphyr::with_deserializer_from_str_with_options(text, options(1), |deserializer| {
            serde_path_to_error::deserialize(deserializer).map_err(|error| {
                path = error.path().to_string();
                error.into_inner()
            })
        });
    parsed.map_err(|error| (path, located(&error)))
}

/// Reads a YAML text whose fields nobody knows in advance, as version 1.2 has it: `yes` and `on`
/// are texts, not truth values.
pub fn parse_verbatim<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    let mut options = options(1);
    options.strict_booleans = true;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| located(&error))
}

fn located(error: &serde_saphyr::Error) -> YamlError {
    let error = error.without_snippet();
    let line =
        error.location().and_then(|at| u32::try_from(at.line()).ok()).filter(|&line| line > 0);
    YamlError { line, message: message(error) }
}

/// Anchors, aliases and depth, which make a small text large, are the same for all.
fn options(times: usize) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 100_000 * times,
            max_aliases: 100,
            max_anchors: 100,
            max_depth: 64,
            max_documents: 1,
            max_nodes: 50_000 * times,
            max_total_scalar_bytes: 4 * 1024 * 1024 * times,
        },
        with_snippet: false,
    }
}

/// The library's first line, without the position that [`YamlError::line`] already holds, in
/// the words of whoever wrote the file.
fn message(error: &serde_saphyr::Error) -> String {
    let rendered = error.render();
    let first = rendered.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let first = match first.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest,
        _ => first,
    };
    let first = first.rfind(" at line ").and_then(|at| first.get(..at)).unwrap_or(first);
    if let Some(rest) = first.strip_prefix("duplicate mapping key: ") {
        let key = rest.split(',').next().unwrap_or(rest);
        return format!("`{}` is there twice", one_line(key));
    }
    if first
        .strip_prefix("invalid ")
        .is_some_and(|what| what.starts_with(['u', 'i', 'f']) && what.len() <= 5)
    {
        return "expected a number in range".to_owned();
    }
    let plain = first
        .replace("string scalar", "a text")
        .replace("sequence start", "a list")
        .replace("mapping start", "keys with values");
    one_line(&plain)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write;

    use super::*;

    #[test]
    fn an_error_knows_its_line() {
        let error = parse::<BTreeMap<String, u32>>("a: 1\nb: x\n").unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(!error.message.contains("line"), "{}", error.message);
    }

    #[test]
    fn fields_that_nobody_knows_are_taken_as_they_are_written() {
        let parsed = parse_verbatim::<BTreeMap<String, String>>("on: yes\nno: 'off'\n").unwrap();
        assert_eq!(
            parsed,
            [("no", "off"), ("on", "yes")].map(|(k, v)| (k.into(), v.into())).into()
        );
    }

    #[test]
    fn a_bomb_is_refused_quickly() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..20 {
            let below = level - 1;
            let aliases = vec![format!("*a{below}"); 10].join(",");
            writeln!(bomb, "a{level}: &a{level} [{aliases}]").unwrap();
        }
        assert!(parse::<serde::de::IgnoredAny>(&bomb).is_err());
        assert!(parse::<serde::de::IgnoredAny>(&"[".repeat(100_000)).is_err());
    }
}
