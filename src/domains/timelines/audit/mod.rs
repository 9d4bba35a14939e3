//! The audit of feeds: they hold existing statuses of their sources (a home also of its owner), no others, and all of them from their floor
//! on (`complete`).

mod audited_feed;
mod complete;
mod reposts;

use super::keys::{self, KeyKind};
use super::model::{SEGMENTS_TTL, max_entries};
use super::store::{former_sources_key, sources_key};
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow};
use crate::domains::lists::{list_key, list_of_key};
use crate::domains::statuses::audit::{StatusRecord, status_records};
use crate::domains::users::{user_key, user_of_key};
use crate::platform::journal::Feed;
use audited_feed::source_remedy;
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks homes and list timelines with their states, marks and segments; the number of entries only if the `window` is given. Whether a feed is complete
/// is checked for each account and list among `entries`.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], window: Option<usize>, found: &mut Findings) -> Result<(), Error> {
    let (mut feeds, mut states, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Entries(feed)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                feeds.push((feed, entry.key.clone()))
            }
            Some(KeyKind::State(tag)) if entry.check_derived_type("hash", Expiry::Never, found) => {
                states.push((tag, entry.key.clone()))
            }
            Some(KeyKind::Marked(tag)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                others.push((tag, entry.key.clone()))
            }
            Some(KeyKind::Segments(tag)) if entry.check_derived_type("hash", Expiry::After(SEGMENTS_TTL), found) => {
                others.push((tag, entry.key.clone()));
            }
            _ => {}
        }
    }
    let tagged = feeds.iter().map(|(feed, key)| (feed.tag(), key.clone()));
    others.extend(tagged.chain(states.iter().cloned()));
    check_owners(reader, &others, found).await?;
    check_sizes(reader, &feeds, window, found).await?;
    check_states(reader, &states, found).await?;
    let of_users = entries.iter().filter_map(|entry| user_of_key(&entry.key)).map(Feed::Home);
    let of_lists = entries.iter().filter_map(|entry| list_of_key(&entry.key)).map(Feed::List);
    complete::check(reader, of_users.chain(of_lists).collect(), found).await?;
    let mut scan = SetScan::start(reader, feeds, entry_remedy, found).await?.with_other_members(|member| member.contains(':'));
    loop {
        let windows = scan.next(reader, found).await?;
        if windows.is_empty() {
            return Ok(());
        }
        check_entries(reader, &windows, found).await?;
        reposts::check_entries(reader, &windows, found).await?;
    }
}

/// Checks that the hash tag of each key is the id of an existing account or list.
async fn check_owners(reader: &AuditReader, tagged_keys: &[(u64, String)], found: &mut Findings) -> Result<(), Error> {
    let owners = |(tag, _): &(u64, String)| [user_key(UserId(*tag)), list_key(UserListId(*tag))];
    let owner_keys: Vec<[String; 2]> = tagged_keys.iter().map(owners).collect();
    let existing = reader.query(owner_keys.iter().flatten().map(String::as_str), |key| cmd("EXISTS").arg(key).take()).await?;
    for ((_, key), owners) in tagged_keys.iter().zip(&owner_keys) {
        if owners.iter().all(|owner| existing.read::<u64>(&owner.as_str()) != Some(1)) {
            let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: owners.to_vec() };
            found.add_repairable(key, "there is no such account or list", [orphan]);
        }
    }
    Ok(())
}

async fn check_sizes(
    reader: &AuditReader,
    feeds: &[(Feed, String)],
    window: Option<usize>,
    found: &mut Findings,
) -> Result<(), Error> {
    let Some(max_entries) = window.map(max_entries) else { return Ok(()) };
    let sizes = reader.query(feeds.iter().map(|(_, key)| key.as_str()), |key| cmd("ZCARD").arg(key).take()).await?;
    for (_, key) in feeds {
        if let Some(size) = sizes.read::<usize>(&key.as_str()).filter(|size| *size > max_entries) {
            found.add_with(key, format!("holds more than {max_entries}"), size.to_string());
        }
    }
    Ok(())
}

async fn check_states(reader: &AuditReader, states: &[(u64, String)], found: &mut Findings) -> Result<(), Error> {
    let ask = |key: &str| cmd("HMGET").arg(key).arg(&["floor", "seen", "is", "late", "reposts"]).take();
    let fields = reader.query(states.iter().map(|(_, key)| key.as_str()), ask).await?;
    for (tag, key) in states {
        let [floor, seen, is, late, reposts]: [Option<String>; 5] = fields.read(&key.as_str()).unwrap_or_default();
        let is_number = |text: &Option<String>| text.as_deref().is_none_or(|text| audit::number(text).is_some());
        if ![&floor, &seen, &late, &reposts].into_iter().all(is_number)
            || !matches!(is.as_deref(), None | Some("dropped" | "opening"))
        {
            found.add_repairable(key, "its floor, seen, late, reposts or is cannot be read", [Remedy::ResetFeed { tag: *tag }]);
        }
    }
    Ok(())
}

/// The repair of an entry at a wrong position: the score of a status is its id.
fn entry_remedy(_: Feed, key: &str, member: u64) -> Vec<Remedy> {
    vec![Remedy::CorrectScore { key: key.to_owned(), member }]
}

/// The repair of an entry whose status does not exist.
const fn deleted_status_remedy(feed: Feed, status: StatusId) -> Remedy {
    match feed {
        Feed::Home(owner) => Remedy::RemoveFromHome { owner, status },
        Feed::List(list) => Remedy::RemoveFromList { list, status },
    }
}

async fn check_entries(reader: &AuditReader, windows: &[SetWindow<Feed>], found: &mut Findings) -> Result<(), Error> {
    let ids = windows.iter().flat_map(|window| window.rows.iter().map(|row| StatusId(row.member)));
    let status_records = status_records(reader, ids).await?;
    let mut foreign = Vec::new();
    for window in windows {
        for row in &window.rows {
            if row.member != row.position {
                let problem = format!("the score of status {} is not its id", row.member);
                found.add_repairable_with(
                    &window.key,
                    problem,
                    row.position.to_string(),
                    entry_remedy(window.set, &window.key, row.member),
                );
            }
            match status_records.get(&StatusId(row.member)) {
                Some(StatusRecord::By(author)) if Feed::Home(*author) != window.set => {
                    foreign.push((window, row.member, *author))
                }
                Some(StatusRecord::Missing) => {
                    let removal = deleted_status_remedy(window.set, StatusId(row.member));
                    found.add_repairable(&window.key, format!("there is no status {}", row.member), [removal]);
                }
                _ => {}
            }
        }
    }
    let edges = || foreign.iter().map(|(window, _, author)| (window.set, *author));
    let follows = reader.query(edges(), |(feed, author)| cmd("ZSCORE").arg(sources_key(feed)).arg(author.0).take()).await?;
    // Unfollowed accounts are hidden; the journal removes their statuses.
    let former = reader.query(edges(), |(feed, author)| cmd("ZSCORE").arg(former_sources_key(feed)).arg(author.0).take()).await?;
    for (window, status, author) in foreign {
        if follows.score(&(window.set, author)).is_none() && former.score(&(window.set, author)).is_none() {
            let problem = format!("status {status} is by {}, who is not a source of the feed", author.0);
            found.add_repairable(&window.key, problem, [source_remedy(window.set, author)]);
        }
    }
    Ok(())
}
