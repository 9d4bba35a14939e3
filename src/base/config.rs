//! The settings and their defaults. Most are options of the command line (`cli`) and `WAXWING_…` variables.

use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::jwt::JwtConfig;
use crate::base::mail::MailConfig;
use crate::base::rate_limits::RateLimits;
use ipnet::IpNet;

/// The largest body of a request, in bytes.
pub const BODY_BYTES: usize = 1 << 20;

/// The settings of the domains.
#[derive(Clone, Debug)]
pub struct Config {
    /// Entries that a home stores: 100 to 10,000.
    pub home_window: usize,
    /// The statuses of an author with at least this many followers are not pushed to homes but merged when homes are read. They are pushed again below four
    /// fifths of this number.
    pub star_followers: u64,
    /// The maximum depth of a comment: 1 to 64 ancestors.
    pub comment_depth: usize,
    /// A home that was not read for this long is dropped; the next read rebuilds it.
    pub home_idle: Millis,
    /// Events in the log for resuming subscriptions, over all shards.
    pub events_kept: usize,
    /// The maximum age of an event in the log.
    pub events_age: Millis,
    /// The maximum number of rows of a chat; older ones are deleted: 100 to 10,000,000.
    pub messages_kept: u64,
    /// The number of days after which rows that all members of a chat have seen are deleted, unless the chat has its own setting: 0 to 365; `None` to keep
    /// them.
    pub messages_days_after_seen: Option<u64>,
    /// A session expires after this long without use.
    pub session_idle: Millis,
    /// A session expires after this long.
    pub session_absolute: Millis,
    /// The memory of a password hash in KiB: 8 or more; a smaller value counts as 19 MiB. Not an option of `waxwing serve`: less than OWASP's 19 MiB is for tests, whose passwords are worth
    /// nothing.
    pub password_memory: u32,
    /// Concurrent password hashes. Each takes 19 MiB and a core for some 30 ms.
    pub hashes_at_once: usize,
    /// The limits of documents.
    pub documents: DocumentLimits,
    /// Filter entries of live subscriptions (logins, phrases, samples, and 32 per box), per account or per address without a session, on this
    /// server.
    pub filter_entries: usize,
    /// The maximum size of a response in bytes; a larger response is stopped while it is produced.
    pub response_bytes: usize,
    /// Whether clients may query the schema.
    pub introspection: bool,
    /// Whether validation errors name types and fields and suggest corrections; otherwise one fixed text is returned.
    pub suggestions: bool,
    /// The rate limits; `None` for none. The default is `None`, since programs that link this library act for the operator (tests, loaders,
    /// audits). `waxwing serve` has limits unless they are switched off.
    pub rates: Option<RateLimits>,
    /// Networks of trusted proxies, whose `X-Forwarded-For` header is used for the address of a client.
    pub trusted_proxies: Vec<IpNet>,
    /// The pricing rule of ads: first or second price.
    pub auction: Auction,
    /// Thresholds of plausible ad traffic; `None` for none. As for `rates`, `waxwing serve` has thresholds unless limits are switched off.
    pub ad_traffic: Option<AdTraffic>,
    /// The number of budget shares of a new campaign: 1 to 4; `None` for one on a single server and four on a cluster.
    pub ad_shares: Option<u64>,
    /// The public URL of this server, such as `https://social.example`, without a trailing slash. Without it, links are relative.
    pub public_url: Option<String>,
    /// The mail server, the sender and the templates of messages.
    pub mail: MailConfig,
    /// The issuer of JSON Web Tokens that are accepted; `None` to accept none.
    pub jwt: Option<JwtConfig>,
}

/// The pricing rule of ads: first or second price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auction {
    /// The ad's bid.
    #[default]
    FirstPrice,
    /// Just more than the bid that the next ad would need to win, at most the ad's own bid.
    SecondPrice,
}

/// Clicks and impressions per hour that are plausible. Traffic above is invalid and free of charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdTraffic {
    /// Clicks of an address.
    pub address_clicks: u64,
    /// Clicks of an address on ads of one campaign.
    pub campaign_clicks: u64,
    /// Impressions of an address.
    pub address_impressions: u64,
    /// Impressions of one campaign at an address, over all of the campaign's shares.
    pub campaign_impressions: u64,
    /// Clicks on a website without history.
    pub website_clicks: u64,
    /// Impressions of a website without history.
    pub website_impressions: u64,
}

impl AdTraffic {
    /// The defaults: two to five times the traffic of an office with 200 people, each with 20 impressions per hour, two of them of one campaign,
    /// and a click-through rate of 1 %, the prior of the ad server. A new website has ten times the limit of an address.
    pub const fn new() -> Self {
        Self {
            address_clicks: 100,
            campaign_clicks: 20,
            address_impressions: 10_000,
            campaign_impressions: 1_000,
            website_clicks: 1_000,
            website_impressions: 100_000,
        }
    }
}

impl Default for AdTraffic {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// The value of `messages_kept` for tools that trim no chats, because the servers decide what is kept.
    pub const ALL_MESSAGES: u64 = u32::MAX as u64;
}

impl Default for Config {
    fn default() -> Self {
        Self {
            home_window: 1_000,
            star_followers: 10_000,
            comment_depth: 64,
            home_idle: 30 * DAY,
            events_kept: 100_000,
            events_age: 60 * MINUTE,
            messages_kept: 100_000,
            messages_days_after_seen: None,
            session_idle: 30 * DAY,
            session_absolute: 90 * DAY,
            password_memory: 19 * 1024,
            hashes_at_once: 2,
            documents: DocumentLimits::default(),
            // Four of the largest filters, some 2 MB of memory.
            filter_entries: 20_000,
            response_bytes: 8 << 20,
            introspection: true,
            suggestions: true,
            rates: None,
            trusted_proxies: Vec::new(),
            auction: Auction::FirstPrice,
            ad_traffic: None,
            ad_shares: None,
            public_url: None,
            mail: MailConfig::default(),
            jwt: None,
        }
    }
}

/// The limits of a document. An error names the limit that is exceeded.
#[derive(Clone, Debug)]
pub struct DocumentLimits {
    /// The length in bytes.
    pub bytes: usize,
    /// Punctuators, names, numbers and strings.
    pub tokens: usize,
    /// The nesting of brackets of all kinds.
    pub nesting: usize,
    /// Aliases, as written.
    pub aliases: usize,
    /// Directives, anywhere.
    pub directives: usize,
    /// Operations.
    pub operations: usize,
    /// Root fields of an operation, with fragments expanded.
    pub root_fields: usize,
    /// Fields, spreads and inline fragments of all operations, with fragments expanded.
    pub fields: usize,
    /// The nesting of fields.
    pub depth: usize,
    /// Fields of the largest possible response, with every page at its requested size. A home page of thirty entries has some six hundred; a hundred
    /// campaigns with their ads and reports, the largest page of our own clients, 42,401.
    pub cost: usize,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self {
            bytes: 16 * 1024,
            tokens: 2_000,
            nesting: 64,
            aliases: 30,
            directives: 50,
            operations: 50,
            root_fields: 20,
            fields: 1_000,
            depth: 15,
            cost: 50_000,
        }
    }
}
