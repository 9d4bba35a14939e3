//! Lists' timelines, and what changes of lists do to them. A list's timeline is not kept yet: a page is merged from its members' profiles.

use crate::app::App;
use crate::error::{Error, Outcome};
use crate::ids::{StatusId, UserId, UserListId};
use crate::lists::{MAX_MEMBERS, service as lists};
use crate::page::{self, Listing, Page, PageArgs, Row, Window};
use crate::request::Loaders;
use crate::statuses::{Seen, service as statuses};

/// Puts somebody on a list of `owner`: their latest statuses are in its timeline when this answers.
///
/// # Errors
/// As [`lists::add`].
pub async fn add_to_list(app: &App, owner: UserId, list: UserListId, user: UserId) -> Outcome<()> {
    // Journal: (list, user), from before the commit in `add` to the end.
    lists::add(app, owner, list, user).await?;
    // Here a kept timeline is filled with their latest, while the membership that `add` returned stands.
    Ok(())
}

/// Takes somebody off a list of `owner`: their statuses are out of its timeline when this answers.
///
/// # Errors
/// As [`lists::remove`].
pub async fn remove_from_list(app: &App, owner: UserId, list: UserListId, user: UserId) -> Outcome<()> {
    // Journal: (list, user), from before the commit in `remove` to the end.
    if let Some(removal) = lists::remove(app, owner, list, user).await? {
        // Here a kept timeline is swept of them and filled up again. One that is merged when it is read holds nothing of theirs.
        lists::swept(app, list, user, removal).await?;
    }
    Ok(())
}

/// Deletes a list of `owner`, and its timeline.
///
/// # Errors
/// As [`lists::delete`].
pub async fn delete_list(app: &App, owner: UserId, list: UserListId) -> Outcome<()> {
    // Journal: (owner, list), from before the commit in `delete` to the end.
    lists::delete(app, owner, list).await
    // Here a kept timeline is taken away.
}

/// A page of a list's timeline, newest first. One command for the members, one pipeline over their profiles, one batch of statuses.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn list(app: &App, loaders: &Loaders, list: UserListId, args: &PageArgs) -> Result<Page<Seen>, Error> {
    let request = args.check(&app.cursors().await?, list_id(list))?;
    page::fill(&Merged { app, loaders, authors: authors(app, list).await? }, request).await
}

/// The list that a cursor of [`list()`] belongs to.
pub const fn list_id(list: UserListId) -> page::ListId {
    page::ListId { kind: b't', owner: list.0 }
}

/// The place of a list's newest status, 0 without any.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list_head(app: &App, list: UserListId) -> Result<u64, Error> {
    let newest = Window { below: u64::MAX, above: 0, newest_first: true, limit: 1 };
    let rows = merge(app, &authors(app, list).await?, &newest).await?;
    Ok(rows.first().map_or(0, |row| row.position))
}

async fn authors(app: &App, list: UserListId) -> Result<Vec<UserId>, Error> {
    let rows = lists::members_below(app, list, u64::MAX, MAX_MEMBERS).await?;
    Ok(rows.into_iter().map(|row| UserId(row.member)).collect())
}

struct Merged<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    authors: Vec<UserId>,
}

impl Listing for Merged<'_> {
    type Item = Seen;

    async fn skeleton(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let mut found = Vec::with_capacity(windows.len());
        for window in windows {
            found.push(merge(self.app, &self.authors, window).await?);
        }
        Ok(found)
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Seen>>, Error> {
        self.loaders.statuses.load_many(rows.iter().map(|row| StatusId(row.member))).await
    }
}

/// One window over several profiles.
async fn merge(app: &App, authors: &[UserId], window: &Window) -> Result<Vec<Row>, Error> {
    let windows: Vec<(UserId, Window)> = authors.iter().map(|author| (*author, *window)).collect();
    let mut rows = statuses::windows(app, &windows).await?.concat();
    rows.sort_unstable_by_key(|row| row.position);
    if window.newest_first {
        rows.reverse();
    }
    rows.truncate(window.limit);
    Ok(rows)
}
