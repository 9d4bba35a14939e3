//! Metrics of the storage: round trips, their duration, and faults.

use super::histogram;
use crate::base::named::named_enum;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

named_enum! {
    /// A fault of the storage.
    pub enum StorageFault {
        /// No connection can be made.
        Unreachable = "unreachable",
        /// No reply in time.
        Timeout = "timeout",
        /// The connection broke before the reply.
        Lost = "lost",
        /// Redis refuses commands: it is loading, read-only or busy, cannot persist, lacks replicas, requires authentication, or its cluster is down or
        /// moves slots.
        Refused = "refused",
        /// Redis has reached its memory limit.
        Full = "full",
        /// An error reply that only a defect of this program or a corrupt key explains.
        Reply = "reply",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FaultLabel {
    kind: &'static str,
}

/// The metrics of one handle to the storage.
pub struct StorageMeters {
    trips: Counter,
    pipelines: Counter,
    duration: Histogram,
    errors: Family<FaultLabel, Counter>,
    /// The counters of faults, in the order of [`StorageFault::ALL`].
    fault_counters: [Counter; StorageFault::ALL.len()],
}

impl Default for StorageMeters {
    fn default() -> Self {
        let errors = Family::<FaultLabel, Counter>::default();
        let fault_counters = StorageFault::ALL.map(|fault| errors.get_or_create_owned(&FaultLabel { kind: fault.name() }));
        Self { trips: Counter::default(), pipelines: Counter::default(), duration: histogram(), errors, fault_counters }
    }
}

impl StorageMeters {
    /// Counts a command, a script or a pipeline.
    pub fn count_round_trip(&self) {
        self.trips.inc();
    }

    /// Counts a pipeline to one node.
    pub fn count_pipeline(&self) {
        self.pipelines.inc();
    }

    /// Records the duration of a round trip, successful or not.
    pub fn record_duration(&self, took: Duration) {
        self.duration.observe(took.as_secs_f64());
    }

    /// Counts a fault.
    pub fn count_fault(&self, fault: StorageFault) {
        self.fault_counters[fault as usize].inc();
    }

    /// The number of round trips so far.
    pub fn round_trips(&self) -> u64 {
        self.trips.get()
    }

    /// The number of pipelines to nodes so far: equal to the round trips, except on a cluster.
    pub fn pipelines(&self) -> u64 {
        self.pipelines.get()
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Times that Redis was waited for: a command, a script or a pipeline is one";
        registry.register("redis_round_trips", help, self.trips.clone());
        let help = "Pipelines sent to nodes: on a cluster, a round trip is one for every node that has a part in it";
        registry.register("redis_pipelines", help, self.pipelines.clone());
        let help = "From sending a command, a script or a pipeline to its reply, a new connection included";
        registry.register_with_unit("redis_round_trip_duration", help, Unit::Seconds, self.duration.clone());
        registry.register("redis_errors", "Errors of Redis, by kind", self.errors.clone());
    }
}
