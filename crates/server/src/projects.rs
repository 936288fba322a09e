//! Where projects may be that a caller asks to have looked at.
//!
//! The user at this machine may name a folder below the working directory, their home, a root of
//! their client, or one that the operator configured. Whoever comes over the network may name
//! only the last. A folder counts by where it really is, whatever links lead there.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rutter_base::failure::{Kind, Report};
use rutter_base::root::Root;
use rutter_base::text;
use rutter_process::guide::{Guide, Project};

use crate::app::blocking;
use crate::tool::Call;

/// How long a client may take to tell its roots.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many roots of a client are looked at.
const MAX_ROOTS: usize = 100;

/// Where projects may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The working directory: the project when none is named.
    pub working: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What the operator configured.
    pub configured: Vec<PathBuf>,
}

/// Why a project was not opened.
#[derive(Debug)]
enum Refusal {
    /// It is not below any of the places.
    Outside(Report),
    Other(Report),
}

/// Works with the process and a project, where reading files may block.
pub async fn with_project<T: Send + 'static>(
    call: &Call,
    named: Option<String>,
    work: impl FnOnce(&Guide, &Project) -> T + Send + 'static,
) -> Result<T, Report> {
    let guide = call.app.guide()?.clone();
    let open = |roots: Vec<PathBuf>| {
        let (places, named, local) =
            (call.app.projects().clone(), named.clone(), call.caller.is_local());
        blocking(false, move || places.open(named.as_deref(), local, &roots))
    };
    let mut opened = open(Vec::new()).await?;
    if call.caller.is_local() && matches!(opened, Err(Refusal::Outside(_))) {
        let roots = client_roots(call).await;
        if !roots.is_empty() {
            opened = open(roots).await?;
        }
    }
    let project = opened.map_err(|refusal| match refusal {
        Refusal::Outside(report) | Refusal::Other(report) => report,
    })?;
    blocking(false, move || work(&guide, &project)).await
}

impl Places {
    fn open(
        &self,
        named: Option<&str>,
        local: bool,
        roots: &[PathBuf],
    ) -> Result<Project, Refusal> {
        let shown =
            named.map_or_else(|| ".".to_owned(), |name| text::cap(text::one_line(name), 500));
        if named.is_some_and(|name| name.contains('\0') || name.trim().is_empty()) {
            let report = Report::new(Kind::Invalid, "/project_path: expected the path of a folder");
            return Err(Refusal::Other(report));
        }
        let path = self.working.join(named.map(expand).unwrap_or_default());
        let bases = self.bases(local, roots);
        let mut fault = None;
        for base in &bases {
            match Root::open_within(base, &path) {
                Ok(Some(root)) => return Ok(Project::new(root, shown)),
                Ok(None) => {}
                Err(error) => fault = Some(error),
            }
        }
        // What is not below a place is not told from what is not there at all.
        let below = bases.iter().any(|base| plain(&path).starts_with(plain(base)));
        match fault {
            Some(error) if below => {
                let what = match error.kind() {
                    std::io::ErrorKind::NotFound => "there is no such folder",
                    std::io::ErrorKind::NotADirectory => "it is a file, not a folder",
                    _ => "it cannot be opened",
                };
                let message = format!("the project `{shown}` cannot be looked at: {what}");
                let hint = "pass the path of a project's folder as project_path";
                Err(Refusal::Other(Report::new(Kind::NotFound, message).hint(hint)))
            }
            _ => Err(Refusal::Outside(outside(&shown, local))),
        }
    }

    fn bases(&self, local: bool, roots: &[PathBuf]) -> Vec<PathBuf> {
        let mut bases = self.configured.clone();
        if local {
            bases.push(self.working.clone());
            bases.extend(self.home.clone());
            bases.extend_from_slice(roots);
        }
        bases
    }
}

fn outside(shown: &str, local: bool) -> Report {
    let message = format!("the project `{shown}` is not in a folder that may be looked at");
    Report::new(Kind::Refused, message).hint(if local {
        "use one below the working directory, your home or a root of your client, or have the operator add \
         its folder to `process.project_roots`"
    } else {
        "use one below a folder that the operator named in `process.project_roots`"
    })
}

/// A path without `.` and `..`, for people's eyes: nothing is opened by it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// `~/` is the home of whoever runs the server.
pub fn expand(path: &str) -> PathBuf {
    let home = || std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    match path {
        "~" => home().unwrap_or_else(|| PathBuf::from(path)),
        _ => match path.strip_prefix("~/").zip(home()) {
            Some((rest, home)) => home.join(rest),
            None => PathBuf::from(path),
        },
    }
}

/// The folders that the client says it works in, if it can say so.
#[expect(deprecated, reason = "the newer era dropped roots; the older one still has them")]
async fn client_roots(call: &Call) -> Vec<PathBuf> {
    let can = call.context.peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
    if !can {
        return Vec::new();
    }
    let asked = tokio::time::timeout(PATIENCE, call.context.peer.list_roots()).await;
    let Ok(Ok(answer)) = asked else {
        tracing::info!(event = "no_client_roots", "the client did not tell its roots");
        return Vec::new();
    };
    answer.roots.iter().take(MAX_ROOTS).filter_map(|root| file_path(&root.uri)).collect()
}

/// The path of a `file://` URI on this machine.
fn file_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(path).decode_utf8().ok()?;
    (path.starts_with('/') && !path.contains('\0')).then(|| PathBuf::from(path.into_owned()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the folders that are asked for")]
mod tests {
    use super::*;

    #[test]
    fn a_root_of_a_client_is_a_path_on_this_machine() {
        let path = |uri| file_path(uri).map(|path| path.display().to_string());
        assert_eq!(path("file:///a%20b/c").as_deref(), Some("/a b/c"));
        assert_eq!(path("file://localhost/a").as_deref(), Some("/a"));
        for uri in ["https://a/b", "file://host/a", "file:///a%00", "file:///%ff", ""] {
            assert_eq!(path(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_project_is_opened_only_where_projects_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["work/inner", "home/p", "shared/p", "client/p", "other"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::os::unix::fs::symlink("../other", at("work/out")).unwrap();
        std::fs::write(at("work/file"), "").unwrap();
        let places =
            Places { working: at("work"), home: Some(at("home")), configured: vec![at("shared")] };
        let open = |name: Option<&str>, local: bool| -> Result<String, String> {
            match places.open(name, local, &[at("client")]) {
                Ok(project) => Ok(project.name().to_owned()),
                Err(Refusal::Outside(_)) => Err("outside".to_owned()),
                Err(Refusal::Other(report)) => Err(report.to_string()),
            }
        };
        let full = |name: &str| at(name).display().to_string();
        assert_eq!(open(None, true).as_deref(), Ok("."));
        for name in ["inner", "./inner", "inner/..", "../home/p", "../shared"] {
            assert_eq!(open(Some(name), true).as_deref(), Ok(name));
        }
        for name in ["home/p", "shared/p", "client/p", "work"] {
            assert!(open(Some(&full(name)), true).is_ok(), "{name}");
        }
        for name in ["../other", "out", "/etc", "/none", "../none", "..", "/"] {
            assert_eq!(open(Some(name), true).unwrap_err(), "outside", "{name}");
        }
        for name in ["inner", "../home/p", "/etc"] {
            assert_eq!(open(Some(name), false).unwrap_err(), "outside", "{name}");
        }
        assert_eq!(open(None, false).unwrap_err(), "outside");
        assert!(open(Some("../shared/p"), false).is_ok());
        assert_eq!(
            open(Some("no\u{1b}[2J\nne"), true).unwrap_err(),
            "the project `no\u{FFFD}[2J\u{FFFD}ne` cannot be looked at: there is no such folder; \
             pass the path of a project's folder as project_path"
        );
        assert!(open(Some("file"), true).unwrap_err().contains("it is a file, not a folder"));
        assert_eq!(
            open(Some("a\0b"), true).unwrap_err(),
            "/project_path: expected the path of a folder"
        );
    }
}
