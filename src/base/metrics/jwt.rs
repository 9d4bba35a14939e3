//! Metrics of JSON Web Tokens: tokens that were refused, and fetches of the issuer's keys.

use super::responses::ReasonLabel;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

/// The metrics of JSON Web Tokens.
#[derive(Default)]
pub(super) struct JwtMeters {
    refused: Family<ReasonLabel, Counter>,
    fetches: Family<ResultLabel, Counter>,
}

impl JwtMeters {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("jwt_refused", "JSON Web Tokens that were refused, by reason", self.refused.clone());
        let help = "Fetches of the public keys of the issuer of JSON Web Tokens, by result";
        registry.register("jwt_key_fetches", help, self.fetches.clone());
    }

    pub(super) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&ReasonLabel { reason }).inc();
    }

    pub(super) fn fetched(&self, is_success: bool) {
        self.fetches.get_or_create(&ResultLabel { result: if is_success { "ok" } else { "failed" } }).inc();
    }
}
