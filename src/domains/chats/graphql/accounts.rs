//! Accounts that chats name.

use crate::base::ids::UserId;
use crate::base::request::Request;
use crate::domains::relations::service as relations;
use crate::domains::users::UserObject;
use async_graphql::Result;

/// The account with this id, if the viewer can discover it.
pub(super) async fn find_account(request: &Request, id: Option<UserId>) -> Result<Option<UserObject>> {
    let Some(id) = id else { return Ok(None) };
    Ok(relations::find(&request.loaders(), id).await?.map(UserObject))
}
