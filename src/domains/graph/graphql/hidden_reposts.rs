//! Whether the home shows the reposts of a followed account, in GraphQL.

use super::super::service;
use crate::base::request::Request;
use crate::domains::relations::change_relation;
use crate::domains::users::UserObject;
use crate::schema::payload;
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `setRepostsShown`.
#[derive(InputObject)]
struct SetRepostsShownInput {
    /// Id of an account that the viewer follows.
    user_id: ID,
    /// Whether the viewer's home timeline shows the reposts of the account.
    shown: bool,
}

payload! {
    {
        /// The account after the change. Null if there are user errors.
        user: UserObject,
    }
    /// Result of `setRepostsShown`.
    SetRepostsShownPayload;
}

/// Mutations that hide or show the reposts of an account.
#[derive(Default)]
pub struct RepostChoiceMutation;

#[Object]
impl RepostChoiceMutation {
    /// Sets whether the viewer's home timeline shows the reposts of a followed account. Default: shown; unfollowing the account resets it. Timelines of lists
    /// are not affected. Fails with `INVALID_INPUT` for an account that the viewer does not follow. Requires a session.
    async fn set_reposts_shown(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account, and whether its reposts are shown.")] input: SetRepostsShownInput,
    ) -> Option<Result<SetRepostsShownPayload>> {
        let shown = input.shown;
        let set = async |request: &Request, viewer, other| service::set_reposts_shown(&request.app, viewer, other, shown).await;
        let changed = change_relation(ctx, &input.user_id, set).await;
        Some(changed.map(|(user, _, user_errors)| (user, user_errors).into()))
    }
}
