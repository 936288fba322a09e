//! What is missing in a project, as files that could be made. Making them is for others.

use rutter_base::root::RelativePath;

use super::manifest::Starter;
use super::{Guide, GuideError, Project, relative};

/// A file to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: RelativePath,
    /// What is in it.
    pub text: String,
}

/// How many of the documents that are checked make a folder a project of the process. One alone,
/// such as `CLAUDE.md`, has many that never heard of it.
const TELLING: usize = 2;

impl Guide {
    /// Whether a folder looks like a project that follows the process.
    pub fn is_project(&self, project: &Project) -> bool {
        let manifest = self.manifest();
        let checked = manifest.documents.iter().filter(|document| document.health.is_some());
        checked.filter(|document| project.locate(document).is_some()).count() >= TELLING
    }

    /// The files that a project lacks and that there is a start for.
    ///
    /// A file is made only for a check that fails, and never for a document that is there under
    /// another of its paths: it would take that one's place.
    pub fn starters(
        &self,
        project: &Project,
        project_type: Option<&str>,
    ) -> Result<Vec<File>, GuideError> {
        let manifest = self.manifest();
        let missing: Vec<&String> =
            manifest.structure.iter().filter(|path| project.has(path).is_err()).collect();
        let wanted = |starter: &&Starter| {
            let document =
                manifest.documents.iter().find(|document| document.paths.contains(&starter.path));
            match document {
                Some(document) => project.locate(document).is_none(),
                None => missing
                    .iter()
                    .any(|path| **path == starter.path || in_folder(&starter.path, path)),
            }
        };
        let needed = manifest.scaffold.iter().filter(wanted);
        needed
            .filter_map(|starter| Some((relative(&starter.path)?, starter)))
            .map(|(path, starter)| {
                let text = match &starter.stub {
                    Some(stub) => self.stub(stub, project_type)?,
                    None => starter.text.clone().unwrap_or_default(),
                };
                Ok(File { path, text })
            })
            .collect()
    }
}

fn in_folder(file: &str, folder: &str) -> bool {
    folder.ends_with('/') && file.starts_with(folder)
}
