//! `rutter health`

use std::collections::BTreeMap;

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::text::{cap, one_line};
use serde::Deserialize;

use super::screen::Screen;
use super::{FINE, FOUND_ERRORS, Surroundings, wait};
use crate::outbound::fetch;
use crate::settings::Variable;

/// The most that a server says of its health.
const MAX_ANSWER: usize = 64 * 1024;
const DEFAULT_PORT: &str = "8080";

#[derive(Debug, Args)]
#[command(
    after_help = "The code is 0 when the server answers that it is well, and 1 when it does not: what a container's
health check needs. A server that encrypts its connections is asked by a name of its certificate.

Examples:
  rutter health
  rutter health http://127.0.0.1:9000
  rutter health https://rutter.example"
)]
pub(super) struct Health {
    /// Where the server is [default: this machine, at `RUTTER_PORT` or 8080]
    url: Option<String>,
}

impl Health {
    pub(super) fn run(&self, surroundings: &Surroundings, screen: &mut Screen) -> u8 {
        let here = || {
            let port = surroundings.environment.get(Variable::PORT).unwrap_or(DEFAULT_PORT);
            format!("http://127.0.0.1:{port}")
        };
        let url = self.url.clone().unwrap_or_else(here);
        let url = url.trim_end_matches('/').trim_end_matches("/health");
        let answer = wait(fetch::get(&format!("{url}/health"), MAX_ANSWER));
        let answer = answer.and_then(|answer| well(&answer));
        match answer {
            Ok(line) => {
                screen.line(&line);
                FINE
            }
            Err(report) => {
                let shown = cap(one_line(url), 200);
                Screen::stderr()
                    .line(&format!("rutter: {shown}: {}", one_line(&report.to_string())));
                FOUND_ERRORS
            }
        }
    }
}

/// What a server says of itself, as far as it matters here.
#[derive(Deserialize)]
struct Answer {
    status: String,
    version: String,
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    status: String,
}

/// What a server that is well says, in one line.
fn well(answer: &str) -> Result<String, Report> {
    let Answer { status, version, modules } = serde_json::from_str(answer)
        .map_err(|_| Report::new(Kind::Invalid, "that is no answer of this server"))?;
    if status != "ok" {
        return Err(Report::new(Kind::Invalid, format!("the server is {}", one_line(&status))));
    }
    let modules: Vec<_> =
        modules.iter().map(|(name, module)| format!("{name} {}", module.status)).collect();
    Ok(one_line(&format!("ok, version {version}: {}", modules.join(", "))))
}
