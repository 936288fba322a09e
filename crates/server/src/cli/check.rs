//! `rutter check`

mod project;

use clap::{Args, ValueEnum};
use rutter_base::failure::{Problem, Report, Severity};
use rutter_base::text::one_line;
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, FOUND_ERRORS, Serving, Surroundings};
use crate::module::ModuleId;

#[derive(Debug, Args)]
#[command(
    after_help = "Checks the content that is served. Checks the project in this folder as well, its structure and the \
health of its documents, where the folder has at least two of the documents that the process asks for \
(intent, brief, status, CLAUDE.md), or where --project or --fix says so.

Exit code: 0 when there are no errors, 1 when there are, 2 when the configuration is wrong.

Examples:
  rutter check
  rutter check --project ../other     and the project there
  rutter check --fix                  make what the project here lacks, from the stubs
  rutter check --format github        as annotations of a pull request
  rutter check --json"
)]
pub(super) struct Check {
    #[command(flatten)]
    serving: Serving,
    /// Check this project, whatever it looks like [default: the working directory]
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = ".")]
    project: Option<String>,
    /// Make what the project lacks from the stubs; what exists is not touched
    #[arg(long)]
    fix: bool,
    /// The type of project that --fix chooses stubs for
    #[arg(long = "type", value_name = "TYPE", requires = "fix")]
    project_type: Option<String>,
    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// How the problems are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Serialize)]
struct Found {
    /// The module whose content it is about; none for the configuration
    module: Option<ModuleId>,
    #[serde(flatten)]
    problem: Problem,
}

#[derive(Serialize)]
struct Findings {
    /// The project's checks, where it was checked
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<project::Outcome>,
    problems: Vec<Found>,
    errors: usize,
    warnings: usize,
}

impl Check {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let setup = self.serving.setup(surroundings)?;
        let configured =
            setup.problems.iter().map(|problem| Found { module: None, problem: problem.clone() });
        let content = setup.app.modules().iter().flat_map(|module| {
            let mut problems = module.problems();
            problems.extend(module.review());
            problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
            let module = Some(module.id());
            problems.into_iter().map(move |problem| Found { module, problem })
        });
        let project = self.check_project(&setup, surroundings)?;
        let faults = project.iter().flat_map(|project| project.problems.clone());
        let faults = faults.map(|problem| Found { module: Some(ModuleId::Process), problem });
        let problems: Vec<Found> = configured.chain(content).chain(faults).collect();
        let count =
            |severity| problems.iter().filter(|found| found.problem.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let findings = Findings { project, problems, errors, warnings };
        match if self.json { Format::Json } else { self.format } {
            Format::Text => print_text(&findings, screen),
            Format::Json => screen.json(&findings),
            Format::Github => print_github(&findings, screen),
        }
        Ok(if errors == 0 { FINE } else { FOUND_ERRORS })
    }
}

fn print_text(findings: &Findings, screen: &mut Screen) {
    for made in findings.project.iter().flat_map(|project| &project.made) {
        screen.line(&format!("{} {}", screen.styled(Style::Good, "made"), one_line(made)));
    }
    for found in &findings.problems {
        let label = match found.problem.severity {
            Severity::Error => screen.styled(Style::Bad, "error"),
            Severity::Warning => screen.styled(Style::Warning, "warning"),
        };
        screen.line(&format!("{label}: {}", one_line(&found.problem.to_string())));
    }
    if let Some(project) = &findings.project {
        screen.line(&format!("project: {} of {} checks passed", project.passed, project.total));
    }
    let summary = match (findings.errors, findings.warnings) {
        (0, 0) => screen.styled(Style::Good, "no problems found"),
        (errors, warnings) => format!("{errors} errors, {warnings} warnings"),
    };
    screen.line(&summary);
}

fn print_github(findings: &Findings, screen: &mut Screen) {
    for Found { problem, .. } in &findings.problems {
        let severity = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let line = problem.line.map_or_else(String::new, |line| format!(",line={line}"));
        let file = escape(&problem.file).replace(':', "%3A").replace(',', "%2C");
        screen.line(&format!("::{severity} file={file}{line}::{}", escape(&problem.message)));
    }
}

/// As the workflow commands of GitHub Actions want data to be written.
fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
