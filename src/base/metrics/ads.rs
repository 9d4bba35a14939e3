//! Metrics of ads: impressions and clicks, valid or invalid.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// The result of valid traffic.
const VALID: &str = "valid";
/// The result of invalid traffic.
const INVALID: &str = "invalid";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TrafficLabels {
    kind: &'static str,
    result: &'static str,
}

/// The metrics of ads.
#[derive(Default)]
pub(super) struct AdMeters {
    traffic: Family<TrafficLabels, Counter>,
}

impl AdMeters {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Impressions and clicks of ads, by whether they count: valid, or why not";
        registry.register("ad_traffic", help, self.traffic.clone());
    }

    pub(super) fn impressions(&self, is_invalid: bool, count: usize) {
        let result = if is_invalid { INVALID } else { VALID };
        self.traffic.get_or_create(&TrafficLabels { kind: "impression", result }).inc_by(count as u64);
    }

    pub(super) fn click(&self, reason: Option<&'static str>) {
        self.traffic.get_or_create(&TrafficLabels { kind: "click", result: reason.unwrap_or(VALID) }).inc();
    }
}
