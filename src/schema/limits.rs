//! The limits that clients can read, so that they need not find them out by being refused.

use super::{List, request};
use crate::base::config::Config;
use crate::base::page;
use crate::base::rate_limits::{Limit, Quota};
use async_graphql::{Context, Object, Result, SimpleObject};

/// What this server takes. A document over one of these is refused before anything runs, with one of the codes `QUERY_TOO_LARGE`,
/// `QUERY_TOO_DEEP` and `QUERY_TOO_COMPLEX`, and with the members `limit` (the name of the field here), `max` and `counted` in
/// `extensions`.
#[derive(SimpleObject)]
struct ServerLimits {
    /// The length of a document in bytes.
    document_bytes: usize,
    /// The punctuators, names, numbers and strings of a document.
    tokens: usize,
    /// Brackets of all kinds in one another.
    nesting: usize,
    /// The aliases that stand in a document.
    aliases: usize,
    /// The directives of a document, wherever they stand.
    directives: usize,
    /// The operations of a document.
    operations: usize,
    /// The fields at the root of an operation, with fragments in the place of their spreads.
    root_fields: usize,
    /// The fields, spreads and inline fragments of all operations, with fragments in the place of their spreads.
    fields: usize,
    /// Fields in one another.
    depth: usize,
    /// The cost of an operation: the fields that its answer could have, with every page as long as it was asked for. Send the header
    /// `waxwing-cost: 1` to be told in `extensions.cost` what a request was charged and how much it worked: work beyond the cost is charged after
    /// the answer.
    cost: usize,
    /// The most that `first` and `last` may ask for.
    page_size: usize,
    /// What `first` is when neither is given.
    default_page_size: usize,
    /// The length of a request's body in bytes.
    body_bytes: usize,
    /// The entries that the filters of one account's open subscriptions to `statusEvents` may have together on one server, or those of one address
    /// without a session. A login, a phrase or a sample is one entry, a box is 32; each entry adds 4 to the cost. Past it a subscription is refused with
    /// `LIMIT_REACHED`.
    filter_entries: usize,
    /// The length of an answer in bytes. One that grows larger is stopped while it is made, with the code `ANSWER_TOO_LARGE`: of a query
    /// nothing else is told, of a mutation the field is null, and a subscription goes on with its next event.
    answer_bytes: usize,
    /// How much one may do in a time, in the order in which the server declares them; empty where nothing is limited. Past one, a request is refused
    /// with `RATE_LIMITED` and the name of it in `extensions.limit`.
    rates: List<RateLimit>,
}

/// How much one account or address may do in a time. A bucket that is full at first and fills evenly.
#[derive(SimpleObject)]
struct RateLimit {
    /// Its name, such as `posts`.
    name: &'static str,
    /// What a full bucket holds: as much may be done at once.
    tokens: u64,
    /// In how many seconds an empty bucket fills.
    window_seconds: u64,
}

/// All rate limits; none where nothing is limited.
fn rate_limits(config: &Config) -> List<RateLimit> {
    let one = |limit: Limit, quota: Quota| RateLimit {
        name: limit.name(),
        tokens: quota.tokens(),
        window_seconds: quota.window() / 1_000,
    };
    config.rates.iter().flat_map(|rates| Limit::ALL.map(|limit| one(limit, rates.quota(limit)))).collect()
}

impl From<&Config> for ServerLimits {
    fn from(config: &Config) -> Self {
        let limits = &config.documents;
        Self {
            document_bytes: limits.bytes,
            tokens: limits.tokens,
            nesting: limits.nesting,
            aliases: limits.aliases,
            directives: limits.directives,
            operations: limits.operations,
            root_fields: limits.root_fields,
            fields: limits.fields,
            depth: limits.depth,
            cost: limits.cost,
            page_size: page::MAX,
            default_page_size: page::DEFAULT,
            body_bytes: crate::base::config::BODY_BYTES,
            filter_entries: config.filter_entries,
            answer_bytes: config.answer_bytes,
            rates: rate_limits(config),
        }
    }
}

#[derive(Default)]
pub(super) struct LimitQuery;

#[Object]
impl LimitQuery {
    /// What this server takes: how large and how deep a document may be, how long a page, and how much one may do in a time.
    async fn server_limits(&self, ctx: &Context<'_>) -> Result<ServerLimits> {
        Ok(ServerLimits::from(request(ctx)?.app.config()))
    }
}
