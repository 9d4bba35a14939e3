//! Management: creating and changing campaigns and ads, suspending accounts, and deleting their campaigns and websites.

pub(in crate::domains::ads) mod service;
