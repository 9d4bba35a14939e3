//! Metrics for Prometheus: requests, responses, Redis, background work, the process.
//!
//! This module does not depend on HTTP and Redis; their modules call it. Every label has a bounded set of values regardless of the clients: only the
//! first [`OPERATIONS`] operation names of a process become labels (`names`). Counting costs a few atomic operations and short locks, and allocates
//! only for a new label.

mod ads;
mod responses;
mod http;
mod jwt;
mod names;
mod process;
mod storage;
mod text;

pub use http::{ConnectionState, HttpMeters};
pub use responses::RefusedResponse;
pub use storage::{StorageFault, StorageMeters};
pub use text::to_prometheus;

use crate::base::clock::Millis;
use crate::base::named::named_enum;
use ads::AdMeters;
use jwt::JwtMeters;
use names::LabelNames;
use process::Process;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use responses::ResponseMeters;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of operation names that become labels; other names are counted as [`OTHER`].
pub const OPERATIONS: usize = 200;
/// Maximum number of outcomes that become labels. They are error codes, of which there are some two dozen.
const OUTCOMES: usize = 64;
/// The operation of requests whose name is not a label: too many names, too long, or not a GraphQL name.
pub const OTHER: &str = "other";
/// The operation of requests without a name.
pub const ANONYMOUS: &str = "anonymous";
/// The operation of requests that were refused before their operation was parsed.
pub const UNKNOWN: &str = "unknown";
/// The outcome of successful requests.
pub const OK: &str = "ok";
/// The outcome of requests whose client has disconnected.
pub const CANCELLED: &str = "CANCELLED";

/// The upper bounds of the buckets of durations, in seconds: from half a millisecond to ten seconds, the deadline of a request.
const DURATION_BUCKETS: [f64; 14] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

named_enum! {
    /// The kind of an operation.
    pub enum OperationKind {
        /// A query.
        Query = "query",
        /// A mutation.
        Mutation = "mutation",
        /// A subscription.
        Subscription = "subscription",
        /// Refused before the kind was parsed.
        Unknown = "unknown",
    }
}

impl EncodeLabelValue for OperationKind {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        EncodeLabelValue::encode(&self.name(), encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    operation: Arc<str>,
    kind: OperationKind,
    outcome: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: OperationKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabel {
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TransportLabel {
    transport: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabel {
    queue: &'static str,
}

/// The metrics of an application.
pub struct Metrics {
    registry: Registry,
    operations: LabelNames,
    outcomes: LabelNames,
    requests: Family<RequestLabels, Counter>,
    /// In the order of [`OperationKind::ALL`].
    durations: [Histogram; 4],
    responses: Family<StatusLabel, Counter>,
    in_flight: Gauge,
    connections: Gauge,
    http: HttpMeters,
    streams: Family<TransportLabel, Gauge>,
    subscriptions: Family<TransportLabel, Gauge>,
    filter_entries: Gauge,
    filters_refused: Counter,
    background: Gauge,
    journal: Family<QueueLabel, Gauge>,
    dead: Gauge,
    hashes_waiting: Gauge,
    hashes_running: Gauge,
    excess_units: Counter,
    debt_units: Counter,
    response_meters: ResponseMeters,
    ad_meters: AdMeters,
    jwt_meters: JwtMeters,
}

impl Metrics {
    /// New metrics of a process that started at `began`, together with those of the storage.
    pub fn new(storage: &StorageMeters, began: Millis) -> Self {
        let durations = Family::<KindLabel, Histogram>::new_with_constructor(histogram as fn() -> Histogram);
        let mut registry = Registry::default();
        let mut metrics = Self {
            http: HttpMeters::registered(registry.sub_registry_with_prefix("waxwing")),
            registry,
            operations: LabelNames::new(OPERATIONS, &[OTHER, ANONYMOUS, UNKNOWN]),
            outcomes: LabelNames::new(OUTCOMES, &[OTHER, OK]),
            requests: Family::default(),
            durations: OperationKind::ALL.map(|kind| durations.get_or_create_owned(&KindLabel { kind })),
            responses: Family::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            streams: Family::default(),
            subscriptions: Family::default(),
            filter_entries: Gauge::default(),
            filters_refused: Counter::default(),
            background: Gauge::default(),
            journal: Family::default(),
            dead: Gauge::default(),
            hashes_waiting: Gauge::default(),
            hashes_running: Gauge::default(),
            excess_units: Counter::default(),
            debt_units: Counter::default(),
            response_meters: ResponseMeters::default(),
            ad_meters: AdMeters::default(),
            jwt_meters: JwtMeters::default(),
        };
        metrics.register(durations, storage, began);
        metrics
    }

    fn register(&mut self, durations: Family<KindLabel, Histogram, fn() -> Histogram>, storage: &StorageMeters, began: Millis) {
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        self.registry.register("waxwing_build", "The running version", build);
        let registry = self.registry.sub_registry_with_prefix("waxwing");
        registry.register("requests", "GraphQL requests by operation, kind and outcome", self.requests.clone());
        let help = "From the request's head to its response, by kind of operation";
        registry.register_with_unit("request_duration", help, Unit::Seconds, durations);
        registry.register("http_responses", "HTTP responses by status", self.responses.clone());
        registry.register(
            "http_requests_in_flight",
            "HTTP requests without a response yet, this one included",
            self.in_flight.clone(),
        );
        registry.register("http_connections", "Connections that are open", self.connections.clone());
        registry.register(
            "live_streams",
            "Sockets (ws), event streams (sse) and multipart responses (multipart) that are open",
            self.streams.clone(),
        );
        registry.register("live_subscriptions", "Running subscriptions, by transport", self.subscriptions.clone());
        registry.register("live_filter_entries", "Entries of the filters of open subscriptions", self.filter_entries.clone());
        let help = "Subscriptions that were refused since their account or address holds too many filter entries";
        registry.register("live_filters_refused", help, self.filters_refused.clone());
        registry.register(
            "background_tasks",
            "Work that goes on after its response, and mutations under way",
            self.background.clone(),
        );
        let help = "Changes in the journal that are not settled yet, by queue, as this process has last seen it";
        registry.register("journal_entries", help, self.journal.clone());
        registry.register(
            "journal_dead",
            "Changes that could not be settled, as this process has last seen it",
            self.dead.clone(),
        );
        registry.register("password_hashes_waiting", "Passwords that wait to be hashed", self.hashes_waiting.clone());
        registry.register("password_hashes_running", "Passwords that are being hashed", self.hashes_running.clone());
        let help = "Tokens of the limit `requests` that were charged after the response, for work beyond the estimate";
        registry.register("excess_units", help, self.excess_units.clone());
        registry.register(
            "debt_units",
            "Tokens of the limit `requests` that were charged after the response, exceeded the leased tokens, and became a debt",
            self.debt_units.clone(),
        );
        self.response_meters.register(registry);
        self.ad_meters.register(registry);
        self.jwt_meters.register(registry);
        storage.register(registry);
        self.registry.register_collector(Box::new(Process { started_at: began }));
    }

    /// Counts a GraphQL request: its operation name (`None` if anonymous), its outcome (an error code, or [`OK`]) and its duration.
    pub fn count_request(&self, operation: Option<&str>, kind: OperationKind, outcome: &str, took: Duration) {
        let operation = match (operation, kind) {
            (None, OperationKind::Unknown) => UNKNOWN,
            (None, _) => ANONYMOUS,
            (Some(name), _) => name,
        };
        let (operation, outcome) = (self.operations.admit(operation), self.outcomes.admit(outcome));
        self.requests.get_or_create(&RequestLabels { operation, kind, outcome }).inc();
        self.durations[kind as usize].observe(took.as_secs_f64());
    }

    /// Sets the number of entries in a queue of the journal, and the number of dead letters of all queues.
    pub fn set_journal(&self, queue: &'static str, entries: u64, dead: u64) {
        self.journal.get_or_create(&QueueLabel { queue }).set(entries.try_into().unwrap_or(i64::MAX));
        self.dead.set(dead.try_into().unwrap_or(i64::MAX));
    }

    /// Counts units that were charged beyond an estimate, and the part of them that became a debt.
    pub fn count_excess(&self, units: u64, debt: u64) {
        self.excess_units.inc_by(units);
        self.debt_units.inc_by(debt);
    }

    /// Counts an HTTP response.
    pub fn count_response(&self, status: u16) {
        self.responses.get_or_create(&StatusLabel { status }).inc();
    }

    /// Counts a response that was not delivered.
    pub fn count_refused_response(&self, reason: RefusedResponse) {
        self.response_meters.refused(reason);
    }

    /// Counts impressions of ads, valid or invalid.
    pub fn count_ad_impressions(&self, is_invalid: bool, count: usize) {
        self.ad_meters.impressions(is_invalid, count);
    }

    /// Counts a click on an ad; `reason` is why it is invalid.
    pub fn count_ad_click(&self, reason: Option<&'static str>) {
        self.ad_meters.click(reason);
    }

    /// Counts a JSON Web Token that was refused.
    pub fn jwt_refused(&self, reason: &'static str) {
        self.jwt_meters.refused(reason);
    }

    /// Counts a fetch of the keys of the issuer of JSON Web Tokens.
    pub fn jwt_keys_fetched(&self, is_success: bool) {
        self.jwt_meters.fetched(is_success);
    }

    /// Adds bytes that wait for their readers; negative to subtract.
    pub fn add_unread(&self, bytes: i64) {
        self.response_meters.unread.inc_by(bytes);
    }

    /// Counts an HTTP request in flight, until the guard is dropped.
    pub fn track_request(&self) -> GaugeGuard {
        GaugeGuard::new(&self.in_flight)
    }

    /// The metrics of connections and bodies.
    pub const fn http(&self) -> &HttpMeters {
        &self.http
    }

    /// Counts an open connection, until the guard is dropped.
    pub fn connection(&self) -> GaugeGuard {
        GaugeGuard::new(&self.connections)
    }

    /// Counts an open WebSocket, event stream or multipart response, until the guard is dropped.
    pub fn live_stream(&self, transport: &'static str) -> GaugeGuard {
        GaugeGuard::new(&self.streams.get_or_create(&TransportLabel { transport }))
    }

    /// Counts a running subscription, until the guard is dropped.
    pub fn live_subscription(&self, transport: &'static str) -> GaugeGuard {
        GaugeGuard::new(&self.subscriptions.get_or_create(&TransportLabel { transport }))
    }

    /// Counts the entries of a subscription's filter, until the guard is dropped.
    pub fn filter_entries(&self, entries: usize) -> GaugeGuard {
        GaugeGuard::many(&self.filter_entries, entries)
    }

    /// Counts a subscription that was refused because of its filter entries.
    pub fn filter_refused(&self) {
        self.filters_refused.inc();
    }

    /// All metrics in the OpenMetrics text format.
    ///
    /// # Errors
    /// If formatting fails.
    pub fn exposition(&self, background: usize, hashes_waiting: usize, hashes_running: usize) -> Result<String, std::fmt::Error> {
        self.background.set(background as i64);
        self.hashes_waiting.set(hashes_waiting as i64);
        self.hashes_running.set(hashes_running as i64);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn histogram() -> Histogram {
    Histogram::new(DURATION_BUCKETS)
}

/// An increment of a gauge that is undone on drop.
pub struct GaugeGuard(Gauge, i64);

impl GaugeGuard {
    fn new(gauge: &Gauge) -> Self {
        Self::many(gauge, 1)
    }

    fn many(gauge: &Gauge, count: usize) -> Self {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        gauge.inc_by(count);
        Self(gauge.clone(), count)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec_by(self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all registered families, including those without series. Only the debug output of a registry contains them.
    fn registered(registry: &Registry) -> Vec<String> {
        let text = format!("{registry:?}");
        let families = text.split("Descriptor { name: \"").skip(1).map(|rest| rest.split_once('"').expect("a name"));
        let name = |(name, rest): (&str, &str)| {
            let unit =
                if rest.split('}').next().is_some_and(|rest| rest.contains("unit: Some(Seconds)")) { "_seconds" } else { "" };
            format!("waxwing_{}{unit}", name.trim_start_matches("waxwing_"))
        };
        families.map(name).collect()
    }

    #[test]
    fn a_request_is_counted_under_its_labels_and_in_its_histogram() {
        let metrics = Metrics::new(&StorageMeters::default(), 1_500);
        metrics.count_request(Some("Home"), OperationKind::Query, OK, Duration::from_millis(2));
        metrics.count_request(Some("Home"), OperationKind::Query, OK, Duration::from_secs(11));
        metrics.count_request(None, OperationKind::Mutation, "OUTCOME_UNKNOWN", Duration::ZERO);
        metrics.count_request(None, OperationKind::Unknown, "BAD_REQUEST", Duration::ZERO);
        metrics.count_response(503);
        metrics.set_journal("short", 7, 1);
        let held = metrics.track_request();
        let text = metrics.exposition(3, 2, 1).expect("text");
        for line in [
            "waxwing_requests_total{operation=\"Home\",kind=\"query\",outcome=\"ok\"} 2",
            "waxwing_requests_total{operation=\"anonymous\",kind=\"mutation\",outcome=\"OUTCOME_UNKNOWN\"} 1",
            "waxwing_requests_total{operation=\"unknown\",kind=\"unknown\",outcome=\"BAD_REQUEST\"} 1",
            "waxwing_request_duration_seconds_bucket{le=\"0.001\",kind=\"query\"} 0",
            "waxwing_request_duration_seconds_bucket{le=\"0.0025\",kind=\"query\"} 1",
            "waxwing_request_duration_seconds_bucket{le=\"10.0\",kind=\"query\"} 1",
            "waxwing_request_duration_seconds_bucket{le=\"+Inf\",kind=\"query\"} 2",
            "waxwing_request_duration_seconds_count{kind=\"subscription\"} 0",
            "waxwing_http_responses_total{status=\"503\"} 1",
            "waxwing_http_requests_in_flight 1",
            "waxwing_background_tasks 3",
            "waxwing_journal_entries{queue=\"short\"} 7",
            "waxwing_journal_dead 1",
            "waxwing_password_hashes_waiting 2",
            "waxwing_password_hashes_running 1",
            "process_start_time_seconds 1.5",
            "# EOF",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
        }
        drop(held);
        // Collectors are not part of the registry's debug output.
        let process = text.lines().filter_map(|line| line.strip_prefix("# TYPE process_")).map(|line| format!("process_{line}"));
        let process = process.map(|line| line.split(' ').next().unwrap_or_default().to_owned());
        let names: Vec<String> = registered(&metrics.registry).into_iter().chain(process).collect();
        assert!(names.len() > 20, "{names:?}");
        let docs = include_str!("../../../docs/operating.md");
        let is_named = |name: &String| {
            let has_suffix = |suffix: &&str| docs.contains(&format!("`{name}{suffix}`"));
            ["", "_total", "_info"].iter().any(has_suffix)
        };
        assert_eq!(names.iter().filter(|name| !is_named(name)).collect::<Vec<_>>(), [""; 0], "not in docs/operating.md");
        let is_registered = |word: &str| {
            names.iter().any(|name| [name.clone(), format!("{name}_total"), format!("{name}_info")].iter().any(|it| it == word))
        };
        let documented = docs.split('`').filter(|word| word.starts_with("waxwing_") || word.starts_with("process_"));
        assert_eq!(documented.filter(|name| !is_registered(name)).collect::<Vec<_>>(), [""; 0], "there is no such metric");
        assert!(metrics.exposition(0, 0, 0).expect("text").contains("waxwing_http_requests_in_flight 0"));
    }
}
