//! Features and what was learned about them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskId;
use super::task::named;

/// The name of a feature, by which tasks refer to it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FeatureName(pub(crate) String);

impl FeatureName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FeatureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Four of A-Z and 0-9, by which people refer to a feature or a discipline.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Acronym(pub(crate) String);

impl Acronym {
    /// Checks an acronym.
    pub fn new(text: &str) -> Option<Self> {
        let fine = text.len() == 4
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        fine.then(|| Self(text.to_owned()))
    }

    /// The acronym as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The acronyms that a name suggests, best first, without end in practice.
    pub(crate) fn derived(name: &str) -> impl Iterator<Item = Self> {
        let words: Vec<String> = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_uppercase)
            .collect();
        // Two words give two letters each, three give 2 + 1 + 1, and so on.
        let shares: &[usize] = match words.len() {
            0 | 1 => &[4],
            2 => &[2, 2],
            3 => &[2, 1, 1],
            _ => &[1, 1, 1, 1],
        };
        let mut base: String = words
            .iter()
            .zip(shares)
            .flat_map(|(word, share)| word.chars().take(*share))
            .chain("XXXX".chars())
            .take(4)
            .collect();
        base.make_ascii_uppercase();
        let first = Self(base.clone());
        std::iter::once(first).chain((2..10_000).map(move |number| {
            let number = number.to_string();
            let kept = base.get(..4 - number.len()).unwrap_or_default();
            Self(format!("{kept}{number}"))
        }))
    }
}

impl fmt::Display for Acronym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

named! {
    /// Where a learning comes from.
    LearningSource {
        /// Gathered by a program.
        Auto = "auto",
        /// Recorded by an agent.
        Agent = "agent",
        /// Recorded by a person.
        Human = "human",
        /// Recorded or confirmed in a review.
        OpusReviewed = "opus_reviewed",
    }
}

/// What was learned about a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Learning {
    /// What was learned.
    pub text: String,
    /// Why it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it comes from.
    #[serde(default = "unknown_source")]
    pub source: LearningSource,
    /// The task during which it was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The round of work during which it was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<i64>,
    /// When it was recorded.
    #[serde(default)]
    pub created: String,
    /// How often it was recorded.
    #[serde(default = "one")]
    pub hit_count: i64,
    /// Whether a reviewer confirmed it.
    #[serde(default)]
    pub reviewed: bool,
    /// How often it was reviewed.
    #[serde(default)]
    pub review_count: i64,
}

fn unknown_source() -> LearningSource {
    LearningSource::Auto
}

fn one() -> i64 {
    1
}

/// A learning to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLearning {
    /// What was learned.
    pub text: String,
    /// Where it comes from; an agent by default.
    pub source: Option<LearningSource>,
    /// Why it is so.
    pub reason: Option<String>,
    /// The task during which it was learned.
    pub task_id: Option<TaskId>,
}

/// A feature with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feature {
    /// Its name.
    pub name: FeatureName,
    /// Its name for people.
    pub display_name: String,
    /// Its acronym.
    pub acronym: Acronym,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// What does not belong to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundaries: Option<String>,
    /// Documents about it, relative to the project.
    #[serde(default)]
    pub knowledge_paths: Vec<String>,
    /// Files that matter to it, relative to the project.
    #[serde(default)]
    pub context_files: Vec<String>,
    /// The features that it needs.
    #[serde(default)]
    pub dependencies: Vec<FeatureName>,
    /// What was learned about it.
    #[serde(default)]
    pub learnings: Vec<Learning>,
    /// When it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// A feature in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeatureEntry {
    /// Its name.
    pub name: FeatureName,
    /// Its name for people.
    pub display_name: String,
    /// Its acronym.
    pub acronym: Acronym,
    /// What it is, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A feature to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewFeature {
    /// Its name: a-z, 0-9, `-` and `_`.
    pub name: String,
    /// Its name for people.
    pub display_name: String,
    /// Everything that can also be changed later.
    pub fields: FeaturePatch,
}

/// What is to be changed of a feature. What is absent stays; an empty text removes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeaturePatch {
    /// Its name for people.
    pub display_name: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its acronym.
    pub acronym: Option<String>,
    /// Documents about it.
    pub knowledge_paths: Option<Vec<String>>,
    /// Files that matter to it.
    pub context_files: Option<Vec<String>>,
    /// How it is built.
    pub architecture: Option<String>,
    /// What does not belong to it.
    pub boundaries: Option<String>,
    /// The features that it needs.
    pub dependencies: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &[&str]) {
        let derived: Vec<String> =
            Acronym::derived(name).take(expected.len()).map(|acronym| acronym.0).collect();
        assert_eq!(derived, expected, "{name}");
    }

    #[test]
    fn names_suggest_acronyms() {
        check("authentication", &["AUTH", "AUT2", "AUT3"]);
        check("user-profile", &["USPR"]);
        check("user_profile_page", &["USPP"]);
        check("a-b-c-d-e", &["ABCD"]);
        check("ui", &["UIXX", "UIX2"]);
        check("3d", &["3DXX"]);
        assert!(Acronym::derived("x").all(|acronym| Acronym::new(acronym.as_str()).is_some()));
        assert_eq!(Acronym::derived("x").nth(99).unwrap().as_str(), "X100");
    }

    #[test]
    fn acronyms_are_four_capitals_or_digits() {
        for (text, fine) in [
            ("AUTH", true),
            ("A1B2", true),
            ("auth", false),
            ("ÄUTH", false),
            ("AUT", false),
            ("", false),
        ] {
            assert_eq!(Acronym::new(text).is_some(), fine, "{text}");
        }
    }
}
