//! The audit of conversations: a place is below its parent's, in both orders, and counts equal the places below. That places have statuses is checked
//! where the statuses are.

use super::keys::{self, KeyKind};
use super::model::{ID_BYTES, Place, ReplyRef};
use super::store::{self, id_of, parse_place};
use crate::base::audit::{Expiry, Findings, KeyInfo};
use crate::base::error::Error;
use crate::base::ids::{PlaceId, StatusId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;

pub use super::keys::KINDS;

/// Places that are checked at once.
const PAGE: usize = 500;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Parses the stored form of what a status replies to; `None` if it is invalid.
pub fn parse_reply(text: &str) -> Option<ReplyRef> {
    store::parse_reply(text)
}

/// A place that an audit has read.
#[derive(Clone, Copy, Debug)]
pub struct StoredPlace {
    /// Its id.
    pub id: PlaceId,
    /// The place.
    pub place: Place,
}

/// Checks places and orders.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Places(root)) if entry.check_type("hash", Expiry::Never, found) => {
                let mut scan = PlaceScan::of(root);
                while let Some(places) = scan.next(reader, found).await? {
                    check_places(reader, &places, found).await?;
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

/// The root of the conversation whose places a key has.
pub fn root_of_key(key: &str) -> Option<StatusId> {
    if let Some(KeyKind::Places(root)) = keys::parse(key) { Some(root) } else { None }
}

/// A scan over the places of a conversation.
pub struct PlaceScan {
    root: StatusId,
    cursor: Option<String>,
}

impl PlaceScan {
    /// A scan from the start.
    pub fn of(root: StatusId) -> Self {
        Self { root, cursor: Some("0".to_owned()) }
    }

    /// The next places; `None` at the end. Reports records that cannot be read. One command.
    ///
    /// # Errors
    /// As [`crate::db::Db::read_many`].
    pub async fn next(&mut self, reader: &AuditReader, found: &mut Findings) -> Result<Option<Vec<StoredPlace>>, Error> {
        let Some(cursor) = self.cursor.take() else { return Ok(None) };
        let key = keys::places(self.root);
        let replies = reader.query([cursor.as_str()], |at| cmd("HSCAN").arg(&key).arg(at).arg("COUNT").arg(PAGE).take()).await?;
        let (next, flat): (String, Vec<Vec<u8>>) = replies.read(&cursor.as_str()).unwrap_or_else(|| ("0".to_owned(), Vec::new()));
        self.cursor = Some(next).filter(|next| next != "0");
        let mut places = Vec::new();
        for pair in flat.chunks_exact(2).filter(|pair| pair[0] != b"living") {
            match (id_of(&pair[0]), parse_place(&pair[1])) {
                (Some(status), Some(place)) => places.push(StoredPlace { id: PlaceId { root: self.root, status }, place }),
                _ => found.add(&key, "has a place that cannot be read"),
            }
        }
        Ok(Some(places))
    }
}

async fn check_places(reader: &AuditReader, places: &[StoredPlace], found: &mut Findings) -> Result<(), Error> {
    let Some(root) = places.first().map(|it| it.id.root) else { return Ok(()) };
    let key = keys::places(root);
    let below = reader
        .query(places.iter().map(|it| it.id.status), |status| {
            let parent = store::bytes_of(status.0);
            let bound = |sign: &[u8], end: &[u8]| [sign, &parent[..], end].concat();
            cmd("ZLEXCOUNT").arg(keys::by_posting(root)).arg(bound(b"(", b"")).arg(bound(b"(", &[u8::MAX; 16])).take()
        })
        .await?;
    let parents = places.iter().filter_map(|it| it.place.parent);
    let parents =
        reader.query(parents, |parent| cmd("HGET").arg(keys::places(root)).arg(&store::bytes_of(parent.0)[..]).take()).await?;
    let likes = reader
        .query(places.iter().map(|it| (it.id.status, it.place.parent, it.place.likes)), |(status, parent, likes)| {
            let parent = parent.map_or([0; ID_BYTES], |parent| store::bytes_of(parent.0));
            let member = [&parent[..], &likes.to_be_bytes(), &store::bytes_of(status.0)].concat();
            cmd("ZSCORE").arg(keys::by_likes(root)).arg(member).take()
        })
        .await?;
    for StoredPlace { id, place } in places {
        let (status, at) = (id.status.0, (id.status, place.parent, place.likes));
        if below.read::<u64>(&id.status) != Some(u64::from(place.places)) {
            found.add(&key, format!("the place of {status} counts other places than there are below it"));
        }
        match place.parent {
            None if id.status != root || place.depth != 0 => found.add(&key, format!("the place of {status} has no parent")),
            None => {}
            Some(parent) => {
                let above = parents.read::<Option<Vec<u8>>>(&parent).flatten().as_deref().and_then(parse_place);
                if above.is_none_or(|above| above.depth + 1 != place.depth) {
                    found.add(&key, format!("the place of {status} is not below that of {}", parent.0));
                }
                if likes.read::<Option<f64>>(&at).flatten().is_none() {
                    found.add(&key, format!("the place of {status} is missing in {}", keys::by_likes(root)));
                }
            }
        }
        if place.is_deleted && place.places == 0 && place.depth > 0 {
            found.add(&key, format!("the place of {status} is of a deleted status, and nothing is below it"));
        }
    }
    Ok(())
}

/// An order has a member for each place but the root's.
async fn check_size(reader: &AuditReader, root: StatusId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let places = reader.query([root], |root| cmd("HLEN").arg(keys::places(root)).take()).await?;
    let members = reader.query([key], |key| cmd("ZCARD").arg(key).take()).await?;
    // In addition to the places of replies, the hash has that of the root and the field `living`.
    let replies = places.read::<u64>(&root).map(|fields| fields.saturating_sub(2));
    if replies != members.read::<u64>(&key) {
        found.add(key, format!("has other members than {}", keys::places(root)));
    }
    Ok(())
}
