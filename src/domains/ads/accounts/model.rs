//! Roles of an account.

/// As what an account is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its campaigns show nothing.
    Advertiser,
    /// Its websites are shown nothing.
    Publisher,
}

impl Role {
    /// Its name in records.
    pub(in crate::domains::ads) const fn name(self) -> &'static str {
        match self {
            Self::Advertiser => "advertiser",
            Self::Publisher => "publisher",
        }
    }
}
