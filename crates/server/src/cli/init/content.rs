//! The configuration, and an editable copy of the default content.

use rutter_base::failure::{Kind, Report};

use super::plan::{Edit, Plan};
use crate::pack;

/// Where the editable copy of the pack goes.
const FOLDER: &str = "rutter";
const CONFIG: &str = "rutter.yaml";
const MAX_FILE: u64 = 8 * 1024 * 1024;

pub(super) fn plan(plan: &mut Plan) -> Result<(), Report> {
    for part in pack::PARTS {
        let pack = pack::part(part);
        for found in pack.walk(&["md", "yaml", "json"]).files {
            let text = pack.read_text(&found.path, MAX_FILE).map_err(|error| {
                Report::new(Kind::Internal, "the embedded pack cannot be read").because(&error)
            })?;
            create(plan, found.path.below(&format!("{FOLDER}/{part}")).as_str(), text)?;
        }
    }
    create(plan, CONFIG, CONFIG_TEXT.to_owned())
}

fn create(plan: &mut Plan, file: &str, text: String) -> Result<(), Report> {
    plan.edit(file, |existing| match existing {
        Some(existing) if existing != text => Ok(Edit::Keep),
        _ => Ok(Edit::To(text)),
    })?;
    Ok(())
}

const CONFIG_TEXT: &str = "\
# What Rutter serves from this folder. Paths are relative to this file.
# `rutter doctor` says what is in effect; unknown keys are errors.

server:
  name: rutter
  # instructions: What agents should know before they use this server.

content:
  - name: handbook
    description: How we work, and how to use this server
    path: rutter/content
  # - name: docs
  #   description: The product's documentation
  #   path: docs

process:
  root: rutter/process

workflow:
  prompts: rutter/workflow/prompts.meta.yaml
";
