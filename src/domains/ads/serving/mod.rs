//! Serving: from a request for ads to the impressions that answer it.

pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
