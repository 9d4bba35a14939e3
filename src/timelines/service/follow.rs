//! Following and unfollowing, and what they do to a home.

use super::super::store::{self, MERGE};
use super::patiently;
use crate::app::App;
use crate::error::{Error, Outcome};
use crate::graph::service as graph;
use crate::ids::{StatusId, UserId};
use crate::statuses::service as statuses;
use std::collections::HashMap;

/// Whose home is filled up again inside the request: who follows at most this many.
const AT_ONCE: usize = 500;
/// Authors whose statuses are read in one pipeline, each at most a window's worth.
const AUTHORS: usize = 20;

/// Makes `viewer` follow `other`, and puts the other's latest statuses into the viewer's home before it answers.
///
/// # Errors
/// As [`graph::follow`].
pub async fn follow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    match graph::follow(app, viewer, other).await? {
        Some(follow) => Ok(fill_in(app, viewer, other, follow).await?),
        None => Ok(()), // Unfollowed meanwhile.
    }
}

/// Puts another's latest statuses into the viewer's home while that follow stands.
async fn fill_in(app: &App, viewer: UserId, other: UserId, follow: u64) -> Result<(), Error> {
    let mut latest = Latest::new(other, app.config().home_window);
    while let Some(ids) = latest.next(app).await? {
        if !put_in(app, viewer, other, Some(follow), &ids).await? {
            break; // Unfollowed meanwhile.
        }
    }
    Ok(())
}

/// Puts statuses into a home while that follow stands (`None` for its owner's own): `false` when it does not.
async fn put_in(app: &App, owner: UserId, author: UserId, follow: Option<u64>, ids: &[StatusId]) -> Result<bool, Error> {
    if !store::merge(app.db(), owner, author, follow, app.config().home_window, ids).await? {
        return Ok(false);
    }
    // What was deleted between the two may have been swept from this home before it came.
    let listed = statuses::listed(app, author, ids).await?;
    let deleted: Vec<StatusId> = ids.iter().zip(listed).filter(|(_, listed)| !listed).map(|(id, _)| *id).collect();
    store::remove(app.db(), &[owner], &deleted).await?;
    Ok(true)
}

/// Makes `viewer` follow `other` no longer, and takes the other's statuses out of the viewer's home before it answers. What had no
/// place beside them comes in again: before it answers too, or within seconds for one who follows more than 500.
///
/// # Errors
/// As [`graph::unfollow`].
pub async fn unfollow(app: &App, viewer: UserId, other: UserId) -> Result<(), Error> {
    if viewer == other {
        return Ok(());
    }
    if let Some(follow) = graph::unfollow(app, viewer, other).await? {
        // Followed again meanwhile: what was posted while this took the other side out is missing.
        return fill_in(app, viewer, other, follow).await;
    }
    // From here on nothing of theirs enters: what is there now stands among their latest, since a home is a window of the newest.
    let mut latest = Latest::new(other, app.config().home_window);
    while let Some(ids) = latest.next(app).await? {
        if !store::sweep(app.db(), viewer, other, &ids).await? {
            return Ok(()); // Followed again meanwhile.
        }
    }
    if graph::following_below(app, viewer, u64::MAX, AT_ONCE + 1).await?.len() <= AT_ONCE {
        return refill(app, viewer).await;
    }
    let app_ = app.clone();
    app.spawn(async move {
        if let Err(error) = patiently(|| refill(&app_, viewer)).await {
            tracing::error!(%error, user = viewer.0, "a home was not filled up again");
        }
    });
    Ok(())
}

/// Fills a home up again from below its oldest entry: everything newer of those one follows is there, since a home is a window
/// of the newest. Asks twenty profiles a round trip.
async fn refill(app: &App, owner: UserId) -> Result<(), Error> {
    let (count, oldest) = store::extent(app.db(), owner).await?;
    let room = app.config().home_window.saturating_sub(count);
    let oldest = if count == 0 { u64::MAX } else { oldest };
    let (mut found, mut below, mut authors) = (Vec::new(), u64::MAX, vec![(owner, None)]);
    while room > 0 && !authors.is_empty() {
        let ids: Vec<UserId> = authors.iter().map(|(author, _)| *author).collect();
        let lists = statuses::latest_of(app, &ids, oldest, room).await?;
        for ((author, follow), list) in authors.iter().zip(lists) {
            found.extend(list.into_iter().map(|id| (id, *author, *follow)));
        }
        found.sort_unstable_by_key(|(id, ..)| std::cmp::Reverse(*id));
        found.truncate(room);
        let rows = graph::following_below(app, owner, below, AUTHORS).await?;
        below = rows.last().map_or(0, |row| row.position);
        authors = rows.into_iter().map(|row| (UserId(row.member), Some(row.position))).collect();
    }
    let mut by_author: HashMap<_, Vec<StatusId>> = HashMap::new();
    for (id, author, follow) in found {
        by_author.entry((author, follow)).or_default().push(id);
    }
    for ((author, follow), ids) in by_author {
        for ids in ids.chunks(MERGE) {
            put_in(app, owner, author, follow, ids).await?;
        }
    }
    Ok(())
}

/// An author's newest statuses, as many as a home holds, in chunks that one script can take.
struct Latest {
    author: UserId,
    below: u64,
    left: usize,
}

impl Latest {
    const fn new(author: UserId, window: usize) -> Self {
        Self { author, below: u64::MAX, left: window }
    }

    /// The next chunk, newest first; `None` at the end.
    async fn next(&mut self, app: &App) -> Result<Option<Vec<StatusId>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let asked = self.left.min(MERGE);
        let ids = statuses::latest_below(app, self.author, self.below, asked).await?;
        let Some(last) = ids.last() else { return Ok(None) };
        self.below = last.0;
        self.left = if ids.len() < asked { 0 } else { self.left - asked };
        Ok(Some(ids))
    }
}
