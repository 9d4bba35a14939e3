//! The keys of the rate limits.

use super::model::{Network, Subject};
use crate::base::audit;
use crate::base::rate_limits::{ChargedTo, Limit};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::net::IpAddr;

/// The kinds of keys: the part of each key before the colon.
pub const KINDS: [&str; 1] = ["rate"];

/// HASH `owed at window` (owed in tokens × ms, at in ms since the epoch, window in ms). Time to live: until the bucket is full, at most the window,
/// or twice the window for a bucket in debt.
pub(super) fn rate(limit: Limit, subject: Subject) -> String {
    let tag = match subject {
        Subject::Account(id) => id.0.to_string(),
        Subject::Address(network) => format_network(network, 64),
        Subject::Site(network) => format_network(network, 48),
        Subject::Login(digest) | Subject::LoginFrom(digest) | Subject::Device(digest) => URL_SAFE_NO_PAD.encode(digest),
        Subject::Mail(digest) | Subject::ServerKey(digest) => URL_SAFE_NO_PAD.encode(digest),
    };
    format!("rate:{{{tag}}}:{}", limit.name())
}

/// Formats the parsed network, never the client's own text.
fn format_network(network: Network, prefix: u8) -> String {
    match network.first() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("{v6}/{prefix}"),
    }
}

/// The limit of a bucket's key; `None` if the key does not belong to the rate limits.
pub(super) fn parse(key: &str) -> Option<Limit> {
    let (tag, name) = key.strip_prefix("rate:{")?.split_once("}:")?;
    let limit = Limit::from_name(name)?;
    let is_account = || audit::id(tag).is_some();
    let network = |prefix: &str| tag.trim_end_matches(prefix).parse().map(Network::from_address).ok();
    let is_address = || network("/64").is_some_and(|network| format_network(network, 64) == tag);
    let is_site = || network("/48").and_then(Network::to_site).is_some_and(|site| format_network(site, 48) == tag);
    let fits = match limit.charged_to() {
        ChargedTo::Account => is_account(),
        ChargedTo::Address => is_address() || is_site(),
        ChargedTo::AccountOrAddress => is_account() || is_address(),
        ChargedTo::Login | ChargedTo::LoginAndAddress | ChargedTo::Device | ChargedTo::ServerKey => audit::is_digest(tag, 22),
        ChargedTo::Mail => is_account() || audit::is_digest(tag, 22),
    };
    fits.then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;

    #[test]
    fn keys_are_parsed_strictly() {
        let address = |text: &str| Subject::address(text.parse().expect("an address"));
        let site = |text: &str| Subject::Site(Network::from_address(text.parse().expect("an address")).to_site().expect("a /48"));
        for (limit, subject, key) in [
            (Limit::Posts, Subject::Account(UserId(42)), "rate:{42}:posts"),
            (Limit::Requests, Subject::Account(UserId(42)), "rate:{42}:requests"),
            (Limit::Requests, address("::ffff:192.0.2.1"), "rate:{192.0.2.1}:requests"),
            (Limit::SignUps, address("2001:db8::1:2"), "rate:{2001:db8::/64}:sign-ups"),
            (Limit::LogInsFromAddress, address("::1"), "rate:{::/64}:log-ins-from-address"),
            (Limit::SignUps, site("2001:db8:1:2::3"), "rate:{2001:db8:1::/48}:sign-ups"),
            (Limit::Keys, Subject::ServerKey([0; 16]), "rate:{AAAAAAAAAAAAAAAAAAAAAA}:keys"),
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
