//! A copy of the companion skill for clients that do not get it from the server.
//!
//! Beside the copy is a record of what was written. A file that still is what the record says is
//! updated; any other has been changed by a person, and stays.

use std::collections::BTreeMap;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::RelativePath;

use super::edit::line_end;
use super::plan::{Edit, Plan, What};
use crate::skills::{self, COMPANION};

const RECORD: &str = ".rutter.json";
const MAX_FILE: u64 = 1024 * 1024;

/// The files that were written, with their digests.
type Record = BTreeMap<String, String>;

/// Plans the copy below `folder`.
pub(super) fn plan(plan: &mut Plan, folder: &str) -> Result<(), Report> {
    let broken = |error: &(dyn std::error::Error + 'static)| {
        Report::new(Kind::Internal, "the embedded skill cannot be read").because(error)
    };
    let name = RelativePath::new(COMPANION).map_err(|error| broken(&error))?;
    let skill = skills::embedded().folder(&name);
    let skill = skill.ok_or_else(|| Report::new(Kind::Internal, "there is no embedded skill"))?;
    let record_file = format!("{folder}/{COMPANION}/{RECORD}");
    // A record that nobody can read records nothing.
    let before: Record = plan
        .text(&record_file)
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let mut written = Record::new();
    for found in skill.walk(&[]).files {
        let text = skill.read_text(&found.path, MAX_FILE).map_err(|error| broken(&error))?;
        let ours = skills::digest(text.as_bytes());
        let recorded = before.get(found.path.as_str());
        let file = format!("{folder}/{COMPANION}/{}", found.path);
        let what = plan.edit(&file, |existing| {
            let Some(existing) = existing else { return Ok(Edit::To(text)) };
            // Version control may have changed how lines end, which is nobody's change.
            let theirs = skills::digest(existing.replace("\r\n", "\n").as_bytes());
            Ok(if theirs == ours {
                Edit::Nothing
            } else if recorded == Some(&theirs) {
                Edit::To(text.replace('\n', line_end(existing)))
            } else {
                Edit::Keep
            })
        })?;
        if what == What::Kept {
            plan.note("someone changed it");
        } else {
            written.insert(found.path.to_string(), ours);
        }
    }
    let record = serde_json::to_string_pretty(&written).unwrap_or_default() + "\n";
    plan.edit(&record_file, |_| Ok(Edit::To(record)))?;
    Ok(())
}
