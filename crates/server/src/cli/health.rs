//! `rutter health`

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::text::{cap, one_line};
use serde_json::Value;

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
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
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
                Ok(FINE)
            }
            Err(report) => {
                let shown = cap(one_line(url), 200);
                Screen::stderr()
                    .line(&format!("rutter: {shown}: {}", one_line(&report.to_string())));
                Ok(FOUND_ERRORS)
            }
        }
    }
}

/// What a server that is well says, in one line.
fn well(answer: &str) -> Result<String, Report> {
    let answer: Value = serde_json::from_str(answer)
        .map_err(|_| Report::new(Kind::Invalid, "that is no answer of this server"))?;
    let status = answer["status"].as_str().unwrap_or("unknown");
    if status != "ok" {
        return Err(Report::new(Kind::Invalid, format!("the server is {}", one_line(status))));
    }
    let modules = answer["modules"].as_object().into_iter().flatten();
    let modules: Vec<String> = modules
        .map(|(name, module)| {
            format!(
                "{} {}",
                one_line(name),
                one_line(module["status"].as_str().unwrap_or_default())
            )
        })
        .collect();
    let version = one_line(answer["version"].as_str().unwrap_or_default());
    Ok(format!("ok, version {version}: {}", modules.join(", ")))
}
