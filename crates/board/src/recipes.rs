//! Recipes: what a kind of session is for, and the tools that it may use.
//!
//! A recipe is data. Seven are built in; a project adds its own, from nothing or from another
//! recipe of which it leaves a part. What a recipe allows is an upper bound: whatever else
//! applies to a session takes away from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::text::{self, one_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recipe as it is written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Draft {
    /// The recipe of which this one leaves a part
    pub extends: Option<String>,
    /// What such a session is for
    pub description: Option<String>,
    /// The tools that it may use; with `extends`, all of that recipe unless set
    pub tools: Option<BTreeSet<String>>,
    /// Tools that are taken away
    pub without: BTreeSet<String>,
    /// The arguments that a tool has left
    pub fields: BTreeMap<String, BTreeSet<String>>,
    /// The arguments of a tool that must name the session's own discipline, feature or task
    pub targets: BTreeMap<String, BTreeMap<String, Own>>,
}

/// What a session has of its own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Own {
    /// The discipline that it works in.
    Discipline,
    /// The feature that it works on.
    Feature,
    /// The task that it works on.
    Task,
}

impl Own {
    /// Its name, as in a context file and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discipline => "discipline",
            Self::Feature => "feature",
            Self::Task => "task",
        }
    }
}

/// A recipe that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Its name.
    pub name: String,
    /// What such a session is for.
    pub description: String,
    /// The tools that it may use.
    pub tools: BTreeMap<String, Allowed>,
}

/// What is allowed of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// The arguments that are left; `None` is all of them.
    pub fields: Option<BTreeSet<String>>,
    /// Arguments that must name something of the session's own.
    pub targets: BTreeSet<(String, Own)>,
}

/// Why recipes cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecipeError {
    /// There is no such recipe.
    #[error("there is no recipe `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A name that cannot be one.
    #[error("`{0}` cannot be the name of a recipe")]
    Name(String),
    /// A recipe of one's own with the name of a built-in one.
    #[error("the recipe `{0}` is built in and cannot be replaced")]
    BuiltIn(String),
    /// A recipe that says neither what it allows nor what it extends.
    #[error("the recipe `{0}` has neither `tools` nor `extends`")]
    Empty(String),
    /// Recipes that extend each other in a circle.
    #[error("the recipe `{0}` extends itself")]
    Circle(String),
    /// A recipe that allows a tool that the one it extends does not.
    #[error("the recipe `{recipe}` cannot add the tool `{tool}` to `{base}`, which it extends")]
    AddsTool {
        /// The recipe.
        recipe: String,
        /// The recipe that it extends.
        base: String,
        /// The tool.
        tool: String,
    },
    /// A recipe that allows an argument that the one it extends does not.
    #[error(
        "the recipe `{recipe}` cannot add the argument `{field}` of the tool `{tool}` to `{base}`, which it extends"
    )]
    AddsField {
        /// The recipe.
        recipe: String,
        /// The recipe that it extends.
        base: String,
        /// The tool.
        tool: String,
        /// The argument.
        field: String,
    },
    /// A recipe that narrows or takes away a tool that it does not allow.
    #[error("the recipe `{recipe}` has no tool `{tool}` to narrow or take away")]
    NoSuchTool {
        /// The recipe.
        recipe: String,
        /// The tool.
        tool: String,
    },
}

impl Failure for RecipeError {
    fn report(&self) -> Report {
        let report = Report::new(Kind::Invalid, one_line(&self.to_string()));
        match self {
            Self::Unknown { name, known } => {
                match text::closest(name, known.iter().map(String::as_str)) {
                    Some(meant) => report.hint(format!("did you mean `{meant}`?")),
                    None => report.hint(format!(
                        "the recipes are {}",
                        text::listed(known.iter().map(String::as_str))
                    )),
                }
            }
            Self::Name(_) => report.hint("use up to 64 of a-z, 0-9, `_` and `-`"),
            Self::BuiltIn(_) => report.hint("give yours another name and let it extend this one"),
            Self::Empty(_) => report.hint("name the tools that it allows"),
            Self::Circle(_) => report.hint("let it extend a built-in recipe, or name its tools"),
            Self::AddsTool { .. } | Self::AddsField { .. } => {
                report.hint("a recipe that extends another only takes away")
            }
            Self::NoSuchTool { .. } => report.hint("name a tool that it allows"),
        }
    }
}

/// All recipes of a project: the built-in ones, which are read when one is first asked for, and
/// its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipes {
    own: BTreeMap<String, Recipe>,
}

static BUILT_IN: LazyLock<BTreeMap<String, Recipe>> = LazyLock::new(|| {
    let drafts: BTreeMap<String, Draft> =
        rutter_base::yaml::parse(include_str!("recipes/built_in.yaml"))
            .expect("a test reads the embedded file");
    let recipe = |(name, draft)| Ok((String::clone(name), Recipe::new(name, draft, None)?));
    let recipes: Result<_, RecipeError> = drafts.iter().map(recipe).collect();
    recipes.expect("a test checks the embedded recipes")
});

impl Recipes {
    /// The built-in ones and a project's own.
    pub fn with(own: &BTreeMap<String, Draft>) -> Result<Self, RecipeError> {
        let mut recipes = Self::default();
        for name in own.keys() {
            if BUILT_IN.contains_key(name) {
                return Err(RecipeError::BuiltIn(name.clone()));
            }
            if !is_name(name) {
                return Err(RecipeError::Name(name.clone()));
            }
            recipes.add(name, own, &mut Vec::new())?;
        }
        Ok(recipes)
    }

    /// A recipe by its name.
    pub fn get(&self, name: &str) -> Result<&Recipe, RecipeError> {
        let found = self.own.get(name).or_else(|| BUILT_IN.get(name));
        found.ok_or_else(|| RecipeError::Unknown {
            name: name.to_owned(),
            known: self.iter().map(|recipe| recipe.name.clone()).collect(),
        })
    }

    /// All of them: the built-in ones, then the project's own.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        BUILT_IN.values().chain(self.own())
    }

    /// The project's own.
    pub fn own(&self) -> impl Iterator<Item = &Recipe> {
        self.own.values()
    }

    /// Adds a recipe, and before it the one that it extends.
    fn add<'a>(
        &mut self,
        name: &'a str,
        drafts: &'a BTreeMap<String, Draft>,
        below: &mut Vec<&'a str>,
    ) -> Result<(), RecipeError> {
        if self.own.contains_key(name) {
            return Ok(());
        }
        let Some(draft) = drafts.get(name) else { return self.get(name).map(drop) };
        if below.contains(&name) {
            return Err(RecipeError::Circle(name.to_owned()));
        }
        below.push(name);
        let base = match &draft.extends {
            Some(base) => {
                self.add(base, drafts, below)?;
                Some(self.get(base)?)
            }
            None => None,
        };
        let recipe = Recipe::new(name, draft, base)?;
        self.own.insert(name.to_owned(), recipe);
        Ok(())
    }
}

impl Recipe {
    fn new(name: &str, draft: &Draft, base: Option<&Self>) -> Result<Self, RecipeError> {
        let recipe = || name.to_owned();
        let mut tools = match (&draft.tools, base) {
            (None, None) => return Err(RecipeError::Empty(recipe())),
            (None, Some(base)) => base.tools.clone(),
            (Some(wanted), None) => {
                wanted.iter().map(|tool| (tool.clone(), Allowed::default())).collect()
            }
            (Some(wanted), Some(base)) => wanted
                .iter()
                .map(|tool| match base.tools.get(tool) {
                    Some(allowed) => Ok((tool.clone(), allowed.clone())),
                    None => Err(RecipeError::AddsTool {
                        recipe: recipe(),
                        base: base.name.clone(),
                        tool: tool.clone(),
                    }),
                })
                .collect::<Result<BTreeMap<_, _>, _>>()?,
        };
        let absent =
            |tool: &String| RecipeError::NoSuchTool { recipe: recipe(), tool: tool.clone() };
        for (tool, fields) in &draft.fields {
            let allowed = tools.get_mut(tool).ok_or_else(|| absent(tool))?;
            let before = allowed.fields.as_ref();
            if let Some(field) = before.and_then(|before| fields.difference(before).next()) {
                return Err(RecipeError::AddsField {
                    recipe: recipe(),
                    base: base.map(|base| base.name.clone()).unwrap_or_default(),
                    tool: tool.clone(),
                    field: field.clone(),
                });
            }
            allowed.fields = Some(fields.clone());
        }
        for (tool, targets) in &draft.targets {
            let allowed = tools.get_mut(tool).ok_or_else(|| absent(tool))?;
            allowed.targets.extend(targets.iter().map(|(field, &own)| (field.clone(), own)));
        }
        for tool in &draft.without {
            tools.remove(tool).ok_or_else(|| absent(tool))?;
        }
        let description = draft.description.clone();
        let inherited = || base.map(|base| base.description.clone()).unwrap_or_default();
        Ok(Self { name: recipe(), description: description.unwrap_or_else(inherited), tools })
    }
}

/// A name that can stand in a file's name and on a command line.
fn is_name(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(fine)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn own(yaml: &str) -> Result<Recipes, String> {
        let drafts: BTreeMap<String, Draft> = rutter_base::yaml::parse(yaml).unwrap();
        Recipes::with(&drafts).map_err(|error| error.report().to_string())
    }

    #[test]
    fn the_built_in_recipes_are_seven() {
        let recipes = Recipes::default();
        let names: Vec<&str> = recipes.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "braindump",
                "discuss",
                "enrichment",
                "opus_review",
                "ramble",
                "task_execution",
                "yap"
            ]
        );
        let counts: Vec<usize> = recipes.iter().map(|r| r.tools.len()).collect();
        assert_eq!(counts, [9, 4, 9, 16, 8, 9, 8]);
    }

    #[test]
    fn one_of_your_own_leaves_a_part_of_another() {
        let recipes = own("
careful:
  extends: opus_review
  without: [create_task]
  fields: {update_task: [id, priority], set_task_status: [id, status]}
  targets: {update_feature: {name: feature}}
tiny: {extends: careful, tools: [get_task, update_task]}
worker: {description: Any work, tools: [list_ready_tasks, claim_task, search]}
")
        .unwrap();
        let tiny = recipes.get("tiny").unwrap();
        let names: Vec<&str> = tiny.tools.keys().map(String::as_str).collect();
        assert_eq!(names, ["get_task", "update_task"]);
        let fields = tiny.tools["update_task"].fields.as_ref().unwrap();
        assert_eq!(fields, &["id".to_owned(), "priority".to_owned()].into());
        assert_eq!(recipes.get("careful").unwrap().tools.len(), 15);
        assert!(recipes.get("worker").unwrap().tools.contains_key("claim_task"));
        assert_eq!(tiny.description, Recipes::default().get("opus_review").unwrap().description);
    }

    #[track_caller]
    fn refused(yaml: &str, expected: &str) {
        assert_eq!(own(yaml).unwrap_err(), expected);
    }

    #[test]
    fn what_would_widen_is_refused_with_the_tool() {
        refused(
            "mine: {extends: discuss, tools: [delete_discipline]}",
            "the recipe `mine` cannot add the tool `delete_discipline` to `discuss`, which it extends; \
             a recipe that extends another only takes away",
        );
        refused(
            "mine: {extends: opus_review, fields: {update_task: [id, title]}}",
            "the recipe `mine` cannot add the argument `title` of the tool `update_task` to `opus_review`, which it extends; \
             a recipe that extends another only takes away",
        );
        refused(
            "mine: {extends: discuss, without: [create_task]}",
            "the recipe `mine` has no tool `create_task` to narrow or take away; name a tool that it allows",
        );
    }

    #[test]
    fn what_cannot_be_a_recipe_is_refused() {
        refused(
            "discuss: {tools: [delete_task]}",
            "the recipe `discuss` is built in and cannot be replaced; give yours another name and let it extend this one",
        );
        refused(
            "mine: {}",
            "the recipe `mine` has neither `tools` nor `extends`; name the tools that it allows",
        );
        refused("mine: {extends: discus}", "there is no recipe `discus`; did you mean `discuss`?");
        refused(
            "a: {extends: b}\nb: {extends: a}",
            "the recipe `a` extends itself; let it extend a built-in recipe, or name its tools",
        );
        refused(
            "\"m\\e[2J\": {tools: []}",
            "`m\u{FFFD}[2J` cannot be the name of a recipe; use up to 64 of a-z, 0-9, `_` and `-`",
        );
    }

    proptest! {
        #[test]
        fn extending_never_adds(
            base in prop::sample::select(vec!["yap", "ramble", "discuss", "opus_review"]),
            keep in prop::collection::btree_set(0usize..16, 0..16),
            drop in prop::collection::btree_set(0usize..16, 0..4),
        ) {
            let all = Recipes::default();
            let built_in = all.get(base).unwrap();
            let pick = |indices: &BTreeSet<usize>| -> BTreeSet<String> {
                let tools: Vec<&String> = built_in.tools.keys().collect();
                indices.iter().filter_map(|&index| tools.get(index)).map(|&tool| tool.clone()).collect()
            };
            let tools = pick(&keep);
            let without = pick(&drop).intersection(&tools).cloned().collect();
            let draft = Draft { extends: Some(base.into()), tools: Some(tools), without, ..Draft::default() };
            let recipes = Recipes::with(&[("mine".to_owned(), draft)].into()).unwrap();
            for (tool, allowed) in &recipes.get("mine").unwrap().tools {
                prop_assert_eq!(Some(allowed), built_in.tools.get(tool));
            }
        }
    }
}
