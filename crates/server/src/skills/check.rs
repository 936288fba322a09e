//! Which folders are skills, and why others are not.

use rutter_base::document::{Document, DocumentError};
use rutter_base::failure::Problem;
use rutter_base::root::{Found, ReadError, Root};
use serde_json::{Map, Value};

use super::{MANIFEST, Skill};

/// What every client accepts: files of one skill, and their bytes.
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// What the format allows, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// The skills below a folder, in order of path, and what is wrong with the others.
pub(super) fn skills(root: &Root, max_file: u64) -> (Vec<Skill>, Vec<Problem>) {
    let walk = root.walk(&[]);
    let mut skills = Vec::new();
    let mut problems = walk.problems;
    for manifest in &walk.files {
        let path = manifest.path.as_str();
        let folder = match path.strip_suffix(MANIFEST) {
            Some("") => {
                problems.push(Problem::error(
                    path,
                    "a skill is a folder; move it into one of its name",
                ));
                continue;
            }
            Some(folder) => match folder.strip_suffix('/') {
                Some(folder) => folder,
                None => continue,
            },
            None => continue,
        };
        let below = format!("{folder}/");
        let files = walk.files.iter().filter(|file| file.path.as_str().starts_with(&below));
        match skill(root, folder, manifest, files.cloned().collect(), max_file) {
            Ok(skill) => skills.push(skill),
            Err((line, message)) => problems.push(Problem::error(path, message).at_line(line)),
        }
    }
    // In a message, a file is named with the folder that the operator knows.
    if let Some(name) = root.path().and_then(|path| path.file_name()?.to_str()) {
        for problem in &mut problems {
            problem.file = format!("{name}/{}", problem.file);
        }
    }
    (skills, problems)
}

/// What is wrong, and on which line where one is known.
type Wrong = (Option<u32>, String);

fn skill(
    root: &Root,
    folder: &str,
    manifest: &Found,
    files: Vec<Found>,
    max_file: u64,
) -> Result<Skill, Wrong> {
    let unreadable = |error: ReadError| (None, error.to_string());
    let contents = root.read(&manifest.path, max_file).map_err(unreadable)?;
    let text =
        std::str::from_utf8(&contents.bytes).map_err(|_| (None, ReadError::NotText.to_string()))?;
    let document: Document<Map<String, Value>> = Document::parse_verbatim(text)
        .map_err(|error: DocumentError| (error.line(), error.to_string()))?;
    let frontmatter = document.frontmatter;
    let name = folder.rsplit('/').next().unwrap_or(folder);
    fields(&frontmatter, name).map_err(|message| (None, message))?;
    sizes(&files, max_file).map_err(|message| (None, message))?;
    let (root, folder) = (root.clone(), folder.to_owned());
    Ok(Skill { root, folder, frontmatter, manifest: contents.bytes, files, max_file })
}

fn fields(frontmatter: &Map<String, Value>, folder: &str) -> Result<(), String> {
    let text = |field: &str| match frontmatter.get(field).and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(format!("`{field}` is missing in the frontmatter")),
    };
    let name = text("name")?;
    let fine = name.len() <= MAX_NAME
        && name.split('-').all(|part| !part.is_empty())
        && name
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !fine {
        return Err(format!(
            "`name` must be at most {MAX_NAME} lower case letters, digits and single hyphens between them"
        ));
    }
    if name != folder {
        return Err("`name` must be the name of the folder".to_owned());
    }
    if text("description")?.chars().count() > MAX_DESCRIPTION {
        return Err(format!("`description` has more than {MAX_DESCRIPTION} characters"));
    }
    Ok(())
}

fn sizes(files: &[Found], max_file: u64) -> Result<(), String> {
    if files.len() > MAX_FILES {
        return Err(format!("the skill has {} files, more than {MAX_FILES}", files.len()));
    }
    let total: u64 = files.iter().map(|file| file.stamp.size).sum();
    if total > MAX_BYTES {
        return Err(format!("the skill has {total} bytes, more than {MAX_BYTES}"));
    }
    match files.iter().find(|file| file.stamp.size > max_file) {
        Some(file) => Err(format!(
            "its file `{}` has more bytes than an answer may have (`limits.payload`)",
            file.path
        )),
        None => Ok(()),
    }
}
