//! Metrics of connections and request bodies.

use super::GaugeGuard;
use super::responses::ReasonLabel;
use crate::base::named::named_enum;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

named_enum! {
    /// The state of a connection.
    pub enum ConnectionState {
        /// Nothing was received yet.
        Silent = "silent",
        /// Idle between two requests.
        Idle = "idle",
        /// A part of a request's head was received.
        Head = "head",
        /// A request or a stream is in flight.
        Active = "active",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// The metrics of connections and bodies. Cheap to clone; clones share their counters.
#[derive(Clone)]
pub struct HttpMeters {
    /// In the order of [`ConnectionState::ALL`].
    states: [Gauge; ConnectionState::ALL.len()],
    dropped_connections: Family<ReasonLabel, Counter>,
    dropped_bodies: Family<ReasonLabel, Counter>,
    bodies: Gauge,
    body_bytes: Gauge,
}

impl HttpMeters {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let states = Family::<StateLabel, Gauge>::default();
        let meters = Self {
            states: ConnectionState::ALL.map(|state| states.get_or_create_owned(&StateLabel { state: state.name() })),
            dropped_connections: Family::default(),
            dropped_bodies: Family::default(),
            bodies: Gauge::default(),
            body_bytes: Gauge::default(),
        };
        registry.register("http_connection_states", "Open connections, by state", states);
        let help = "Connections that were refused or closed by the server before their client was done, by reason";
        registry.register("http_connections_dropped", help, meters.dropped_connections.clone());
        registry.register("http_bodies_reading", "Bodies of requests that are being read", meters.bodies.clone());
        let help = "Memory reserved for bodies that are being read, beyond the first 16 KiB of each, in bytes";
        registry.register("http_body_bytes", help, meters.body_bytes.clone());
        let help = "Bodies of requests that were given up before their end, by reason";
        registry.register("http_bodies_dropped", help, meters.dropped_bodies.clone());
        meters
    }

    /// Counts a change of a connection's state; `None` before it is open and after it is closed.
    pub fn connection_changed(&self, from: Option<ConnectionState>, to: Option<ConnectionState>) {
        if let Some(from) = from {
            self.states[from as usize].dec();
        }
        if let Some(to) = to {
            self.states[to as usize].inc();
        }
    }

    /// Counts a connection that the server refused or closed.
    pub fn connection_dropped(&self, reason: &'static str) {
        self.dropped_connections.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// Counts a body that is being read, until the guard is dropped.
    pub fn body(&self) -> GaugeGuard {
        GaugeGuard::new(&self.bodies)
    }

    /// Sets the number of bytes that are reserved for long bodies.
    pub fn set_body_bytes(&self, bytes: usize) {
        self.body_bytes.set(bytes as i64);
    }

    /// Counts a body that was dropped.
    pub fn body_dropped(&self, reason: &'static str) {
        self.dropped_bodies.get_or_create(&ReasonLabel { reason }).inc();
    }
}
