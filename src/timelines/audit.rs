//! The audit of homes: they hold living statuses of their owners and of those whom these follow, no others.

use super::keys;
use crate::audit::{Entry, Findings, Lives};
use crate::db::look::{Look, Part, Walk};
use crate::error::Error;
use crate::graph::following_key;
use crate::ids::{StatusId, UserId};
use crate::statuses::audit::{Standing, standings};
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Homes; their size too when the `window` is known.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(look: &Look, entries: &[Entry], window: Option<usize>, found: &mut Findings) -> Result<(), Error> {
    let mut homes = Vec::new();
    for entry in entries {
        if let Some(owner) = keys::parse(&entry.key)
            && entry.is_a("zset", Lives::On, found)
        {
            homes.push((owner, entry.key.clone()));
        }
    }
    check_owners(look, homes.iter().map(|(owner, _)| *owner).collect(), window, found).await?;
    let mut walk = Walk::over(look, homes, found).await?;
    loop {
        let parts = walk.next(look, found).await?;
        if parts.is_empty() {
            return Ok(());
        }
        check_entries(look, &parts, found).await?;
    }
}

async fn check_owners(look: &Look, owners: Vec<UserId>, window: Option<usize>, found: &mut Findings) -> Result<(), Error> {
    for owner in look.strangers(owners.iter().copied()).await? {
        found.add(&keys::home(owner), "there is no such account");
    }
    let Some(window) = window else { return Ok(()) };
    let sizes = look.ask(owners.iter().copied(), |owner| cmd("ZCARD").arg(keys::home(owner)).take()).await?;
    for owner in &owners {
        if let Some(size) = sizes.read::<usize>(owner).filter(|size| *size > window) {
            found.add_with(&keys::home(*owner), format!("holds more than {window}"), size.to_string());
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
    let edges = foreign.iter().map(|(part, _, author)| (part.of, *author));
    let follows = look.ask(edges, |(owner, author)| cmd("ZSCORE").arg(following_key(owner)).arg(author.0).take()).await?;
    for (part, status, author) in foreign {
        if follows.score(&(part.of, author)).is_none() {
            found.add(&part.key, format!("status {status} is by {}, whom the owner does not follow", author.0));
        }
    }
    Ok(())
}
