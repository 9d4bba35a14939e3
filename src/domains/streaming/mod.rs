//! Live: what is posted and deleted, told to whoever waits for it, from where they have stopped.
//!
//! No keys of its own: [`crate::platform::events`] has what is told of statuses, each thread ([`crate::domains::comments`]) what is told of its comments. "Redis in Action" 8.5 gives each client a connection to Redis and a thread,
//! which asks its filter about every message; what happens while a client is away is lost to it.
//!
//! **One process, one listener.** A hub hears the channels of all its subscriptions over one connection, in the order of the events.
//! It finds those whom an event concerns through an index by words, authors, samples and places, so that an event costs by what
//! it says and by whom it reaches, not by how many wait for others.
//!
//! **Interests.** What subscriptions wait for is an interest: a filter of the public stream, or the audience of a feed. Equal filters are one
//! interest, found by the digest of their content. An interest stands in the index once, with its subscribers beside it, so that joining and leaving costs a
//! subscription the same whatever it waits for. The hub's lock is never held for work that grows. A task puts interests into the index
//! and removes them in bounded steps (`indexer`): those of feeds first, and those of each kind by account and address in turn (`turns`). An event
//! is handed out in bounded steps too (`delivery`). A subscription joins when its interest
//! stands in the index and nothing was handed out that it has not read; else it reads on first. So it does not matter between
//! which steps it joins. It leaves in one step, and its interest is removed behind that.
//!
//! **Going on.** A subscription first reads the kept events from its cursor on, until there is none that the hub has not told yet; then it
//! joins the hub, and passes over what it has read already: nothing is missing in between and nothing comes twice. The hub in turn
//! knows by each event's predecessor when it has missed one, and reads it; it looks every ten seconds besides. Where what comes next is
//! kept no longer, or lost, subscribers get a gap.
//!
//! **Threads** have a log each. Where somebody follows one, a room reads on in it whenever something is said of it, once a process, and hands
//! that to all who do; they go on from cursors in the same way. Their subscriptions complete when the status is gone.
//!
//! **Who gets what** is asked when an answer is made: the status and its author must be there. An answer serves for half a second, so what is
//! gone is told no longer than that. Whether its author is still a source of the feed is asked for each subscription, behind that.
//!
//! **One answer for all who asked the same.** A subscription that has begun is only a follower. What it is told is rendered by a run of its document
//! that it shares with all who asked the same of events, whatever they wait for ([`crate::schema::subscribe()`]); an event's answer is made
//! once for all who are told it with the same cursor: the subscribers of the public stream, of a thread, of one home on several screens.
//!
//! **Costs.** Opening a filter of logins takes one round trip for every 500 logins, other filters none. Adding or removing an entry of an
//! interest costs the logarithm of the size of the index. An event costs a process one look into the index, and an answer for each way in which it was asked for and each home that is told of
//! it: two round trips, one for the status and one for its author; three for a comment.

mod audience;
mod change;
mod course;
mod delivery;
mod filter;
mod follower;
mod graphql;
mod grid;
mod hub;
mod index;
mod indexer;
mod interest;
mod listener;
mod model;
mod occasion;
mod posting;
mod queue;
mod room;
mod run;
pub mod service;
mod thread;
mod turns;

pub use follower::Follower;
pub use graphql::{StreamQuery, StreamSubscription};
pub use hub::Hub;
pub use model::{Area, GapReason, Given, Told, What};
pub use run::{Beginning, Handed, Rendering, ToRender};
