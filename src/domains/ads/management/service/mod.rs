//! The changes that advertisers and operators make.

pub(in crate::domains::ads) mod ads;
pub(in crate::domains::ads) mod campaigns;
pub(in crate::domains::ads) mod suspension;
