//! Edits of statuses in GraphQL.

use super::super::service;
use super::{StatusObject, load, parse_id};
use crate::base::error::Outcome;
use crate::schema::{UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `editStatus`.
#[derive(InputObject)]
struct EditStatusInput {
    /// Id of a status of the viewer.
    status_id: ID,
    /// New text: 1 to 500 grapheme clusters, newlines allowed. Leading and trailing white space is removed.
    message: String,
}

payload! {
    {
        /// The status after the change. Null if there are user errors.
        status: StatusObject,
    }
    /// Result of `editStatus`.
    EditStatusPayload;
}

/// Mutations of texts of statuses.
#[derive(Default)]
pub struct EditMutation;

#[Object]
impl EditMutation {
    /// Changes the text of a status of the viewer, and nothing else. Everyone who can see the status can see all versions of it. A status can be edited 50
    /// times; one more edit fails with `LIMIT_REACHED`. Succeeds without a change if the status has this text. Requires a session.
    async fn edit_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status and its new text.")] input: EditStatusInput,
    ) -> Option<Result<EditStatusPayload>> {
        Some(edit(ctx, input).await.map(Into::into))
    }
}

async fn edit(ctx: &Context<'_>, input: EditStatusInput) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let edited: Outcome<_> = async {
        let id = parse_id(&input.status_id)?;
        service::edit(&request.app, viewer, id, &input.message).await?;
        Ok(id)
    }
    .await;
    let (edited, user_errors) = refuse(edited)?;
    request.reset_loaders();
    Ok((load(request, edited).await?, user_errors))
}
