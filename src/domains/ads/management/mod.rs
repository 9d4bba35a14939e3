//! Management: creating and changing campaigns and ads, suspending accounts, and deleting what they own.

pub(in crate::domains::ads) mod service;
