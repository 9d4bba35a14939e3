//! Subscriptions: live events of homes, list timelines, tags, mentions, the public stream, threads and chats, resumable from a cursor.
//!
//! The domain has no Redis keys of its own. [`crate::platform::events`] holds the log of events of statuses and chats; each thread
//! ([`crate::domains::comments`]) holds the log of its comment events. "Redis in Action" 8.5 gives each client a connection to Redis and a
//! thread that applies the client's filter to every message; a client that is not connected loses the events of that time.
//!
//! **One listener for each process.** The hub receives the channels of all subscriptions over one connection, in the order of the events.
//! An inverted index of words, authors, tags, mentioned accounts, samples and locations finds the subscriptions that match an event. The cost of an
//! event depends on its content and on its recipients, not on the number of other subscriptions.
//!
//! **Interests.** An interest is the condition by which a subscription receives events: a filter (of the public stream, by a tag, or by mentions of
//! the viewer), the sources of a feed, or the chats of an account. Interests in chats are not in the index. Equal filters share one interest, found by the
//! digest of their content. The index holds each filter and feed once, and the hub lists the subscribers separately, so subscribing and unsubscribing cost
//! the same for every interest. The hub's lock is held only for a bounded amount of work. A background task adds interests to the index and removes
//! them in bounded steps (`indexer`): feeds before filters, and within each kind the accounts and addresses in round-robin order (`change_queue`). An
//! event is dispatched in bounded steps, too (`dispatch`). A subscription joins the hub when its interest is indexed and the hub has dispatched
//! nothing that the subscription has not read; otherwise it continues to read the log. So it may join between any two steps. It leaves in one step;
//! its interest is removed later.
//!
//! **Resuming.** A subscription first reads the log from its cursor up to the events that the hub has not dispatched yet. Then it joins the
//! hub, and skips events that it has read already: no event is missed, and none is received twice. Each message has the id of the event before it. If the hub
//! has not dispatched that event, a message was lost, and the hub reads the log. The hub also checks the log every ten seconds. If the next event has expired
//! or was lost, subscribers receive a gap.
//!
//! **Threads** have a log each. While a thread has subscribers, one reader in each process reads the log when an event is published, and
//! dispatches the events to all of them. Cursors work in the same way. The subscriptions complete when the status is deleted. A subscription also
//! completes when its viewer can no longer see the status, for instance because of a block or because the author has become private: it watches the
//! changes that can hide the status. A viewer with blocks may receive placeholders for comments that other viewers can read, so events are rendered
//! for each such viewer alone (`thread_viewer`).
//!
//! **Visibility** is checked when a response is rendered: the status and its author must exist. A rendered response is reused for half a
//! second, so a deleted status is sent no longer than that. Whether the author is still a source of the feed is checked for each
//! subscription afterwards.
//!
//! The deletion of a status that was not public is sent to those to whom the status would have been delivered. When the audience of a status changes, those
//! who could see it before and cannot now receive a deletion (`recipients`).
//!
//! **Reposts** are indexed by the account, as statuses are by the author, and go to feeds alone. A feed may have a status only because of a repost. For these
//! feeds, a change of the status is published as one event for each thousand reposters; a subscription sends the first that it matches. If it is resumed
//! between two of them, it may send the change twice. Whether the viewer has turned off the reposts of a source is decided without a read; the other
//! rules on reposts read from Redis (`recipients`).
//!
//! **Chats.** The log has references to rows and other changes of chats. An event is dispatched to those members of its chat that are connected to this
//! process (`chat_dispatch`); a subscription that reads a page of the log looks up whether the viewer is a member of its chats. The objects of an event are
//! read when it is delivered, for each viewer and by the rules of queries, so that leaving, removal and blocks end the delivery at once. Events of typing are
//! published on a channel of their own, and are in no log.
//!
//! **Shared responses.** A running subscription is a stream of events without a document. Each event is rendered by a run of the document
//! that is shared by all subscriptions with the same document and variables, apart from the arguments of the stream
//! ([`crate::schema::subscribe()`]). A response is rendered once for all that receive the same event with the same cursor: the subscribers
//! of the public stream, of a thread, or of one home on several devices. A document whose result is the same for all viewers is rendered without a viewer. A
//! status of a private account cannot be seen without a viewer, so it is rendered for the viewer of each subscription.
//!
//! **Costs.** Opening a filter of logins takes one round trip for every 500 logins; other filters take none. Adding or removing an index
//! entry costs the logarithm of the size of the index. An event costs a process one index search, and one rendering for each distinct
//! document and for each home that receives it: two round trips (the status, its author), three for a comment.

mod chat_dispatch;
mod chat_stream;
mod feed_sources;
mod hidden_authors;
mod index_change;
mod event_source;
mod dispatch;
mod filter;
mod subscription_stream;
mod graphql;
mod grid;
mod hub;
mod index;
mod indexer;
mod interest;
mod listener;
mod log_page;
mod model;
mod envelope;
mod posting;
mod recipients;
mod shared_reply;
mod event_queue;
mod thread_channel;
mod run;
pub mod service;
mod thread_stream;
mod thread_viewer;
mod change_queue;

pub(crate) use event_source::RETRY_DELAY;
pub use graphql::{ChatSubscription, StreamQuery, StreamSubscription};
pub use hub::Hub;
pub use model::{BoundingBox, FilterInput, GapReason, OutgoingEvent, OutgoingEventKind, StatusRepost};
pub use run::{RenderResult, RenderRun, RenderSender, SetupRun};
pub use subscription_stream::SubscriptionStream;
