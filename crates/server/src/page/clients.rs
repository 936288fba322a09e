//! How each client is told about this server.

use rutter_base::document;
use serde_json::{Value, json};

use super::Credential;

/// How to connect one client.
pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) steps: Vec<Step>,
}

/// Something to run, or to write into a file.
pub(super) struct Step {
    /// What to do with it.
    pub(super) how: &'static str,
    /// The file that it belongs in, if it is not a command.
    pub(super) file: Option<&'static str>,
    pub(super) code: String,
}

/// What every request must carry.
struct Header {
    name: &'static str,
    /// What stands before the secret.
    before: &'static str,
    /// The variable that holds the secret: a page never asks for it.
    variable: &'static str,
}

impl Header {
    fn of(credential: Credential) -> Option<Self> {
        let header = |name, before, variable| Some(Self { name, before, variable });
        match credential {
            Credential::None => None,
            Credential::ApiKey => header("X-API-Key", "", "RUTTER_KEY"),
            Credential::Basic => header("Authorization", "", "RUTTER_LOGIN"),
            Credential::Bearer => header("Authorization", "Bearer ", "RUTTER_TOKEN"),
        }
    }

    /// As an argument for a shell, which puts the secret in.
    fn argument(&self) -> String {
        format!("--header \"{}: {}${}\"", self.name, self.before, self.variable)
    }

    /// As a member of a JSON file whose client knows such a form of variables.
    fn member(&self, variable: &str) -> Value {
        json!({ self.name: format!("{}{variable}", self.before) })
    }
}

/// What to do first, so that the commands find the secret.
pub(super) fn preparation(credential: Credential) -> Option<Step> {
    let (how, code) = match credential {
        Credential::None => return None,
        Credential::ApiKey => ("Put your key into a variable first.", "export RUTTER_KEY='…'"),
        Credential::Basic => (
            "Put your name and password into a variable first.",
            "export RUTTER_LOGIN=\"Basic $(printf %s 'name:password' | base64 | tr -d '\\n')\"",
        ),
        Credential::Bearer => ("Put your token into a variable first.", "export RUTTER_TOKEN='…'"),
    };
    Some(Step { how, file: None, code: code.to_owned() })
}

/// How each client connects to `url`. They know the server by a name made of `identity`.
pub(super) fn all(identity: &str, url: &str, credential: Credential) -> Vec<Client> {
    let name = &short_name(identity);
    let header = Header::of(credential);
    let header = header.as_ref();
    vec![
        claude(name, url, header),
        codex(name, url, header),
        gemini(name, url, header),
        cursor(name, url, header),
        vscode(name, url, header),
    ]
}

/// A name that every client takes, and that means nothing to a shell.
fn short_name(identity: &str) -> String {
    let slug = document::slug(identity);
    let plain = slug.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let name: String = plain.take(40).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "rutter".to_owned() } else { name.to_owned() }
}

fn claude(name: &str, url: &str, header: Option<&Header>) -> Client {
    // The header comes last: it takes any number of values.
    let mut command = format!("claude mcp add --transport http {name} {url}");
    if let Some(header) = header {
        command = format!("{command} \\\n  {}", header.argument());
    }
    Client {
        name: "Claude Code",
        steps: vec![
            Step { how: "Run this in your project.", file: None, code: command },
            Step {
                how: "Then see that it is connected.",
                file: None,
                code: "claude mcp list".to_owned(),
            },
        ],
    }
}

fn codex(name: &str, url: &str, header: Option<&Header>) -> Client {
    let step = match header {
        None => {
            Step { how: "Run this.", file: None, code: format!("codex mcp add {name} --url {url}") }
        }
        Some(Header { before: "Bearer ", variable, .. }) => Step {
            how: "Run this.",
            file: None,
            code: format!(
                "codex mcp add {name} --url {url} \\\n  --bearer-token-env-var {variable}"
            ),
        },
        Some(header) => Step {
            how: "Add this to the file.",
            file: Some("~/.codex/config.toml"),
            code: format!(
                "[mcp_servers.{name}]\nurl = \"{url}\"\nenv_http_headers = {{ \"{}\" = \"{}\" }}",
                header.name, header.variable
            ),
        },
    };
    Client { name: "Codex", steps: vec![step] }
}

fn gemini(name: &str, url: &str, header: Option<&Header>) -> Client {
    let header = header.map(|header| format!(" {} \\\n ", header.argument())).unwrap_or_default();
    let code = format!("gemini mcp add --transport http{header} {name} {url}");
    Client { name: "Gemini CLI", steps: vec![Step { how: "Run this.", file: None, code }] }
}

fn cursor(name: &str, url: &str, header: Option<&Header>) -> Client {
    let mut server = json!({ "url": url });
    if let Some(header) = header {
        insert(&mut server, "headers", header.member(&format!("${{env:{}}}", header.variable)));
    }
    let code = pretty(&json!({ "mcpServers": { name: server } }));
    let how = "Put this into the file, in your project or in your home folder.";
    Client { name: "Cursor", steps: vec![Step { how, file: Some(".cursor/mcp.json"), code }] }
}

fn vscode(name: &str, url: &str, header: Option<&Header>) -> Client {
    let mut server = json!({ "type": "http", "url": url });
    let mut inputs = None;
    if let Some(header) = header {
        let id = format!("{name}-key");
        insert(&mut server, "headers", header.member(&format!("${{input:{id}}}")));
        let asks = json!({
            "type": "promptString",
            "id": id,
            "description": header.variable,
            "password": true,
        });
        inputs = Some(json!([asks]));
    }
    let mut file = json!({ "servers": { name: server } });
    if let Some(inputs) = inputs {
        insert(&mut file, "inputs", inputs);
    }
    let how = "Put this into the file, then run “MCP: List Servers”.";
    Client {
        name: "VS Code",
        steps: vec![Step { how, file: Some(".vscode/mcp.json"), code: pretty(&file) }],
    }
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(object) = object {
        object.insert(key.to_owned(), value);
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(credential: Credential) -> String {
        let clients = all("Our Rutter!", "http://localhost:8080/mcp", credential);
        let preparation = preparation(credential).map(|step| step.code);
        let codes = clients.into_iter().flat_map(|client| {
            client.steps.into_iter().map(move |step| {
                format!("# {} {}\n{}", client.name, step.file.unwrap_or("$"), step.code)
            })
        });
        preparation.into_iter().chain(codes).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_client_is_told_in_its_own_words() {
        insta::assert_snapshot!(shown(Credential::None));
    }

    #[test]
    fn a_secret_is_named_and_never_shown() {
        insta::assert_snapshot!("key", shown(Credential::ApiKey));
        insta::assert_snapshot!("login", shown(Credential::Basic));
        insta::assert_snapshot!("token", shown(Credential::Bearer));
    }

    #[test]
    fn any_name_becomes_one_that_a_shell_leaves_alone() {
        for (name, expected) in [
            ("rutter", "rutter"),
            ("Our Rutter!", "our-rutter"),
            ("$(rm -rf ~)", "rm--rf"),
            ("…", "rutter"),
            ("日本 1", "1"),
            ("-- x", "x"),
        ] {
            assert_eq!(short_name(name), expected, "{name}");
        }
    }
}
