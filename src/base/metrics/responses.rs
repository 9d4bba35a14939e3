//! Metrics of responses: bytes that wait for their readers, and responses that were not delivered.

use crate::base::named::named_enum;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

named_enum! {
    /// Why a response was not delivered.
    pub enum RefusedResponse {
        /// It exceeded the maximum size of a response and was stopped.
        TooLarge = "too_large",
        /// Its address has the maximum of unread bytes.
        AddressUnread = "address_unread",
        /// All addresses together exceeded the maximum of unread bytes, and its address had the most.
        Unread = "unread",
        /// Its reader is slower than the minimum rate.
        SlowReader = "slow_reader",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReasonLabel {
    pub(super) reason: &'static str,
}

/// The metrics of responses.
pub(super) struct ResponseMeters {
    pub(super) unread: Gauge,
    refused: Family<ReasonLabel, Counter>,
}

impl Default for ResponseMeters {
    fn default() -> Self {
        let refused = Family::default();
        for reason in RefusedResponse::ALL {
            drop(Family::<ReasonLabel, Counter>::get_or_create(&refused, &ReasonLabel { reason: reason.name() }));
        }
        Self { unread: Gauge::default(), refused }
    }
}

impl ResponseMeters {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("unread_bytes", "Bytes of responses that wait for their readers", self.unread.clone());
        let help = "Responses that were stopped, refused or cut off, by reason";
        registry.register("refused_responses", help, self.refused.clone());
    }

    pub(super) fn refused(&self, reason: RefusedResponse) {
        self.refused.get_or_create(&ReasonLabel { reason: reason.name() }).inc();
    }
}
