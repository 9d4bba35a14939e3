//! Tasks of the journal: plain types.

use super::mail_task::MailTask;
use super::queue::Queue;
use crate::base::audience::ChosenAudience;
use crate::base::chat_event::ChatEvent;
use crate::base::ids::{CampaignId, ChatId, CommentId, StatusId, UserId, UserListId, WebsiteId};
use serde::{Deserialize, Serialize};

/// A feed of statuses and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Feed {
    /// A home timeline.
    Home(UserId),
    /// A list's timeline.
    List(UserListId),
}

impl Feed {
    /// The id in the feed's hash tag. Ids are unique over all kinds of objects.
    pub const fn tag(self) -> u64 {
        match self {
            Self::Home(id) => id.0,
            Self::List(id) => id.0,
        }
    }
}

/// The kind of a relation between two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RelationKind {
    /// The first account mutes the second.
    Mute,
    /// The first account blocks the second.
    Block,
    /// The two accounts are friends, or one has requested it. The first account has the lower id.
    Friendship,
}

/// A unit of work of the journal: names the objects whose keys may be inconsistent. [`crate::cli::workers`] maps each task to the function that
/// settles it.
///
/// Some variants and fields are stored under the names that they had in earlier versions (`serde(rename)`), because stored entries have these names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// A follow (home) or a membership (list): the statuses of the feed and the source's side are derived from whether `source` is followed (is a member).
    Source {
        /// The feed.
        feed: Feed,
        /// The author whose statuses enter or leave the feed.
        source: UserId,
    },
    /// A status: profile, pin, homes, lists, likes, bookmarks and reposts are derived from whether the status exists.
    Status {
        /// Its author.
        author: UserId,
        /// The status.
        status: StatusId,
    },
    /// A reply: as [`Self::Status`]; its entry in the conversation and the reply count of its parent are also derived from whether the reply exists.
    Reply {
        /// Its author.
        author: UserId,
        /// The status.
        status: StatusId,
        /// The root of the conversation.
        conversation: StatusId,
        /// The status that it replies to.
        parent: StatusId,
    },
    /// An entry of a conversation: it is removed if its status was deleted and it has no replies. Then the entries of deleted statuses above it that have no
    /// other replies are removed, too.
    #[serde(rename = "Place")]
    ConversationEntry {
        /// The root of the conversation.
        conversation: StatusId,
        /// The status of the entry.
        status: StatusId,
    },
    /// A deleted status of a deleted account: the replies to the status store the id of the account, which is removed from them.
    #[serde(rename = "Answered")]
    RepliesToDeleted {
        /// The root of the conversation.
        conversation: StatusId,
        /// The status.
        status: StatusId,
    },
    /// A list: its memberships and its timeline are derived from whether the list exists.
    List {
        /// The list's owner.
        owner: UserId,
        /// The list.
        list: UserListId,
        /// The list's name when it was created.
        name: String,
    },
    /// A like: the account's list of likes is derived from the status's list of likers.
    Like {
        /// The account.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// A bookmark: the account's bookmarks are derived from the accounts that have bookmarked the status.
    Bookmark {
        /// The account.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// A repost: the account's reposts are derived from the accounts that have reposted the status.
    Repost {
        /// The account.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// A comment: the author's index is derived from whether the comment exists.
    Comment {
        /// Its author.
        author: UserId,
        /// The comment.
        comment: CommentId,
    },
    /// A comment whose branch may have been deleted: the author's index and the replies below the comment are derived from whether it was.
    Branch {
        /// Its author, unless the author is already deleted.
        author: Option<UserId>,
        /// The comment.
        comment: CommentId,
    },
    /// The comments of a deleted status: they are deleted.
    Thread {
        /// The status.
        status: StatusId,
    },
    /// An account: all that the account owned, or that refers to the account, is derived from whether it exists.
    Account {
        /// The account.
        user: UserId,
        /// Its login, which cannot be looked up after the deletion.
        login: String,
        /// The logins that it had before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        former: Vec<String>,
        /// The digest of its external id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        external_id: Option<String>,
    },
    /// A change of a login: the claims of both logins are derived from whether the account has made the change.
    Login {
        /// The account.
        user: UserId,
        /// The new login, in lower case.
        login: String,
        /// The login before the change, in lower case.
        former: String,
        /// The version of the account's history of logins after the change.
        version: u64,
    },
    /// A session: the account's list of sessions is derived from whether the session exists.
    Session {
        /// The account.
        user: UserId,
        /// The session's digest, which is its key.
        digest: String,
        /// Whether the session was revoked and its key must be deleted.
        #[serde(rename = "ends")]
        is_revoked: bool,
        /// The epoch of the account's device tokens when the password was verified: the session is listed only while the account has this epoch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<String>,
    },
    /// An account whose password may have changed: the sessions that the change ends are deleted.
    Password {
        /// The account.
        user: UserId,
    },
    /// A message by mail, or a claim of an address.
    Mail(MailTask),
    /// A feed that holds fewer statuses than it can, or was dropped and is read again: it is backfilled.
    #[serde(rename = "Refill")]
    Backfill {
        /// The feed.
        feed: Feed,
    },
    /// A campaign: its budget shares and listings are derived from its definition.
    Campaign {
        /// The campaign's owner.
        owner: UserId,
        /// The campaign.
        campaign: CampaignId,
    },
    /// A website: the owner's index is derived from whether the website exists.
    Website {
        /// The website's owner.
        owner: UserId,
        /// The website.
        website: WebsiteId,
    },
    /// An account that may be suspended as an advertiser or a publisher: its campaigns and websites are updated.
    #[serde(rename = "Standing")]
    Suspension {
        /// The account.
        user: UserId,
    },
    /// The fan-out mode of an author: whether statuses are pushed to feeds, or merged into them on read.
    #[serde(rename = "Reach")]
    FanoutMode {
        /// The author.
        author: UserId,
    },
    /// All authors whose fan-out mode depends on the threshold.
    #[serde(rename = "Stars")]
    FanoutThreshold {
        /// The threshold: an author's statuses are merged on read from this number of followers on.
        followers: u64,
    },
    /// An account that became public: while it is public, the follow requests that it has received become follows.
    FollowRequests {
        /// The account.
        user: UserId,
    },
    /// A change of the audience of a status: subscribers who can no longer see the status are notified.
    Audience {
        /// The author.
        author: UserId,
        /// The status.
        status: StatusId,
        /// The audience before the change.
        before: ChosenAudience,
        /// The id of the change.
        change: u64,
    },
    /// A change of the text of a status: its event is derived from the versions of the status.
    Edit {
        /// The author.
        author: UserId,
        /// The status.
        status: StatusId,
        /// The id of the edit.
        edit: u64,
    },
    /// The names under which a status may be indexed: its entries in tags and mentions are derived from its text and its audience.
    StatusIndexes {
        /// The author.
        author: UserId,
        /// The status.
        status: StatusId,
        /// Names of tags.
        tags: Vec<String>,
        /// Mentioned logins.
        logins: Vec<String>,
    },
    /// An account that became private or public: the entries of its statuses in tags are derived from its current privacy.
    Privacy {
        /// The account.
        user: UserId,
    },
    /// A chat: its rows and the events of its change are published, and the chat lists of its members are derived from it. The rows of a chat that
    /// has ended are deleted.
    Chat {
        /// The chat.
        chat: ChatId,
        /// Accounts that may have been members.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        former: Vec<UserId>,
        /// The changes other than new rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        events: Vec<ChatEvent>,
    },
    /// A membership: the chat lists of one account are derived from a chat.
    ChatMember {
        /// The chat.
        chat: ChatId,
        /// The account.
        user: UserId,
        /// Whether no event is published, since the account has changed nothing itself.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_silent: bool,
    },
    /// The direct chat of two accounts: its record and their chat lists are derived from the pair.
    DirectChat {
        /// The account with the lower id.
        low: UserId,
        /// The account with the higher id.
        high: UserId,
    },
    /// A relation between two accounts: the second account's side is derived from the first account's side.
    Relation {
        /// The relation.
        kind: RelationKind,
        /// The first account.
        from: UserId,
        /// The second account.
        to: UserId,
    },
}

impl Task {
    /// A membership whose lists are derived without an event.
    pub const fn chat_member(chat: ChatId, user: UserId) -> Self {
        Self::ChatMember { chat, user, is_silent: true }
    }

    /// An account without former logins and without an external id.
    pub const fn account(user: UserId, login: String) -> Self {
        Self::Account { user, login, former: Vec::new(), external_id: None }
    }

    /// A change of a chat, with the events to publish beside its new rows.
    pub const fn chat_change(chat: ChatId, events: Vec<ChatEvent>) -> Self {
        Self::Chat { chat, former: Vec::new(), events }
    }

    /// The queue of this task.
    pub const fn queue(&self) -> Queue {
        match self {
            Self::Mail(task) => task.queue(),
            Self::Source { .. } | Self::Status { .. } | Self::List { .. } | Self::Like { .. } | Self::Comment { .. } => {
                Queue::Short
            }
            Self::Campaign { .. } | Self::Website { .. } | Self::Session { .. } | Self::Password { .. } | Self::Login { .. } => {
                Queue::Short
            }
            Self::Backfill { .. }
            | Self::FanoutMode { .. }
            | Self::Account { .. }
            | Self::Suspension { .. }
            | Self::FanoutThreshold { .. }
            | Self::Privacy { .. }
            | Self::RepliesToDeleted { .. } => Queue::Long,
            Self::Branch { .. } | Self::Thread { .. } | Self::FollowRequests { .. } => Queue::Long,
            Self::Relation { .. }
            | Self::Audience { .. }
            | Self::Edit { .. }
            | Self::StatusIndexes { .. }
            | Self::Reply { .. }
            | Self::ConversationEntry { .. }
            | Self::Bookmark { .. }
            | Self::Repost { .. }
            | Self::Chat { .. }
            | Self::ChatMember { .. }
            | Self::DirectChat { .. } => Queue::Short,
        }
    }
}

impl Task {
    /// The hash tags that settling touches; `None` if only settling finds them.
    pub(super) fn tags(&self) -> Option<Vec<u64>> {
        match self {
            Self::Source { feed, source } => Some(vec![feed.tag(), source.0]),
            Self::Like { user, status } | Self::Bookmark { user, status } | Self::Repost { user, status } => {
                Some(vec![user.0, status.0])
            }
            Self::Relation { from, to, .. } => Some(vec![from.0, to.0]),
            Self::Comment { author, comment } => Some(vec![author.0, comment.status.0]),
            Self::Website { owner, website } => Some(vec![owner.0, website.0]),
            Self::Backfill { feed } => Some(vec![feed.tag()]),
            Self::Mail(task) => task.tags(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::{JournalEntry, Progress};
    use super::*;
    use crate::base::email::EmailDigest;

    /// One task of each kind in its stored form. Servers of different versions share one store, so these forms must never change.
    fn stored_tasks() -> Vec<(Task, &'static str)> {
        let (user, status) = (UserId(1), StatusId(2));
        let comment = CommentId { status, number: 3 };
        vec![
            (Task::Source { feed: Feed::Home(user), source: UserId(4) }, r#"{"Source":{"feed":{"Home":1},"source":4}}"#),
            (Task::Status { author: user, status }, r#"{"Status":{"author":1,"status":2}}"#),
            (
                Task::List { owner: user, list: UserListId(5), name: "a b".into() },
                r#"{"List":{"owner":1,"list":5,"name":"a b"}}"#,
            ),
            (Task::Like { user, status }, r#"{"Like":{"user":1,"status":2}}"#),
            (Task::Comment { author: user, comment }, r#"{"Comment":{"author":1,"comment":{"status":2,"number":3}}}"#),
            (Task::Branch { author: None, comment }, r#"{"Branch":{"author":null,"comment":{"status":2,"number":3}}}"#),
            (Task::Thread { status }, r#"{"Thread":{"status":2}}"#),
            (
                Task::Account { user, login: "ada".into(), former: vec![], external_id: None },
                r#"{"Account":{"user":1,"login":"ada"}}"#,
            ),
            (
                Task::Session { user, digest: "d".into(), is_revoked: true, epoch: None },
                r#"{"Session":{"user":1,"digest":"d","ends":true}}"#,
            ),
            (Task::Backfill { feed: Feed::List(UserListId(5)) }, r#"{"Refill":{"feed":{"List":5}}}"#),
            (Task::Campaign { owner: user, campaign: CampaignId(6) }, r#"{"Campaign":{"owner":1,"campaign":6}}"#),
            (Task::Website { owner: user, website: WebsiteId(7) }, r#"{"Website":{"owner":1,"website":7}}"#),
            (Task::Suspension { user }, r#"{"Standing":{"user":1}}"#),
            (Task::FanoutMode { author: user }, r#"{"Reach":{"author":1}}"#),
            (Task::FanoutThreshold { followers: 8 }, r#"{"Stars":{"followers":8}}"#),
            (Task::FollowRequests { user }, r#"{"FollowRequests":{"user":1}}"#),
            (
                Task::Audience { author: user, status, before: ChosenAudience::List(UserListId(5)), change: 9 },
                r#"{"Audience":{"author":1,"status":2,"before":{"List":5},"change":9}}"#,
            ),
            (
                Task::Relation { kind: RelationKind::Mute, from: user, to: UserId(4) },
                r#"{"Relation":{"kind":"Mute","from":1,"to":4}}"#,
            ),
            (
                Task::Relation { kind: RelationKind::Block, from: user, to: UserId(4) },
                r#"{"Relation":{"kind":"Block","from":1,"to":4}}"#,
            ),
            (
                Task::Relation { kind: RelationKind::Friendship, from: user, to: UserId(4) },
                r#"{"Relation":{"kind":"Friendship","from":1,"to":4}}"#,
            ),
            (Task::Bookmark { user, status }, r#"{"Bookmark":{"user":1,"status":2}}"#),
            (
                Task::Reply { author: user, status, conversation: StatusId(8), parent: StatusId(9) },
                r#"{"Reply":{"author":1,"status":2,"conversation":8,"parent":9}}"#,
            ),
            (Task::ConversationEntry { conversation: StatusId(8), status }, r#"{"Place":{"conversation":8,"status":2}}"#),
            (Task::RepliesToDeleted { conversation: StatusId(8), status }, r#"{"Answered":{"conversation":8,"status":2}}"#),
            (Task::Repost { user, status }, r#"{"Repost":{"user":1,"status":2}}"#),
            (Task::Edit { author: user, status, edit: 9 }, r#"{"Edit":{"author":1,"status":2,"edit":9}}"#),
            (
                Task::StatusIndexes { author: user, status, tags: vec!["a".into()], logins: vec!["ada".into()] },
                r#"{"StatusIndexes":{"author":1,"status":2,"tags":["a"],"logins":["ada"]}}"#,
            ),
            (Task::Privacy { user }, r#"{"Privacy":{"user":1}}"#),
            (Task::chat_change(ChatId(7), vec![]), r#"{"Chat":{"chat":7}}"#),
            (Task::chat_member(ChatId(7), user), r#"{"ChatMember":{"chat":7,"user":1,"is_silent":true}}"#),
            (Task::ChatMember { chat: ChatId(7), user, is_silent: false }, r#"{"ChatMember":{"chat":7,"user":1}}"#),
            (Task::DirectChat { low: user, high: UserId(4) }, r#"{"DirectChat":{"low":1,"high":4}}"#),
            (Task::Password { user }, r#"{"Password":{"user":1}}"#),
            (
                Task::Login { user, login: "ada".into(), former: "bea".into(), version: 2 },
                r#"{"Login":{"user":1,"login":"ada","former":"bea","version":2}}"#,
            ),
            (Task::Mail(MailTask::Reset { address: EmailDigest("d".into()) }), r#"{"Mail":{"Reset":{"address":"d"}}}"#),
        ]
    }

    #[test]
    fn every_task_survives_the_round_trip() {
        let stored_tasks = stored_tasks();
        for (task, text) in &stored_tasks {
            let entry =
                JournalEntry { id: 9, task: task.clone(), progress: Progress::default(), tries: 0, claims: 0, copies: None };
            assert!(entry.record().ends_with(text), "{}", entry.record());
            assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry));
        }
        // A new task, or a new relation, makes this match fail to compile until it is added here.
        let number = |task: &Task| match task {
            Task::Source { .. } => 0,
            Task::Status { .. } => 1,
            Task::List { .. } => 2,
            Task::Like { .. } => 3,
            Task::Comment { .. } => 4,
            Task::Branch { .. } => 5,
            Task::Thread { .. } => 6,
            Task::Account { .. } => 7,
            Task::Session { .. } => 8,
            Task::Backfill { .. } => 9,
            Task::Campaign { .. } => 10,
            Task::Website { .. } => 11,
            Task::Suspension { .. } => 12,
            Task::FanoutMode { .. } => 13,
            Task::FanoutThreshold { .. } => 14,
            Task::FollowRequests { .. } => 15,
            Task::Audience { .. } => 16,
            Task::Relation { kind: RelationKind::Mute, .. } => 17,
            Task::Relation { kind: RelationKind::Block, .. } => 18,
            Task::Relation { kind: RelationKind::Friendship, .. } => 19,
            Task::Bookmark { .. } => 20,
            Task::Reply { .. } => 21,
            Task::ConversationEntry { .. } => 22,
            Task::RepliesToDeleted { .. } => 23,
            Task::Repost { .. } => 24,
            Task::Edit { .. } => 25,
            Task::StatusIndexes { .. } => 26,
            Task::Privacy { .. } => 27,
            Task::Chat { .. } => 28,
            Task::ChatMember { is_silent: true, .. } => 29,
            Task::ChatMember { is_silent: false, .. } => 30,
            Task::DirectChat { .. } => 31,
            Task::Password { .. } => 32,
            Task::Login { .. } => 33,
            Task::Mail(_) => 34,
        };
        assert_eq!(stored_tasks.iter().map(|(task, _)| number(task)).collect::<Vec<_>>(), (0..35).collect::<Vec<_>>());
    }
}
