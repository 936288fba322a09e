//! `rutter reload`

use clap::Args;
use rutter_base::failure::{Report, Severity};

use super::screen::{Screen, Style};
use super::{FINE, FOUND_ERRORS, Project, Surroundings};

#[derive(Debug, Args)]
#[command(
    after_help = "Servers follow their files by themselves; this is for when that is off, or to be sure.
The same as sending SIGHUP to each server of this workspace. A broken workflow is reported here, and
servers keep the one they have.

Example:
  rutter reload"
)]
pub(super) struct Reload {
    #[command(flatten)]
    project: Project,
}

impl Reload {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        // A workflow that cannot be read ends here, with the reason.
        let workflow = self.project.workflow(surroundings)?;
        if workflow.is_immutable() {
            screen.line("the workflow is the embedded one, which does not change");
            return Ok(FINE);
        }
        let problems = workflow.problems();
        for problem in &problems {
            let mark = screen.styled(Style::Warning, "!");
            screen.line(&format!("{mark} {}", rutter_base::text::one_line(&problem.to_string())));
        }
        workflow.store().request_reload()?;
        screen.line("the servers of this workspace were asked to read the workflow again");
        let errors = problems.iter().any(|problem| problem.severity == Severity::Error);
        Ok(if errors { FOUND_ERRORS } else { FINE })
    }
}
