//! Serving: from a request for ads to the impressions of the response.

pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
