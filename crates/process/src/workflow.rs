//! Prompts that follow each other: each is a Markdown file with declared inputs, described in
//! `prompts.meta.yaml`.

mod input;
mod prompt;

use std::collections::BTreeSet;

use rutter_base::failure::Problem;
use rutter_base::root::{RelativePath, Root};
use rutter_base::yaml;
use serde::Deserialize;

pub use input::{Input, InputError, Type};
pub use prompt::{Prompt, WorkflowError};

const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The prompts of a workflow, and the problems found in loading them.
#[derive(Debug)]
pub struct Workflow {
    root: Root,
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
    pub fn open(root: Root, meta: &RelativePath) -> Result<Self, Problem> {
        let file = meta.as_str();
        let text = root
            .read_text(meta, MAX_FILE)
            .map_err(|error| Problem::error(file, error.to_string()))?;
        let parsed = yaml::parse::<Meta>(&text)
            .map_err(|error| Problem::error(file, error.message).at_line(error.line))?;
        let (Meta::List(listed) | Meta::Map { prompts: listed }) = parsed;
        let mut ids = BTreeSet::new();
        let mut prompts = Vec::new();
        let mut problems = Vec::new();
        for prompt in listed {
            if let Err(reason) = prompt.check() {
                problems.push(Problem::error(file, reason));
            } else if !ids.insert(prompt.id.clone()) {
                return Err(Problem::error(
                    file,
                    format!("two prompts have the id `{}`", prompt.id),
                ));
            } else {
                prompts.push(prompt);
            }
        }
        let workflow = Self { root, prompts, problems };
        Ok(workflow.checked())
    }

    /// Adds what is wrong with the prompts' files.
    fn checked(mut self) -> Self {
        let broken = self.prompts.iter().filter_map(|prompt| {
            let error = self.template(prompt).err()?;
            Some(Problem::error(
                prompt.file(),
                rutter_base::failure::Report::from(error).to_string(),
            ))
        });
        let broken: Vec<Problem> = broken.collect();
        self.problems.extend(broken);
        self
    }

    /// The prompts, in the order of the metadata file.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// What is wrong with the metadata and the files.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether nothing can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.root.is_immutable()
    }
}
