//! What there is to settle: plain types.

use crate::base::clock::Millis;
use crate::base::ids::{CampaignId, CommentId, StatusId, UserId, UserListId, WebsiteId};
use crate::db::inspect::COVERED_NODE_TIMEOUT;
use serde::{Deserialize, Serialize};

/// How long an entry belongs to whoever wrote or took it.
pub const LEASE: Millis = 10_000;
/// How long a settled entry is kept on a cluster. A primary that is cut off from the others takes writes for `cluster-node-timeout`, and all of them
/// are lost when its replica takes over; so the longest timeout that is covered, and the time of an election. That is also ten times what a node with
/// `appendfsync everysec` can lose in a power cut (two seconds), so that clocks of processes may differ.
pub const RETENTION: Millis = COVERED_NODE_TIMEOUT + 5_000;
/// Parts of the journal, each a hash tag of its own.
pub(super) const SHARDS: u64 = 8;
/// Entries of a shard.
pub(super) const MAX_ENTRIES: usize = 100_000;
/// Entries of a shard that could not be settled.
pub(super) const MAX_DEAD: usize = 10_000;
/// How often a pass is tried.
pub(super) const MAX_TRIES: u64 = 5;
/// How often an entry is taken over without getting on.
pub(super) const MAX_CLAIMS: u64 = 20;

/// Somewhere that statuses are gathered: its kind and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Feed {
    /// A home.
    Home(UserId),
    /// A list's timeline.
    List(UserListId),
}

impl Feed {
    /// The id in its hash tag. Ids are unique over all kinds of things.
    pub const fn tag(self) -> u64 {
        match self {
            Self::Home(id) => id.0,
            Self::List(id) => id.0,
        }
    }
}

/// What may disagree. Settling it is described where it is done: `work` names the place of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Whether `source` is followed by the home's owner (is on the list), and what the other side and the feed say of it.
    Source {
        /// The feed.
        feed: Feed,
        /// Whose statuses come or go.
        source: UserId,
    },
    /// Whether a status is there, the profile, homes and lists that hold it, and those who like it.
    Status {
        /// Its author.
        author: UserId,
        /// The status.
        status: StatusId,
    },
    /// Whether a list is there, and those on it and its timeline.
    List {
        /// Whose it is.
        owner: UserId,
        /// The list.
        list: UserListId,
        /// What it was called when it was made.
        name: String,
    },
    /// Whether somebody likes a status, and what their own side says of it.
    Like {
        /// Who.
        user: UserId,
        /// What.
        status: StatusId,
    },
    /// Whether a comment is there, and what its author's own side says of it.
    Comment {
        /// Its author.
        author: UserId,
        /// The comment.
        comment: CommentId,
    },
    /// Whether a comment is there, of which the whole branch may have been taken away: its author's side, and what is below it.
    Branch {
        /// Its author, if it was not deleted before.
        author: Option<UserId>,
        /// The comment.
        comment: CommentId,
    },
    /// The comments of a status that is gone.
    Thread {
        /// The status.
        status: StatusId,
    },
    /// Whether an account is there, and everything that was its own or names it.
    Account {
        /// Which.
        user: UserId,
        /// Its login, which nobody can look up once it is gone.
        login: String,
    },
    /// Whether a session is there, and whether its account's list of sessions says so.
    Session {
        /// The account.
        user: UserId,
        /// What the session is kept under.
        digest: String,
        /// Whether it was ended: then it ends.
        ends: bool,
    },
    /// A feed that holds less than it has room for, or was dropped and is read again.
    Refill {
        /// The feed.
        feed: Feed,
    },
    /// Whether a campaign is there, and its shares and listings.
    Campaign {
        /// Whose it is.
        owner: UserId,
        /// The campaign.
        campaign: CampaignId,
    },
    /// Whether a website is there, and what its owner's own side says of it.
    Website {
        /// Whose it is.
        owner: UserId,
        /// The website.
        website: WebsiteId,
    },
    /// Whether an account is held back as an advertiser or a publisher, and its campaigns and websites.
    Standing {
        /// The account.
        user: UserId,
    },
    /// Whether an author's statuses are pushed to feeds, or merged into them when they are read.
    Reach {
        /// The author.
        author: UserId,
    },
    /// Which authors are stars, when those with as many followers are.
    Stars {
        /// How many.
        followers: u64,
    },
}

/// How far the passes over a task have come. Zero at the beginning; what the numbers mean is the task's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Which part of the work.
    pub stage: u8,
    /// Where in it: places below this one are still to do; 0 for all.
    pub below: u64,
    /// What the passes were begun for: when that has changed they begin again.
    pub mark: u64,
    /// Whether nodes may have lost some of what was settled before: then nothing may be concluded from what is marked as done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_restarted: bool,
}

/// Where copies of an entry are: on a cluster every node that keeps a step of the change keeps the entry, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The generation of the cluster in which the passes over the entry were begun; see [`crate::db::Db::generation`].
    pub generation: u64,
    /// The tags under which they are, besides the journal's own.
    pub tags: Vec<u64>,
}

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its id. Tells when it was written.
    pub id: u64,
    /// What to settle.
    pub task: Task,
    /// How far it has come.
    pub progress: Progress,
    /// How often its pass has failed.
    pub tries: u64,
    /// How often it was taken over since it last got on.
    pub claims: u64,
    /// Its copies; `None` on a single server.
    pub copies: Option<Copies>,
}

/// An entry among the dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The entry.
    pub entry: JournalEntry,
    /// Why it could not be settled.
    pub error: String,
}

/// Entries wait in two queues, so that what takes long is never in the way of what somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// The rest of a change that has been answered.
    Short,
    /// What takes its time: refills, crossings, branches and threads of comments, everything of an account.
    Long,
}

impl Queue {
    pub(super) const ALL: [Self; 2] = [Self::Short, Self::Long];

    /// Its name, in keys and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

impl Task {
    /// Where it waits.
    pub const fn queue(&self) -> Queue {
        match self {
            Self::Source { .. } | Self::Status { .. } | Self::List { .. } | Self::Like { .. } | Self::Comment { .. } => {
                Queue::Short
            }
            Self::Campaign { .. } | Self::Website { .. } | Self::Session { .. } => Queue::Short,
            Self::Refill { .. } | Self::Reach { .. } | Self::Account { .. } | Self::Standing { .. } | Self::Stars { .. } => {
                Queue::Long
            }
            Self::Branch { .. } | Self::Thread { .. } => Queue::Long,
        }
    }
}

impl Task {
    /// The hash tags that settling touches, `None` for those that only settling finds.
    pub(super) fn tags(&self) -> Option<Vec<u64>> {
        match self {
            Self::Source { feed, source } => Some(vec![feed.tag(), source.0]),
            Self::Like { user, status } => Some(vec![user.0, status.0]),
            Self::Comment { author, comment } => Some(vec![author.0, comment.status.0]),
            Self::Website { owner, website } => Some(vec![owner.0, website.0]),
            Self::Refill { feed } => Some(vec![feed.tag()]),
            _ => None,
        }
    }
}

impl Copies {
    /// As it is stored: `generation:tag,tag`.
    fn record(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(u64::to_string).collect();
        format!("{}:{}", self.generation, tags.join(","))
    }

    /// The other way.
    fn parse(record: &str) -> Option<Self> {
        let (generation, tags) = record.split_once(':')?;
        let tags = tags.split(',').filter(|tag| !tag.is_empty()).map(|tag| tag.parse().ok()).collect::<Option<_>>()?;
        Some(Self { generation: generation.parse().ok()?, tags })
    }
}

impl JournalEntry {
    /// The shard that it lies in.
    pub(super) const fn shard(&self) -> u64 {
        shard_of(self.id)
    }

    /// As it is stored: `claims tries place task`, or `claims tries place copies task`.
    pub(super) fn record(&self) -> String {
        let json = |text: Result<String, serde_json::Error>| text.unwrap_or_default();
        let (progress, task) = (json(serde_json::to_string(&self.progress)), json(serde_json::to_string(&self.task)));
        let copies = self.copies.as_ref().map(|copies| format!("{} ", copies.record())).unwrap_or_default();
        format!("{} {} {progress} {copies}{task}", self.claims, self.tries)
    }

    /// The other way.
    pub(super) fn parse(id: u64, record: &str) -> Option<Self> {
        let mut parts = record.splitn(4, ' ');
        let mut part = || parts.next();
        let (claims, tries) = (part()?.parse().ok()?, part()?.parse().ok()?);
        let (progress, rest) = (serde_json::from_str(part()?).ok()?, part()?);
        // A task is an object.
        let (copies, task) = match rest.split_once(' ').filter(|_| !rest.starts_with('{')) {
            Some((copies, task)) => (Some(Copies::parse(copies)?), task),
            None => (None, rest),
        };
        Some(Self { id, task: serde_json::from_str(task).ok()?, progress, tries, claims, copies })
    }
}

/// The shard of an entry. The low bits of ids are not even: a sequence, and the number of a worker.
pub(super) const fn shard_of(id: u64) -> u64 {
    (id ^ (id >> 6) ^ (id >> 12)) % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let task = Task::Source { feed: Feed::Home(UserId(crate::base::ids::source::MAX)), source: UserId(2) };
        let progress = Progress { stage: 1, below: crate::base::ids::source::MAX, mark: 7, is_restarted: false };
        let mut entry = JournalEntry { id: 9, task, progress, tries: 4, claims: 19, copies: None };
        assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry.clone()));
        for tags in [vec![], vec![3], vec![3, 40]] {
            entry.copies = Some(Copies { generation: 5, tags });
            entry.progress.is_restarted = true;
            assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry.clone()));
        }
        assert_eq!(JournalEntry::parse(9, "1 2 {} {}"), None);
    }

    /// One task of each kind, as it stands in the journal. The servers of one store may differ in their versions, so what is here stays as it is.
    fn written() -> Vec<(Task, &'static str)> {
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
            (Task::Account { user, login: "ada".into() }, r#"{"Account":{"user":1,"login":"ada"}}"#),
            (Task::Session { user, digest: "d".into(), ends: true }, r#"{"Session":{"user":1,"digest":"d","ends":true}}"#),
            (Task::Refill { feed: Feed::List(UserListId(5)) }, r#"{"Refill":{"feed":{"List":5}}}"#),
            (Task::Campaign { owner: user, campaign: CampaignId(6) }, r#"{"Campaign":{"owner":1,"campaign":6}}"#),
            (Task::Website { owner: user, website: WebsiteId(7) }, r#"{"Website":{"owner":1,"website":7}}"#),
            (Task::Standing { user }, r#"{"Standing":{"user":1}}"#),
            (Task::Reach { author: user }, r#"{"Reach":{"author":1}}"#),
            (Task::Stars { followers: 8 }, r#"{"Stars":{"followers":8}}"#),
        ]
    }

    #[test]
    fn every_task_is_read_as_it_was_written() {
        let written = written();
        for (task, text) in &written {
            let entry =
                JournalEntry { id: 9, task: task.clone(), progress: Progress::default(), tries: 0, claims: 0, copies: None };
            assert!(entry.record().ends_with(text), "{}", entry.record());
            assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry));
        }
        // One that is new is not in the list above: this does not compile until it is counted here.
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
            Task::Refill { .. } => 9,
            Task::Campaign { .. } => 10,
            Task::Website { .. } => 11,
            Task::Standing { .. } => 12,
            Task::Reach { .. } => 13,
            Task::Stars { .. } => 14,
        };
        assert_eq!(written.iter().map(|(task, _)| number(task)).collect::<Vec<_>>(), (0..15).collect::<Vec<_>>());
    }

    #[test]
    fn entries_spread_over_all_shards() {
        let of_one_process = |ms: u64| shard_of(crate::base::ids::source::compose(crate::base::ids::source::EPOCH + ms, 17, 0));
        let used: std::collections::HashSet<u64> = (1..50).map(of_one_process).collect();
        assert_eq!(used.len() as u64, SHARDS);
    }
}
