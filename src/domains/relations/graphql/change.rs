//! Applies a change between the viewer and another account, for the mutations of follows, friends, blocks and mutes.

use super::super::service as relations;
use crate::base::error::Outcome;
use crate::base::ids::UserId;
use crate::base::request::{Loaders, Request};
use crate::domains::users::UserObject;
use crate::schema::{UserError, refuse, request};
use async_graphql::{Context, Result};

/// Both accounts after a change, the other one and the viewer's, and the user errors. Without accounts if there are user errors.
pub type ChangedAccounts = (Option<UserObject>, Option<UserObject>, Vec<UserError>);

/// Applies a change between the viewer and the account with this id, if the viewer can discover it. A lookup, the change and a read of both accounts.
///
/// # Errors
/// `UNAUTHENTICATED`; `NOT_FOUND` is a user error; those of `change`.
pub async fn change_relation(
    ctx: &Context<'_>,
    id: &str,
    change: impl AsyncFnOnce(&Request, UserId, UserId) -> Outcome<()>,
) -> Result<ChangedAccounts> {
    change_found(ctx, async |loaders: &Loaders| relations::find_by_global_id(loaders, id).await, change).await
}

/// As [`change_relation`], for the account that `find` returns.
pub(super) async fn change_found(
    ctx: &Context<'_>,
    find: impl AsyncFnOnce(&Loaders) -> Outcome<UserId>,
    change: impl AsyncFnOnce(&Request, UserId, UserId) -> Outcome<()>,
) -> Result<ChangedAccounts> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<UserId> = async {
        let other = find(&request.loaders()).await?;
        change(request, viewer, other).await?;
        Ok(other)
    }
    .await;
    let (other, user_errors) = refuse(changed)?;
    request.reset_loaders();
    let Some(other) = other else { return Ok((None, None, user_errors)) };
    let loaders = request.loaders();
    let (other, viewer) = futures_util::try_join!(relations::find(&loaders, other), loaders.users.load(viewer))?;
    Ok((other.map(UserObject), viewer.map(UserObject), user_errors))
}
