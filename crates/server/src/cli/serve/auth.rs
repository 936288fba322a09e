//! What a caller over HTTP must show: flags, the environment, and what they mean together.

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};

use super::super::Surroundings;
use crate::settings::Variable;
use crate::transport::http::Auth;

#[derive(Debug, Args)]
pub(super) struct AuthFlags {
    /// How callers over HTTP prove who they are [default: none]
    #[arg(short = 'a', long = "auth-type", value_name = "TYPE")]
    kind: Option<AuthType>,
    /// The name for `basic`
    #[arg(short = 'u', long = "auth-basic-username", value_name = "NAME")]
    username: Option<String>,
    /// The password for `basic`; better in `RUTTER_AUTH_BASIC_PASSWORD_FILE`
    #[arg(short = 'P', long = "auth-basic-password", value_name = "PASSWORD")]
    password: Option<String>,
    /// The keys for `apikey`, with commas between them; better in `RUTTER_AUTH_API_KEYS_FILE`
    #[arg(short = 'k', long = "auth-api-keys", value_name = "KEYS")]
    api_keys: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuthType {
    /// Anyone may call
    None,
    /// A name and a password
    Basic,
    /// One of several keys, as X-API-Key
    Apikey,
}

impl AuthFlags {
    /// What a caller must show. What contradicts itself stops the start.
    pub(super) fn resolve(&self, surroundings: &Surroundings) -> Result<Auth, Report> {
        let environment = &surroundings.environment;
        let kind = match self.kind {
            Some(kind) => Some(kind),
            None => environment.parse(
                Variable::AUTH_TYPE,
                |text| AuthType::from_str(text, true).ok(),
                "none, basic or apikey",
            )?,
        };
        let secret = |flag: &Option<String>, value: Variable, file: Variable| {
            if flag.is_some() {
                tracing::warn!(
                    event = "secret_on_command_line",
                    "others on this machine can see a secret that is given as a flag: use {}",
                    file.name
                );
                return Ok(flag.clone());
            }
            environment.secret(value, file, &surroundings.folder)
        };
        let name = self.username.as_deref();
        let name = name.or_else(|| environment.get(Variable::AUTH_BASIC_USERNAME));
        let password = secret(
            &self.password,
            Variable::AUTH_BASIC_PASSWORD,
            Variable::AUTH_BASIC_PASSWORD_FILE,
        )?;
        let keys = secret(&self.api_keys, Variable::AUTH_API_KEYS, Variable::AUTH_API_KEYS_FILE)?;
        let wrong = |variable: Variable, what: &str| {
            Err(Report::new(Kind::Invalid, format!("{}: {what}", variable.name)))
        };
        match kind.unwrap_or(AuthType::None) {
            AuthType::None if name.is_some() || password.is_some() || keys.is_some() => wrong(
                Variable::AUTH_TYPE,
                "there are credentials, and nobody is asked for them; choose `basic` or `apikey`, or remove them",
            ),
            AuthType::None => Ok(Auth::None),
            AuthType::Basic => match (name.unwrap_or_default(), password.unwrap_or_default()) {
                ("", _) => wrong(Variable::AUTH_BASIC_USERNAME, "`basic` needs a name"),
                (name, _) if name.contains(':') => {
                    wrong(Variable::AUTH_BASIC_USERNAME, "a name cannot have `:` in it")
                }
                (_, password) if password.is_empty() => {
                    wrong(Variable::AUTH_BASIC_PASSWORD, "`basic` needs a password")
                }
                (name, password) => Ok(Auth::basic(name, &password)),
            },
            AuthType::Apikey => {
                let keys = keys.unwrap_or_default();
                let keys: Vec<&str> = keys.split(',').map(str::trim).collect();
                if keys.contains(&"") {
                    return wrong(
                        Variable::AUTH_API_KEYS,
                        "`apikey` needs keys, and none may be empty",
                    );
                }
                Ok(Auth::api_keys(keys))
            }
        }
    }
}
