//! The configuration, and an editable copy of the default content.

use rutter_base::failure::{Kind, Report};

use super::plan::{Edit, Plan};
use crate::pack;

/// Where the editable copy of the pack goes.
const FOLDER: &str = "rutter";
const CONFIG: &str = "rutter.yaml";
/// The folder that is served without a configuration, and with this one as well.
const DOCUMENTATION: &str = "docs";
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
    let documentation = if plan.has_folder(DOCUMENTATION) { "" } else { "# " };
    create(plan, CONFIG, CONFIG_TEXT.replace("<documentation>", documentation))
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
  <documentation>- name: docs
  <documentation>  description: The product's documentation
  <documentation>  path: docs

process:
  root: rutter/process
  knowledge: rutter/content/mcp-resources/practice

workflow:
  prompts: rutter/workflow/prompts.meta.yaml
";
