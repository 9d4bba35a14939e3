//! What brings the orders and counts of a thread in line with its comments.

use super::super::super::keys;
use super::super::super::model::{Comment, Order};
use super::{AGAIN, Counts, Thread, last, members, place_of};
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::{HashMap, HashSet};

/// Members with a wrong score that one look has repaired.
const SCORES: usize = 1_000;

/// Everything that is wrong in a thread, as of one moment.
#[derive(Debug, Default)]
pub(in crate::domains::comments) struct Mends {
    /// The newest event at that moment: what is counted holds as long as it is that.
    pub(in crate::domains::comments) last: String,
    /// How many living comments there are, where the status counts otherwise.
    pub(in crate::domains::comments) living: Option<u64>,
    /// Comments with wrong counts or places.
    pub(in crate::domains::comments) comments: Vec<CommentMend>,
    /// Members of orders without a comment.
    pub(in crate::domains::comments) strays: Vec<(Order, Vec<u8>, Option<CommentId>)>,
    /// Comments that are missing above others, each with those above it.
    pub(in crate::domains::comments) lost: Vec<(CommentId, Vec<u64>)>,
    /// Members whose score is not 0.
    pub(in crate::domains::comments) scored: Vec<(Order, Vec<u8>)>,
}

/// What is wrong with a comment.
#[derive(Debug)]
pub(in crate::domains::comments) struct CommentMend {
    /// The comment.
    pub(in crate::domains::comments) comment: Comment,
    /// Its counts as they should be: `replies places descendants others`.
    pub(in crate::domains::comments) counts: [u64; 4],
    /// Where it stands and should not.
    pub(in crate::domains::comments) wrong: Vec<(Order, Vec<u8>)>,
    /// Whether it is deleted and nothing stands below it, so that it leaves.
    pub(in crate::domains::comments) leaves: bool,
}

impl Mends {
    /// Whether nothing is wrong.
    pub(in crate::domains::comments) fn is_empty(&self) -> bool {
        self.living.is_none()
            && self.comments.is_empty()
            && self.strays.is_empty()
            && self.lost.is_empty()
            && self.scored.is_empty()
    }
}

/// What is wrong in a thread; `None` of a thread that does not rest.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub(in crate::domains::comments) async fn mends(reader: &AuditReader, status: StatusId) -> Result<Option<Mends>, Error> {
    for _ in 0..AGAIN {
        let before = last(reader, status).await?;
        let thread = Thread::read(reader, status).await?;
        let mends = thread.mends(reader, before.clone().unwrap_or_default()).await?;
        if last(reader, status).await? == before {
            return Ok(Some(mends));
        }
    }
    Ok(None)
}

impl Thread {
    async fn mends(&self, reader: &AuditReader, last: String) -> Result<Mends, Error> {
        let mut mends = Mends { last, lost: self.lost(), ..Mends::default() };
        let (counts, living) = self.sums();
        mends.living = (living != self.counted).then_some(living);
        let mut wrong: HashMap<u64, Vec<(Order, Vec<u8>)>> = HashMap::new();
        let mut displaced: HashSet<u64> = HashSet::new();
        for order in Order::ALL {
            self.compare_order(reader, order, &mut wrong, &mut displaced, &mut mends).await?;
        }
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()).filter(|it| self.stands(it)) {
            let number = comment.id.number;
            let mut is = counts.get(&number).copied().unwrap_or_default();
            if comment.author.is_none() {
                is.others = 0;
            }
            let says = [comment.replies, comment.places, comment.descendants, comment.others];
            let counts = [is.replies, is.places, is.descendants, is.others];
            let leaves = comment.author.is_none() && is.places == 0;
            let wrong = wrong.remove(&number).unwrap_or_default();
            if says != counts || leaves || !wrong.is_empty() || displaced.contains(&number) {
                mends.comments.push(CommentMend { comment: comment.clone(), counts, wrong, leaves });
            }
        }
        Ok(mends)
    }

    fn stands(&self, comment: &Comment) -> bool {
        comment.path.iter().all(|number| self.get(*number).is_some())
    }

    /// What should be counted of each comment, and of the status.
    fn sums(&self) -> (HashMap<u64, Counts>, u64) {
        let (mut counts, mut living) = (HashMap::new(), 0);
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()) {
            let stands = self.stands(comment);
            self.count(comment, stands, &mut counts);
            living += u64::from(stands && comment.author.is_some());
        }
        (counts, living)
    }

    /// Comments above others that are not there, and were not taken away with their branches: the top ones first.
    fn lost(&self) -> Vec<(CommentId, Vec<u64>)> {
        let mut lost: HashMap<u64, Vec<u64>> = HashMap::new();
        for comment in self.comments.values().filter_map(|(_, comment)| comment.as_ref()) {
            if comment.path.iter().any(|number| self.fallen.contains(number)) {
                continue;
            }
            for (at, number) in comment.path.iter().enumerate().filter(|(_, number)| self.get(**number).is_none()) {
                lost.insert(*number, comment.path[..at].to_vec());
            }
        }
        let mut lost: Vec<_> = lost.into_iter().map(|(number, path)| (CommentId { status: self.status, number }, path)).collect();
        lost.sort_by_key(|(id, path)| (path.len(), id.number));
        lost
    }

    async fn compare_order(
        &self,
        reader: &AuditReader,
        order: Order,
        wrong: &mut HashMap<u64, Vec<(Order, Vec<u8>)>>,
        displaced: &mut HashSet<u64>,
        mends: &mut Mends,
    ) -> Result<(), Error> {
        let key = keys::replies(self.status, order);
        let mut seen: HashSet<u64> = HashSet::new();
        members(reader, &key, async |page| {
            for member in page {
                let number = place_of(order, &member);
                match number.and_then(|number| Some((number, self.get(number)?))) {
                    Some((number, comment)) if order.is_at(&member, comment) => drop(seen.insert(number)),
                    Some((number, _)) => wrong.entry(number).or_default().push((order, member)),
                    None => {
                        let id = number.map(|number| CommentId { status: self.status, number });
                        mends.strays.push((order, member, id));
                    }
                }
            }
            Ok(())
        })
        .await?;
        displaced.extend(self.comments.keys().filter(|number| !seen.contains(number)));
        for (from, to) in [("-inf", "(0"), ("(0", "+inf")] {
            let range =
                |key: &str| cmd("ZRANGE").arg(key).arg(from).arg(to).arg("BYSCORE").arg("LIMIT").arg(0).arg(SCORES).take();
            let scored: Vec<Vec<u8>> = reader.query([key.as_str()], range).await?.read(&key.as_str()).unwrap_or_default();
            mends.scored.extend(scored.into_iter().map(|member| (order, member)));
        }
        Ok(())
    }
}
