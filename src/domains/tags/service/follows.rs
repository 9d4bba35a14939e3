//! Following tags. A home merges the followed tags when it is read, so that a posted status is not written to the homes of those who follow its tags.
//! Nobody else can find out who follows a tag.

use super::super::model::MAX_FOLLOWED_TAGS;
use super::super::store::follows as store;
use super::super::store::sets::{self, AddTagResult, AddedTag};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{TagId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::domains::entities::tag_name;
use crate::platform::events::service as events;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::cmp::Reverse;

/// Follows a tag; repeating it keeps the time of the first follow. The statuses of the tag are in the home when this returns. A charge and one script.
///
/// # Errors
/// `INVALID_INPUT` for a text that is no tag; `LIMIT_REACHED` at 100; `UNAUTHENTICATED` if `user` was deleted; `RATE_LIMITED`.
pub async fn follow(app: &App, user: UserId, name: &str) -> Outcome<TagId> {
    let tag = parse(name)?;
    charge(app, &[(Limit::SavedItems, Subject::Account(user))]).await?;
    match sets::add(app.db(), &store::followed_tags(user), &tag, app.next_id().await?).await? {
        AddTagResult::Added => {}
        AddTagResult::NoOwner => return Err(Error::Unauthenticated.into()),
        AddTagResult::LimitReached => return Err(limit_reached().into()),
    }
    events::publish_change(app, user.0);
    Ok(tag)
}

/// Stops following a tag. Changes nothing if `user` does not follow the tag. A charge and one script.
///
/// # Errors
/// `INVALID_INPUT` for a text that is no tag; `RATE_LIMITED`; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow(app: &App, user: UserId, name: &str) -> Outcome<TagId> {
    let tag = parse(name)?;
    charge(app, &[(Limit::SavedItems, Subject::Account(user))]).await?;
    sets::remove(app.db(), &store::followed_tags(user), &tag).await?;
    events::publish_change(app, user.0);
    Ok(tag)
}

/// The tag with a name in any form.
///
/// # Errors
/// `INVALID_INPUT` for a text that is no tag.
pub fn parse(name: &str) -> Result<TagId, UserError> {
    let invalid = || {
        let message =
            "The name must be a tag: letters, digits and underscores, at least one of them a letter, and at most 100 characters.";
        UserError::new(UserErrorCode::InvalidInput, message, &["name"])
    };
    tag_name(name).map(TagId::of_name).ok_or_else(invalid)
}

fn limit_reached() -> UserError {
    let message = format!("You can follow at most {MAX_FOLLOWED_TAGS} tags. Unfollow one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["name"])
}

/// A page of the tags that an account follows, newest follow first, with the follows' ids as positions. One command.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn followed(app: &App, user: UserId, args: &PageArgs) -> Result<Page<TagId>, Error> {
    let request = args.check(&app.cursors().await?, followed_scope(user))?;
    let set = store::followed_tags(user);
    let tags = sets::read(app.db(), &set.key, set.max).await?;
    page::read_page(&FollowedTagListing(tags), request).await
}

/// The scope of the cursors of [`followed`].
pub const fn followed_scope(user: UserId) -> CursorScope {
    CursorScope { kind: b'g', owner: user.0 }
}

/// The number of tags that an account follows. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_followed(app: &App, user: UserId) -> Result<u64, Error> {
    store::count_followed(app.db(), user).await
}

/// Deletes the set of tags that a deleted account followed. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_followed(app: &App, user: UserId) -> Result<(), Error> {
    store::purge_followed(app.db(), user).await
}

/// All tags that an account follows. The tags are few, so all are read, and pages are cut from them. A row has the follow's id as its member and its position.
struct FollowedTagListing(Vec<AddedTag>);

impl PageSource for FollowedTagListing {
    type Item = TagId;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let rows = |window: &Window| {
            let ids = self.0.iter().map(|tag| tag.id).filter(|id| window.above < *id && *id < window.below);
            let mut rows: Vec<Row> = ids.map(|id| Row { member: id, position: id }).collect();
            rows.sort_unstable_by_key(|row| (window.newest_first.then_some(Reverse(row.position)), row.position));
            rows.truncate(window.limit);
            rows
        };
        Ok(windows.iter().map(rows).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<TagId>>, Error> {
        let tag = |row: &Row| self.0.iter().find(|tag| tag.id == row.member).map(|tag| tag.tag.clone());
        Ok(rows.iter().map(tag).collect())
    }
}
