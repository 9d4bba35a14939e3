//! The audit of reposts in feeds: a feed holds all reposts of its unmarked sources from its floor on, and no others.

use super::super::feed_row::{FeedRow, repost_member};
use super::super::keys;
use super::super::model::MAX_FEED_ENTRIES;
use super::super::store::{self, former_sources_key, sources_key};
use super::audited_feed::{AuditedFeed, source_remedy};
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::db::audit_reader::{AuditReader, SetWindow};
use crate::domains::statuses::audit::{current_reposts, reposts_of};
use crate::platform::journal::Feed;
use redis::cmd;

/// Accounts whose reposts are read at once.
const ACCOUNTS: usize = 1_000;

/// Checks that feeds hold the reposts of their sources. A new source is not checked: its reposts may still be added. One pipeline for each thousand
/// sources, and three more if they have reposts.
pub(super) async fn check_complete(reader: &AuditReader, feeds: &[AuditedFeed], found: &mut Findings) -> Result<(), Error> {
    let mut sources = Vec::new();
    for (at, it) in feeds.iter().enumerate() {
        let window = Window { below: u64::MAX, above: it.floor.saturating_sub(1), newest_first: true, limit: MAX_FEED_ENTRIES };
        let old = it.authors.iter().filter(|(author, edge)| !it.marked.contains(author) && !reader.is_young(*edge));
        sources.extend(old.map(|(author, _)| (at, *author, window)));
    }
    for chunk in sources.chunks(ACCOUNTS) {
        let windows: Vec<(UserId, Window)> = chunk.iter().map(|(_, author, window)| (*author, *window)).collect();
        let mut expected = Vec::new();
        for ((at, author, _), rows) in chunk.iter().zip(reposts_of(reader, &windows).await?) {
            let old = rows.into_iter().filter(|row| !reader.is_young(row.position));
            expected.extend(old.map(|row| (*at, *author, FeedRow::of_repost(*author, row))));
        }
        check_expected(reader, feeds, &expected, found).await?;
    }
    Ok(())
}

async fn check_expected(
    reader: &AuditReader,
    feeds: &[AuditedFeed],
    expected: &[(usize, UserId, FeedRow)],
    found: &mut Findings,
) -> Result<(), Error> {
    let ask = |n: usize| {
        let (at, _, row) = &expected[n];
        cmd("ZSCORE").arg(keys::entries(feeds[*at].feed)).arg(row.member()).take()
    };
    let held = reader.query(0..expected.len(), ask).await?;
    let current = current_reposts(reader, expected.iter().map(|(_, author, row)| (*author, row.status))).await?;
    for (n, (at, author, row)) in expected.iter().enumerate() {
        let it = &feeds[*at];
        if current.get(&(*author, row.status)) != Some(&row.position) {
            continue;
        }
        if held.score(&n) != Some(row.position) || !it.has_reposts {
            let problem = format!("the repost of {} by {} is missing in {}", row.status.0, author.0, keys::entries(it.feed));
            found.add_repairable(&store::owner_key(it.feed), problem, remedies(it.feed, *author, row.status));
        }
    }
    Ok(())
}

/// The repairs that reconcile a repost with the feeds of all followers, and the feed with whether the account is a source.
fn remedies(feed: Feed, reposter: UserId, status: StatusId) -> Vec<Remedy> {
    let settle = Remedy::SettleRepost { user: reposter, status };
    if feed == Feed::Home(reposter) { vec![settle] } else { vec![settle, source_remedy(feed, reposter)] }
}

/// Checks that the reposts in feeds exist, are at their positions, and are by sources.
pub(super) async fn check_entries(reader: &AuditReader, windows: &[SetWindow<Feed>], found: &mut Findings) -> Result<(), Error> {
    let mut reposts = Vec::new();
    for window in windows {
        for (member, position) in &window.others {
            match FeedRow::parse(member, *position) {
                Some(FeedRow { status, reposter: Some(reposter), .. }) if repost_member(status, reposter) == *member => {
                    reposts.push((window, status, reposter, *position));
                }
                _ => {
                    let remove = Remedy::RemoveMember { key: window.key.clone(), member: member.as_bytes().to_vec() };
                    found.add_repairable(&window.key, format!("entry {member:?} is no repost"), [remove]);
                }
            }
        }
    }
    let current = current_reposts(reader, reposts.iter().map(|(_, status, reposter, _)| (*reposter, *status))).await?;
    let edges = || {
        reposts
            .iter()
            .map(|(window, _, reposter, _)| (window.set, *reposter))
            .filter(|(feed, reposter)| Feed::Home(*reposter) != *feed)
    };
    let sources = reader.query(edges(), |(feed, reposter)| cmd("ZSCORE").arg(sources_key(feed)).arg(reposter.0).take()).await?;
    // Reposts of former sources are hidden; the journal removes them.
    let former =
        reader.query(edges(), |(feed, reposter)| cmd("ZSCORE").arg(former_sources_key(feed)).arg(reposter.0).take()).await?;
    for (window, status, reposter, position) in &reposts {
        let edge = (window.set, *reposter);
        if current.get(&(*reposter, *status)) != Some(position) {
            let problem = format!("there is no repost of {} by {} with this position", status.0, reposter.0);
            found.add_repairable(&window.key, problem, remedies(window.set, *reposter, *status));
        } else if Feed::Home(*reposter) != window.set && sources.score(&edge).is_none() && former.score(&edge).is_none() {
            let problem = format!("a repost of {} is by {}, who is not a source of the feed", status.0, reposter.0);
            found.add_repairable(&window.key, problem, [source_remedy(window.set, *reposter)]);
        }
    }
    Ok(())
}
