//! # Waxwing
//!
//! Users, statuses, follows, timelines, lists, comments and ads as one GraphQL API: one binary beside one Redis, or one Redis Cluster.
//!
//! ## The house
//!
//! Modules stand in reading order. The foundation ([`clock`] to [`request`]) names no domain, but for the bundle of loaders in
//! [`request`]. The domains stand on floors and have the same rooms:
//!
//! | floor | domains | |
//! |---|---|---|
//! | 0 | [`jobs`], [`events`], [`rates`] | what is to be settled; what has happened; how much one may ask |
//! | 1 | [`users`] | who one is |
//! | 2 | [`sessions`], [`idempotency`], [`graph`] | where one is logged in, what one has asked for before, who follows whom |
//! | 3 | [`statuses`], [`lists`] | what one says, and whom one reads together |
//! | 4 | [`comments`], [`ads`] | what others say to it, and what is shown beside it |
//! | 5 | [`timelines`] | where it goes |
//! | 6 | [`streaming`] | what is told while it happens |
//! | 7 | [`accounts`] | how all of it ends |
//!
//! | room | what is in it | who may name it |
//! |---|---|---|
//! | `model.rs` | plain types, limits, rules; no Redis, no GraphQL | everybody, through the domain |
//! | `keys.rs` | every key: type, member, score, bound, time to live | its own store and audit (a key that a higher floor's script must hold is exported) |
//! | `store.rs` | typed in, typed out; one script or one pipeline a function | its own service and loader |
//! | `lua/` | the scripts, `<verb>_<object>.lua` | the store |
//! | `load.rs` | the batch loaders | [`request`] |
//! | `service.rs` | the use cases | `graphql.rs` of any domain, services of higher floors |
//! | `audit.rs` | what must be true of the domain's keys; reads many at once, writes nothing | [`fsck`] |
//! | `graphql.rs` | objects, inputs, resolvers; no I/O of its own | [`schema`] |
//!
//! A service calls its own store and the services of lower floors, never sideways or up. Only [`db`], the stores and the audits know Redis,
//! only [`server`] knows axum, only `graphql.rs`, [`schema`] and [`server`] know GraphQL. `tests/it/architecture.rs` holds all
//! of this.
//!
//! ## How a read goes
//!
//! [`server`] finds out who asks, [`schema`] resolves, services read. A list takes four steps: *skeleton* (ids and places, one
//! command), *hydrate* (loaders: one pipeline of HGETALL a kind of object), *rules* (what this viewer may not see is dropped),
//! *present*. A page that the rules thin out is read on ([`page`]), so that it is short only at the end. Fields of one level
//! state their keys first, then one of them sends a pipeline for all ([`loader`]).
//!
//! ## How a write goes
//!
//! Check, then *steps*. A step is one script on one hash tag and idempotent: what its ZADD or ZREM answers guards the counter
//! beside it. One step of a change counts, its *commit*; what other tags say is derived from it. Before the commit the change is written
//! into the journal ([`jobs`]) as what may disagree, then everything is made to agree (*settled*), then it is struck out. Settling
//! looks at what was committed first and again afterwards, so it may be done twice, late, or by two at once; whoever finds an
//! entry whose lease has run out does it again ([`work`]). In a power cut the nodes of a cluster lose different ends of what they wrote: so
//! there an entry has a copy on every node that its change may touch, and is kept for twenty seconds after it was settled, to be settled again if
//! a node was restarted or replaced in between ([`jobs::keep`]). Fan-out past the first thousand followers, refills and crossings go the same way,
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
//! and fit a double ([`ids`]): an id is its own score and its own cursor, and no two entries of a list tie.
//!
//! ## Versions of the store
//!
//! A store has a version, and a process that knows only older ones does not touch it. [`migrations`] lists the steps from each version to the
//! next; a step works in bounded passes, each of which may be repeated, and the mark of the version says where the next one begins.
//!
//! ## Errors
//!
//! What a person can mend is a row of `userErrors`, everything else an error with a stable code ([`error`]). Nothing of Redis
//! reaches a client.

pub mod clock;
pub mod deadline;
pub mod quota;
pub mod config;
pub mod error;
pub mod metrics;
pub mod text;
pub mod ids;
pub mod page;
pub mod audit;
pub mod viewer;
pub mod answer;
pub mod loader;
pub mod lane;
pub mod app;
pub mod request;

pub mod db;

pub mod jobs;
pub mod events;
pub mod rates;
pub mod users;
pub mod sessions;
pub mod idempotency;
pub mod graph;
pub mod statuses;
pub mod lists;
pub mod comments;
pub mod ads;
pub mod timelines;
pub mod streaming;
pub mod accounts;

pub mod work;
pub mod migrations;
pub mod fsck;

pub mod schema;
pub mod server;
pub mod cli;
