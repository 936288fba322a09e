//! What the process says about one type of project: its section, the rows of the modifiers, and
//! its column of every table that compares the types.

use std::fmt::Write;

use rutter_base::document::{self, Section};

use super::manifest::OneOf;
use super::table::{Table, bare, same, tables};
use super::{Guide, GuideError, is, shown};

impl Guide {
    /// Guidance for a type of project, and for its modifiers.
    pub fn type_guidance(
        &self,
        kind: &str,
        scale: Option<&str>,
        scope: Option<&str>,
    ) -> Result<String, GuideError> {
        let manifest = self.manifest();
        let types = &manifest.project_types;
        let Some(kind) = types.types.iter().find(|known| is(known, kind)) else {
            let known = types.types.clone();
            return Err(GuideError::Unknown { what: "project type", name: shown(kind), known });
        };
        let scale = scale.map(|word| modifier("scale", &types.scales, word)).transpose()?;
        let scope = scope.map(|word| modifier("scope", &types.scopes, word)).transpose()?;
        let text = self.text(&types.file)?;
        let body = document::body(&text).unwrap_or(&text);
        let specification = Specification { body, sections: document::sections(body) };
        let mut guidance = match specification.about(kind) {
            Some(section) => section.trim_end().trim_end_matches("---").trim_end().to_owned(),
            None => format!("# {kind}\n\n`{}` has no section about this type.", types.file),
        };
        for modifier in [scale, scope].into_iter().flatten() {
            let _ = write!(guidance, "\n\n{}", specification.modifier(modifier));
        }
        for comparison in specification.columns(kind) {
            let _ = write!(guidance, "\n\n{comparison}");
        }
        guidance.push('\n');
        Ok(guidance)
    }
}

fn modifier<'a>(what: &'static str, all: &'a [OneOf], word: &str) -> Result<&'a OneOf, GuideError> {
    all.iter().find(|one| one.all().iter().any(|name| is(name, word))).ok_or_else(|| {
        let known = all.iter().flat_map(OneOf::all).cloned().collect();
        GuideError::Unknown { what, name: shown(word), known }
    })
}

struct Specification<'a> {
    body: &'a str,
    sections: Vec<Section>,
}

impl<'a> Specification<'a> {
    /// The section whose heading is the word alone (`2. App`), else the first that begins with it.
    fn about(&self, word: &str) -> Option<&'a str> {
        let words = |section: &Section| -> Vec<String> {
            let words = section.title.split(|c: char| !c.is_alphanumeric() && c != '-');
            words
                .filter(|word| word.contains(|c: char| c.is_alphabetic()))
                .map(str::to_lowercase)
                .collect()
        };
        let word = word.to_lowercase();
        let alone = |section: &&Section| words(section) == [word.as_str()];
        let first = |section: &&Section| words(section).first() == Some(&word);
        let found = self.sections.iter().find(alone).or_else(|| self.sections.iter().find(first));
        self.body.get(found?.range.clone())
    }

    /// The text between a heading and the next one, whatever its level.
    fn own_text(&self, index: usize) -> &'a str {
        let start = self.sections.get(index).map_or(0, |section| section.range.start);
        let end = self.sections.get(index + 1).map_or(self.body.len(), |next| next.range.start);
        self.body.get(start..end).unwrap_or_default()
    }

    fn tables(&self) -> impl Iterator<Item = (&Section, Table)> {
        self.sections.iter().enumerate().flat_map(|(index, section)| {
            tables(self.own_text(index)).into_iter().map(move |table| (section, table))
        })
    }

    /// The row of a modifier with the table's header, else the section about it.
    fn modifier(&self, modifier: &OneOf) -> String {
        let named = |row: &&Vec<String>| {
            row.first().is_some_and(|cell| modifier.all().iter().any(|name| same(cell, name)))
        };
        let row = self.tables().find_map(|(section, table)| {
            let row = table.rows.iter().find(named)?.clone();
            Some((section.title.clone(), Table { rows: vec![row], ..table }))
        });
        if let Some((title, table)) = row {
            return format!("## {title}\n\n{}", written(&table));
        }
        let section = modifier.all().iter().find_map(|name| self.about(name));
        section.map_or_else(
            || format!("The specification says nothing about `{}`.", modifier.shown()),
            |section| section.trim_end().to_owned(),
        )
    }

    /// The column of a type in each table that has one.
    fn columns(&self, kind: &str) -> Vec<String> {
        let columns = self.tables().filter_map(|(section, table)| {
            let column = table.column(&[kind]).filter(|column| *column > 0)?;
            let pick = |row: &Vec<String>| {
                [0, column].iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect()
            };
            let rows = table.rows.iter().map(pick).collect();
            let narrowed = Table { header: pick(&table.header), rows };
            Some(format!("## {}: {}\n\n{}", section.title, bare(kind), written(&narrowed)))
        });
        columns.collect()
    }
}

fn written(table: &Table) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rule = format!("|{}", "---|".repeat(table.header.len()));
    let rows = table.rows.iter().map(|row| line(row));
    [line(&table.header), rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
