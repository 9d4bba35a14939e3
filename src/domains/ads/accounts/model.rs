//! Roles of an account.

use crate::base::named::named_enum;

named_enum! {
    /// The role in which an account is suspended, by its name in records.
    pub enum Role {
        /// The account's campaigns are not shown.
        Advertiser = "advertiser",
        /// The account's websites show no ads.
        Publisher = "publisher",
    }
}
