//! Subjects, allowances and decisions: plain types.

use crate::base::clock::Millis;
use crate::base::email::EmailDigest;
use crate::base::ids::{SessionId, UserId};
use crate::base::rate_limits::{Limit, Quota};
use crate::db::Work;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};

/// The owner of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An account.
    Account(UserId),
    /// All clients of an address.
    Address(Network),
    /// All clients of an IPv6 /48, by its first network.
    Site(Network),
    /// An account whose logins are tried, or a login that no account has, by its digest.
    Login([u8; 16]),
    /// As [`Self::Login`] from one network, by the digest of both.
    LoginFrom([u8; 16]),
    /// A device that an account has used before, by the digest of both.
    Device([u8; 16]),
    /// A mail address, by its digest.
    Mail([u8; 16]),
    /// A server key, by the digest of its name.
    ServerKey([u8; 16]),
}

/// An address as a subject of limits: an IPv4 address or an IPv6 /64, since a customer gets at least that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpAddr);

/// A charge: one token of this limit from this subject's bucket.
pub type Charge = (Limit, Subject);

impl Network {
    /// The network of an address.
    pub const fn from_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(v6) => Self(IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64))),
            v4 => Self(v4),
        }
    }

    /// The first address of the network.
    pub const fn first(self) -> IpAddr {
        self.0
    }

    /// The first network of its /48; `None` for IPv4, where customers rarely have more than one address.
    pub const fn to_site(self) -> Option<Self> {
        match self.0 {
            IpAddr::V6(v6) => Some(Self(IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 80 << 80)))),
            IpAddr::V4(_) => None,
        }
    }
}

impl Subject {
    /// All clients of this address.
    pub const fn address(address: IpAddr) -> Self {
        Self::Address(Network::from_address(address))
    }

    /// A login, case-insensitive; any text is accepted.
    pub fn login(login: &str) -> Self {
        Self::Login(half_digest(&[login.to_ascii_lowercase().as_bytes()]))
    }

    /// All logins of `account`. No text contains the byte 0xff, so no login that is tried is the same subject.
    pub fn logins_of(account: UserId) -> Self {
        Self::Login(half_digest(&[b"\xffaccount", &account.0.to_be_bytes()]))
    }

    /// A mail address that is tried as a login, whether or not an account has it.
    pub fn email_as_login(address: &EmailDigest) -> Self {
        Self::Login(half_digest(&[b"\xffmail", address.as_str().as_bytes()]))
    }

    /// All identifiers of `account`: its logins and its mail address.
    pub fn identifiers_of(account: UserId) -> Self {
        Self::Login(half_digest(&[b"\xffnames", &account.0.to_be_bytes()]))
    }

    /// The subject of attempts to log in as this [`Self::Login`] from `address`; all unknown addresses share one. Other subjects are unchanged.
    pub fn with_network(self, address: Option<IpAddr>) -> Self {
        // The digest has a fixed length, so no two pairs give the same bytes.
        match self {
            Self::Login(digest) => Self::LoginFrom(half_digest(&[&digest, network_text(address).as_bytes()])),
            other => other,
        }
    }

    /// A subject in place of [`Self::identifiers_of`] if no account has this login, so that both cost the same.
    pub fn identifiers_of_no_account(self) -> Self {
        match self {
            Self::Login(digest) => Self::Login(half_digest(&[b"\xffnobody", &digest])),
            other => other,
        }
    }

    /// The device with this id, of `account`.
    pub fn device(account: UserId, id: u64) -> Self {
        Self::Device(half_digest(&[b"device", &account.0.to_be_bytes(), &id.to_be_bytes()]))
    }

    /// A session of `account`: it began with the password, so its device counts as used before.
    pub fn session(account: UserId, id: SessionId) -> Self {
        Self::Device(half_digest(&[b"session", &account.0.to_be_bytes(), &id.0.to_be_bytes()]))
    }

    /// A mail address.
    pub fn mail(address: &EmailDigest) -> Self {
        Self::Mail(half_digest(&[b"mail", address.as_str().as_bytes()]))
    }

    /// The server key with this name.
    pub fn server_key(name: &str) -> Self {
        Self::ServerKey(half_digest(&[b"server key", name.as_bytes()]))
    }

    /// The limit that the requests of this subject are charged to.
    pub const fn limit_of_requests(self) -> Limit {
        match self {
            Self::ServerKey(_) => Limit::Keys,
            _ => Limit::Requests,
        }
    }

    /// The subject of a client: the account, or without one the address; `None` if both are unknown.
    pub fn for_client(viewer: Option<UserId>, address: Option<IpAddr>) -> Option<Self> {
        viewer.map(Self::Account).or(address.map(Self::address))
    }
}

/// The network of an address as text; empty for an unknown one.
fn network_text(address: Option<IpAddr>) -> String {
    address.map_or_else(String::new, |address| Network::from_address(address).first().to_string())
}

/// The first half of a SHA-256.
fn half_digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize()[..16]);
    half
}

/// The reply of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketReply {
    /// The tokens taken: 0 if there were too few.
    pub taken: u64,
    /// Whole tokens left; negative in debt.
    pub left: i64,
    /// The time until the bucket has enough tokens; 0 if it had.
    pub wait: Millis,
}

/// The remaining quota of a subject, as last read by this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The quota.
    pub quota: Quota,
    /// Tokens left.
    pub left: u64,
    /// Tokens owed below an empty bucket, for work that was done.
    pub debt: u64,
}

impl Allowance {
    /// The time until the bucket is full.
    pub const fn full_after(self) -> Millis {
        self.quota.time_for_debt(self.quota.tokens().saturating_sub(self.left).saturating_add(self.debt))
    }
}

/// Values per unit of work.
const VALUES_PER_UNIT: u64 = 8;
/// Bytes per unit of work.
const BYTES_PER_UNIT: u64 = 512;
/// The work that every operation may do regardless of its estimate: less than twenty times the smallest estimate. The smallest documents, with an
/// estimate of one or two, read two or three objects; if an object is hidden or missing, they also cause the reads of the visibility policy.
pub const FREE_UNITS: u64 = 12;

/// Tokens for each unit of work beyond the estimate. A unit takes some 8 µs of the server and Redis together; a token of an estimate represents
/// less than half a microsecond (`make bench-work`). At this price, the work of one account beyond its estimates uses at most half a core.
pub const TOKENS_PER_EXTRA_UNIT: u64 = 8;

/// Converts work to the unit of estimates: a command is one unit, and so are eight values of a reply, or 512 bytes of a reply or of the
/// response. On this scale a home page does less work than its estimate, even if nothing is cached.
pub const fn units(work: Work) -> u64 {
    work.commands + work.values / VALUES_PER_UNIT + work.bytes / BYTES_PER_UNIT
}

/// The work and the charges of an operation so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChargeResult {
    /// The units of work done.
    pub worked: u64,
    /// The estimate, and the tokens charged for the work beyond it.
    pub charged: u64,
    /// The remaining quota; `None` if no subject is charged.
    pub allowance: Option<Allowance>,
}

/// The result of charging a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimitDecision {
    /// Not charged: there is no limit, no subject, or Redis is unavailable.
    NotCharged,
    /// Charged.
    Allowed(Allowance),
    /// Denied: the tokens are not available before this time has passed.
    Denied(Allowance, Millis),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> String {
        Network::from_address(text.parse().expect("an address")).first().to_string()
    }

    #[test]
    fn an_address_counts_as_the_network_of_one_customer() {
        assert_eq!(network("203.0.113.7"), "203.0.113.7");
        assert_eq!(network("::ffff:203.0.113.7"), "203.0.113.7", "the same client over a socket for both");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("2001:db8:1:2:ffff:ffff:ffff:ffff"), network("2001:db8:1:2::"));
        assert_ne!(network("2001:db8:1:3::"), network("2001:db8:1:2::"));
        assert_eq!(network("::1"), "::");
        let site =
            |text: &str| Network::from_address(text.parse().expect("an address")).to_site().map(|site| site.first().to_string());
        assert_eq!(site("2001:db8:1:2:3:4:5:6").as_deref(), Some("2001:db8:1::"));
        assert_eq!(site("203.0.113.7"), None);
    }

    #[test]
    fn commands_values_and_bytes_count_as_work() {
        let units_of = |commands, values, bytes| units(Work { commands, values, bytes });
        assert_eq!([units_of(3, 0, 0), units_of(0, 24, 0), units_of(0, 0, 1_536)], [3, 3, 3]);
        assert_eq!([units_of(0, 7, 511), units_of(1, 15, 1_023), units_of(100, 800, 51_200)], [0, 3, 300]);
    }

    #[test]
    fn a_login_in_any_case_is_one_subject() {
        assert_eq!(Subject::login("Ada"), Subject::login("aDA"));
        assert_ne!(Subject::login("ada"), Subject::login("ada "));
        assert!(matches!(Subject::login("} no login at all {\0"), Subject::Login(_)));
    }

    #[test]
    fn attempts_on_one_account_from_one_network_share_a_subject() {
        let from = |login, address: &str| Subject::login(login).with_network(Some(address.parse().expect("an address")));
        assert_eq!(from("Ada", "192.0.2.1"), from("aDA", "::ffff:192.0.2.1"));
        assert_eq!(from("ada", "2001:db8:1:2::3"), from("ada", "2001:db8:1:2:ffff::"), "a /64 is one client");
        let all = [
            from("ada", "192.0.2.1"),
            from("ada", "192.0.2.2"),
            from("bob", "192.0.2.1"),
            from("ada", "2001:db8:1:2::"),
            from("ada", "2001:db8:1:3::"),
            Subject::login("ada").with_network(None),
            Subject::login("ada"),
            Subject::logins_of(UserId(1)),
            Subject::logins_of(UserId(2)),
            Subject::logins_of(UserId(1)).with_network(None),
            Subject::logins_of(UserId(1)).with_network(Some([192, 0, 2, 1].into())),
            Subject::logins_of(UserId(2)).with_network(Some([192, 0, 2, 1].into())),
            Subject::identifiers_of(UserId(1)),
            Subject::identifiers_of(UserId(1)).with_network(Some([192, 0, 2, 1].into())),
            Subject::login("ada").identifiers_of_no_account(),
            Subject::email_as_login(&EmailDigest("ada".into())),
            Subject::device(UserId(1), 2),
            Subject::device(UserId(2), 1),
            Subject::session(UserId(1), SessionId(2)),
        ];
        for (at, subject) in all.iter().enumerate() {
            assert!(!all[..at].contains(subject), "{at}");
        }
    }

    #[test]
    fn a_client_with_a_session_is_charged_by_its_account() {
        let (user, address) = (UserId(7), IpAddr::from([127, 0, 0, 1]));
        assert_eq!(Subject::for_client(Some(user), Some(address)), Some(Subject::Account(user)));
        assert_eq!(Subject::for_client(None, Some(address)), Some(Subject::address(address)));
        assert_eq!(Subject::for_client(None, None), None);
    }
}
