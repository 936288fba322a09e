//! `Scope`: what a caller may see and call.
//!
//! A scope is a list of rules that must all agree. The only thing that can be done with two
//! scopes is to put their rules together, so no composition ever shows more than its parts:
//! there is no way to write it. A listing and a call ask the same value the same question.

use std::collections::BTreeSet;

use crate::module::ModuleId;

/// What a caller may see and call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    rules: Vec<Rule>,
}

/// A reduction. Each says no to something and nothing of the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// Nothing of other modules.
    Modules(BTreeSet<ModuleId>),
    /// No other tools.
    Tools(BTreeSet<String>),
    /// None of these tools.
    WithoutTools(BTreeSet<String>),
    /// No tool that writes.
    ReadOnly,
    /// No resources with other schemes.
    ResourceSchemes(BTreeSet<String>),
    /// No prompts.
    NoPrompts,
    /// No prompts but those that are named `<source>:<name>` (`true`), or those that are named
    /// without a source (`false`).
    PromptsOfSources(bool),
}

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// A tool.
    Tool {
        /// Its name.
        name: &'a str,
        /// The module that it belongs to.
        module: ModuleId,
        /// Whether it changes anything.
        writes: bool,
    },
    /// A resource or a resource template.
    Resource {
        /// The module that it belongs to.
        module: ModuleId,
        /// Its URI.
        uri: &'a str,
    },
    /// A skill and its files, whether they are listed as resources or not.
    Skill,
    /// A prompt.
    Prompt {
        /// Its name.
        name: &'a str,
        /// The module that it belongs to.
        module: ModuleId,
    },
}

impl Scope {
    /// Everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// What `rule` leaves of everything.
    pub fn of(rule: Rule) -> Self {
        Self { rules: vec![rule] }
    }

    /// What both leave. There is no other operation.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut rules = self.rules.clone();
        rules.extend(other.rules.iter().filter(|rule| !self.rules.contains(rule)).cloned());
        Self { rules }
    }

    /// Whether the caller may see and use it.
    pub fn admits(&self, subject: Subject<'_>) -> bool {
        self.rules.iter().all(|rule| rule.admits(subject))
    }
}

impl Rule {
    fn admits(&self, subject: Subject<'_>) -> bool {
        match (self, subject) {
            (
                Self::Modules(modules),
                Subject::Tool { module, .. }
                | Subject::Resource { module, .. }
                | Subject::Prompt { module, .. },
            ) => modules.contains(&module),
            (Self::Modules(modules), Subject::Skill) => modules.contains(&ModuleId::Skills),
            (Self::Tools(tools), Subject::Tool { name, .. }) => tools.contains(name),
            (Self::WithoutTools(tools), Subject::Tool { name, .. }) => !tools.contains(name),
            (Self::ReadOnly, Subject::Tool { writes, .. }) => !writes,
            (Self::ResourceSchemes(schemes), Subject::Resource { uri, .. }) => {
                uri.split_once(':').is_some_and(|(scheme, _)| schemes.contains(scheme))
            }
            (Self::NoPrompts, Subject::Prompt { .. }) => false,
            (Self::PromptsOfSources(wanted), Subject::Prompt { name, .. }) => {
                name.contains(':') == *wanted
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOOLS: [&str; 4] = ["read", "search", "append_learning", "get_stage"];
    const URIS: [&str; 3] = ["acdc://a/b", "architecture://adr/1", "ralph://progress"];

    fn module() -> impl Strategy<Value = ModuleId> {
        prop::sample::select(ModuleId::ALL.to_vec())
    }

    fn names(from: &'static [&'static str]) -> impl Strategy<Value = BTreeSet<String>> {
        prop::sample::subsequence(from.to_vec(), 0..=from.len())
            .prop_map(|names| names.into_iter().map(str::to_owned).collect())
    }

    fn rule() -> impl Strategy<Value = Rule> {
        prop_oneof![
            prop::collection::btree_set(module(), 0..4).prop_map(Rule::Modules),
            names(&TOOLS).prop_map(Rule::Tools),
            names(&TOOLS).prop_map(Rule::WithoutTools),
            Just(Rule::ReadOnly),
            names(&["acdc", "architecture", "ralph"]).prop_map(Rule::ResourceSchemes),
            Just(Rule::NoPrompts),
            any::<bool>().prop_map(Rule::PromptsOfSources),
        ]
    }

    fn scope() -> impl Strategy<Value = Scope> {
        prop::collection::vec(rule(), 0..4).prop_map(|rules| {
            rules.into_iter().fold(Scope::everything(), |scope, rule| scope.and(&Scope::of(rule)))
        })
    }

    fn subject() -> impl Strategy<Value = Subject<'static>> {
        prop_oneof![
            (prop::sample::select(&TOOLS[..]), module(), any::<bool>())
                .prop_map(|(name, module, writes)| Subject::Tool { name, module, writes }),
            (prop::sample::select(&URIS[..]), module())
                .prop_map(|(uri, module)| Subject::Resource { module, uri }),
            Just(Subject::Skill),
            (prop::sample::select(&["docs:adr", "adr"][..]), module())
                .prop_map(|(name, module)| Subject::Prompt { name, module }),
        ]
    }

    proptest! {
        #[test]
        fn no_composition_ever_adds_anything(a in scope(), b in scope(), subject in subject()) {
            prop_assert_eq!(a.and(&b).admits(subject), a.admits(subject) && b.admits(subject));
            prop_assert_eq!(a.and(&b).admits(subject), b.and(&a).admits(subject));
            prop_assert_eq!(a.and(&a), a.clone());
            prop_assert!(Scope::everything().admits(subject));
        }
    }
}
