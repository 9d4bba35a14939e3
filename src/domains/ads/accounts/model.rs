//! Roles of an account.

/// The role in which an account is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The account's campaigns are not shown.
    Advertiser,
    /// The account's websites show no ads.
    Publisher,
}

impl Role {
    /// The name in records.
    pub(in crate::domains::ads) const fn name(self) -> &'static str {
        match self {
            Self::Advertiser => "advertiser",
            Self::Publisher => "publisher",
        }
    }
}
