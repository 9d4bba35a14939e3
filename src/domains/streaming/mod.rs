//! Subscriptions: live events of homes, list timelines, the public stream and threads, resumable from a cursor.
//!
//! The domain has no Redis keys of its own. [`crate::platform::events`] holds the log of status events; each thread
//! ([`crate::domains::comments`]) holds the log of its comment events. "Redis in Action" 8.5 gives each client a connection to Redis and a
//! thread that applies the client's filter to every message; a client that is away loses what happens meanwhile.
//!
//! **One listener for each process.** The hub receives the channels of all subscriptions over one connection, in the order of the events.
//! An inverted index of words, authors, samples and places finds the subscriptions that match an event. The cost of an event depends on its
//! content and on its recipients, not on the number of other subscriptions.
//!
//! **Interests.** An interest is what a subscription waits for: a filter of the public stream, or the sources of a feed. Equal filters
//! share one interest, found by the digest of their content. The index holds each interest once, and lists its subscribers separately, so
//! subscribing and unsubscribing cost the same for every interest. The hub's lock is never held for work that grows. A background task adds
//! interests to the index and removes them in bounded steps (`indexer`): feeds before filters, and within each kind the accounts and
//! addresses in round-robin order (`change_queue`). An event is dispatched in bounded steps, too (`delivery`). A subscription joins the hub
//! when its interest is indexed and the hub has dispatched nothing that the subscription has not read; otherwise it continues to read the log.
//! So it may join between any two steps. It leaves in one step; its interest is removed later.
//!
//! **Resuming.** A subscription first reads the log from its cursor up to the events that the hub has not dispatched yet. Then it joins the
//! hub, and skips events that it has read already: nothing is missed in between and nothing comes twice. The hub finds a lost message by
//! the id of the previous event that each message carries, and reads the log; it also checks the log every ten seconds. Where the next
//! event has expired or was lost, subscribers receive a gap.
//!
//! **Threads** have a log each. While a thread has subscribers, one reader in each process reads the log when an event is published, and
//! dispatches the events to all of them. Cursors work in the same way. The subscriptions complete when the status is deleted. One of them
//! completes as well when its viewer does not see the status any more, since a block hides it or its author is private: it watches the changes of
//! both. To a viewer with blocks comments can be placeholders that others read: their events are rendered for each such viewer alone
//! (`thread_viewer`).
//!
//! **Visibility** is checked when a response is rendered: the status and its author must exist. A rendered response is reused for half a
//! second, so a deleted status is sent no longer than that. Whether the author is still a source of the feed is checked for each
//! subscription afterwards.
//!
//! A deletion of a status that was not public is sent to those to whom the status would have been delivered, and a status whose audience has changed
//! is a deleted one to those who could see it before and cannot now (`recipients`).
//!
//! **Reposts** are found by the account, as statuses are by the author, and go to feeds alone. A change of a status goes to the feeds into which a repost
//! brought it as an event for each thousand reposters; a subscription sends the first that it matches. If it is resumed between two of them, the change may
//! come twice. The sources whose reposts the viewer does not want are known without a read; the other rules read ([`service`]).
//!
//! **Chats.** The log has references to rows and other changes of chats. An event finds its subscriptions by the members of its chat that are connected here
//! (`chat_dispatch`); a subscription that reads the log asks for which of the chats of a page the viewer is a member. What an event shows is read, with the
//! rules of queries, for each viewer when it is delivered, so that leaving, removal and blocks end the delivery at once. That somebody is typing is
//! published on a channel of its own, and is in no log.
//!
//! **Shared responses.** A running subscription is a stream of events without a document. Each event is rendered by a run of the document
//! that is shared by all subscriptions with the same document and variables, apart from the arguments of the stream
//! ([`crate::schema::subscribe()`]). A response is rendered once for all that receive the same event with the same cursor: the subscribers
//! of the public stream, of a thread, or of one home on several screens. A document that is the same for all viewers is rendered for nobody. A
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
mod delivery;
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
