//! Chats: direct messages of two accounts, and groups.
//!
//! A *row* is a stored message: a *text* (a text message) or a system message. Its *number* is the sequence number of the schema. The *activity* of a chat is
//! its position in a member's list. To *settle* a chat is to reconcile the lists of its members with it. A *step* is a part of a change that
//! succeeds or fails as a whole, such as one script. A step that appends rows has an id, by which a repetition of the step is recognized.
//!
//! Keys of a chat, on its own hash tag:
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `chat:{c}` | HASH | kind, name and settings of the chat, its newest row, the version from which lists derive, the state of retention | 22 fields, 50 KB |
//! | `chat_members:{c}` | HASH | member → role, order of joining, first readable row, state, … | 500 |
//! | `chat_seen:{c}`, `chat_delivered:{c}` | ZSET | member → position, only raised | 500; delivered of at most 50 |
//! | `chat_rows:{c}:{bucket}` | HASH | number → row | 128 rows of at most 17 KB |
//! | `chat_texts:{c}` | STRING | a bit for each row: it is a text that is not deleted | the stored rows, and a KiB |
//! | `chat_seen_times:{c}` | ZSET | row up to which all members have seen the chat → the end of the span of 55 minutes in which the last of them saw the row | 9,600: a year |
//! | `chat_sent:{c}` | ZSET | id of a step that has appended a row → number of the row | 1,000, a day |
//! | `chat_authors:{c}` | ZSET | groups: author and number of each text | the texts |
//! | `chat_writers:{c}` | HASH | groups: author → number of texts | the authors of texts |
//! | `chat_left:{c}` | ZSET | groups: account that has left → id of the end of its membership | until it is added again or deleted |
//! | `chat_reactions:{c}:{number}` | ZSET | emoji and account → id of the reaction | 6,000 |
//! | `chat_typing:{c}:{hash}`, `chat_positions:{c}:{hash}` | STRING | the member's typing, or its positions, were published just now | 3 s, 1 s |
//!
//! Keys of an account, on its hash tag; all but mutes, the archive, settings and `direct` are derived:
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `chats:{u}`, `chats_archived:{u}`, `chat_requests:{u}` | ZSET | chat → activity | 5,000 together, 500 requests |
//! | `chats_unread:{u}`, `chats_unread_muted:{u}` | ZSET | chats of the inbox with an unread text; those of them that are muted | those of `chats` |
//! | `chat_mutes:{u}` | ZSET | chat → end of the mute | the chats |
//! | `chat_states:{u}` | HASH | chat → version, list, activity, newest row when it was archived, newest row when rows were last counted as activity: rows up to it never raise the activity again | 5,000, and some more by requests that ran at once |
//! | `chats_former:{u}` | ZSET | chat that names the account and is in none of its lists → version | while the chat exists |
//! | `chat_settings:{u}` | HASH | `who seen` | 2 fields |
//! | `direct:{low}` | HASH | account with a higher id → the chat of both | the accounts with which it has one |
//!
//! Schedules, each divided into 16 keys, by which the sweep finds the chats that are to be trimmed:
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `chat_trims:{n}` | ZSET | chat with a retention of its own (`daysAfterSeen`), or with rows that nobody can read → when rows are to be deleted | the chats |
//! | `chat_seen_since:{n}` | ZSET | chat with the server's retention (`--messages-days-after-seen`) → time since which all members have seen its oldest row | the chats |
//! | `chat_sizes:{n}` | ZSET | chat → its stored rows, in full buckets | the chats of at least 128 rows |
//!
//! "Redis in Action" 6.5 has group chats with a seen position for each member, in one ZSET of messages; here rows are in buckets, and the lists of each
//! member are derived, so that no read grows with the number of chats or rows.
//!
//! **Rows.** The script that appends takes the next number, so that numbers have no gaps. The fields of a page's rows follow from their numbers, without a
//! read, and a page at row 100,000 costs as much as one at row 100. A repeated step appends nothing: a chat stores the ids of its newest 1,000
//! steps; adding accounts that are members already, or setting the name that the group has, appends no row. Row and newest row are stored as text, with
//! ids in decimal, so that `waxwing fsck --account` finds an account in them.
//!
//! **Lists.** Every change from which lists derive raises the version of the chat. A script on the chat's hash tag returns the data from which the lists of its
//! members are derived, at one version; a script on a member's hash tag applies it, unless a later version was applied. So settling can run twice, late and
//! in any order. The lists of the members that a change affects directly are settled before the response, those of the other members of a group by the
//! workers, in passes.
//!
//! **Activity.** The activity of a chat is the id of its newest row that no block hides from the member, or of the joining or starting: ids order by time
//! and are unique, so that they are positions of pages.
//!
//! **Unread.** The unread count is the number of set bits of `chat_texts` above the seen position: the member's own texts are never above this position. In a
//! group, the texts of accounts that a block separates from the member are subtracted ([`service::unread_count`]).
//!
//! **Retention.** The lowest row that can be read is stored, or follows from the newest one and `--messages-kept`: every script computes it, so that
//! nobody can read a row below it from the commit of the newest row on. The script that changes a position also stores up to which row all members
//! have seen the chat, with the end of a span of 55 minutes: a row is never deleted early, and at most an hour late. Rows that nobody can read any
//! more, since all members have deleted their history or have joined later, are deleted at once. A sweep finds chats by the schedules, makes rows
//! unreadable, then deletes them, a thousand in a pass, the lowest first. A step that is repeated finds the rows deleted. A schedule may name a chat
//! too early, never too late: a change moves the chat only to an earlier time, before its journal entry is acknowledged; the sweep replaces the entry
//! that it has read, then reads the chat again ([`service::sweep`]).
//!
//! **Pairs.** The key `direct` of the account with the lower id decides which chat two accounts have. For the other account the chat does not exist before its
//! first text: until then its membership is `Unstarted`.
//!
//! **Events.** A step after the response publishes the changes to the event log, as references ([`crate::platform::events`]). The log has each row
//! once, in the order of the chat; the chat stores up to which row all are published, so that the workers publish the rows that a dead process has
//! not published. A chat whose node has lost the last rows gives their numbers to new rows: the rows from these numbers on are published again. The end
//! of a membership is an event of its own, for that account alone, which can read no row any more. It is appended in one step with the event of its row;
//! the chat stores it until then, and for at least twice the retention of the journal. The entry of a change in the journal contains the other events
//! of the change. Positions of members, mutes and the archive are published without an entry: a crash may lose their events. The objects of an event
//! are loaded at delivery ([`service::load_event`]): the chat once for all members who receive an event at the same time.
//!
//! **Invariants.** A group has exactly one owner. `0 <= seen <= delivered <= newest`. A chat has all rows after its last deleted one. Every chat that
//! names an account is in the account's `chat_states` or `chats_former`, so that the deletion of the account finds the chat. A list has a chat if,
//! and only if, `chat_states` says so. An account whose `chats_former` has a chat is in its `chat_members` or `chat_left`, so that the end of a group
//! finds the account, also when all rows that name the account are deleted.
//!
//! **Members.** Every row, also that of a new name or role, is activity for every member of a group, so that the lists of all members are
//! settled: some 13 commands each, which a worker does after the response. The request that has changed the group is charged for them as for its own
//! work in the store. A request that changes nothing settles no lists of other members, if these lists agree with the chat.
//!
//! **Costs.** A text in a chat of two: the chat, the accounts, a journal entry, the commit, the blocks, two lists; after the response two scripts
//! that publish it. A page of chats with their newest rows, counts and positions: one read of rows, one pipeline of scripts, one of accounts. The
//! number of unread chats: one script.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{ChatMemberObject, ChatMessageObject, ChatMutation, ChatObject, ChatQuery, OwnChatMutation};
pub use load::{
    AuthorTextFetcher, ChatFetcher, ChatMemberFetcher, ChatReactionFetcher, ChatReactorFetcher, ChatReceiverFetcher,
    ChatRowFetcher, ChatWriterFetcher, TextNumberFetcher,
};
pub use model::{
    ChatFilter, ChatHistory, ChatKind, ChatList, ChatRole, ChatRow, ChatSettings, ChatState, ChatView, MAX_ADDED, MAX_CHATS,
    MAX_DELIVERED_SHOWN, MAX_EMOJI, MAX_MEMBERS, MAX_REQUESTS, Member, MemberRow, MemberState, MessageKind, TEXT_BYTES,
    WhoMayWrite,
};
pub use service::ChatEventContent;
pub use service::delivery::DeliveryFetcher;
use store::rows::has_no_end;
