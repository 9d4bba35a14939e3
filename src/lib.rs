//! # Waxwing
//!
//! Users, statuses, follows, timelines, lists, comments and ads as one GraphQL API: one binary beside one Redis, or one Redis Cluster.
//!
//! ## Layout
//!
//! | folder | what is in it | may depend on |
//! |---|---|---|
//! | [`base`] | building blocks that know no domain: configuration, errors, ids, pages, limits, metrics | [`db`]; its `request.rs` bundles the loaders of all domains |
//! | [`db`] | Redis: connections, scripts, pipelines, the client-side cache, the embedded server | [`base`] |
//! | [`platform`] | what every domain builds on: the journal of changes, the event log, rate limits, idempotency keys | [`base`], [`db`], lower layers |
//! | [`domains`] | users, statuses, timelines and so on | [`base`], [`db`], lower layers |
//! | [`schema`] | the GraphQL schema: roots, validation, cost, execution, rendering | the domains |
//! | [`server`] | HTTP, WebSocket and event streams on axum | [`schema`], the domains |
//! | [`cli`] | the command line, with the workers, the audit (`fsck`) and the migrations of the store | everything |
//!
//! Domains and the parts of the platform have layers. A module depends on lower layers only, never on its own or a higher one; only
//! `graphql.rs` may name the types of any domain.
//!
//! | layer | modules | |
//! |---|---|---|
//! | 0 | [`journal`], [`events`], [`rates`] | changes that must be completed; the log of events; rate limits |
//! | 1 | [`users`] | accounts and profiles |
//! | 2 | [`sessions`], [`idempotency`], [`graph`] | log-ins, repeated requests, follows |
//! | 3 | [`statuses`], [`lists`] | statuses and likes, lists of accounts |
//! | 4 | [`comments`], [`ads`] | threads below statuses, campaigns and ad decisions |
//! | 5 | [`timelines`] | home, list and profile timelines, and fan-out |
//! | 6 | [`streaming`] | subscriptions |
//! | 7 | [`accounts`] | deletion of accounts |
//!
//! All domains have the same modules, as far as they need them:
//!
//! | module | what is in it | used by |
//! |---|---|---|
//! | `model.rs` | plain types, limits, rules; no Redis, no GraphQL | everybody, through the domain |
//! | `keys.rs` | every key: type, member, score, bound, time to live | its own store and audit (a key that a higher layer's script must hold is exported) |
//! | `store.rs` | typed in, typed out; one script or one pipeline a function | its own service and loader |
//! | `lua/` | the scripts, `<verb>_<object>.lua` | the store |
//! | `load.rs` | the batch loaders | [`base::request`] |
//! | `service.rs` | the use cases | `graphql.rs` of any domain, services of higher layers |
//! | `audit.rs` | the invariants of the domain's keys; reads many at once, writes nothing | [`cli::fsck`] |
//! | `graphql.rs` | objects, inputs, resolvers; no I/O of its own | [`schema`] |
//!
//! Only [`db`], the stores and the audits know Redis, only [`server`] knows axum, only `graphql.rs`, [`schema`] and [`server`] know
//! GraphQL. `tests/it/architecture.rs` holds all of this.
//!
//! [`journal`]: platform::journal
//! [`events`]: platform::events
//! [`rates`]: platform::rates
//! [`idempotency`]: platform::idempotency
//! [`users`]: domains::users
//! [`sessions`]: domains::sessions
//! [`graph`]: domains::graph
//! [`statuses`]: domains::statuses
//! [`lists`]: domains::lists
//! [`comments`]: domains::comments
//! [`ads`]: domains::ads
//! [`timelines`]: domains::timelines
//! [`streaming`]: domains::streaming
//! [`accounts`]: domains::accounts
//!
//! ## How a read goes
//!
//! [`server`] finds out who asks, [`schema`] resolves, services read. A list takes four steps: *skeleton* (ids and places, one
//! command), *hydrate* (loaders: one pipeline of HGETALL a kind of object), *rules* (what this viewer may not see is dropped),
//! *present*. A page that the rules thin out is read on ([`base::page`]), so that it is short only at the end. Fields of one level
//! state their keys first, then one of them sends a pipeline for all ([`base::loader`]).
//!
//! ## How a write goes
//!
//! Check, then *steps*. A step is one script on one hash tag and idempotent: what its ZADD or ZREM answers guards the counter
//! beside it. One step of a change counts, its *commit*; what other tags say is derived from it. Before the commit the change is written
//! into the journal ([`journal`]) as what may disagree, then everything is made to agree (*settled*), then it is struck out. Settling
//! looks at what was committed first and again afterwards, so it may be done twice, late, or by two at once; whoever finds an
//! entry whose lease has run out does it again ([`cli::workers`]). In a power cut the nodes of a cluster lose different ends of what they wrote: so
//! there an entry has a copy on every node that its change may touch, and is kept for twenty seconds after it was settled, to be settled again if
//! a node was restarted or replaced in between ([`journal::retention`]). Fan-out past the first thousand followers, refills and crossings go the same way,
//! in passes.
//!
//! ## How news travels
//!
//! When a status stands in the homes that it is pushed to, and when it is deleted, that is *told*: appended to a log and published in one
//! script ([`events`]). A process listens over one connection ([`db::bridge`]) and hands each event to the subscriptions that an index
//! finds ([`streaming`]); what it has missed it reads from the log, as does a subscription that comes back with a cursor.
//!
//! ## Keys and ids
//!
//! Every key carries its owner's id as hash tag, from the first one on, so the same commands run on a cluster. Ids order by time
//! and fit a double ([`base::ids`]): an id is its own score and its own cursor, and no two entries of a list tie.
//!
//! ## Versions of the store
//!
//! A store has a version, and a process that knows only older ones does not touch it. [`cli::migrations`] lists the steps from each version to the
//! next; a step works in bounded passes, each of which may be repeated, and the mark of the version says where the next one begins.
//!
//! ## Errors
//!
//! What a person can mend is a row of `userErrors`, everything else an error with a stable code ([`base::error`]). Nothing of Redis
//! reaches a client.

pub mod app;
pub mod base;
pub mod db;
pub mod platform;
pub mod domains;
pub mod schema;
pub mod server;
pub mod cli;
