//! Prompts that follow each other: each is a Markdown file with declared inputs, described in
//! `prompts.meta.yaml`.

mod input;
mod prompt;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use rutter_base::failure::{Problem, Report};
use rutter_base::root::{RelativePath, Root, Stamp};
use rutter_base::template::Template;
use rutter_base::yaml;
use serde::Deserialize;

pub use input::{Input, InputError, Type};
pub use prompt::{Prompt, WorkflowError};

const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The prompts of a workflow, and the problems found in loading them.
#[derive(Debug)]
pub struct Workflow {
    root: Root,
    meta: RelativePath,
    loaded: OnceLock<Loaded>,
    /// Parsed templates, each with the state of the file that it was parsed from.
    templates: Mutex<BTreeMap<String, (Stamp, Arc<Template>)>>,
}

#[derive(Debug, Default)]
struct Loaded {
    prompts: Vec<Prompt>,
    problems: Vec<Problem>,
}

/// `prompts.meta.yaml` is a list, or a map with `prompts:`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Meta {
    List(Vec<Prompt>),
    Map { prompts: Vec<Prompt> },
}

impl Workflow {
    /// Reads the metadata file `meta` below `root`; prompt files are relative to it.
    pub fn open(root: Root, meta: RelativePath) -> Result<Self, Problem> {
        let loaded = Loaded::read(&root, &meta)?;
        Ok(Self { root, meta, loaded: OnceLock::from(loaded), templates: Mutex::default() })
    }

    /// Reads the metadata when it is first asked for: for files that are known to be good.
    pub fn deferred(root: Root, meta: RelativePath) -> Self {
        Self { root, meta, loaded: OnceLock::new(), templates: Mutex::default() }
    }

    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| {
            let problem = |problem| Loaded { prompts: Vec::new(), problems: vec![problem] };
            Loaded::read(&self.root, &self.meta).unwrap_or_else(problem)
        })
    }

    /// The prompts, in the order of the metadata file.
    pub fn prompts(&self) -> &[Prompt] {
        &self.loaded().prompts
    }

    /// What is wrong with the metadata and the files.
    pub fn problems(&self) -> Vec<Problem> {
        let broken = self.prompts().iter().filter_map(|prompt| {
            let error = self.template(prompt).err()?;
            Some(Problem::error(prompt.file(), Report::from(error).to_string()))
        });
        self.loaded().problems.iter().cloned().chain(broken).collect()
    }

    /// Whether nothing can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.root.is_immutable()
    }
}

impl Loaded {
    fn read(root: &Root, meta: &RelativePath) -> Result<Self, Problem> {
        let file = meta.as_str();
        let text = root
            .read_text(meta, MAX_FILE)
            .map_err(|error| Problem::error(file, error.to_string()))?;
        let parsed = yaml::parse::<Meta>(&text)
            .map_err(|error| Problem::error(file, error.message).at_line(error.line))?;
        let (Meta::List(listed) | Meta::Map { prompts: listed }) = parsed;
        let mut ids = BTreeSet::new();
        let mut loaded = Self::default();
        for prompt in listed {
            if let Err(reason) = prompt.check() {
                loaded.problems.push(Problem::error(file, reason));
            } else if !ids.insert(prompt.id.clone()) {
                return Err(Problem::error(
                    file,
                    format!("two prompts have the id `{}`", prompt.id),
                ));
            } else {
                loaded.prompts.push(prompt);
            }
        }
        Ok(loaded)
    }
}
