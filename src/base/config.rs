//! What an operator may set, with its defaults. Each is an option of the command line (`cli`) and a `WAXWING_…` variable.

use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::rate_limits::RateLimits;
use ipnet::IpNet;

/// The largest body of a request, in bytes.
pub const BODY_BYTES: usize = 1 << 20;

/// The settings of the domains.
#[derive(Clone, Debug)]
pub struct Config {
    /// Entries that a home keeps ready: 100 to 10,000.
    pub home_window: usize,
    /// Nobody's statuses are pushed to homes past this many followers: those merge them when they are read. They are pushed again below
    /// four fifths of it.
    pub star_followers: u64,
    /// How deep a comment may stand: 1 to 64 others above it.
    pub comment_depth: usize,
    /// A home that nobody has read for so long is dropped, and built again when it is read.
    pub home_idle: Millis,
    /// Events that are kept for those who come back, over all shards.
    pub events_kept: usize,
    /// How long an event is kept at most.
    pub events_age: Millis,
    /// How long a session lives without being used.
    pub session_idle: Millis,
    /// How long a session lives at most.
    pub session_absolute: Millis,
    /// Password hashes computed at once. Each takes 19 MiB and a core for some 30 ms.
    pub hashes_at_once: usize,
    /// What a document may be.
    pub documents: DocumentLimits,
    /// Entries of live filters (logins, phrases, samples, and 32 for each box) of one account on this server, or of one address without a session.
    pub filter_entries: usize,
    /// The most bytes of an answer. One that grows larger is stopped while it is made.
    pub answer_bytes: usize,
    /// Whether clients may read the schema through the API.
    pub introspection: bool,
    /// Whether errors speak of the schema, and guess what was meant. Else one fixed text stands for all of validation.
    pub suggestions: bool,
    /// How much one may ask; `None` for as much as one likes. That is the default here, since whoever links this library acts for the
    /// operator (tests, loaders, audits); `waxwing serve`, which faces strangers, has limits unless they are switched off.
    pub rates: Option<RateLimits>,
    /// Whose word about a client's address is taken: that of proxies at these addresses.
    pub trusted_proxies: Vec<IpNet>,
    /// What the ads that are shown pay.
    pub auction: Auction,
    /// How much traffic of ads is plausible; `None` for any. As for `rates`, `waxwing serve` has bounds unless limits are switched off.
    pub ad_traffic: Option<AdTraffic>,
    /// Into how many shares a new campaign's money and visitors are parted: 1 to 4; `None` for one on a single server, four on a cluster.
    pub ad_shares: Option<u64>,
    /// Where clients reach this server, such as `https://social.example`, without a slash at the end. Without it, links begin with a slash.
    pub public_url: Option<String>,
}

/// What the ads that are shown pay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auction {
    /// What they bid.
    #[default]
    FirstPrice,
    /// Just more than the next one would need to come before them, at most what they bid.
    SecondPrice,
}

/// Clicks and impressions of ads in an hour that are plausible. What is over counts as invalid, and costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdTraffic {
    /// Clicks of an address.
    pub address_clicks: u64,
    /// Clicks of an address on ads of one campaign.
    pub campaign_clicks: u64,
    /// Impressions of an address.
    pub address_impressions: u64,
    /// Impressions of one campaign that an address is shown, over all of the campaign's shares.
    pub campaign_impressions: u64,
    /// Clicks on a website that has no history.
    pub website_clicks: u64,
    /// Impressions of a website that has no history.
    pub website_impressions: u64,
}

impl AdTraffic {
    /// The defaults: two to five times what an office of 200 people brings, of whom each sees 20 ads an hour, two of them of one campaign, and clicks on one of a
    /// hundred. A click-through rate of 1 % is what ads are taken to have before anything is known of them. A website begins with ten times as much as an address.
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

impl Default for Config {
    fn default() -> Self {
        Self {
            home_window: 1_000,
            star_followers: 10_000,
            comment_depth: 64,
            home_idle: 30 * DAY,
            events_kept: 100_000,
            events_age: 60 * MINUTE,
            session_idle: 30 * DAY,
            session_absolute: 90 * DAY,
            hashes_at_once: 2,
            documents: DocumentLimits::default(),
            // Four of the largest filters, some 2 MB of memory.
            filter_entries: 20_000,
            answer_bytes: 8 << 20,
            introspection: true,
            suggestions: true,
            rates: None,
            trusted_proxies: Vec::new(),
            auction: Auction::FirstPrice,
            ad_traffic: None,
            ad_shares: None,
            public_url: None,
        }
    }
}

/// What a document may be, so that none can hurt the server. Whoever is over one of these is told which.
#[derive(Clone, Debug)]
pub struct DocumentLimits {
    /// Its length in bytes.
    pub bytes: usize,
    /// Its punctuators, names, numbers and strings.
    pub tokens: usize,
    /// Brackets of all kinds in one another.
    pub nesting: usize,
    /// Its aliases, as they stand in it.
    pub aliases: usize,
    /// Its directives, wherever they stand.
    pub directives: usize,
    /// Its operations.
    pub operations: usize,
    /// Fields at an operation's root, fragments unfolded.
    pub root_fields: usize,
    /// Fields, spreads and inline fragments of all operations, fragments unfolded.
    pub fields: usize,
    /// Fields in one another.
    pub depth: usize,
    /// Fields that an answer could have, with every page as long as it was asked for. A first screen of thirty entries has some six hundred; a
    /// hundred campaigns with their ads and reports, the largest page that a client of ours asks for, 42,401.
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
