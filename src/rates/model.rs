//! Whose buckets there are, and what asking one comes to.

use crate::clock::Millis;
use crate::ids::UserId;
use crate::quota::{Limit, Quota};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};

/// Whose bucket it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An account.
    Account(UserId),
    /// Whoever shares an address.
    Address(Network),
    /// An account that is tried, by the digest of its login. There need not be such an account.
    Login([u8; 16]),
}

/// What counts as one address: one of IPv4, a /64 of IPv6, since that is what one customer gets at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpAddr);

/// A token of this limit, out of this subject's bucket.
pub type Charge = (Limit, Subject);

impl Network {
    /// The network of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(v6) => Self(IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64))),
            v4 => Self(v4),
        }
    }

    /// Its first address.
    pub const fn first(self) -> IpAddr {
        self.0
    }
}

impl Subject {
    /// Whoever shares this address.
    pub const fn address(address: IpAddr) -> Self {
        Self::Address(Network::of(address))
    }

    /// Whoever has this login, in any case, if anybody has it. Any text will do.
    pub fn login(login: &str) -> Self {
        let digest = Sha256::digest(login.to_ascii_lowercase());
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        Self::Login(half)
    }

    /// Whoever asks: the account, or the address for nobody; `None` when that is not known either.
    pub fn asking(viewer: Option<UserId>, address: Option<IpAddr>) -> Option<Self> {
        viewer.map(Self::Account).or(address.map(Self::address))
    }
}

/// What a bucket gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// How many tokens were taken: 0 when there were too few.
    pub taken: u64,
    /// Whole tokens that are left.
    pub left: u64,
    /// After how long there will be enough; 0 when there were.
    pub wait: Millis,
}

/// What somebody has left of a quota, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The quota.
    pub quota: Quota,
    /// Tokens left.
    pub left: u64,
}

impl Allowance {
    /// How long it takes until nothing is missing.
    pub const fn full_after(self) -> Millis {
        self.quota.time_for(self.quota.tokens().saturating_sub(self.left))
    }
}

/// What a request came to when it was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toll {
    /// It was not: there is no limit, nobody to charge, or no Redis that can be asked.
    Free,
    /// It was paid for.
    Paid(Allowance),
    /// It cannot be paid for before this long.
    Due(Allowance, Millis),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> String {
        Network::of(text.parse().expect("an address")).first().to_string()
    }

    #[test]
    fn an_address_counts_as_what_one_customer_has() {
        assert_eq!(network("203.0.113.7"), "203.0.113.7");
        assert_eq!(network("::ffff:203.0.113.7"), "203.0.113.7", "the same client over a socket for both");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("2001:db8:1:2:ffff:ffff:ffff:ffff"), network("2001:db8:1:2::"));
        assert_ne!(network("2001:db8:1:3::"), network("2001:db8:1:2::"));
        assert_eq!(network("::1"), "::");
    }

    #[test]
    fn a_login_is_one_subject_in_any_case() {
        assert_eq!(Subject::login("Ada"), Subject::login("aDA"));
        assert_ne!(Subject::login("ada"), Subject::login("ada "));
        assert!(matches!(Subject::login("} no login at all {\0"), Subject::Login(_)));
    }

    #[test]
    fn an_account_is_charged_before_its_address() {
        let (user, address) = (UserId(7), IpAddr::from([127, 0, 0, 1]));
        assert_eq!(Subject::asking(Some(user), Some(address)), Some(Subject::Account(user)));
        assert_eq!(Subject::asking(None, Some(address)), Some(Subject::address(address)));
        assert_eq!(Subject::asking(None, None), None);
    }
}
