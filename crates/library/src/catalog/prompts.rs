//! Loading the prompts of a source.

use rutter_base::failure::Problem;
use rutter_base::root::Found;
use rutter_base::text;

use super::{Catalog, Loaded, enter, place, read_text};
use crate::prompt::{Format, MAX_DOCUMENTS, Pattern, Prompt};
use crate::source::{PromptFolder, Source};

impl Catalog {
    /// Adds the prompts of one folder. A file that is broken now and was fine in `before` keeps
    /// its last good prompt, with a problem that says so.
    pub(super) fn load_prompts(&mut self, source: &Source, prompts: &PromptFolder, before: &Self) {
        let PromptFolder { folder, format, yields } = *prompts;
        let Some((root, prefix)) = enter(&source.root, Some(folder)) else { return };
        let walk = root.walk(&[format.extension()]);
        self.problems
            .extend(walk.problems.into_iter().map(|problem| place(source, &prefix, problem)));
        for Found { path, stamp } in walk.files {
            // `prompts/*.json` are prompts; JSON files deeper down are somebody's own.
            if format == Format::Json && path.as_str().contains('/') {
                continue;
            }
            let file = format!("{}/{prefix}{path}", source.name);
            let known = before.prompts.values().find(|known| known.file == file);
            let loaded = match known.filter(|known| known.stamp == stamp) {
                Some(known) => Ok((known.value.clone(), known.problems.clone())),
                None => read_text(&root, &path)
                    .map_err(|error| Problem::error(file.as_str(), error.to_string()))
                    .and_then(|text| Prompt::parse(format, &source.name, &file, &text)),
            };
            // What is on disk may be half of what its author is about to save.
            let loaded = match (loaded, known) {
                (Err(problem), Some(known)) => {
                    let message = format!("{}; its last good version is served", problem.message);
                    Ok((known.value.clone(), vec![Problem { message, ..problem }]))
                }
                (loaded, _) => loaded,
            };
            match loaded {
                Ok((value, _)) if yields && self.prompts.contains_key(&value.name) => {}
                Ok((value, problems)) => {
                    self.problems.extend(problems.iter().cloned());
                    if let Some(first) = self.prompts.get(&value.name) {
                        let message =
                            format!("prompt `{}` is already in `{}`", value.name, first.file);
                        self.problems.push(Problem::error(file, message));
                        continue;
                    }
                    let name = value.name.clone();
                    self.prompts.insert(name, Loaded { value, file, stamp, problems });
                }
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    /// Reports what prompts embed in vain, now that all documents are known.
    pub(super) fn check_embedding(&mut self) {
        let mut problems = Vec::new();
        for Loaded { value, file, .. } in self.prompts.values() {
            for uri in value.embedded() {
                let message = match Pattern::new(uri).find(self).take(MAX_DOCUMENTS + 1).count() {
                    0 => "matches no document".to_owned(),
                    1..=MAX_DOCUMENTS => continue,
                    _ => format!("matches more than {MAX_DOCUMENTS} documents"),
                };
                let uri = text::one_line(uri);
                problems
                    .push(Problem::warning(file, format!("`{{{{resource:{uri}}}}}` {message}")));
            }
        }
        self.problems.extend(problems);
    }
}
