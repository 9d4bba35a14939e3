//! Every key of this domain.

use super::model::{Network, Subject};
use crate::base::audit;
use crate::base::quota::{By, Limit};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::net::IpAddr;

/// What stands before the colon of each.
pub const KINDS: [&str; 1] = ["rate"];

/// HASH `owed at window` (owed in tokens × ms, at in ms since the epoch, window in ms). Time to live: until the bucket is full
/// again, at most the window, or twice that for one in debt.
pub(super) fn rate(limit: Limit, subject: Subject) -> String {
    let tag = match subject {
        Subject::Account(id) => id.0.to_string(),
        Subject::Address(network) => written(network, 64),
        Subject::Site(network) => written(network, 48),
        Subject::Login(digest) | Subject::LoginFrom(digest) | Subject::Device(digest) => URL_SAFE_NO_PAD.encode(digest),
    };
    format!("rate:{{{tag}}}:{}", limit.name())
}

/// Not the client's text but what we made of it.
fn written(network: Network, prefix: u8) -> String {
    match network.first() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("{v6}/{prefix}"),
    }
}

/// The limit whose bucket a key is; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<Limit> {
    let (tag, name) = key.strip_prefix("rate:{")?.split_once("}:")?;
    let limit = Limit::named(name)?;
    let is_account = || audit::id(tag).is_some();
    let network = |prefix: &str| tag.trim_end_matches(prefix).parse().map(Network::of).ok();
    let is_address = || network("/64").is_some_and(|network| written(network, 64) == tag);
    let is_site = || network("/48").and_then(Network::site).is_some_and(|site| written(site, 48) == tag);
    let fits = match limit.by() {
        By::Account => is_account(),
        By::Address => is_address() || is_site(),
        By::AccountOrAddress => is_account() || is_address(),
        By::Login | By::LoginAndAddress | By::Device => audit::is_digest(tag, 22),
    };
    fits.then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;

    #[test]
    fn a_key_is_known_again_and_nothing_like_it() {
        let address = |text: &str| Subject::address(text.parse().expect("an address"));
        let site = |text: &str| Subject::Site(Network::of(text.parse().expect("an address")).site().expect("a /48"));
        for (limit, subject, key) in [
            (Limit::Posts, Subject::Account(UserId(42)), "rate:{42}:posts"),
            (Limit::Requests, Subject::Account(UserId(42)), "rate:{42}:requests"),
            (Limit::Requests, address("::ffff:192.0.2.1"), "rate:{192.0.2.1}:requests"),
            (Limit::SignUps, address("2001:db8::1:2"), "rate:{2001:db8::/64}:sign-ups"),
            (Limit::LogInsFromAddress, address("::1"), "rate:{::/64}:log-ins-from-address"),
            (Limit::SignUps, site("2001:db8:1:2::3"), "rate:{2001:db8:1::/48}:sign-ups"),
            (Limit::LogInsOfAccount, Subject::login("Ada"), "rate:{_e5DDUC9V97qwYbNl5ADPQ}:log-ins-of-account"),
        ] {
            assert_eq!((rate(limit, subject).as_str(), parse(key)), (key, Some(limit)));
        }
        for key in [
            "rate:{42}",
            "rate:{42}:nothing",
            "rate:{042}:posts",
            "rate:{192.0.2.1}:posts",
            "rate:{42}:sign-ups",
            "rate:{192.0.2.1/64}:sign-ups",
            "rate:{2001:db8::1/64}:sign-ups",
            "rate:{2001:db8:1:2::/48}:sign-ups",
            "rate:{2001:db8:1::/48}:requests",
            "rate:{192.0.2.1/48}:sign-ups",
            "rate:{2001:db8::}:sign-ups",
            "rate:{2001:db8::/64/64}:sign-ups",
            "rate:{ada}:log-ins",
            "rates:{42}:posts",
        ] {
            assert_eq!(parse(key), None, "{key}");
        }
    }
}
