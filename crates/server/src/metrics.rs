//! What is counted: the calls of each tool, how they ended, and how long they took; and what
//! the server around them did.
//!
//! Over HTTP it is scraped as Prometheus text; over stdio it is logged at the end.

mod server;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use serde::Serialize;

use server::Server;
pub use server::{Gauge, Inside};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Ok,
    /// The arguments did not fit.
    Invalid,
    /// The tool could not do it.
    Failed,
}

/// The counters of all tools that were called.
///
/// A name comes from the table or from content, never from a caller, so there are not more of
/// them than there are tools.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    tools: Arc<Tools>,
    server: Arc<Server>,
}

#[derive(Debug, Default)]
struct Tools(RwLock<BTreeMap<String, Arc<Counters>>>);

#[derive(Debug)]
struct Counters {
    ok: Counter,
    invalid: Counter,
    failed: Counter,
    seconds: Histogram,
    /// The histogram keeps its own sum to itself.
    total: Counter<f64, AtomicU64>,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            ok: Counter::default(),
            invalid: Counter::default(),
            failed: Counter::default(),
            // From 10 microseconds to 2.6 seconds.
            seconds: Histogram::new(exponential_buckets(0.000_01, 4.0, 10)),
            total: Counter::default(),
        }
    }
}

/// How a tool was used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Usage {
    /// All calls.
    pub calls: u64,
    /// Those whose arguments did not fit.
    pub invalid: u64,
    /// Those that failed.
    pub failed: u64,
    /// How long one took, in milliseconds, on average.
    pub mean_ms: f64,
}

impl Metrics {
    /// Counts a call.
    pub fn record(&self, tool: &str, outcome: Outcome, seconds: f64) {
        let counters = self.tools.of(tool);
        match outcome {
            Outcome::Ok => &counters.ok,
            Outcome::Invalid => &counters.invalid,
            Outcome::Failed => &counters.failed,
        }
        .inc();
        counters.seconds.observe(seconds);
        counters.total.inc_by(seconds);
    }

    /// How each tool was used that was.
    pub fn usage(&self) -> BTreeMap<String, Usage> {
        let tools = self.tools.0.read().unwrap_or_else(PoisonError::into_inner);
        let used = tools.iter().map(|(name, counters)| {
            let (invalid, failed) = (counters.invalid.get(), counters.failed.get());
            let calls = counters.ok.get() + invalid + failed;
            #[expect(clippy::cast_precision_loss, reason = "nobody waits for that many calls")]
            let mean = counters.total.get() / calls.max(1) as f64;
            let mean_ms = (mean * 1_000_000.0).round() / 1_000.0;
            (name.clone(), Usage { calls, invalid, failed, mean_ms })
        });
        used.collect()
    }

    /// Counts a request over HTTP.
    pub fn request(&self, route: &'static str, status: u16, seconds: f64) {
        self.server.request(route, status, seconds);
    }

    /// Counts something that was not allowed, by the reason.
    pub fn denied(&self, reason: &'static str) {
        self.server.denied(reason);
    }

    /// Counts that something was read again.
    pub fn reloaded(&self, what: &'static str) {
        self.server.reloaded(what);
    }

    /// The connections that are open.
    pub fn connections(&self) -> &Gauge {
        &self.server.connections
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> &Gauge {
        &self.server.sessions
    }

    /// All of it, as Prometheus reads it; `documents` is how many can be searched.
    pub fn render(&self, documents: usize) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("rutter");
        registry.register_collector(Box::new(Arc::clone(&self.tools)));
        self.server.register(&mut registry, documents);
        let mut page = String::new();
        text::encode(&mut page, &registry)?;
        Ok(page)
    }
}

impl Tools {
    fn of(&self, tool: &str) -> Arc<Counters> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(tool).cloned();
        known.unwrap_or_else(|| {
            let mut tools = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(tools.entry(tool.to_owned()).or_default())
        })
    }
}

impl Collector for Tools {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let tools = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut calls =
            encoder.encode_descriptor("tool_calls", "Calls of tools", None, MetricType::Counter)?;
        for (tool, counters) in tools.iter() {
            let outcomes = [
                ("ok", &counters.ok),
                ("invalid", &counters.invalid),
                ("failed", &counters.failed),
            ];
            for (outcome, counter) in outcomes {
                let labels = [("tool", tool.as_str()), ("outcome", outcome)];
                counter.encode(calls.encode_family(&labels)?)?;
            }
        }
        let mut durations = encoder.encode_descriptor(
            "tool_duration",
            "How long calls of tools take",
            Some(&Unit::Seconds),
            MetricType::Histogram,
        )?;
        for (tool, counters) in tools.iter() {
            counters.seconds.encode(durations.encode_family(&[("tool", tool.as_str())])?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_outcome() {
        let metrics = Metrics::default();
        metrics.record("read", Outcome::Ok, 0.000_5);
        metrics.record("read", Outcome::Ok, 0.001_5);
        metrics.record("read", Outcome::Failed, 0.001);
        metrics.record("search", Outcome::Invalid, 10.0);
        let usage = metrics.usage();
        assert_eq!(usage["read"], Usage { calls: 3, invalid: 0, failed: 1, mean_ms: 1.0 });
        assert_eq!(usage["search"].invalid, 1);
        let page = metrics.render(7).unwrap();
        for line in [
            "# TYPE rutter_tool_calls counter",
            "rutter_tool_calls_total{tool=\"read\",outcome=\"ok\"} 2",
            "# TYPE rutter_tool_duration_seconds histogram",
            "rutter_tool_duration_seconds_count{tool=\"read\"} 3",
            "rutter_tool_duration_seconds_bucket{le=\"+Inf\",tool=\"search\"} 1",
            "rutter_documents 7",
            "# EOF",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n\n{page}");
        }
    }
}
