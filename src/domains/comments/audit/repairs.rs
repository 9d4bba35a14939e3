//! Finds what must be repaired for the orders and counts of a thread to match its comments.

use super::super::keys;
use super::super::model::{Comment, Order};
use super::super::repairs::{CommentRepair, ThreadRepairs};
use super::thread::{Counts, MAX_READS, Thread, comment_number, last_event_id, members};
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::{HashMap, HashSet};

/// Maximum number of members with a score below 0, and of members with a score above 0, that one pass repairs in each order.
const SCORES: usize = 1_000;

/// Returns the repairs that a thread needs; `None` if the thread changes during every read.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub(in crate::domains::comments) async fn thread_repairs(
    reader: &AuditReader,
    status: StatusId,
) -> Result<Option<ThreadRepairs>, Error> {
    for _ in 0..MAX_READS {
        let before = last_event_id(reader, status).await?;
        let thread = Thread::read(reader, status).await?;
        let repairs = thread.repairs(reader, before.clone().unwrap_or_default()).await?;
        if last_event_id(reader, status).await? == before {
            return Ok(Some(repairs));
        }
    }
    Ok(None)
}

impl Thread {
    async fn repairs(&self, reader: &AuditReader, last_event: String) -> Result<ThreadRepairs, Error> {
        let mut repairs = ThreadRepairs { last_event, missing_ancestors: self.missing_ancestors(), ..ThreadRepairs::default() };
        let (counts, comment_count) = self.sums();
        repairs.comment_count = (comment_count != self.status_count).then_some(comment_count);
        let mut misplaced: HashMap<u64, Vec<(Order, Vec<u8>)>> = HashMap::new();
        let mut missing: HashSet<u64> = HashSet::new();
        for order in Order::ALL {
            self.compare_order(reader, order, &mut misplaced, &mut missing, &mut repairs).await?;
        }
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()).filter(|it| self.is_attached(it)) {
            let number = comment.id.number;
            let mut expected = counts.get(&number).copied().unwrap_or_default();
            if comment.author.is_none() {
                expected.descendants_by_others = 0;
            }
            let stored = [comment.replies, comment.children, comment.descendants, comment.descendants_by_others];
            let counts = [expected.replies, expected.children, expected.descendants, expected.descendants_by_others];
            let is_removed = comment.author.is_none() && expected.children == 0;
            let misplaced_members = misplaced.remove(&number).unwrap_or_default();
            if stored != counts || is_removed || !misplaced_members.is_empty() || missing.contains(&number) {
                repairs.comments.push(CommentRepair { comment: comment.clone(), counts, misplaced_members, is_removed });
            }
        }
        Ok(repairs)
    }

    fn is_attached(&self, comment: &Comment) -> bool {
        comment.path.iter().all(|number| self.get(*number).is_some())
    }

    /// The right counts of all comments, and of the status.
    fn sums(&self) -> (HashMap<u64, Counts>, u64) {
        let (mut counts, mut comment_count) = (HashMap::new(), 0);
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()) {
            let is_attached = self.is_attached(comment);
            self.count(comment, is_attached, &mut counts);
            comment_count += u64::from(is_attached && comment.author.is_some());
        }
        (counts, comment_count)
    }

    /// Missing ancestors that were not removed with a branch, the top ones first.
    fn missing_ancestors(&self) -> Vec<(CommentId, Vec<u64>)> {
        let mut missing: HashMap<u64, Vec<u64>> = HashMap::new();
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()) {
            if comment.path.iter().any(|number| self.deleted_branches.contains(number)) {
                continue;
            }
            for (at, number) in comment.path.iter().enumerate().filter(|(_, number)| self.get(**number).is_none()) {
                missing.insert(*number, comment.path[..at].to_vec());
            }
        }
        let mut missing: Vec<_> =
            missing.into_iter().map(|(number, path)| (CommentId { status: self.status, number }, path)).collect();
        missing.sort_by_key(|(id, path)| (path.len(), id.number));
        missing
    }

    /// Compares an order with the comments. `missing` has the comments that lack their member in an order afterwards.
    async fn compare_order(
        &self,
        reader: &AuditReader,
        order: Order,
        misplaced: &mut HashMap<u64, Vec<(Order, Vec<u8>)>>,
        missing: &mut HashSet<u64>,
        repairs: &mut ThreadRepairs,
    ) -> Result<(), Error> {
        let key = keys::replies(self.status, order);
        let mut seen: HashSet<u64> = HashSet::new();
        members(reader, &key, async |page| {
            for member in page {
                let number = comment_number(order, &member);
                match number.and_then(|number| Some((number, self.get(number)?))) {
                    Some((number, comment)) if order.is_at(&member, comment) => drop(seen.insert(number)),
                    Some((number, _)) => misplaced.entry(number).or_default().push((order, member)),
                    None => {
                        let id = number.map(|number| CommentId { status: self.status, number });
                        repairs.orphan_members.push((order, member, id));
                    }
                }
            }
            Ok(())
        })
        .await?;
        missing.extend(self.comments.keys().filter(|number| !seen.contains(number)));
        for (from, to) in [("-inf", "(0"), ("(0", "+inf")] {
            let range =
                |key: &str| cmd("ZRANGE").arg(key).arg(from).arg(to).arg("BYSCORE").arg("LIMIT").arg(0).arg(SCORES).take();
            let scored: Vec<Vec<u8>> = reader.query([key.as_str()], range).await?.read(&key.as_str()).unwrap_or_default();
            repairs.nonzero_scores.extend(scored.into_iter().map(|member| (order, member)));
        }
        Ok(())
    }
}
