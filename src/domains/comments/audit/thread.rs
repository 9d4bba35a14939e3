//! The audit of a whole thread: every comment is in every order with its exact key, and all counts are right. Findings name
//! `replies:{sid}:new`, by which a repair finds the thread.

use super::super::keys;
use super::super::model::{Comment, ID_BYTES, Order, bytes_of, number_of};
use super::super::store::decode_comment;
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::db::audit_reader::AuditReader;
use crate::domains::statuses::status_key;
use redis::cmd;
use std::collections::{HashMap, HashSet};

/// Comments that are read at once.
const PAGE: usize = 1_000;
/// The maximum number of reads of a thread that changes meanwhile.
pub(super) const MAX_READS: usize = 5;

/// A thread, as read by the audit; consistent if no comment changed during the read.
pub(super) struct Thread {
    pub(super) status: StatusId,
    /// Comments by number, with their parent in the order `new`; `None` for a member without a comment.
    pub(super) comments: HashMap<u64, (u64, Option<Comment>)>,
    /// Deleted comments of deleted branches whose replies must still be deleted.
    pub(super) deleted_branches: HashSet<u64>,
    /// The comment count that the status stores.
    pub(super) status_count: u64,
}

/// The counts of a comment as they should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) replies: u64,
    pub(super) children: u64,
    pub(super) descendants: u64,
    pub(super) descendants_by_others: u64,
}

pub(super) async fn check(reader: &AuditReader, status: StatusId, found: &mut Findings) -> Result<(), Error> {
    // Adding and deleting a comment append an event to the log: if there is a new event, the thread is read again. Changes without an event (votes
    // within an interval, the purge of a deleted branch) can still cause a false finding; `fsck` checks findings again. A thread that changes during
    // every read is not checked in this pass.
    for _ in 0..MAX_READS {
        let before = last_event_id(reader, status).await?;
        let thread = Thread::read(reader, status).await?;
        if last_event_id(reader, status).await? == before {
            thread.check_counts(found);
            for order in [Order::Top, Order::Replies, Order::Controversy] {
                thread.check_order(reader, order, found).await?;
            }
            return thread.check_scores(reader, found).await;
        }
    }
    Ok(())
}

pub(super) async fn last_event_id(reader: &AuditReader, status: StatusId) -> Result<Option<String>, Error> {
    let last = reader.query([status], |id| cmd("HGET").arg(keys::thread(id)).arg("last").take()).await?;
    Ok(last.read::<Option<String>>(&status).flatten())
}

/// Reads the members of an order, a page at a time.
pub(super) async fn members(
    reader: &AuditReader,
    key: &str,
    mut visit: impl AsyncFnMut(Vec<Vec<u8>>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut from = b"-".to_vec();
    loop {
        let range = |from: &[u8]| cmd("ZRANGE").arg(key).arg(from).arg("+").arg("BYLEX").arg("LIMIT").arg(0).arg(PAGE).take();
        let page: Vec<Vec<u8>> = reader.query([from.as_slice()], range).await?.read(&from.as_slice()).unwrap_or_default();
        let Some(last) = page.last() else { return Ok(()) };
        let next = [b"(", last.as_slice()].concat();
        visit(page).await?;
        from = next;
    }
}

impl Thread {
    pub(super) async fn read(reader: &AuditReader, status: StatusId) -> Result<Self, Error> {
        let mut comments = HashMap::new();
        members(reader, &keys::replies(status, Order::New), async |page| {
            let entries: Vec<(u64, u64)> = page.iter().filter_map(|member| pair(member)).collect();
            let id = |number| CommentId { status, number };
            let fields = super::super::store::FIELDS;
            let numbers = entries.iter().map(|(_, number)| *number);
            let found = reader.query(numbers, |number| cmd("HMGET").arg(keys::comment(id(number))).arg(&fields).take()).await?;
            for (parent, number) in entries {
                let comment = found.read(&number).and_then(|values| decode_comment(id(number), values).ok().flatten());
                comments.insert(number, (parent, comment));
            }
            Ok(())
        })
        .await?;
        let deleted_branches =
            reader.query([status], |id| cmd("ZRANGE").arg(keys::deleted_branches(id)).arg(0).arg(99_999).take()).await?;
        let deleted_branches: Vec<u64> = deleted_branches.read(&status).unwrap_or_default();
        let counted = reader.query([status], |id| cmd("HGET").arg(status_key(id)).arg("comments").take()).await?;
        Ok(Self {
            status,
            comments,
            deleted_branches: deleted_branches.into_iter().collect(),
            status_count: counted.read::<Option<u64>>(&status).flatten().unwrap_or(0),
        })
    }

    fn add(&self, found: &mut Findings, problem: impl Into<String>) {
        found.add_repairable(&keys::replies(self.status, Order::New), problem, [Remedy::RebuildThread(self.status)]);
    }

    pub(super) fn get(&self, number: u64) -> Option<&Comment> {
        self.comments.get(&number)?.1.as_ref()
    }

    fn check_counts(&self, found: &mut Findings) {
        let mut counts: HashMap<u64, Counts> = HashMap::new();
        let mut living = 0;
        for (number, (parent, comment)) in &self.comments {
            let Some(comment) = comment else {
                self.add(found, format!("member {number} is not a comment"));
                continue;
            };
            if comment.path.last().copied().unwrap_or(0) != *parent {
                self.add(found, format!("{number} is not below the last comment of its path"));
            }
            let is_attached = comment.path.iter().all(|number| self.get(*number).is_some());
            if !is_attached && !comment.path.iter().any(|number| self.deleted_branches.contains(number)) {
                self.add(found, format!("an ancestor of {number} is missing"));
            }
            self.count(comment, is_attached, &mut counts);
            living += u64::from(is_attached && comment.author.is_some());
        }
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()) {
            if comment.path.iter().all(|number| self.get(*number).is_some()) {
                self.compare(comment, counts.get(&comment.id.number).copied().unwrap_or_default(), found);
            }
        }
        if self.status_count != living {
            let problem = format!("does not match the counts of {}", status_key(self.status));
            let rebuild = [Remedy::RebuildThread(self.status)];
            found.add_repairable_with(
                &keys::replies(self.status, Order::New),
                problem,
                format!("{living}, not {}", self.status_count),
                rebuild,
            );
        }
    }

    /// Adds a comment to the counts of its ancestors. The comments of a deleted branch count in `descendants_by_others` until each of them is purged.
    pub(super) fn count(&self, comment: &Comment, is_attached: bool, counts: &mut HashMap<u64, Counts>) {
        let living = u64::from(comment.author.is_some());
        if let Some(parent) = comment.path.last().filter(|_| is_attached) {
            let parent = counts.entry(*parent).or_default();
            (parent.children, parent.replies) = (parent.children + 1, parent.replies + living);
        }
        for above in comment.path.iter().filter_map(|number| self.get(*number)) {
            let count = counts.entry(above.id.number).or_default();
            count.descendants += if is_attached { living } else { 0 };
            let by_other = |author: UserId| above.author.is_some_and(|it| it != author);
            count.descendants_by_others += u64::from(comment.author.is_some_and(by_other));
        }
    }

    fn compare(&self, comment: &Comment, mut expected: Counts, found: &mut Findings) {
        let number = comment.id.number;
        let stored = Counts {
            replies: comment.replies,
            children: comment.children,
            descendants: comment.descendants,
            descendants_by_others: comment.descendants_by_others,
        };
        if comment.author.is_none() {
            expected.descendants_by_others = 0;
            if expected.children == 0 {
                self.add(found, format!("{number} is deleted and has no replies"));
            }
        }
        if stored != expected {
            let (key, problem) = (
                keys::replies(self.status, Order::New),
                format!("the counts of {number} are not those of the comments below it"),
            );
            found.add_repairable_with(
                &key,
                problem,
                format!("{stored:?}, not {expected:?}"),
                [Remedy::RebuildThread(self.status)],
            );
        }
    }

    async fn check_order(&self, reader: &AuditReader, order: Order, found: &mut Findings) -> Result<(), Error> {
        let key = keys::replies(self.status, order);
        let mut seen: HashSet<u64> = HashSet::new();
        let mut wrong = Vec::new();
        members(reader, &key, async |page| {
            for member in page {
                let number = member.get(ID_BYTES + 4..).and_then(number_of);
                let found_comment = number.and_then(|number| Some((number, self.comments.get(&number)?)));
                match found_comment {
                    Some((number, (parent, Some(comment)))) if is_at(&member, order, *parent, comment) => {
                        seen.insert(number);
                    }
                    Some((number, (_, Some(_)))) => wrong.push(format!("{number} is at a wrong position in {key}")),
                    _ => wrong.push(format!("{} in {key} is not a comment", number.unwrap_or(0))),
                }
            }
            Ok(())
        })
        .await?;
        wrong.extend(
            self.comments
                .keys()
                .filter(|number| !seen.contains(number))
                .map(|it| format!("{it} is not in {key}, or not where it should be")),
        );
        wrong.sort();
        wrong.into_iter().for_each(|problem| self.add(found, problem));
        Ok(())
    }

    /// Members are ordered by their bytes only if all scores are equal.
    async fn check_scores(&self, reader: &AuditReader, found: &mut Findings) -> Result<(), Error> {
        let keys = Order::ALL.map(|order| keys::replies(self.status, order));
        let zeros = reader.query(keys.iter().map(String::as_str), |key| cmd("ZCOUNT").arg(key).arg(0).arg(0).take()).await?;
        let sizes = reader.query(keys.iter().map(String::as_str), |key| cmd("ZCARD").arg(key).take()).await?;
        for key in &keys {
            if zeros.read::<u64>(&key.as_str()) != sizes.read::<u64>(&key.as_str()) {
                self.add(found, format!("{key} has scores that are not 0"));
            }
        }
        Ok(())
    }
}

/// The parent and the comment of a member of `new`.
fn pair(member: &[u8]) -> Option<(u64, u64)> {
    let (parent, number) = member.split_at_checked(ID_BYTES)?;
    Some((number_of(parent)?, number_of(number)?))
}

/// The number of the comment of a member of an order.
pub(super) fn comment_number(order: Order, member: &[u8]) -> Option<u64> {
    if order == Order::New { pair(member).map(|(_, number)| number) } else { member.get(ID_BYTES + 4..).and_then(number_of) }
}

impl Order {
    /// Whether a member is where its comment should be.
    pub(super) fn is_at(self, member: &[u8], comment: &Comment) -> bool {
        let parent = comment.path.last().copied().unwrap_or(0);
        match self {
            Self::New => pair(member) == Some((parent, comment.id.number)),
            order => is_at(member, order, parent, comment),
        }
    }
}

/// Whether a member is at its comment's position. Two machines may round a power differently, by one at most.
fn is_at(member: &[u8], order: Order, parent: u64, comment: &Comment) -> bool {
    let Some((at, rest)) = member.split_at_checked(ID_BYTES) else { return false };
    let Some(key) = rest.first_chunk::<4>().map(|key| u32::from_be_bytes(*key)) else { return false };
    let slack = u32::from(order == Order::Controversy);
    at == bytes_of(parent) && key.abs_diff(order.key(comment)) <= slack
}
