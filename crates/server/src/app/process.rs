//! The process as a module.

use std::sync::Arc;

use rutter_base::failure::Problem;
use rutter_base::text;
use rutter_process::guide::Guide;

use crate::module::{Module, ModuleId};

#[derive(Debug)]
pub(super) struct Process(pub(super) Arc<Guide>);

impl Module for Process {
    fn id(&self) -> ModuleId {
        ModuleId::Process
    }

    fn summary(&self) -> String {
        format!("the stages {}", text::listed(self.0.stage_names().iter().map(String::as_str)))
    }

    fn problems(&self) -> Vec<Problem> {
        self.0.problems()
    }

    fn is_immutable(&self) -> bool {
        self.0.is_immutable()
    }
}
