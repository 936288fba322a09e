//! The project that is checked beside the content, and what `--fix` makes of it.

use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::root::{Created, Root};
use rutter_base::text;
use rutter_process::guide::{Checklist, Guide, Project};
use serde::Serialize;

use super::{Check, Surroundings};
use crate::projects::expand;
use crate::setup::Setup;

/// How the project is.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub(super) passed: usize,
    pub(super) total: usize,
    /// The files that were made
    pub(super) made: Vec<String>,
    checks: Vec<Item>,
    /// What does not hold, for the list of all problems
    #[serde(skip)]
    pub(super) problems: Vec<Problem>,
}

#[derive(Serialize)]
struct Item {
    file: String,
    #[serde(rename = "item")]
    what: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Check {
    /// Checks the project if there is one to check, after making what it lacks if that is wanted.
    pub(super) fn check_project(
        &self,
        setup: &Setup,
        surroundings: &Surroundings,
    ) -> Result<Option<Outcome>, Report> {
        let named = self.project.as_deref().unwrap_or(".");
        let root = Root::open(&surroundings.folder.join(expand(named))).map_err(|error| {
            let message = format!(
                "--project: the folder `{}` cannot be opened: {}",
                text::one_line(named),
                error.kind()
            );
            Report::new(Kind::Invalid, message)
        })?;
        let guide = setup.app.guide()?;
        let project = Project::new(root, named);
        if self.project.is_none() && !self.fix && !guide.is_project(&project) {
            return Ok(None);
        }
        let made = if self.fix { self.make(setup, guide, &project)? } else { Vec::new() };
        Ok(Some(Outcome::new(&guide.check_health(&project), made)))
    }

    fn make(&self, setup: &Setup, guide: &Guide, project: &Project) -> Result<Vec<String>, Report> {
        if setup.read_only {
            let message = "--fix writes, and the server is read-only";
            return Err(Report::new(Kind::Invalid, message).hint("leave one of them out"));
        }
        let mut made = Vec::new();
        for file in guide.starters(project, self.project_type.as_deref())? {
            let created = project.root().create(&file.path, file.text.as_bytes());
            let created = created.map_err(|error| {
                let message = format!("`{}` cannot be written: {}", file.path, error.kind());
                Report::new(Kind::Invalid, message)
            })?;
            if created == Created::New {
                made.push(file.path.to_string());
            }
        }
        Ok(made)
    }
}

impl Outcome {
    fn new(list: &Checklist, made: Vec<String>) -> Self {
        let checks = list.checks.iter().map(|check| Item {
            file: check.file.clone(),
            what: check.item.clone(),
            ok: check.passed(),
            detail: check.detail().map(str::to_owned),
        });
        let problems = list
            .faults()
            .into_iter()
            .map(|check| Problem::error(&check.file, check.detail().unwrap_or_default()));
        Self {
            passed: list.passed(),
            total: list.checks.len(),
            made,
            checks: checks.collect(),
            problems: problems.collect(),
        }
    }
}
