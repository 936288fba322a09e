//! Whether what is in a project's documents is whole: files, frontmatter, sections. What they
//! mean is for a reviewer.

use rutter_base::document::DocumentError;
use rutter_base::text;

use super::checklist::{Check, Checklist, Outcome};
use super::manifest::{Document, Health};
use super::project::{Content, holds};
use super::{Guide, Project};

impl Guide {
    /// Checks the health of a project.
    pub fn check_health(&self, project: &Project) -> Checklist {
        let manifest = self.manifest();
        let mut checks = self.presence(project, Some("File presence"));
        let (mut frontmatter, mut sections, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (document, health) in
            manifest.documents.iter().filter_map(|d| Some((d, d.health.as_ref()?)))
        {
            let (path, content) = match project.locate(document) {
                Some(place) => {
                    if let Some(note) = place.note() {
                        notes.push(note);
                    }
                    let content = project.read(&place.path);
                    (place.path, content)
                }
                None => (first_path(document), Err("missing".to_owned())),
            };
            if health.frontmatter {
                let outcome = content.as_ref().map_err(Clone::clone).and_then(fields);
                frontmatter.push(check("Frontmatter", &path, path.clone(), outcome));
            }
            sections.extend(required(health, &path, content.as_ref()));
        }
        checks.extend(frontmatter);
        checks.extend(sections);
        Checklist {
            title: "Project Health Check".into(),
            project: project.name().to_owned(),
            failed: "Failed",
            checks,
            notes,
        }
    }
}

fn first_path(document: &Document) -> String {
    document.paths.first().cloned().unwrap_or_else(|| document.id.clone())
}

fn required(health: &Health, path: &str, content: Result<&Content, &String>) -> Vec<Check> {
    let headings = content.map(Content::headings);
    let checks = health.sections.iter().map(|wanted| {
        let outcome = match &headings {
            Err(reason) => Err((*reason).clone()),
            Ok(headings) => {
                let found = headings
                    .iter()
                    .any(|heading| wanted.all().iter().any(|words| holds(&heading.title, words)));
                if found { Ok(()) } else { Err(format!("no heading says `{}`", wanted.shown())) }
            }
        };
        check("Required sections", path, format!("{path}: {}", wanted.shown()), outcome)
    });
    checks.collect()
}

fn check(group: &'static str, file: &str, item: String, outcome: Result<(), String>) -> Check {
    let outcome = outcome.map_or_else(Outcome::Failed, |()| Outcome::Passed(None));
    Check { group: Some(group), file: file.to_owned(), item, outcome }
}

fn fields(content: &Content) -> Result<(), String> {
    match &content.frontmatter {
        Ok(fields) if fields.is_empty() => Err("the frontmatter is empty".to_owned()),
        Ok(_) => Ok(()),
        Err(DocumentError::NoFrontmatter) => Err("no frontmatter".to_owned()),
        Err(DocumentError::Unclosed) => Err("the frontmatter has no closing `---`".to_owned()),
        Err(error) => {
            let line = error.line().map_or_else(String::new, |line| format!(" at line {line}"));
            Err(format!("broken frontmatter{line}: {}", text::cap(error.to_string(), 200)))
        }
    }
}
