//! The board as a module.

use crate::module::{Module, ModuleId};

#[derive(Debug)]
pub(super) struct Board;

impl Module for Board {
    fn id(&self) -> ModuleId {
        ModuleId::Board
    }

    fn summary(&self) -> String {
        "learnings and progress of the project".into()
    }

    fn is_immutable(&self) -> bool {
        true
    }
}
