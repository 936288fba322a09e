//! `Scope`: what a caller may see and call.
//!
//! A scope is a list of rules that must all agree. The only thing that can be done with two
//! scopes is to put their rules together, so no composition ever shows more than its parts:
//! there is no way to write it. A listing and a call ask the same value the same question.

mod narrowing;

use std::collections::BTreeSet;

use serde_json::Value;

pub use narrowing::{Narrowing, Outside};

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
    /// No other arguments of one tool.
    Fields {
        /// The tool.
        tool: String,
        /// The arguments that it has left.
        fields: BTreeSet<String>,
    },
    /// No call of one tool but those whose argument names one thing.
    Target {
        /// The tool.
        tool: String,
        /// The argument.
        field: String,
        /// What the argument names, in a word for people.
        what: &'static str,
        /// The only value that it may have; `None` is no value at all.
        only: Option<Value>,
    },
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

    /// What all of the rules leave.
    pub fn all(rules: impl IntoIterator<Item = Rule>) -> Self {
        rules.into_iter().fold(Self::everything(), |scope, rule| scope.and(&Self::of(rule)))
    }

    /// What both leave. There is no other operation.
    ///
    /// Like rules become one, so that a scope that is narrowed again and again stays small.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut rules = self.rules.clone();
        for rule in &other.rules {
            if !rules.iter_mut().any(|known| known.absorb(rule)) {
                rules.push(rule.clone());
            }
        }
        Self { rules }
    }

    /// Whether the caller may see and use it.
    pub fn admits(&self, subject: Subject<'_>) -> bool {
        self.rules.iter().all(|rule| rule.admits(subject))
    }

    /// What is left of a tool that the caller may use; `None` is all of it.
    pub fn narrowing(&self, tool: &str) -> Option<Narrowing<'_>> {
        Narrowing::of(self.rules.iter().filter(|rule| match rule {
            Rule::Fields { tool: narrowed, .. } | Rule::Target { tool: narrowed, .. } => {
                narrowed == tool
            }
            _ => false,
        }))
    }
}

impl Rule {
    /// Becomes the rule that says what both say, if there is one.
    fn absorb(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (Self::Modules(mine), Self::Modules(theirs)) => {
                mine.retain(|module| theirs.contains(module));
            }
            (Self::Tools(mine), Self::Tools(theirs))
            | (Self::ResourceSchemes(mine), Self::ResourceSchemes(theirs)) => {
                mine.retain(|name| theirs.contains(name));
            }
            (Self::WithoutTools(mine), Self::WithoutTools(theirs)) => {
                mine.extend(theirs.iter().cloned());
            }
            (
                Self::Fields { tool: mine, fields },
                Self::Fields { tool: theirs, fields: allowed },
            ) if mine == theirs => fields.retain(|field| allowed.contains(field)),
            (
                Self::Target { tool, field, only, .. },
                Self::Target { tool: theirs, field: argument, only: other, .. },
            ) if tool == theirs && field == argument => {
                if only != other {
                    *only = None;
                }
            }
            (mine, theirs) => return mine == theirs,
        }
        true
    }

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
    use rmcp::model::JsonObject;
    use serde_json::json;

    use super::*;
    use crate::schema;

    const TOOLS: [&str; 4] = ["read", "search", "append_learning", "get_stage"];
    const FIELDS: [&str; 3] = ["id", "name", "priority"];
    const URIS: [&str; 3] = ["acdc://a/b", "architecture://adr/1", "ralph://progress"];

    fn module() -> impl Strategy<Value = ModuleId> {
        prop::sample::select(ModuleId::ALL.to_vec())
    }

    fn names(from: &'static [&'static str]) -> impl Strategy<Value = BTreeSet<String>> {
        prop::sample::subsequence(from.to_vec(), 0..=from.len())
            .prop_map(|names| names.into_iter().map(str::to_owned).collect())
    }

    fn tool() -> impl Strategy<Value = String> {
        prop::sample::select(&TOOLS[..]).prop_map(str::to_owned)
    }

    fn value() -> impl Strategy<Value = Value> {
        prop::sample::select(vec![json!("a"), json!("b"), json!(1)])
    }

    fn arguments() -> impl Strategy<Value = JsonObject> {
        let field = prop::sample::select(&FIELDS[..]).prop_map(str::to_owned);
        prop::collection::vec((field, value()), 0..4)
            .prop_map(|fields| fields.into_iter().collect())
    }

    /// The arguments that the schema shows, and the values that it shows for them.
    fn shown(scope: &Scope, tool: &str) -> JsonObject {
        let properties = FIELDS.iter().map(|field| ((*field).to_owned(), json!({})));
        let schema = schema::object(properties.collect(), Vec::new());
        let narrowed = scope.narrowing(tool).map(|narrowing| narrowing.schema(&schema));
        narrowed.unwrap_or_else(|| (*schema).clone())
    }

    /// Whether arguments are what a schema shows.
    fn fits(schema: &JsonObject, arguments: &JsonObject) -> bool {
        let properties = schema["properties"].as_object().unwrap();
        let required = schema.get("required").and_then(Value::as_array);
        arguments.iter().all(|(name, value)| {
            properties.get(name).is_some_and(|property| {
                property.get("enum").and_then(Value::as_array).is_none_or(|all| all.contains(value))
            })
        }) && required
            .into_iter()
            .flatten()
            .all(|name| arguments.contains_key(name.as_str().unwrap()))
    }

    fn may_call(scope: &Scope, tool: &str, arguments: &JsonObject) -> bool {
        scope.narrowing(tool).is_none_or(|narrowing| narrowing.check(arguments, &[]).is_ok())
    }

    fn rule() -> impl Strategy<Value = Rule> {
        prop_oneof![
            prop::collection::btree_set(module(), 0..4).prop_map(Rule::Modules),
            names(&TOOLS).prop_map(Rule::Tools),
            names(&TOOLS).prop_map(Rule::WithoutTools),
            (tool(), names(&FIELDS)).prop_map(|(tool, fields)| Rule::Fields { tool, fields }),
            (tool(), prop::sample::select(&FIELDS[..]), prop::option::of(value())).prop_map(
                |(tool, field, only)| Rule::Target {
                    tool,
                    field: field.into(),
                    what: "feature",
                    only
                }
            ),
            Just(Rule::ReadOnly),
            names(&["acdc", "architecture", "ralph"]).prop_map(Rule::ResourceSchemes),
            Just(Rule::NoPrompts),
            any::<bool>().prop_map(Rule::PromptsOfSources),
        ]
    }

    fn scope() -> impl Strategy<Value = Scope> {
        prop::collection::vec(rule(), 0..4).prop_map(Scope::all)
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

        #[test]
        fn no_composition_ever_adds_an_argument_or_a_target(
            a in scope(), b in scope(), tool in tool(), arguments in arguments(),
        ) {
            let both = may_call(&a, &tool, &arguments) && may_call(&b, &tool, &arguments);
            prop_assert_eq!(may_call(&a.and(&b), &tool, &arguments), both);
            prop_assert_eq!(may_call(&b.and(&a), &tool, &arguments), both);
        }

        #[test]
        fn what_the_schema_shows_is_what_can_be_called(
            scope in scope(), tool in tool(), arguments in arguments(),
        ) {
            let fits = fits(&shown(&scope, &tool), &arguments);
            let hopeless = scope.rules.iter().any(
                |rule| matches!(rule, Rule::Target { tool: of, only: None, .. } if *of == tool),
            );
            prop_assert_eq!(may_call(&scope, &tool, &arguments), fits && !hopeless);
        }

        #[test]
        fn narrowing_again_and_again_stays_small(scopes in prop::collection::vec(scope(), 0..40)) {
            let scope = scopes.iter().fold(Scope::everything(), |all, next| all.and(next));
            // One of each kind of rule; of those that are about a tool, one for each tool, or for
            // each tool and argument.
            prop_assert!(scope.rules.len() <= 8 + TOOLS.len() * (1 + FIELDS.len()));
        }
    }
}
