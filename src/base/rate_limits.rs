//! The registry of rate limits and their quotas. The buckets are in [`crate::platform::rates`].

use crate::base::clock::{DAY, MINUTE, Millis};
use std::fmt;
use std::str::FromStr;

/// One second in [`Millis`].
const SECOND: Millis = 1_000;
/// One hour in [`Millis`].
const HOUR: Millis = 60 * MINUTE;
/// The longest time in which a bucket may fill.
const MAX_WINDOW: Millis = 30 * DAY;
/// The maximum of tokens × window. Buckets count in tokens × ms, in doubles of Lua: twice this is still exact.
const MAX_PRODUCT: u64 = 1 << 52;

/// A token bucket: `tokens`, full at first, refilled evenly so that an empty bucket is full after `window`. The format "300/3h" means a burst of
/// 300, and an average of 300 in three hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    tokens: u64,
    window: Millis,
}

impl Quota {
    /// The capacity of the bucket; at least 1.
    pub const fn tokens(self) -> u64 {
        self.tokens
    }

    /// The time in which an empty bucket fills: whole seconds, at least one.
    pub const fn window(self) -> Millis {
        self.window
    }

    /// The quota times `factor` in the same window, limited to what can be counted exactly.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        let (tokens, most) = (self.tokens.saturating_mul(factor), MAX_PRODUCT / self.window);
        Self { tokens: if tokens < most { tokens } else { most }, window: self.window }
    }

    /// The tokens refilled in `elapsed`, rounded down; at most a full bucket.
    pub const fn refill(self, elapsed: Millis) -> u64 {
        // No overflow: both factors and their product are bounded.
        if elapsed >= self.window { self.tokens } else { elapsed * self.tokens / self.window }
    }

    /// The tokens refilled in `elapsed`, rounded down; at most two full buckets, the maximum that a bucket in debt lacks.
    pub const fn refill_of_debt(self, elapsed: Millis) -> u64 {
        let most = 2 * self.window;
        (if elapsed > most { most } else { elapsed }) * self.tokens / self.window
    }

    /// The time until `tokens` are refilled, rounded up; at most two windows.
    pub const fn time_for_debt(self, tokens: u64) -> Millis {
        let most = 2 * self.tokens;
        ((if tokens > most { most } else { tokens }) * self.window).div_ceil(self.tokens)
    }

    /// The time until `tokens` are refilled, rounded up; at most one window.
    pub const fn time_for(self, tokens: u64) -> Millis {
        if tokens >= self.tokens { self.window } else { (tokens * self.window).div_ceil(self.tokens) }
    }
}

/// The units of a window, the longest first.
const UNITS: [(char, Millis); 4] = [('d', DAY), ('h', HOUR), ('m', MINUTE), ('s', SECOND)];

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().find(|(_, unit)| self.window.is_multiple_of(*unit));
        let (letter, unit) = unit.copied().unwrap_or(('s', SECOND));
        write!(f, "{}/{}{letter}", self.tokens, self.window / unit)
    }
}

impl FromStr for Quota {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let quota = parse(text).ok_or("write it as NUMBER/TIME: 300/3h, 10/15m, 500000/1s, 400/1d; at most 30 days")?;
        if quota.tokens.checked_mul(quota.window).is_some_and(|product| product <= MAX_PRODUCT) {
            Ok(quota)
        } else {
            Err("the quota is too large to be counted exactly: use fewer tokens or a shorter time".to_owned())
        }
    }
}

fn parse(text: &str) -> Option<Quota> {
    let (tokens, window) = text.split_once('/')?;
    let (count, unit) = window.split_at_checked(window.len().checked_sub(1)?)?;
    let (_, unit) = UNITS.iter().find(|(letter, _)| unit.starts_with(*letter))?;
    let window = number(count)?.checked_mul(*unit).filter(|window| *window <= MAX_WINDOW)?;
    Some(Quota { tokens: number(tokens)?, window })
}

/// Parses a positive number without a sign.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number > 0)
}

/// The owner of the bucket that a limit charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargedTo {
    /// The viewer's account, or without a session the address.
    AccountOrAddress,
    /// The viewer's account.
    Account,
    /// The account that has the login, for all of its logins together; the login itself if no account has it.
    Login,
    /// As [`Self::Login`], from one address.
    LoginAndAddress,
    /// A device that the account has used before, or a session of the account.
    Device,
    /// The client's address: an IPv4 address or an IPv6 /64.
    Address,
    /// A mail address; for the emails that an account requests, the account.
    Mail,
    /// A server key.
    ServerKey,
}

/// Declares the registry: each limit with its name, the owner of its bucket and its default quota.
macro_rules! limits {
    ($($(#[$doc:meta])* $limit:ident = $name:literal by $by:ident, $tokens:literal / $window:expr;)*) => {
        /// A rate limit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Limit { $($(#[$doc])* $limit,)* }

        impl Limit {
            /// All limits, in the order of declaration.
            pub const ALL: [Self; [$(Self::$limit),*].len()] = [$(Self::$limit),*];

            /// The name in keys, errors and headers.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$limit => $name,)* }
            }

            /// The owner of the bucket that the limit charges.
            pub const fn charged_to(self) -> ChargedTo {
                match self { $(Self::$limit => ChargedTo::$by,)* }
            }

            /// The default quota.
            pub const fn default_quota(self) -> Quota {
                match self { $(Self::$limit => Quota { tokens: $tokens, window: $window },)* }
            }
        }
    };
}

limits! {
    /// Requests, each by its cost: the number of fields that its response may have. The first page of a home timeline costs some 600, so the default is
    /// far more than a person uses, and too little to slow other clients.
    Requests = "requests" by AccountOrAddress, 2_500_000 / 5 * SECOND;
    /// Sign-up attempts, including those with a taken login: this bounds the number of logins whose existence an address can test. A server key, which signs
    /// up the users of a backend, is not charged.
    SignUps = "sign-ups" by Address, 10 / HOUR;
    /// Failed log-ins of one account from one address. A successful log-in refunds the token.
    LogIns = "log-ins" by LoginAndAddress, 10 / 15 * MINUTE;
    /// Failed log-ins from one address, over all accounts: three times the quota of one account and address. Also with a server key: a key permits no
    /// more guesses than its address.
    LogInsFromAddress = "log-ins-from-address" by Address, 30 / 15 * MINUTE;
    /// Failed log-ins of one account over all addresses, except from known devices. One address can fail ten times at once, and 40 times an hour on
    /// average, so five addresses together never empty this bucket. All addresses together have 200 guesses at once, and 4,800 a day on average.
    LogInsOfAccount = "log-ins-of-account" by Login, 200 / HOUR;
    /// Failed log-ins on a device that has logged in to the account before, and wrong passwords at the deletion of the account and at changes
    /// of its password, login or mail address, which count per session. Nobody else can use up these tokens.
    LogInsOfDevice = "log-ins-of-device" by Device, 10 / 15 * MINUTE;
    /// Statuses that an account posts. The quota of Mastodon.
    Posts = "posts" by Account, 300 / 3 * HOUR;
    /// Follows and unfollows together. The quota of Mastodon for follows.
    Follows = "follows" by Account, 400 / DAY;
    /// Likes and unlikes together: more than a person gives in an evening, less than a program.
    Likes = "likes" by Account, 1_000 / HOUR;
    /// Comments and edits together: more than a person writes in an evening, less than a program.
    Comments = "comments" by Account, 300 / HOUR;
    /// Votes on comments, and their removals: all comments of a long thread, twice an hour.
    Votes = "votes" by Account, 2_000 / HOUR;
    /// Changes of lists and their members: two full lists in an hour.
    Lists = "lists" by Account, 1_000 / HOUR;
    /// Changes of relations between accounts, and of settings of visibility and replies: mutes, blocks, friends, follow requests, shown reposts, reply
    /// policies, audiences, private accounts. A program can import a long list of mutes once.
    Relations = "relations" by Account, 1_000 / HOUR;
    /// Reposts and undone reposts together: as many as posts, in a third of the time.
    Reposts = "reposts" by Account, 300 / HOUR;
    /// Edits of statuses: more than a person corrects in an hour, less than a program.
    Edits = "edits" by Account, 100 / HOUR;
    /// Changes of saved items, which are bookmarks, pinned statuses and followed tags: more than a person makes in an evening, less than a program.
    SavedItems = "saved-items" by Account, 1_000 / HOUR;
    /// Messages in chats and edits of them together: more than a person types, less than a program.
    Messages = "messages" by Account, 60 / MINUTE;
    /// Chats that an account creates: direct chats and groups.
    Chats = "chats" by Account, 30 / HOUR;
    /// Accounts that are added to groups: one full group in an hour.
    ChatMembers = "chat-members" by Account, 500 / HOUR;
    /// Reactions to messages, and their removals.
    Reactions = "reactions" by Account, 600 / HOUR;
    /// Typing notifications of an account. A client sends one every few seconds while its user types.
    Typing = "typing" by Account, 120 / MINUTE;
    /// Other changes of chats: messages marked as seen, mutes, the archive, settings, accepted and declined requests, names and roles of groups, members that
    /// are removed or leave. A client marks messages as seen once a second.
    ChatSettings = "chat-settings" by Account, 3_000 / HOUR;
    /// Ad requests and clicks of an address, which may be a publisher's server that requests ads for all of its visitors. 10,000 a second are more
    /// than a server decides, so only requests that would block other clients are refused.
    Ads = "ads" by Address, 100_000 / 10 * SECOND;
    /// Emails with a link that are requested for a mail address, and those that an account requests. An address is charged alike whether or not an account
    /// has it.
    Mails = "mails" by Mail, 3 / HOUR;
    /// Emails with a link that are requested from one client address, over all mail addresses. A server key is not charged.
    MailsFromAddress = "mails-from-address" by Address, 10 / HOUR;
    /// Requests with a server key that act for no account, each by its cost, as of [`Self::Requests`]: twice that quota, since a backend serves many users.
    Keys = "keys" by ServerKey, 5_000_000 / 5 * SECOND;
    /// Changes of campaigns, ads and websites together: a large campaign set up by a program, with several changes of its bids.
    Campaigns = "campaigns" by Account, 1_000 / HOUR;
}

impl Limit {
    /// The limit with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

/// The quotas of all limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimits([Quota; Limit::ALL.len()]);

impl RateLimits {
    /// The quotas that `quota_of` returns for each limit.
    pub fn new(quota_of: impl Fn(Limit) -> Quota) -> Self {
        Self(Limit::ALL.map(quota_of))
    }

    /// The quota of a limit.
    pub const fn quota(&self, limit: Limit) -> Quota {
        self.0[limit as usize]
    }
}

impl Default for RateLimits {
    fn default() -> Self {
        Self::new(Limit::default_quota)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(text: &str) -> Quota {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn quotas_survive_the_round_trip() {
        for text in ["300/3h", "10/15m", "500000/1s", "400/1d", "1/30d", "90/61s", "1000/1h"] {
            assert_eq!(quota(text).to_string(), text);
        }
        assert_eq!(quota("10/60m").to_string(), "10/1h");
        assert_eq!((quota("10/15m").tokens(), quota("10/15m").window()), (10, 900_000));
        let wrong =
            ["", "/", "10", "10/", "/1h", "0/1h", "10/0h", "10/h", "+10/1h", "10/+1h", "1e3/1h", "10/1w", "10/1.5h", "10 / 1h"];
        let huge =
            ["10/31d", "18446744073709551616/1s", "10/18446744073709551615d", "2000000000/30d", "4503599627371/1s", "5/3é"];
        for text in wrong.into_iter().chain(huge) {
            assert!(text.parse::<Quota>().is_err(), "{text:?}");
        }
        assert_eq!(quota("4503599627370/1s").refill(999), 4_499_096_027_742);
        assert_eq!(quota("10/1h").times(256).to_string(), "2560/1h");
        assert_eq!(quota("4503599627/1s").times(u64::MAX).to_string().parse(), Ok(quota("4503599627370/1s")));
    }

    #[test]
    fn refill_rounds_down_and_waiting_rounds_up_at_every_edge() {
        for quota in ["1/1s", "3/1s", "7/30d", "1000/1s", "999983/61s", "4503599627370/1s", "1737/30d"].map(quota) {
            let tokens = [0, 1, 2, quota.tokens() / 2, quota.tokens() - 1, quota.tokens()];
            for tokens in tokens.into_iter().filter(|tokens| *tokens <= quota.tokens()) {
                let wait = quota.time_for(tokens);
                assert!(quota.refill(wait) >= tokens, "{quota}: {tokens} are there after {wait} ms");
                assert!(
                    wait == 0 || quota.refill(wait - 1) < tokens,
                    "{quota}: {tokens} are not there sooner than after {wait} ms"
                );
            }
            assert_eq!((quota.refill(u64::MAX), quota.time_for(u64::MAX)), (quota.tokens(), quota.window()));
        }
    }

    #[test]
    fn names_of_limits_are_unique_and_valid_in_keys_and_headers() {
        for (at, limit) in Limit::ALL.into_iter().enumerate() {
            assert!(limit.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", limit.name());
            assert_eq!((Limit::from_name(limit.name()), limit as usize), (Some(limit), at));
            assert_eq!(limit.default_quota().to_string().parse(), Ok(limit.default_quota()), "a default that could not be set");
        }
        let rates = RateLimits::new(|limit| if limit == Limit::Posts { quota("1/1s") } else { limit.default_quota() });
        assert_eq!((rates.quota(Limit::Posts), rates.quota(Limit::Likes)), (quota("1/1s"), Limit::Likes.default_quota()));
    }
}
