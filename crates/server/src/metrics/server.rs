//! What the server did: requests over HTTP, connections, sessions, what was denied and reloaded.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

type Label = [(&'static str, &'static str); 1];
/// The route and the status of a request.
type RequestLabels = (Label, [(&'static str, u16); 1]);

/// How many of something there are now.
#[derive(Debug, Clone, Default)]
pub struct Gauge(gauge::Gauge);

/// One of them, as long as this lives.
#[derive(Debug)]
pub struct Inside(gauge::Gauge);

impl Gauge {
    /// One more, until the returned value is dropped.
    pub fn enter(&self) -> Inside {
        self.0.inc();
        Inside(self.0.clone())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[derive(Debug)]
pub(super) struct Server {
    requests: Family<RequestLabels, Counter>,
    seconds: Family<Label, Histogram, fn() -> Histogram>,
    denied: Family<Label, Counter>,
    reloads: Family<Label, Counter>,
    pub(super) connections: Gauge,
    pub(super) sessions: Gauge,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(buckets),
            denied: Family::default(),
            reloads: Family::default(),
            connections: Gauge::default(),
            sessions: Gauge::default(),
        }
    }
}

/// From 100 microseconds to 26 seconds.
fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 4.0, 10))
}

impl Server {
    pub(super) fn request(&self, route: &'static str, status: u16, seconds: f64) {
        self.requests.get_or_create(&([("route", route)], [("status", status)])).inc();
        self.seconds.get_or_create(&[("route", route)]).observe(seconds);
    }

    pub(super) fn denied(&self, reason: &'static str) {
        self.denied.get_or_create(&[("reason", reason)]).inc();
    }

    pub(super) fn reloaded(&self, what: &'static str) {
        self.reloads.get_or_create(&[("what", what)]).inc();
    }

    pub(super) fn register(&self, registry: &mut Registry, documents: usize) {
        registry.register("http_requests", "Requests over HTTP", self.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "How long requests take until their answer begins",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register("connections", "Open connections", self.connections.0.clone());
        registry.register("sessions", "Open sessions", self.sessions.0.clone());
        registry.register("denied", "What was not allowed", self.denied.clone());
        registry.register("reloads", "What was read again", self.reloads.clone());
        let indexed: gauge::Gauge = gauge::Gauge::default();
        indexed.set(i64::try_from(documents).unwrap_or(i64::MAX));
        registry.register("documents", "Documents that can be searched", indexed);
    }
}
