//! The fixture tools, resources and prompts of the official conformance suite.

use crate::module::{Module, ModuleId};

/// The suite's fixtures, as a module like any other.
#[derive(Debug, Default)]
pub(crate) struct Fixtures;

impl Module for Fixtures {
    fn id(&self) -> ModuleId {
        ModuleId::Conformance
    }

    fn summary(&self) -> String {
        "fixtures of the conformance suite".into()
    }
}
