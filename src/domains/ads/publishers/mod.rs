//! Publishers: websites, and the keys under which they request ads.

pub(in crate::domains::ads) mod load;
pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
