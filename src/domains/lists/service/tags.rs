//! The tags of lists. When a list timeline is read, the statuses of its tags are merged into it, as those of followed tags are into a home.

use super::super::model::MAX_TAGS;
use super::super::store;
use super::{charge_change, not_found};
use crate::app::App;
use crate::base::error::{Outcome, UserError, UserErrorCode};
use crate::base::ids::{UserId, UserListId};
use crate::domains::tags::service as tags;
use crate::domains::tags::{AddTagResult, add_tag, remove_tag};
use crate::platform::events::service as events;

/// Adds a tag to a list of `owner`, unless the list has it. The statuses of the tag are in the timeline when this returns. A charge, a read and one
/// script.
///
/// # Errors
/// `INVALID_INPUT` for a text that is no tag; `LIMIT_REACHED` at 20; as [`charge_change`].
pub async fn add(app: &App, owner: UserId, list: UserListId, name: &str) -> Outcome<()> {
    let tag = tags::parse(name)?;
    charge_change(app, owner, list).await?;
    match add_tag(app.db(), &store::list_tags(list), &tag, app.next_id().await?).await? {
        AddTagResult::Added => {}
        AddTagResult::NoOwner => return Err(not_found().into()),
        AddTagResult::LimitReached => return Err(limit_reached().into()),
    }
    events::publish_change(app, list.0);
    Ok(())
}

/// Removes a tag from a list of `owner`, if the list has it. A charge, a read and one script.
///
/// # Errors
/// `INVALID_INPUT` for a text that is no tag; as [`charge_change`].
pub async fn remove(app: &App, owner: UserId, list: UserListId, name: &str) -> Outcome<()> {
    let tag = tags::parse(name)?;
    charge_change(app, owner, list).await?;
    remove_tag(app.db(), &store::list_tags(list), &tag).await?;
    events::publish_change(app, list.0);
    Ok(())
}

fn limit_reached() -> UserError {
    let message = format!("A list can have at most {MAX_TAGS} tags. Remove one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["name"])
}
