//! # Waxwing
//!
//! Waxwing serves a social network (users, statuses, follows, timelines, lists, comments, chats and ads) as one GraphQL API. It is one binary and one
//! Redis server or one Redis Cluster. The processes keep no state of their own: any number of them can serve the same store.
//!
//! This page describes the architecture. The page of each module has its keys, its invariants and its costs.
//!
//! ## Layout
//!
//! | folder | contents | depends on |
//! |---|---|---|
//! | [`base`] | building blocks without a domain: configuration, errors, ids, pages, rate limits, metrics | [`db`]; `base/request.rs` also holds the loaders of all domains |
//! | [`db`] | access to Redis: connections, pipelines, scripts, the client-side cache, the embedded server | [`base`] |
//! | [`platform`] | services that all domains use: the journal, the event log, rate limits, idempotency keys, mail, JSON Web Tokens | [`base`], [`db`], lower layers |
//! | [`domains`] | users, statuses, timelines and so on | [`base`], [`db`], lower layers |
//! | [`schema`] | the GraphQL schema: roots, validation, cost, execution, rendering | the domains |
//! | [`server`] | HTTP, WebSocket and server-sent events on axum | [`schema`], the domains |
//! | [`cli`] | the command line; also the workers, the audit (`fsck`) and the migrations of the store | everything |
//!
//! The domains and the services of the platform are ordered in layers. A module depends on lower layers only. The exception is
//! `graphql.rs`, which may use the types of every domain.
//!
//! | layer | modules | contents |
//! |---|---|---|
//! | 0 | [`journal`], [`events`], [`rates`], [`mail`], [`jwt`] | unfinished changes, the event log, rate limits, messages by mail, tokens of an external issuer |
//! | 1 | [`users`], [`server_keys`] | accounts and profiles, keys of backends |
//! | 2 | [`sessions`], [`idempotency`], [`graph`], [`entities`] | sessions, idempotency keys, follows and follow requests, mentions, tags and links in texts |
//! | 3 | [`relations`], [`tags`], [`identities`] | mutes, friends, and the policy that decides who sees what; tags, mentions and followed tags; accounts of other systems |
//! | 4 | [`lists`], [`conversations`] | lists of accounts, trees of replies |
//! | 5 | [`statuses`] | statuses and likes |
//! | 6 | [`comments`], [`ads`], [`chats`] | comment threads, campaigns and ad serving, direct messages and groups |
//! | 7 | [`timelines`] | home, list and profile timelines, fan-out |
//! | 8 | [`streaming`] | subscriptions |
//! | 9 | [`accounts`] | deletion of accounts |
//!
//! Every domain consists of the same modules. A domain leaves out the modules that it does not need.
//!
//! | module | contents | used by |
//! |---|---|---|
//! | `model.rs` | plain types, limits and rules; neither Redis nor GraphQL | everything, through the domain |
//! | `keys.rs` | every key, with its type, members, scores, bound and time to live | the domain's store and audit; a key that the script of a higher layer needs is exported |
//! | `store.rs` | typed access to Redis; a function is one script or one pipeline | the domain's service and loaders |
//! | `lua/` | the scripts, `<verb>_<object>.lua` | the store |
//! | `load.rs` | the batch loaders | [`base::request`] |
//! | `service.rs` | the use cases | `graphql.rs` of every domain, services of higher layers |
//! | `audit.rs` | checks of the invariants of the domain's keys; reads in batches, writes nothing | [`cli::fsck`] |
//! | `graphql.rs` | objects, inputs and resolvers; no I/O of its own | [`schema`] |
//!
//! Only [`db`], the stores and the audits use Redis. Only [`server`] uses axum. Only `graphql.rs`, [`schema`] and [`server`] use GraphQL.
//! `tests/it/architecture.rs` enforces the layout, the layers and these rules.
//!
//! [`journal`]: platform::journal
//! [`events`]: platform::events
//! [`rates`]: platform::rates
//! [`mail`]: platform::mail
//! [`jwt`]: platform::jwt
//! [`idempotency`]: platform::idempotency
//! [`conversations`]: domains::conversations
//! [`entities`]: domains::entities
//! [`server_keys`]: domains::server_keys
//! [`users`]: domains::users
//! [`sessions`]: domains::sessions
//! [`identities`]: domains::identities
//! [`graph`]: domains::graph
//! [`relations`]: domains::relations
//! [`tags`]: domains::tags
//! [`statuses`]: domains::statuses
//! [`lists`]: domains::lists
//! [`comments`]: domains::comments
//! [`chats`]: domains::chats
//! [`ads`]: domains::ads
//! [`timelines`]: domains::timelines
//! [`streaming`]: domains::streaming
//! [`accounts`]: domains::accounts
//!
//! ## Reads
//!
//! 1. [`server`] authenticates the request, [`schema`] validates it and computes its cost, and [`rates`] charges the cost.
//! 2. The resolvers call the services. Batch loaders ([`base::loader`]) collect the keys of all fields of one level and fetch them together, usually
//!    in one pipeline. On a single server, users, statuses, sessions, the newest statuses of tags and the sets that decide whether a home shows an
//!    entry come from the client-side cache if they are cached ([`db::client_cache`]).
//! 3. A page of a list is filled in four steps ([`base::page`]): read the ids of a window of the sorted set (one command), hydrate them with
//!    the loaders, drop the rows that the viewer may not see, and present the remaining rows. If rows were dropped, the next window is read. So a
//!    page is shorter than requested only at the end of its list, or after 10,000 dropped rows.
//!
//! ## Writes
//!
//! A use case validates its input and then executes *steps*. A step is one Lua script on one hash tag and idempotent: the reply of its
//! ZADD or ZREM decides whether the counter beside it changes.
//!
//! A change of several hash tags has one step that decides, its *commit*. The state of all other hash tags is derived from the commit:
//!
//! 1. An entry in the [`journal`] names the keys that may disagree from now on.
//! 2. The commit is executed.
//! 3. The derived steps are executed: they make the other hash tags agree with the commit. This is called *settling*.
//! 4. The entry is acknowledged.
//!
//! If the process dies in between, the lease of the entry expires and a worker of another process settles the change ([`cli::workers`]).
//! Settling reads the commit before and after the derived steps, so it can run twice, late, or in two processes at once. Fan-out beyond the first
//! thousand followers and backfills of feeds are journal tasks too; they work in bounded passes.
//!
//! After a power failure, the nodes of a cluster lose writes of different age. There an entry has a copy on every node that its change may
//! touch, and it is kept for twenty seconds after it was settled. If a node was restarted or replaced in that time, the change is settled again
//! ([`platform::journal::retention`]).
//!
//! ## Events
//!
//! Changes of statuses, reposts and chats are events. One script appends an event to a log and publishes it ([`events`]); a new status is published
//! when it is in all homes that it is pushed to. Every server subscribes over one connection per node ([`db::pubsub`]). An index finds the
//! subscriptions that match an event ([`streaming`]). A process that missed events reads them from the log, and so does a subscription that resumes
//! from a cursor.
//!
//! ## Keys and ids
//!
//! Every key has a hash tag, usually its owner's id, so the same commands work on a single server and on a cluster. Ids are ordered by time and fit
//! into a double ([`base::ids`]). An id is its own score and its own cursor: in a list that is ordered by ids, no two members have the same score.
//!
//! ## Versions of the store
//!
//! The store has a version number. A process refuses a store whose version it does not support. [`cli::migrations`] has the
//! steps from each version to the next. A step works in bounded, repeatable passes and records its position in the version key.
//!
//! ## Errors
//!
//! Mistakes in the input of a mutation are rows of `userErrors`. All other failures are GraphQL errors with a stable code
//! ([`base::error`]). No error text of Redis reaches a client.

pub mod app;
pub mod base;
pub mod db;
pub mod platform;
pub mod domains;
pub mod schema;
pub mod server;
pub mod cli;
