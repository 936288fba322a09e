//! Whether a project has the files and folders that it must have.

use super::checklist::{Check, Checklist, Outcome};
use super::{Guide, Project};

impl Guide {
    /// Checks the structure of a project.
    pub fn check_structure(&self, project: &Project) -> Checklist {
        Checklist {
            title: "Project Structure Check".into(),
            project: project.name().to_owned(),
            failed: "Missing",
            checks: self.presence(project, None),
            notes: Vec::new(),
        }
    }

    /// A check for each file and folder that a project must have.
    pub(super) fn presence(&self, project: &Project, group: Option<&'static str>) -> Vec<Check> {
        let manifest = self.manifest();
        let checks = manifest.structure.iter().map(|path| Check {
            group,
            file: path.clone(),
            item: path.clone(),
            outcome: project.has(path).map_or_else(Outcome::Failed, |()| Outcome::Passed(None)),
        });
        checks.collect()
    }
}
