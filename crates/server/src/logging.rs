//! Logs on standard error: one JSON object a line, or text for people.
//!
//! A subscriber of our own, because two things no library's formatter does are promises here: a
//! value under a name that holds a secret, and the value of a configured secret wherever it
//! stands, never reach the stream. There are no spans: what belongs to a request is known by its
//! task ([`within`]).

mod correlation;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::io::Write as _;

use chrono::Utc;
use rutter_base::secret::{self, REDACTED, Secrets};
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use correlation::Request;
pub use correlation::{carried, within};

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line.
    #[default]
    Json,
    /// For people.
    Text,
}

/// Starts logging. Panics become log lines too: nothing else may write to the streams.
pub fn start(level: LevelFilter, format: Format, secrets: Secrets) {
    let write = |line: &str| {
        // Whole lines in one write; a reader that went away is no reason to stop.
        let _ = std::io::stderr().write_all(line.as_bytes());
    };
    // A second start, as in tests, keeps the first.
    let _ = tracing::subscriber::set_global_default(Lines { level, format, secrets, write });
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let payload = panic.payload();
        let said = payload.downcast_ref::<&str>().copied().map(str::to_owned);
        let said = said.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        tracing::error!(event = "panic", place, "{said}");
    }));
}

/// Makes a line of every event that is wanted.
struct Lines {
    level: LevelFilter,
    format: Format,
    secrets: Secrets,
    write: fn(&str),
}

impl Lines {
    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        let own = metadata.target().starts_with("rutter_server");
        let least = match self.level {
            level if own || level >= LevelFilter::DEBUG => level,
            // The SDK warns about every error response that we send on purpose.
            level => level.min(LevelFilter::ERROR),
        };
        metadata.is_event() && *metadata.level() <= least
    }
}

impl Subscriber for Lines {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(Vec::with_capacity(12));
        if let Some(request) = Request::current() {
            fields.set("correlation_id", Value::from(request.id.to_string()));
            fields.set("method", Value::from(request.method));
            if let Some(caller) = request.caller {
                fields.set("caller", Value::from(&*caller));
            }
        }
        event.record(&mut fields);
        // Before anything is escaped, which would hide a secret with quotes in it.
        fields.redact(&self.secrets);
        let metadata = event.metadata();
        (self.write)(&line(self.format, *metadata.level(), metadata.target(), fields));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of an event, in order; the last of a name counts.
#[derive(Debug, Default)]
struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        let value =
            if secret::is_secret_name(field.name()) { Value::from(REDACTED) } else { value };
        self.set(field.name(), value);
    }

    fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    /// Strikes out every secret in the values.
    fn redact(&mut self, secrets: &Secrets) {
        for (_, value) in &mut self.0 {
            let Value::String(text) = value else { continue };
            if let Cow::Owned(redacted) = secrets.redact(text) {
                *text = redacted;
            }
        }
    }

    /// Removes a field and gives it as text.
    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        match self.0.remove(at).1 {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Value::from(format!("{value:?}")));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::from(value));
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::from(value));
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::from(value));
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::from(value));
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        // Three decimals: microseconds, where it is milliseconds.
        self.put(field, Value::from((value * 1_000.0).round() / 1_000.0));
    }
}

/// A line: `ts`, `level`, `event`, `msg`, `correlation_id` where there is one, and the fields.
fn line(format: Format, level: Level, target: &str, mut fields: Fields) -> String {
    let event = fields.take("event");
    let event = event.unwrap_or_else(|| target.split("::").next().unwrap_or(target).to_owned());
    let msg = fields.take("message").unwrap_or_else(|| event.replace('_', " "));
    let correlation_id = fields.take("correlation_id");
    let mut line = String::with_capacity(320);
    match format {
        Format::Json => {
            line.push_str("{\"ts\":\"");
            push_time(&mut line);
            line.push_str("\",\"level\":\"");
            line.push_str(name(level));
            line.push('"');
            push_text(&mut line, "event", &event);
            push_text(&mut line, "msg", &msg);
            if let Some(id) = correlation_id {
                push_text(&mut line, "correlation_id", &id);
            }
            for (name, value) in fields.0 {
                match embedded(value) {
                    Value::String(text) => push_text(&mut line, name, &text),
                    value => {
                        let _ = write!(line, ",\"{name}\":{value}");
                    }
                }
            }
            line.push('}');
        }
        Format::Text => {
            push_time(&mut line);
            let _ = write!(line, " {level:5} {event}: {msg}");
            let id = correlation_id.map(|id| ("correlation_id", Value::from(id)));
            for (name, value) in fields.0.into_iter().chain(id) {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let _ = write!(line, " {name}={value}");
            }
            line = rutter_base::text::one_line(&line);
        }
    }
    line.push('\n');
    line
}

/// Appends `,"name":"text"`. The names are those of fields in our own source.
fn push_text(line: &mut String, name: &str, text: &str) {
    line.push_str(",\"");
    line.push_str(name);
    line.push_str("\":");
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\' && byte != 0x7f;
    if text.bytes().all(plain) {
        // Most texts are names, and stand for themselves.
        line.push('"');
        line.push_str(text);
        line.push('"');
    } else {
        // A text always has a JSON form.
        line.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// Appends the time: ISO 8601, UTC, milliseconds. The seconds are formatted once a second.
fn push_time(line: &mut String) {
    thread_local! {
        static SECOND: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
    }
    let now = Utc::now();
    SECOND.with_borrow_mut(|(second, text)| {
        if *second != now.timestamp() {
            *second = now.timestamp();
            *text = now.format("%Y-%m-%dT%H:%M:%S").to_string();
        }
        line.push_str(text);
    });
    let _ = write!(line, ".{:03}Z", now.timestamp_subsec_millis().min(999));
}

fn name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// Objects go through the tracing macros as text; in the line they are objects.
fn embedded(value: Value) -> Value {
    match &value {
        Value::String(text) if text.starts_with('{') => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

/// A map as a field of a log line.
pub fn object(entries: &impl serde::Serialize) -> String {
    serde_json::to_string(entries).unwrap_or_default()
}

/// The level by its name.
pub fn level(name: &str) -> Option<LevelFilter> {
    match name.to_ascii_lowercase().as_str() {
        "off" => Some(LevelFilter::OFF),
        "error" => Some(LevelFilter::ERROR),
        "warn" => Some(LevelFilter::WARN),
        "info" => Some(LevelFilter::INFO),
        "debug" => Some(LevelFilter::DEBUG),
        "trace" => Some(LevelFilter::TRACE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    static WRITTEN: Mutex<String> = Mutex::new(String::new());

    #[tokio::test]
    async fn lines_carry_the_request_and_never_a_secret() {
        let lines = Lines {
            level: LevelFilter::INFO,
            format: Format::Json,
            secrets: Secrets::new(["hunter22".into(), "a\"b\\c".into()]),
            write: |line| WRITTEN.lock().unwrap().push_str(line),
        };
        let _logging = tracing::subscriber::set_default(lines);
        within("tools/call", Some("ada".into()), async {
            tracing::info!(
                event = "tool_call",
                tool = "read",
                ms = 1.23456,
                api_token = "abc",
                reason = "it is a\"b\\c",
                "hunter22\nnext"
            );
            tracing::debug!(event = "not_wanted");
            tracing::warn!(target: "rmcp::service", "not wanted either");
        })
        .await;
        let text = WRITTEN.lock().unwrap().clone();
        assert_eq!(text.lines().count(), 1);
        let mut line: Value = serde_json::from_str(&text).unwrap();
        let mut taken = |name| line.as_object_mut().unwrap().shift_remove(name).unwrap();
        let (ts, id) = (taken("ts"), taken("correlation_id"));
        assert!(ts.as_str().unwrap().ends_with('Z'), "{ts}");
        assert!(id.as_str().unwrap().len() > 16, "{id}");
        assert_eq!(
            line,
            serde_json::json!({
                "level": "info", "event": "tool_call", "msg": "[redacted]\nnext",
                "method": "tools/call", "caller": "ada", "tool": "read", "ms": 1.235, "api_token": "[redacted]",
                "reason": "it is [redacted]",
            })
        );
    }

    #[test]
    fn text_is_one_line_whatever_is_in_it() {
        let mut fields = Fields::default();
        fields.set("event", "x".into());
        fields.set("path", "a\nb\u{1b}[2J".into());
        let line = line(Format::Text, Level::WARN, "t", fields);
        assert_eq!(line.matches('\n').count(), 1);
        assert!(!line.contains('\u{1b}'));
    }
}
