//! How work is done here: stages, each with a specification, named by a manifest.

use std::sync::OnceLock;

use rutter_base::failure::{Failure, Kind, Problem, Report};
use rutter_base::root::{ReadError, RelativePath, Root};
use rutter_base::text;
use rutter_base::yaml;
use serde::Deserialize;

const MANIFEST: &str = "process.yaml";
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// A process: the manifest, and the folder with the files that it names.
#[derive(Debug)]
pub struct Guide {
    root: Root,
    stages: OnceLock<Vec<Stage>>,
}

/// A stage of the process.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// What a caller names it by.
    pub id: String,
    /// What a person names it by.
    pub title: String,
    /// The file with its specification.
    pub file: String,
    /// What it is for.
    #[serde(default)]
    pub summary: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    #[serde(rename = "version")]
    _version: u32,
    stages: Vec<Stage>,
}

/// Why the process did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GuideError {
    /// There is no such stage.
    #[error("stage `{stage}` is not in the process")]
    UnknownStage {
        /// What was asked for.
        stage: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The manifest names a file that cannot be read.
    #[error("`{file}` cannot be read")]
    Unreadable {
        /// The file, relative to the process's folder.
        file: String,
        /// What is wrong with it.
        #[source]
        cause: ReadError,
    },
}

impl Failure for GuideError {
    fn report(&self) -> Report {
        match self {
            Self::UnknownStage { stage, known } => Report::new(
                Kind::NotFound,
                format!(
                    "Stage '{stage}' is not yet supported. Supported stages: {}.",
                    known.join(", ")
                ),
            ),
            Self::Unreadable { file, cause } => Report::new(
                Kind::NotFound,
                format!("`{file}` of the process cannot be read: {}", plain(cause)),
            )
            .hint("put the file back, or name another in process.yaml"),
        }
    }
}

/// The cause without what the system says of its paths.
fn plain(cause: &ReadError) -> String {
    match cause {
        ReadError::Io(error) => error.kind().to_string(),
        other => other.to_string(),
    }
}

impl Guide {
    /// Reads the manifest of a folder. A folder without one follows the built-in process, whose
    /// files are named as the specification names them.
    pub fn open(root: Root) -> Result<Self, Problem> {
        let stages = read_manifest(&root)?;
        Ok(Self { root, stages: OnceLock::from(stages) })
    }

    /// Reads the manifest when it is first asked for: for files that are known to be good.
    pub fn deferred(root: Root) -> Self {
        Self { root, stages: OnceLock::new() }
    }

    /// The stages, in the order of the process.
    pub fn stages(&self) -> &[Stage] {
        self.stages.get_or_init(|| read_manifest(&self.root).unwrap_or_default())
    }

    /// Whether nothing can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.root.is_immutable()
    }

    /// The specification of a stage, as the file is now.
    pub fn stage(&self, name: &str) -> Result<String, GuideError> {
        let stage = self.stages().iter().find(|stage| stage.id.eq_ignore_ascii_case(name.trim()));
        let Some(stage) = stage else {
            return Err(GuideError::UnknownStage {
                stage: text::cap(text::one_line(name), 100),
                known: self.stages().iter().map(|stage| stage.id.clone()).collect(),
            });
        };
        let unreadable = |cause| GuideError::Unreadable { file: stage.file.clone(), cause };
        let path =
            RelativePath::new(stage.file.as_str()).map_err(|_| unreadable(ReadError::Escape))?;
        self.root.read_text(&path, MAX_FILE).map_err(unreadable)
    }

    /// What is wrong with the files that the manifest names.
    pub fn problems(&self) -> Vec<Problem> {
        let unreadable = self.stages().iter().filter_map(|stage| self.stage(&stage.id).err());
        unreadable.map(|error| Problem::error(MANIFEST, Report::from(error).to_string())).collect()
    }
}

fn read_manifest(root: &Root) -> Result<Vec<Stage>, Problem> {
    let path =
        RelativePath::new(MANIFEST).map_err(|error| Problem::error(MANIFEST, error.to_string()))?;
    match root.read_text(&path, MAX_FILE) {
        Err(ReadError::NotFound) => Ok(built_in()),
        Err(error) => Err(Problem::error(MANIFEST, error.to_string())),
        Ok(text) => yaml::parse::<Manifest>(&text)
            .map(|manifest| manifest.stages)
            .map_err(|error| Problem::error(MANIFEST, error.message).at_line(error.line)),
    }
}

fn built_in() -> Vec<Stage> {
    [("discover", "Discover"), ("design", "Design"), ("develop", "Develop")]
        .into_iter()
        .map(|(id, title)| Stage {
            id: id.into(),
            title: title.into(),
            file: format!("ACM-{}-SPEC.md", id.to_uppercase()),
            summary: None,
        })
        .collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files that are served")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_without_a_manifest_follows_the_built_in_process() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ACM-DESIGN-SPEC.md"), "# Design\n").unwrap();
        let guide = Guide::open(Root::open(folder.path()).unwrap()).unwrap();
        assert_eq!(guide.stage("design").unwrap(), "# Design\n");
        assert_eq!(
            Report::from(guide.stage("deliver").unwrap_err()).to_string(),
            "Stage 'deliver' is not yet supported. Supported stages: discover, design, develop."
        );
        assert_eq!(
            Report::from(guide.stage("discover").unwrap_err()).to_string(),
            "`ACM-DISCOVER-SPEC.md` of the process cannot be read: there is no such file; \
             put the file back, or name another in process.yaml"
        );
        assert_eq!(guide.problems().len(), 2);
    }

    #[test]
    fn a_manifest_names_other_stages_and_cannot_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = "version: 1\nstages:\n  - {id: ship, title: Ship, file: ../secret.md}\n";
        fs::write(folder.path().join("process.yaml"), manifest).unwrap();
        let guide = Guide::open(Root::open(folder.path()).unwrap()).unwrap();
        assert!(guide.stage("ship").is_err());
        fs::write(folder.path().join("process.yaml"), "version: 1\nstage: []\n").unwrap();
        let problem = Guide::open(Root::open(folder.path()).unwrap()).unwrap_err();
        assert_eq!(problem.line, Some(2), "{problem}");
    }
}
