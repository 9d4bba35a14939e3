//! The tags of lists in GraphQL.

use super::super::service::tags as service;
use super::{ListPayload, UserListObject, load_current, parse_id};
use crate::base::error::Outcome;
use crate::base::ids::UserListId;
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `addTagToList`.
#[derive(InputObject)]
struct AddTagToListInput {
    /// Id of a list of the viewer.
    list_id: ID,
    /// Name of the tag, with or without `#`. Case and Unicode compatibility forms do not matter.
    name: String,
}

/// Input of `removeTagFromList`.
#[derive(InputObject)]
struct RemoveTagFromListInput {
    /// Id of a list of the viewer.
    list_id: ID,
    /// Name of the tag, with or without `#`. Case and Unicode compatibility forms do not matter.
    name: String,
}

payload! {
    {
        /// The list after the change. Null if there are user errors.
        user_list: UserListObject,
    }
    /// Result of `addTagToList`.
    AddTagToListPayload;
    /// Result of `removeTagFromList`.
    RemoveTagFromListPayload;
}

/// Mutations of the tags of lists.
#[derive(Default)]
pub struct ListTagMutation;

#[Object]
impl ListTagMutation {
    /// Adds a tag to a list: its timeline also shows public statuses with the tag, from all accounts, except replies. On return they are in the
    /// timeline. Succeeds without a change if the list has the tag already. A list has at most 20 tags; one more fails with `LIMIT_REACHED`. Requires a
    /// session.
    async fn add_tag_to_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list and the tag to add.")] input: AddTagToListInput,
    ) -> Option<Result<AddTagToListPayload>> {
        Some(change(ctx, &input.list_id, &input.name, true).await.map(Into::into))
    }

    /// Removes a tag from a list. On return the list's timeline no longer has statuses that were in it only because of the tag. Succeeds without a change
    /// if the list does not have the tag. Requires a session.
    async fn remove_tag_from_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list and the tag to remove.")] input: RemoveTagFromListInput,
    ) -> Option<Result<RemoveTagFromListPayload>> {
        Some(change(ctx, &input.list_id, &input.name, false).await.map(Into::into))
    }
}

async fn change(ctx: &Context<'_>, list: &str, name: &str, is_added: bool) -> Result<ListPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<UserListId> = async {
        let list = parse_id(list)?;
        match is_added {
            true => service::add(&request.app, viewer, list, name).await?,
            false => service::remove(&request.app, viewer, list, name).await?,
        }
        Ok(list)
    }
    .await;
    let (changed, user_errors) = refuse(changed)?;
    Ok((load_current(request, changed).await?, user_errors))
}
