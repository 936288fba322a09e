//! What a caller over HTTP must show: flags, the environment, the configuration file, and what
//! they mean together.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::read_named;
use rutter_base::text::one_line;

use super::super::Surroundings;
use crate::caller::Caller;
use crate::config::{AuthType, HttpKey};
use crate::scope::{Rule, Scope};
use crate::session::{Context, Session};
use crate::settings::Variable;
use crate::setup::Setup;
use crate::transport::http::{Credentials, KeySource, Tokens};

/// A file with a key is a line.
const MAX_KEY_FILE: u64 = 64 * 1024;
/// Whoever can try a few thousand keys a second finds a shorter one.
const SHORT_KEY: usize = 16;

#[derive(Debug, Args)]
pub(super) struct AuthFlags {
    /// How callers over HTTP prove who they are [default: none, or what the configuration file
    /// describes]
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

/// The secrets of flags and of the environment.
struct Given {
    name: Option<String>,
    password: Option<String>,
    keys: Option<String>,
}

impl AuthFlags {
    /// What a caller must show. What contradicts itself stops the start.
    pub(super) async fn resolve(
        &self,
        surroundings: &Surroundings,
        setup: &Setup,
    ) -> Result<Credentials, Report> {
        let given = self.given(surroundings)?;
        let (kind, setting) = self.kind(surroundings, setup)?;
        let none = Credentials::none();
        match kind {
            AuthType::None => {
                let given =
                    given.name.is_some() || given.password.is_some() || given.keys.is_some();
                if given || !setup.http.keys.is_empty() || setup.http.oauth.is_some() {
                    let what = "there are credentials, and nobody is asked for them; choose `basic`, `apikey` or `oauth`, or remove them";
                    return Err(wrong(setting, what));
                }
                Ok(none)
            }
            AuthType::Basic => {
                let (name, password) =
                    (given.name.unwrap_or_default(), given.password.unwrap_or_default());
                if name.is_empty() {
                    return Err(wrong(Variable::AUTH_BASIC_USERNAME.name, "`basic` needs a name"));
                }
                if name.contains(':') {
                    let what = "a name cannot have `:` in it";
                    return Err(wrong(Variable::AUTH_BASIC_USERNAME.name, what));
                }
                if password.is_empty() {
                    let what = "`basic` needs a password";
                    return Err(wrong(Variable::AUTH_BASIC_PASSWORD.name, what));
                }
                Ok(none.with_password(&name, &password))
            }
            AuthType::Apikey => {
                let mut credentials = named_keys(none, surroundings, setup)?;
                match given.keys {
                    None if credentials.has_keys() => {}
                    keys => {
                        let keys = keys.unwrap_or_default();
                        for (index, key) in keys.split(',').map(str::trim).enumerate() {
                            check(&credentials, Variable::AUTH_API_KEYS.name, key)?;
                            let name = format!("key {}", index + 1);
                            if credentials.knows_name(&name) {
                                let what = format!(
                                    "`{name}` is what a key of {} is called; choose another name",
                                    Variable::AUTH_API_KEYS.name
                                );
                                return Err(wrong("`http.keys`", &what));
                            }
                            credentials = credentials.with_key(key, Caller::with_key(&name));
                        }
                    }
                }
                Ok(credentials)
            }
            AuthType::Oauth => {
                let credentials = named_keys(none, surroundings, setup)?;
                Ok(credentials.with_tokens(tokens(setup).await?))
            }
        }
    }

    /// Which kind it is, and the setting that says so.
    fn kind(
        &self,
        surroundings: &Surroundings,
        setup: &Setup,
    ) -> Result<(AuthType, &'static str), Report> {
        let variable = Variable::AUTH_TYPE;
        if let Some(kind) = self.kind {
            return Ok((kind, variable.name));
        }
        let parse = |text: &str| AuthType::from_str(text, true).ok();
        let expected = "none, basic, apikey or oauth";
        if let Some(kind) = surroundings.environment.parse(variable, parse, expected)? {
            return Ok((kind, variable.name));
        }
        let described = match (&setup.http.oauth, setup.http.keys.as_slice()) {
            (Some(_), _) => AuthType::Oauth,
            (None, []) => AuthType::None,
            (None, _) => AuthType::Apikey,
        };
        Ok(setup.http.auth.map_or((described, variable.name), |kind| (kind, "`http.auth`")))
    }

    fn given(&self, surroundings: &Surroundings) -> Result<Given, Report> {
        let environment = &surroundings.environment;
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
        Ok(Given { name: name.map(str::to_owned), password, keys })
    }
}

/// The keys of the configuration file that can be read, so that none of them is ever logged.
pub(super) fn secrets(surroundings: &Surroundings, setup: &Setup) -> Vec<String> {
    let keys = setup.http.keys.iter();
    keys.filter_map(|key| secret(key, "", surroundings, setup).ok()).collect()
}

/// The keys of the configuration file, each with its caller.
fn named_keys(
    mut credentials: Credentials,
    surroundings: &Surroundings,
    setup: &Setup,
) -> Result<Credentials, Report> {
    let mut names = BTreeSet::new();
    for (index, key) in setup.http.keys.iter().enumerate() {
        let setting = format!("`http.keys[{index}]`");
        if key.name.trim().is_empty() || !names.insert(key.name.as_str()) {
            return Err(wrong(&setting, "each key needs a name of its own"));
        }
        let secret = secret(key, &setting, surroundings, setup)?;
        check(&credentials, &setting, &secret)?;
        let caller = holder(key, setup).map_err(|report| {
            wrong(&format!("`http.keys[{index}].recipe`"), &report.to_string())
        })?;
        credentials = credentials.with_key(&secret, caller);
    }
    Ok(credentials)
}

fn secret(
    key: &HttpKey,
    setting: &str,
    surroundings: &Surroundings,
    setup: &Setup,
) -> Result<String, Report> {
    match (&key.key_file, &key.key_env) {
        (Some(file), None) => {
            let text = read_named(&setup.base.join(file), MAX_KEY_FILE).map_err(|error| {
                wrong(setting, &format!("the file `{}` cannot be used: {error}", one_line(file)))
            })?;
            Ok(text.trim().to_owned())
        }
        (None, Some(variable)) => {
            let value = surroundings.environment.named(variable);
            let unset =
                || wrong(setting, &format!("the variable `{}` is not set", one_line(variable)));
            value.map(|value| value.trim().to_owned()).ok_or_else(unset)
        }
        _ => Err(wrong(setting, "expected `key_file` or `key_env`")),
    }
}

/// Who holds a key, and what is left of the server for them.
fn holder(key: &HttpKey, setup: &Setup) -> Result<Caller, Report> {
    let modules = key.modules.as_ref().map(|all| Rule::Modules(all.iter().copied().collect()));
    let rules = modules.into_iter().chain(key.read_only.then_some(Rule::ReadOnly));
    let session = if key.recipe.is_some() || key.discipline.is_some() {
        let context = Context {
            session_id: Some(key.name.clone()),
            recipe: key.recipe.clone(),
            discipline: key.discipline.clone(),
            ..Context::default()
        };
        let board = setup.app.board().ok().cloned();
        Some(Arc::new(Session::fixed(context, Arc::clone(&setup.recipes), board)?))
    } else {
        None
    };
    Ok(Caller::with_key(&key.name).within(&Scope::all(rules), session))
}

/// Refuses a key that is no secret, or that someone else has.
fn check(credentials: &Credentials, setting: &str, key: &str) -> Result<(), Report> {
    if key.is_empty() {
        return Err(wrong(setting, "`apikey` needs keys, and none may be empty"));
    }
    if credentials.knows_key(key) {
        return Err(wrong(setting, "the same key is there twice"));
    }
    if key.len() < SHORT_KEY {
        tracing::warn!(
            event = "short_key",
            setting,
            "a key of {SHORT_KEY} characters or more is harder to guess"
        );
    }
    Ok(())
}

async fn tokens(setup: &Setup) -> Result<Tokens, Report> {
    let Some(oauth) = &setup.http.oauth else {
        return Err(wrong("`http.oauth`", "`oauth` needs an issuer, an audience and keys"));
    };
    for (name, value) in [("issuer", &oauth.issuer), ("audience", &oauth.audience)] {
        if value.trim().is_empty() {
            return Err(wrong(&format!("`http.oauth.{name}`"), "it is empty"));
        }
    }
    let source = if oauth.jwks.contains("://") {
        KeySource::Url(oauth.jwks.clone())
    } else {
        KeySource::File(setup.base.join(&oauth.jwks))
    };
    let (issuer, audience) = (oauth.issuer.clone(), oauth.audience.clone());
    Tokens::new(issuer, audience, source, Arc::clone(&setup.app)).await
}

fn wrong(setting: &str, what: &str) -> Report {
    Report::new(Kind::Invalid, format!("{setting}: {what}"))
}
