#![expect(clippy::disallowed_methods, reason = "tests write the files that are read")]

mod projects;
mod registry;
mod serving;

use std::fs;
use std::path::Path;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn root(&self) -> Root {
        Root::open(self.path()).unwrap()
    }

    fn guide(&self) -> Guide {
        Guide::open(self.root()).unwrap().with_registry(Some(self.root()))
    }

    fn project(&self) -> Project {
        Project::new(self.root(), "/here")
    }
}

fn said<T: std::fmt::Debug>(result: Result<T, GuideError>) -> String {
    Report::from(result.unwrap_err()).to_string()
}
