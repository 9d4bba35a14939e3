//! The limits of the server, for clients to read.

use super::{List, request};
use crate::base::config::Config;
use crate::base::page;
use crate::base::rate_limits::{Limit, Quota};
use async_graphql::{Context, Object, Result, SimpleObject};

/// Limits of this server. A document that exceeds a limit is rejected before execution: `documentBytes` and `tokens` with the code `QUERY_TOO_LARGE`, `depth`
/// and `nesting` with `QUERY_TOO_DEEP`, `aliases`, `cost`, `directives`, `fields`, `operations` and `rootFields` with `QUERY_TOO_COMPLEX`. `extensions` then
/// has `limit` (the name of the limit, usually the name of a field of this type), `max` (its value) and `counted` (the number in the document).
#[derive(SimpleObject)]
struct ServerLimits {
    /// Maximum length of a document in bytes.
    document_bytes: usize,
    /// Maximum number of tokens in a document: punctuators, names, numbers and strings.
    tokens: usize,
    /// Maximum nesting of brackets of all kinds.
    nesting: usize,
    /// Maximum number of aliases in a document.
    aliases: usize,
    /// Maximum number of directives in a document.
    directives: usize,
    /// Maximum number of operations in a document.
    operations: usize,
    /// Maximum number of root fields of an operation, with fragments expanded.
    root_fields: usize,
    /// Maximum number of fields, spreads and inline fragments of all operations, with fragments expanded.
    fields: usize,
    /// Maximum nesting of fields.
    depth: usize,
    /// Maximum cost of an operation: approximately the number of fields that its response can have, with every page as long as requested. A field
    /// with a long text counts as several, a list that is not a connection has its usual number of items, and each filter entry adds 4. With the header
    /// `waxwing-cost: 1`, `extensions.cost` has `charged`, the rate-limit tokens taken for the operation, and `worked`, the units of work that the
    /// operation has done: commands, values and bytes from Redis, and bytes of the response; at least 12. Work beyond the cost is charged after the
    /// response.
    cost: usize,
    /// Maximum of `first` and `last`.
    page_size: usize,
    /// Page size if neither `first` nor `last` is given.
    default_page_size: usize,
    /// Maximum length of a request body in bytes.
    body_bytes: usize,
    /// Maximum number of filter entries of all open `statusEvents` subscriptions of one account on one server, or of one IP address without a session. A
    /// login, a phrase or a sample is one entry, a bounding box is 32; each entry adds 4 to the cost. A subscription that exceeds it fails with
    /// `LIMIT_REACHED`.
    filter_entries: usize,
    /// Maximum length of a response in bytes. A larger response is aborted with the code `RESPONSE_TOO_LARGE`: a query then returns this error alone,
    /// a mutation returns null for the field, and a subscription continues with its next event.
    response_bytes: usize,
    /// Rate limits of this server. Empty if the server has none. A request that exceeds one fails with `RATE_LIMITED`, the limit's name in
    /// `extensions.limit` and the seconds to wait in `extensions.retryAfter`.
    rates: List<RateLimit>,
}

/// A rate limit: a token bucket that starts full and refills evenly. Depending on the limit, each account, IP address, mail address, device or server key has
/// a bucket of its own. IPv6 addresses count by /64 network.
#[derive(SimpleObject)]
struct RateLimit {
    /// Name, such as `posts`.
    name: &'static str,
    /// Capacity of the bucket: the largest burst.
    tokens: u64,
    /// Seconds in which an empty bucket refills.
    window_seconds: u64,
}

/// All rate limits. Empty if the server has none.
fn rate_limits(config: &Config) -> List<RateLimit> {
    let rate_limit = |limit: Limit, quota: Quota| RateLimit {
        name: limit.name(),
        tokens: quota.tokens(),
        window_seconds: quota.window() / 1_000,
    };
    config.rates.iter().flat_map(|rates| Limit::ALL.map(|limit| rate_limit(limit, rates.quota(limit)))).collect()
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
            response_bytes: config.response_bytes,
            rates: rate_limits(config),
        }
    }
}

#[derive(Default)]
pub(super) struct LimitQuery;

#[Object]
impl LimitQuery {
    /// Limits of this server for documents, pages, responses and rates.
    async fn server_limits(&self, ctx: &Context<'_>) -> Result<ServerLimits> {
        Ok(ServerLimits::from(request(ctx)?.app.config()))
    }
}
