//! The audit of homes: they hold living statuses of their owners and of those whom these follow, no others, and all of them from their
//! floor on ([`complete`]).

mod complete;

use super::keys::{self, Owned};
use super::model::most;
use crate::audit::{self, Entry, Findings, Lives};
use crate::db::look::{Look, Part, Walk};
use crate::error::Error;
use crate::graph::{following_key, left_key};
use crate::ids::{StatusId, UserId};
use crate::jobs::Feed;
use crate::statuses::audit::{Standing, standings};
use crate::users::user_of_key;
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Homes and what is kept beside them; their size too when the `window` is known.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(look: &Look, entries: &[Entry], window: Option<usize>, found: &mut Findings) -> Result<(), Error> {
    let (mut homes, mut states, mut marked) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(Owned::Entries(Feed::Home(owner))) if entry.is_a("zset", Lives::On, found) => {
                homes.push((owner, entry.key.clone()))
            }
            Some(Owned::State(owner)) if entry.is_a("hash", Lives::On, found) => states.push((UserId(owner), entry.key.clone())),
            Some(Owned::Marked(owner)) if entry.is_a("zset", Lives::On, found) => marked.push((UserId(owner), entry.key.clone())),
            _ => {}
        }
    }
    check_owners(look, homes.iter().chain(&states).chain(&marked), found).await?;
    check_sizes(look, homes.iter().map(|(owner, _)| *owner).collect(), window, found).await?;
    check_states(look, &states, found).await?;
    complete::check(look, entries.iter().filter_map(|entry| user_of_key(&entry.key)).collect(), found).await?;
    let mut walk = Walk::over(look, homes, found).await?;
    loop {
        let parts = walk.next(look, found).await?;
        if parts.is_empty() {
            return Ok(());
        }
        check_entries(look, &parts, found).await?;
    }
}

async fn check_owners(
    look: &Look,
    of: impl Iterator<Item = &(UserId, String)> + Clone,
    found: &mut Findings,
) -> Result<(), Error> {
    let strangers = look.strangers(of.clone().map(|(owner, _)| *owner)).await?;
    for (_, key) in of.filter(|(owner, _)| strangers.contains(owner)) {
        found.add(key, "there is no such account");
    }
    Ok(())
}

async fn check_sizes(look: &Look, owners: Vec<UserId>, window: Option<usize>, found: &mut Findings) -> Result<(), Error> {
    let Some(most) = window.map(most) else { return Ok(()) };
    let key = |owner| keys::entries(Feed::Home(owner));
    let sizes = look.ask(owners.iter().copied(), |owner| cmd("ZCARD").arg(key(owner)).take()).await?;
    for owner in &owners {
        if let Some(size) = sizes.read::<usize>(owner).filter(|size| *size > most) {
            found.add_with(&key(*owner), format!("holds more than {most}"), size.to_string());
        }
    }
    Ok(())
}

async fn check_states(look: &Look, states: &[(UserId, String)], found: &mut Findings) -> Result<(), Error> {
    let ask = |key: &str| cmd("HMGET").arg(key).arg(&["floor", "seen", "is"]).take();
    let fields = look.ask(states.iter().map(|(_, key)| key.as_str()), ask).await?;
    for (_, key) in states {
        let [floor, seen, is]: [Option<String>; 3] = fields.read(&key.as_str()).unwrap_or_default();
        let is_number = |text: &Option<String>| text.as_deref().is_none_or(|text| audit::number(text).is_some());
        if !is_number(&floor) || !is_number(&seen) || !matches!(is.as_deref(), None | Some("dropped" | "opening")) {
            found.add(key, "its floor, seen or is cannot be read");
        }
    }
    Ok(())
}

async fn check_entries(look: &Look, parts: &[Part<UserId>], found: &mut Findings) -> Result<(), Error> {
    let ids = parts.iter().flat_map(|part| part.rows.iter().map(|row| StatusId(row.member)));
    let standings = standings(look, ids).await?;
    let mut foreign = Vec::new();
    for part in parts {
        for row in &part.rows {
            if row.member != row.position {
                found.add_with(
                    &part.key,
                    format!("status {} does not stand at its own place", row.member),
                    row.position.to_string(),
                );
            }
            match standings.get(&StatusId(row.member)) {
                Some(Standing::Of(author)) if *author != part.of => foreign.push((part, row.member, *author)),
                Some(Standing::Dead) => found.add(&part.key, format!("there is no status {}", row.member)),
                _ => {}
            }
        }
    }
    let edges = || foreign.iter().map(|(part, _, author)| (part.of, *author));
    let follows = look.ask(edges(), |(owner, author)| cmd("ZSCORE").arg(following_key(owner)).arg(author.0).take()).await?;
    // Whom the owner has just left is not shown; the journal sees to the sweeping.
    let left = look.ask(edges(), |(owner, author)| cmd("ZSCORE").arg(left_key(owner)).arg(author.0).take()).await?;
    for (part, status, author) in foreign {
        if follows.score(&(part.of, author)).is_none() && left.score(&(part.of, author)).is_none() {
            found.add(&part.key, format!("status {status} is by {}, whom the owner does not follow", author.0));
        }
    }
    Ok(())
}
