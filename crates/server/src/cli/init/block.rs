//! A few lines for agents in a file that a person writes, between two markers.

use rutter_base::failure::{Kind, Report};

use super::edit::line_end;
use super::plan::{Edit, Plan};

const BEGIN: &str = "<!-- rutter:begin -->";
const END: &str = "<!-- rutter:end -->";

const BODY: &str = "\
## Rutter

The MCP server `rutter` serves this project's documents, process and workflow, and its board where there is one.

- Load the skill `rutter-workflow` (or read `skill://rutter-workflow/SKILL.md` from the server) before you start a
  project or a stage, review work, or move to the next stage.
- Look things up with `search` and `read` before you guess.
- Run `check_project_health` before you call a document finished.

`rutter init` keeps these lines up to date; write your own outside of the markers.";

/// Plans the block in a file.
pub(super) fn plan(plan: &mut Plan, file: &'static str) -> Result<(), Report> {
    plan.edit(file, |text| match put(text.unwrap_or_default()) {
        Ok(text) => Ok(Edit::To(text)),
        Err(Broken(what)) => {
            Err(Report::new(Kind::Invalid, format!("`{file}` {what}, and was left alone")).hint(
                format!("keep one `{BEGIN}` line with one `{END}` line after it, or remove both"),
            ))
        }
    })?;
    Ok(())
}

/// The markers are not one pair.
#[derive(Debug, PartialEq, Eq)]
struct Broken(&'static str);

/// The text with the block: in its place, or at the end.
fn put(text: &str) -> Result<String, Broken> {
    let end = line_end(text);
    let block = format!("{BEGIN}\n{BODY}\n{END}").replace('\n', end);
    let (begins, ends) = (lines(text, BEGIN), lines(text, END));
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => {
            let gap = match text {
                "" => String::new(),
                _ if text.ends_with('\n') => end.to_owned(),
                _ => [end, end].concat(),
            };
            Ok(format!("{text}{gap}{block}{end}"))
        }
        (&[begin], &[last]) if begin < last => {
            let before = text.get(..begin).unwrap_or_default();
            let after = text.get(last + END.len()..).unwrap_or_default();
            Ok(format!("{before}{block}{after}"))
        }
        (&[_], &[_]) => Err(Broken("has its markers in the wrong order")),
        (_, []) => Err(Broken("has a begin marker without an end")),
        ([], _) => Err(Broken("has an end marker without a begin")),
        _ => Err(Broken("has markers more than once")),
    }
}

/// Where the lines are that hold a marker and nothing else.
fn lines(text: &str, marker: &str) -> Vec<usize> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim() == marker {
            found.push(start + (line.len() - line.trim_start().len()));
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_block_is_replaced_in_its_place() {
        let text = format!("# Mine\r\n{BEGIN}\r\nold\r\n{END}  \r\nafter");
        let edited = put(&text).unwrap();
        assert!(edited.starts_with(&format!("# Mine\r\n{BEGIN}\r\n## Rutter\r\n")), "{edited}");
        assert!(edited.ends_with(&format!("\r\n{END}  \r\nafter")), "{edited}");
        assert!(!edited.replace("\r\n", "").contains('\n') && !edited.contains("old"), "{edited}");
    }

    #[test]
    fn markers_that_are_no_pair_are_refused() {
        for (text, what) in [
            (format!("{BEGIN}\n"), "has a begin marker without an end"),
            (format!("a\n  {END}\n"), "has an end marker without a begin"),
            (format!("{END}\n{BEGIN}\n"), "has its markers in the wrong order"),
            (format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n"), "has markers more than once"),
            (format!("{BEGIN}\n{BEGIN}\n{END}\n"), "has markers more than once"),
        ] {
            assert_eq!(put(&text), Err(Broken(what)));
        }
        // In a sentence they are no markers.
        assert!(put(&format!("See {BEGIN}.\n")).is_ok());
    }

    proptest! {
        #[test]
        fn what_a_person_wrote_stays(before in "(\\PC{0,10}\r?\n){0,4}", after in "(\r?\n\\PC{0,10}){0,4}") {
            let new = put(&before).unwrap();
            prop_assert!(new.starts_with(&before));
            prop_assert_eq!(put(&new).unwrap(), new.clone());
            let edited = put(&format!("{before}{BEGIN}\nold\n{END}{after}")).unwrap();
            prop_assert!(edited.starts_with(&before) && edited.ends_with(&after));
            prop_assert_eq!(put(&edited).unwrap(), edited.clone());
        }
    }
}
