//! Settings from outside of the configuration file: flags, the environment, `.env`.
//!
//! Every environment variable that the product reads is declared here, once.

use std::collections::BTreeMap;
use std::path::Path;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{ReadError, RelativePath, Root, read_named};
use rutter_base::secret;

/// A setting that can come from the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// The product's own name for it.
    pub name: &'static str,
    /// The name that one of the specifications gives it.
    pub alias: Option<&'static str>,
    /// What it sets.
    pub doc: &'static str,
}

macro_rules! variables {
    ($($constant:ident = $name:literal $(or $alias:literal)?: $doc:literal;)*) => {
        impl Variable {
            $(
                #[doc = $doc]
                pub const $constant: Self =
                    Self { name: $name, alias: variables!(@alias $($alias)?), doc: $doc };
            )*
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];
        }
    };
    (@alias) => { None };
    (@alias $alias:literal) => { Some($alias) };
}

variables! {
    CONFIG = "RUTTER_CONFIG" or "ACDC_MCP_CONFIG": "The configuration file";
    CONTEXT = "RUTTER_CONTEXT": "The context file of the session";
    PROFILE = "RUTTER_PROFILE": "What the server shows: acdc, acm, architecture, prompts or ralph";
    READ_ONLY = "RUTTER_READ_ONLY": "1 hides every tool that writes";
    TRANSPORT = "RUTTER_TRANSPORT" or "ACDC_MCP_TRANSPORT": "How clients connect: stdio, http or sse";
    HOST = "RUTTER_HOST" or "ACDC_MCP_HOST": "The interface to listen on";
    PORT = "RUTTER_PORT" or "ACDC_MCP_PORT": "The port to listen on";
    AUTH_TYPE = "RUTTER_AUTH_TYPE" or "ACDC_MCP_AUTH_TYPE": "How callers over HTTP prove who they are: none, basic, apikey or oauth";
    AUTH_BASIC_USERNAME = "RUTTER_AUTH_BASIC_USERNAME" or "ACDC_MCP_AUTH_BASIC_USERNAME": "The name for basic";
    AUTH_BASIC_PASSWORD = "RUTTER_AUTH_BASIC_PASSWORD" or "ACDC_MCP_AUTH_BASIC_PASSWORD": "The password for basic";
    AUTH_BASIC_PASSWORD_FILE = "RUTTER_AUTH_BASIC_PASSWORD_FILE" or "ACDC_MCP_AUTH_BASIC_PASSWORD_FILE": "A file with that password";
    AUTH_API_KEYS = "RUTTER_AUTH_API_KEYS" or "ACDC_MCP_AUTH_API_KEYS": "The keys for apikey, with commas between them";
    AUTH_API_KEYS_FILE = "RUTTER_AUTH_API_KEYS_FILE" or "ACDC_MCP_AUTH_API_KEYS_FILE": "A file with those keys";
    TLS_CERTIFICATE = "RUTTER_TLS_CERTIFICATE": "A file with the chain of certificates for HTTPS, PEM";
    TLS_KEY = "RUTTER_TLS_KEY": "A file with its private key, PEM";
    PROCESS_ROOT = "RUTTER_PROCESS_ROOT" or "ACM_ROOT": "The folder with the process";
    REGISTRY_ROOT = "RUTTER_REGISTRY_ROOT" or "ACM_REGISTRY_ROOT": "The folder with the capabilities registry";
    SEARCH_MAX_RESULTS = "RUTTER_SEARCH_MAX_RESULTS" or "ACDC_MCP_SEARCH_MAX_RESULTS": "How many documents a search gives";
    SEARCH_KEYWORDS_BOOST = "RUTTER_SEARCH_KEYWORDS_BOOST" or "ACDC_MCP_SEARCH_KEYWORDS_BOOST": "What a match in the keywords weighs";
    SEARCH_NAME_BOOST = "RUTTER_SEARCH_NAME_BOOST" or "ACDC_MCP_SEARCH_NAME_BOOST": "What a match in the name weighs";
    SEARCH_CONTENT_BOOST = "RUTTER_SEARCH_CONTENT_BOOST" or "ACDC_MCP_SEARCH_CONTENT_BOOST": "What a match in the text weighs";
    CACHE = "RUTTER_CACHE": "The folder that keeps the index of many documents for the next start, or off; rutter in the user's cache folder unless set";
    XDG_CACHE_HOME = "XDG_CACHE_HOME": "The user's cache folder; ~/.cache unless set";
    LOG_LEVEL = "RUTTER_LOG": "The least grave level that is logged: error, warn, info, debug or trace";
    LOG_FORMAT = "RUTTER_LOG_FORMAT": "json or text";
    STATE_KEY = "RUTTER_STATE_KEY": "The key that the workflow's state is encrypted with: 64 hexadecimal digits, 32 bytes in base64, or a passphrase";
    STATE_KEY_FILE = "RUTTER_STATE_KEY_FILE": "A file with that key";
    STATE_NEW_KEY = "RUTTER_STATE_NEW_KEY": "The key that `rutter state rekey` changes to";
    STATE_NEW_KEY_FILE = "RUTTER_STATE_NEW_KEY_FILE": "A file with that key";
    ALLOW_HTTP = "RUTTER_ALLOW_HTTP" or "ALLOW_HTTP": "1 allows requests to other servers, a few a second: for the keys of an authorization server";
    WATCH = "RUTTER_WATCH": "How changes of files are noticed: auto, poll or off";
}

/// The environment, and below it `.env` in the working directory.
///
/// The file's values are read, never applied: a child process would inherit them.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    process: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
}

/// `.env` is for settings, not for data.
const MAX_FILE: u64 = 64 * 1024;

impl Environment {
    /// Reads the environment of this process and `.env` in `folder`.
    pub fn load(folder: &Root) -> Result<Self, Report> {
        let process = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Ok(Self { process, file: read_file(folder)? })
    }

    /// An environment of the given variables alone.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { process: variables.into_iter().collect(), file: BTreeMap::new() }
    }

    /// A setting's value; one that is empty counts as not set.
    pub fn get(&self, variable: Variable) -> Option<&str> {
        let names = [Some(variable.name), variable.alias];
        let places = [&self.process, &self.file];
        places.into_iter().find_map(|place| {
            let found = names.into_iter().flatten().find_map(|name| place.get(name));
            found.map(String::as_str).filter(|value| !value.is_empty())
        })
    }

    /// The value of a variable that the configuration file names; one that is empty counts as
    /// not set.
    pub fn named(&self, name: &str) -> Option<&str> {
        let found = [&self.process, &self.file].into_iter().find_map(|place| place.get(name));
        found.map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A setting as one of several values, or an error that names the variable.
    pub fn parse<T>(
        &self,
        variable: Variable,
        parse: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, Report> {
        let Some(value) = self.get(variable) else { return Ok(None) };
        match parse(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Report::new(
                Kind::Invalid,
                format!(
                    "{}: expected {expected}, not `{}`",
                    variable.name,
                    rutter_base::text::one_line(value)
                ),
            )),
        }
    }

    /// A secret: the value of one variable, or the content of the file that the other names.
    pub fn secret(
        &self,
        value: Variable,
        file: Variable,
        folder: &Path,
    ) -> Result<Option<String>, Report> {
        let Some(path) = self.get(file) else { return Ok(self.get(value).map(str::to_owned)) };
        if self.get(value).is_some() {
            let message = format!("{} and {} are both set", value.name, file.name);
            return Err(Report::new(Kind::Invalid, message).hint("keep one of them"));
        }
        let text = read_named(&folder.join(path), MAX_FILE).map_err(|error| {
            Report::new(Kind::Invalid, format!("{}: the file cannot be used: {error}", file.name))
        })?;
        // An empty file is no missing key: nothing must be written in plain text because of it.
        Ok(Some(text.trim().to_owned()))
    }

    /// The values that must not appear in a log: those of the product's own secret settings, and
    /// of the files that they name. A file that cannot be read is reported by whoever needs it.
    pub fn secrets(&self, folder: &Path) -> Vec<String> {
        let mut secrets = Vec::new();
        for (name, value) in self.process.iter().chain(&self.file) {
            if !is_own(name) || !secret::is_secret_name(name) {
                continue;
            }
            let value = match name.strip_suffix("_FILE") {
                None => value.clone(),
                Some(_) => read_named(&folder.join(value), MAX_FILE).unwrap_or_default(),
            };
            // One of several keys is a secret by itself.
            if name.contains("_KEYS") {
                secrets.extend(value.split(',').map(|key| key.trim().to_owned()));
            }
            secrets.push(value.trim().to_owned());
        }
        secrets
    }

    /// What the start is logged with: the product's own variables, and which secrets are there.
    pub fn shown(&self) -> BTreeMap<&str, &str> {
        let all = self.file.iter().chain(&self.process);
        all.filter_map(|(name, value)| {
            if secret::is_secret_name(name) {
                Some((name.as_str(), secret::REDACTED))
            } else {
                is_own(name).then_some((name.as_str(), value.as_str()))
            }
        })
        .collect()
    }
}

fn is_own(name: &str) -> bool {
    ["RUTTER_", "ACDC_MCP_", "ACM_"].iter().any(|prefix| name.starts_with(prefix))
}

fn read_file(folder: &Root) -> Result<BTreeMap<String, String>, Report> {
    let fail = |what: String| Report::new(Kind::Invalid, format!(".env: {what}"));
    let path = RelativePath::new(".env").map_err(|error| fail(error.to_string()))?;
    let contents = match folder.read(&path, MAX_FILE) {
        Ok(contents) => contents,
        Err(ReadError::NotFound) => return Ok(BTreeMap::new()),
        Err(error) => return Err(fail(error.to_string())),
    };
    let read = dotenvy::from_read_iter(contents.bytes.as_slice());
    // The parser's error shows the line, which may hold a secret.
    read.collect::<Result<_, _>>().map_err(|_| fail("a line is not of the form NAME=value".into()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the file that is read")]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_the_file_and_own_names_over_others() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join(".env"),
            "RUTTER_PORT=1\nRUTTER_HOST=file\nACDC_MCP_TRANSPORT=http\n",
        )
        .unwrap();
        let root = Root::open(folder.path()).unwrap();
        let mut environment = Environment::of([
            ("ACDC_MCP_PORT".into(), "3".into()),
            ("RUTTER_PORT".into(), "2".into()),
            ("RUTTER_HOST".into(), String::new()),
        ]);
        environment.file = read_file(&root).unwrap();
        assert_eq!(environment.get(Variable::PORT), Some("2"));
        assert_eq!(environment.get(Variable::TRANSPORT), Some("http"));
        assert_eq!(environment.get(Variable::PROFILE), None);
        let report = environment.parse(Variable::PORT, |_| None::<u16>, "a port").unwrap_err();
        assert_eq!(report.to_string(), "RUTTER_PORT: expected a port, not `2`");
    }

    #[test]
    fn a_broken_file_is_an_error_that_tells_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "A_SECRET='hunter22\n").unwrap();
        let report = read_file(&Root::open(folder.path()).unwrap()).unwrap_err();
        assert!(!report.to_string().contains("hunter22"), "{report}");
    }

    #[test]
    fn secrets_are_shown_by_name_alone() {
        let environment = Environment::of([
            ("API_TOKEN".into(), "abcdef".into()),
            ("RUTTER_STATE_KEY".into(), "topsecret".into()),
            ("RUTTER_PROFILE".into(), "acm".into()),
            ("HOME".into(), "/home".into()),
        ]);
        let shown: Vec<_> = environment.shown().into_iter().collect();
        assert_eq!(
            shown,
            [
                ("API_TOKEN", "[redacted]"),
                ("RUTTER_PROFILE", "acm"),
                ("RUTTER_STATE_KEY", "[redacted]")
            ]
        );
        assert_eq!(environment.secrets(Path::new("")), ["topsecret"]);
    }

    #[test]
    fn each_of_several_keys_is_a_secret_wherever_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("keys"), "first, second\n").unwrap();
        let environment = Environment::of([
            ("RUTTER_AUTH_API_KEYS_FILE".into(), "keys".into()),
            ("RUTTER_AUTH_BASIC_PASSWORD".into(), "a,b".into()),
            ("RUTTER_STATE_KEY_FILE".into(), "missing".into()),
        ]);
        let secrets = environment.secrets(folder.path());
        for secret in ["first", "second", "a,b"] {
            assert!(secrets.iter().any(|known| known == secret), "{secrets:?}");
        }
        assert!(!secrets.iter().any(|secret| secret == "a" || secret == "keys"), "{secrets:?}");
    }
}
