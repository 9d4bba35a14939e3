//! The audit of conversations: each entry is directly below the entry of its parent, is in both orders, and counts the entries directly below it. The audit
//! of statuses checks that entries have statuses.

use super::keys::{self, KeyKind};
use super::model::{ID_BYTES, ReplyRef, StoredEntry};
use super::store::{self, id_of, parse_entry};
use crate::base::audit::{Expiry, Findings, KeyInfo};
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;

pub use super::keys::KINDS;

/// Entries that are checked at once.
const PAGE: usize = 500;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Parses the stored form of a [`ReplyRef`]; `None` if it is invalid.
pub fn parse_reply(text: &str) -> Option<ReplyRef> {
    store::parse_reply(text)
}

/// An entry that an audit has read.
#[derive(Clone, Copy, Debug)]
pub struct ScannedEntry {
    /// Its id.
    pub id: ConversationEntryId,
    /// The entry.
    pub entry: StoredEntry,
}

/// Checks entries and orders.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Entries(root)) if entry.check_type("hash", Expiry::Never, found) => {
                let mut scan = EntryScan::of(root);
                while let Some(entries) = scan.next(reader, found).await? {
                    check_entries(reader, &entries, found).await?;
                }
            }
            Some(KeyKind::ByPosting(root) | KeyKind::ByLikes(root)) if entry.check_type("zset", Expiry::Never, found) => {
                check_size(reader, root, &entry.key, found).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The root of the conversation whose entries a key has.
pub fn root_of_key(key: &str) -> Option<StatusId> {
    if let Some(KeyKind::Entries(root)) = keys::parse(key) { Some(root) } else { None }
}

/// A scan over the entries of a conversation.
pub struct EntryScan {
    root: StatusId,
    cursor: Option<String>,
}

impl EntryScan {
    /// A scan from the start.
    pub fn of(root: StatusId) -> Self {
        Self { root, cursor: Some("0".to_owned()) }
    }

    /// The next entries; `None` at the end. Reports records that cannot be read. One command.
    ///
    /// # Errors
    /// As [`crate::db::Db::read_many`].
    pub async fn next(&mut self, reader: &AuditReader, found: &mut Findings) -> Result<Option<Vec<ScannedEntry>>, Error> {
        let Some(cursor) = self.cursor.take() else { return Ok(None) };
        let key = keys::entries(self.root);
        let replies = reader.query([cursor.as_str()], |at| cmd("HSCAN").arg(&key).arg(at).arg("COUNT").arg(PAGE).take()).await?;
        let (next, flat): (String, Vec<Vec<u8>>) = replies.read(&cursor.as_str()).unwrap_or_else(|| ("0".to_owned(), Vec::new()));
        self.cursor = Some(next).filter(|next| next != "0");
        let mut entries = Vec::new();
        for pair in flat.chunks_exact(2).filter(|pair| pair[0] != b"living") {
            match (id_of(&pair[0]), parse_entry(&pair[1])) {
                (Some(status), Some(entry)) => {
                    entries.push(ScannedEntry { id: ConversationEntryId { root: self.root, status }, entry })
                }
                _ => found.add(&key, "has an entry that cannot be read"),
            }
        }
        Ok(Some(entries))
    }
}

async fn check_entries(reader: &AuditReader, entries: &[ScannedEntry], found: &mut Findings) -> Result<(), Error> {
    let Some(root) = entries.first().map(|it| it.id.root) else { return Ok(()) };
    let key = keys::entries(root);
    let below = reader
        .query(entries.iter().map(|it| it.id.status), |status| {
            let parent = store::bytes_of(status.0);
            let bound = |sign: &[u8], end: &[u8]| [sign, &parent[..], end].concat();
            cmd("ZLEXCOUNT").arg(keys::by_posting(root)).arg(bound(b"(", b"")).arg(bound(b"(", &[u8::MAX; 16])).take()
        })
        .await?;
    let parents = entries.iter().filter_map(|it| it.entry.parent);
    let parents =
        reader.query(parents, |parent| cmd("HGET").arg(keys::entries(root)).arg(&store::bytes_of(parent.0)[..]).take()).await?;
    let likes = reader
        .query(entries.iter().map(|it| (it.id.status, it.entry.parent, it.entry.likes)), |(status, parent, likes)| {
            let parent = parent.map_or([0; ID_BYTES], |parent| store::bytes_of(parent.0));
            let member = [&parent[..], &likes.to_be_bytes(), &store::bytes_of(status.0)].concat();
            cmd("ZSCORE").arg(keys::by_likes(root)).arg(member).take()
        })
        .await?;
    for ScannedEntry { id, entry } in entries {
        let (status, at) = (id.status.0, (id.status, entry.parent, entry.likes));
        if below.read::<u64>(&id.status) != Some(u64::from(entry.children)) {
            found.add(&key, format!("the child count of the entry of {status} is wrong"));
        }
        match entry.parent {
            None if id.status != root => found.add(&key, format!("the entry of {status} has no parent")),
            None if entry.depth != 0 => found.add(&key, "the root entry has a depth"),
            None => {}
            Some(parent) => {
                let above = parents.read::<Option<Vec<u8>>>(&parent).flatten().as_deref().and_then(parse_entry);
                if above.is_none_or(|above| above.depth + 1 != entry.depth) {
                    found.add(&key, format!("the entry of {status} is not below that of {}", parent.0));
                }
                if likes.read::<Option<f64>>(&at).flatten().is_none() {
                    found.add(&key, format!("the entry of {status} is missing in {}", keys::by_likes(root)));
                }
            }
        }
        if entry.is_deleted && entry.children == 0 && entry.depth > 0 {
            found.add(&key, format!("the entry of {status} is of a deleted status, and nothing is below it"));
        }
    }
    Ok(())
}

/// Checks that an order has a member for each entry but the root's.
async fn check_size(reader: &AuditReader, root: StatusId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let entries = reader.query([root], |root| cmd("HLEN").arg(keys::entries(root)).take()).await?;
    let members = reader.query([key], |key| cmd("ZCARD").arg(key).take()).await?;
    // In addition to the entries of replies, the hash has that of the root and the field `living`.
    let replies = entries.read::<u64>(&root).map(|fields| fields.saturating_sub(2));
    if replies != members.read::<u64>(&key) {
        found.add(key, format!("has another number of members than {} has replies", keys::entries(root)));
    }
    Ok(())
}
