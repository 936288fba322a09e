//! Disciplines that a project can begin with: data, and made like any other.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::{DisciplinePatch, NewDiscipline};

/// A discipline that a project can begin with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predefined {
    /// Its name.
    pub name: String,
    display_name: String,
    acronym: String,
    icon: String,
    color: String,
    system_prompt: String,
    conventions: String,
    skills: Vec<String>,
}

static ALL: LazyLock<Vec<Predefined>> = LazyLock::new(|| {
    rutter_base::yaml::parse(include_str!("disciplines.yaml"))
        .expect("a test reads the embedded file")
});

impl Predefined {
    /// All of them, in the order in which they are offered.
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The discipline, to be created.
    pub fn to_new(&self) -> NewDiscipline {
        NewDiscipline {
            name: self.name.clone(),
            display_name: self.display_name.clone(),
            icon: self.icon.clone(),
            color: self.color.clone(),
            acronym: Some(self.acronym.clone()),
            fields: DisciplinePatch {
                system_prompt: Some(self.system_prompt.clone()),
                conventions: Some(self.conventions.clone()),
                skills: Some(self.skills.clone()),
                ..DisciplinePatch::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rutter_base::root::Root;

    use super::*;
    use crate::{Actor, Board, Options};

    #[tokio::test]
    async fn every_one_of_them_can_be_created_beside_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let board = Board::new(&Root::open(folder.path()).unwrap(), Options::default());
        let mut acronyms = BTreeSet::new();
        for predefined in Predefined::all() {
            let made = board.create_discipline(&Actor::of("init"), predefined.to_new()).await;
            assert!(acronyms.insert(made.unwrap().acronym), "{}", predefined.name);
        }
        assert!(acronyms.len() >= 8);
    }
}
