//! `rutter doctor`

use clap::Args;
use rutter_base::failure::{Problem, Severity};
use rutter_base::root::{RelativePath, Root};
use rutter_base::text::one_line;
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, FOUND_ERRORS, MISUSED, Serving, Surroundings, wait};
use crate::module::ModuleId;
use crate::setup::{Because, Origin, Setup};

/// How many problems are shown before the rest is left to `rutter check`.
const SHOWN: usize = 10;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 when all is well, 1 when content has errors, 2 when the configuration is wrong."
)]
pub(super) struct Doctor {
    #[command(flatten)]
    serving: Serving,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Diagnosis {
    version: &'static str,
    /// The configuration file's name
    configuration: Option<String>,
    profile: Option<&'static str>,
    /// The recipe of the session that a server here would run in
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<String>,
    content: Vec<Origin>,
    modules: Vec<Served>,
    tools: usize,
    problems: Vec<Problem>,
    /// What to do
    advice: Vec<String>,
    /// Why the server would not start
    failure: Option<String>,
}

#[derive(Serialize)]
struct Served {
    module: ModuleId,
    serves: String,
}

impl Doctor {
    pub(super) fn run(&self, surroundings: &Surroundings, screen: &mut Screen) -> u8 {
        let (diagnosis, code) = match self.serving.setup(surroundings) {
            Ok(setup) => examine(&setup, surroundings),
            Err(report) => {
                let advice = vec![
                    "mend the setting that is named above, then run `rutter doctor` again".into(),
                ];
                let failure = Some(one_line(&report.to_string()));
                let version = env!("CARGO_PKG_VERSION");
                (Diagnosis { version, advice, failure, ..Diagnosis::default() }, MISUSED)
            }
        };
        if self.json {
            screen.json(&diagnosis);
        } else {
            print(&diagnosis, screen);
        }
        code
    }
}

fn examine(setup: &Setup, surroundings: &Surroundings) -> (Diagnosis, u8) {
    let app = &setup.app;
    let modules =
        app.modules().iter().map(|module| Served { module: module.id(), serves: module.summary() });
    let content = app.problems().into_iter().map(|(_, problem)| problem);
    let view = wait(async { Ok(app.view().await) }).unwrap_or_default();
    let closed = view.closed.map(|report| Problem::error("session", report.to_string()));
    let problems: Vec<Problem> =
        setup.problems.iter().cloned().chain(content).chain(closed).collect();
    let errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    let mut advice = Vec::new();
    if !problems.is_empty() {
        advice.push("run `rutter check` for all problems with the content".to_owned());
    }
    if setup.origins.iter().all(|origin| origin.because == Because::Default) {
        advice.push(
            "nothing of your own is served yet: put Markdown into docs/, or run `rutter init`"
                .to_owned(),
        );
    }
    if !has_file(surroundings, ".mcp.json") {
        advice.push("no client is wired to this folder: run `claude mcp add rutter -- rutter serve`, or `rutter init`".to_owned());
    }
    let name =
        |path: &std::path::Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let diagnosis = Diagnosis {
        version: env!("CARGO_PKG_VERSION"),
        configuration: setup.config_file.as_deref().and_then(name),
        profile: setup.profile.map(super::Profile::as_str),
        content: setup.origins.clone(),
        modules: modules.collect(),
        recipe: view.context.and_then(|context| context.recipe.clone()),
        tools: app.tools(&view.scope).len(),
        problems,
        advice,
        failure: None,
    };
    (diagnosis, if errors { FOUND_ERRORS } else { FINE })
}

fn has_file(surroundings: &Surroundings, name: &str) -> bool {
    let root = Root::open(&surroundings.folder).ok();
    root.zip(RelativePath::new(name).ok()).is_some_and(|(root, path)| root.stamp(&path).is_ok())
}

fn print(diagnosis: &Diagnosis, screen: &mut Screen) {
    screen.line(&screen.styled(Style::Heading, &format!("rutter {}", diagnosis.version)));
    if let Some(failure) = &diagnosis.failure {
        screen.line(&format!(
            "{} {failure}",
            screen.styled(Style::Bad, "the server would not start:")
        ));
    } else {
        let configuration = diagnosis
            .configuration
            .as_deref()
            .unwrap_or("none; what is found in this folder is served");
        screen.line(&format!("configuration  {configuration}"));
        screen.line(&format!(
            "profile        {}",
            diagnosis.profile.unwrap_or("none; everything is shown")
        ));
        if let Some(recipe) = &diagnosis.recipe {
            screen.line(&format!("recipe         {}", one_line(recipe)));
        }
        screen.line(&format!("tools          {}", diagnosis.tools));
        screen.line(&format!("\n{}", screen.styled(Style::Heading, "served from")));
        for Origin { kind, place, because } in &diagnosis.content {
            let because = match because {
                Because::Configured => "configured",
                Because::Found => "found here",
                Because::Default => "nothing else was found",
            };
            screen.line(&format!(
                "  {kind:11}  {place}  {}",
                screen.styled(Style::Faint, &format!("({because})"))
            ));
        }
        screen.line(&format!("\n{}", screen.styled(Style::Heading, "modules")));
        for Served { module, serves } in &diagnosis.modules {
            screen.line(&format!("  {:11}  {serves}", module.as_str()));
        }
    }
    if !diagnosis.problems.is_empty() {
        screen.line(&format!("\n{}", screen.styled(Style::Heading, "problems")));
        for problem in diagnosis.problems.iter().take(SHOWN) {
            let mark = match problem.severity {
                Severity::Error => screen.styled(Style::Bad, "✗"),
                Severity::Warning => screen.styled(Style::Warning, "!"),
            };
            screen.line(&format!("  {mark} {}", one_line(&problem.to_string())));
        }
        if diagnosis.problems.len() > SHOWN {
            screen.line(&format!("  and {} more", diagnosis.problems.len() - SHOWN));
        }
    }
    if diagnosis.advice.is_empty() {
        screen.line(&format!("\n{}", screen.styled(Style::Good, "all is well")));
    } else {
        screen.line(&format!("\n{}", screen.styled(Style::Heading, "what to do")));
        for advice in &diagnosis.advice {
            screen.line(&format!("  {advice}"));
        }
    }
}
