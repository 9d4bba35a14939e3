//! Lists in GraphQL.

mod tags;

pub use tags::ListTagMutation;

use super::model::{NewList, UserList};
use super::service;
use crate::base::error::Outcome;
use crate::base::ids::{UserId, UserListId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::entities::TagObject;
use crate::domains::relations;
use crate::domains::timelines::{self, Timeline};
use crate::domains::users::UserObject;
use crate::schema::{
    AddedAt, Connection, ConnectionKind, DateTime, DirectSerialize, List, Text, TotalCount, UserError, payload, refuse, request,
};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, ID, InputObject, Object, Result};
use std::sync::Arc;

/// A list of the viewer.
pub struct UserListObject(pub Arc<UserList>);

/// A named list of accounts and tags with a timeline of its own. The owner need not follow the members, and members are not notified. Visible to its owner
/// only.
#[Object(name = "UserList")]
impl UserListObject {
    /// Global id, accepted by `node`.
    pub async fn id(&self) -> ID {
        self.0.id.global().into()
    }

    /// Name: 1 to 50 grapheme clusters, not unique.
    async fn name(&self) -> Text<'_> {
        Text(&self.0.name)
    }

    /// Time of creation.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.id.time())
    }

    /// Members of the list, the most recently added first. At most 500.
    async fn members(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<ListMembers>> {
        Box::pin(self.page_of_members(request(ctx)?, PageArgs { first, after, last, before })).await
    }

    /// Tags of the list, in the order of adding. At most 20.
    async fn tags(&self, ctx: &Context<'_>) -> Result<List<TagObject>> {
        let tags = Box::pin(request(ctx)?.loaders().list_tags.load(self.0.id)).await?;
        Ok(List(tags.iter().cloned().map(TagObject).collect()))
    }

    /// Statuses and reposts of the members, and public statuses that have a tag of the list, from all accounts, except replies. Newest first. Replies of
    /// members are shown if they are by the viewer, or to the viewer, their own author or a member.
    async fn timeline(&self) -> Timeline {
        Timeline::List(self.0.id)
    }
}

impl UserListObject {
    async fn page_of_members(&self, request: &Request, args: PageArgs) -> Result<Connection<ListMembers>> {
        let page = service::members(&request.app, &request.loaders(), self.0.id, &args).await?;
        let total = TotalCount::Loaded(self.0.members);
        let member = |position, user| (UserObject(user), AddedAt::from_position(position));
        Connection::from_page(request, page, service::members_scope(self.0.id), total, member).await
    }
}

impl DirectSerialize for UserListObject {}

/// The accounts on a list.
struct ListMembers;

impl ConnectionKind for ListMembers {
    const CONNECTION: &'static str = "UserListMemberConnection";
    const EDGE: &'static str = "UserListMemberEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = AddedAt;
}

/// The viewer's lists.
struct Lists;

impl ConnectionKind for Lists {
    const CONNECTION: &'static str = "UserListConnection";
    const EDGE: &'static str = "UserListEdge";
    type Node = UserListObject;
    type Fields = TotalCount;
    type EdgeFields = EmptyFields;
}

/// Queries of lists.
#[derive(Default)]
pub struct ListQuery;

#[Object]
impl ListQuery {
    /// Lists of the viewer, newest first. At most 50. Requires a session.
    async fn viewer_lists(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<Lists>>> {
        Some(Box::pin(page_of_lists(ctx, PageArgs { first, after, last, before })).await)
    }
}

async fn page_of_lists(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<Lists>> {
    let request = request(ctx)?;
    let owner = request.viewer()?.user;
    let page = service::lists(&request.app, &request.loaders(), owner, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count(app, owner)));
    let list = |_, list| (UserListObject(list), EmptyFields);
    Connection::from_page(request, page, service::lists_scope(owner), total, list).await
}

/// Input of `createUserList`.
#[derive(InputObject)]
struct CreateUserListInput {
    /// Name: 1 to 50 grapheme clusters. Several lists may have the same name.
    name: String,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `renameUserList`.
#[derive(InputObject)]
struct RenameUserListInput {
    /// Id of a list of the viewer.
    list_id: ID,
    /// New name: 1 to 50 grapheme clusters.
    name: String,
}

/// Input of `deleteUserList`.
#[derive(InputObject)]
struct DeleteUserListInput {
    /// Id of a list of the viewer.
    list_id: ID,
}

/// Input of `addUserToList`.
#[derive(InputObject)]
struct AddUserToListInput {
    /// Id of a list of the viewer.
    list_id: ID,
    /// Id of the account. It need not be followed by the viewer and may be the viewer's own.
    user_id: ID,
}

/// Input of `removeUserFromList`.
#[derive(InputObject)]
struct RemoveUserFromListInput {
    /// Id of a list of the viewer.
    list_id: ID,
    /// Id of the account.
    user_id: ID,
}

payload! {
    {
        /// The new list. Null if there are user errors, and in a repeated result if the list was deleted since.
        user_list: UserListObject,
    }
    /// Result of `createUserList`. If a request is repeated with its idempotency key after its list was deleted, `userList` is null and `userErrors`
    /// is empty.
    CreateUserListPayload;
}

payload! {
    {
        /// The list after the change. Null if there are user errors.
        user_list: UserListObject,
    }
    /// Result of `renameUserList`.
    RenameUserListPayload;
    /// Result of `addUserToList`.
    AddUserToListPayload;
    /// Result of `removeUserFromList`.
    RemoveUserFromListPayload;
}

payload! {
    {
        /// Id of the deleted list. Null if there are user errors.
        deleted_user_list_id: ID,
    }
    /// Result of `deleteUserList`.
    DeleteUserListPayload;
}

/// Mutations of lists.
#[derive(Default)]
pub struct ListMutation;

#[Object]
impl ListMutation {
    /// Creates a list of accounts. Only the viewer can see the list. An account has at most 50 lists; one more fails with `LIMIT_REACHED`. Requires a
    /// session.
    async fn create_user_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new list.")] input: CreateUserListInput,
    ) -> Option<Result<CreateUserListPayload>> {
        let created = create(ctx, input).await;
        Some(created.map(Into::into))
    }

    /// Renames a list of the viewer. Requires a session.
    async fn rename_user_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list and its new name.")] input: RenameUserListInput,
    ) -> Option<Result<RenameUserListPayload>> {
        let renamed = rename(ctx, input).await;
        Some(renamed.map(Into::into))
    }

    /// Deletes a list of the viewer and its timeline. Requires a session.
    async fn delete_user_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list to delete.")] input: DeleteUserListInput,
    ) -> Option<Result<DeleteUserListPayload>> {
        Some(delete(ctx, input).await)
    }

    /// Adds an account to a list of the viewer. On return the account's latest statuses are in the list's timeline. Succeeds without a change if it
    /// is a member already. A list has at most 500 members; one more fails with `LIMIT_REACHED`. Requires a session.
    async fn add_user_to_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list and the account to add.")] input: AddUserToListInput,
    ) -> Option<Result<AddUserToListPayload>> {
        let added = change(ctx, &input.list_id, &input.user_id, true).await;
        Some(added.map(Into::into))
    }

    /// Removes an account from a list of the viewer. On return its statuses are no longer in the list's timeline. Succeeds without a change if it is
    /// no member. Requires a session.
    async fn remove_user_from_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list and the account to remove.")] input: RemoveUserFromListInput,
    ) -> Option<Result<RemoveUserFromListPayload>> {
        let removed = change(ctx, &input.list_id, &input.user_id, false).await;
        Some(removed.map(Into::into))
    }
}

type ListPayload = (Option<UserListObject>, Vec<UserError>);

async fn create(ctx: &Context<'_>, input: CreateUserListInput) -> Result<ListPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let new = NewList { name: input.name, idempotency_key: input.idempotency_key };
    let (created, user_errors) = refuse(service::create(&request.app, viewer, new).await)?;
    Ok((load_current(request, created.flatten()).await?, user_errors))
}

async fn rename(ctx: &Context<'_>, input: RenameUserListInput) -> Result<ListPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let renamed: Outcome<UserListId> = async {
        let id = parse_id(&input.list_id)?;
        service::rename(&request.app, viewer, id, &input.name).await?;
        Ok(id)
    }
    .await;
    let (renamed, user_errors) = refuse(renamed)?;
    Ok((load_current(request, renamed).await?, user_errors))
}

async fn delete(ctx: &Context<'_>, input: DeleteUserListInput) -> Result<DeleteUserListPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let deleted: Outcome<UserListId> = async {
        let id = parse_id(&input.list_id)?;
        timelines::service::delete_list(&request.app, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (deleted, user_errors) = refuse(deleted)?;
    request.reset_loaders();
    Ok(DeleteUserListPayload { deleted_user_list_id: deleted.map(|id| id.global().into()), user_errors })
}

async fn change(ctx: &Context<'_>, list: &str, user: &str, is_added: bool) -> Result<ListPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let (changed, user_errors) = refuse(apply(request, viewer, list, user, is_added).await)?;
    Ok((load_current(request, changed).await?, user_errors))
}

async fn apply(request: &Request, viewer: UserId, list: &str, user: &str, is_added: bool) -> Outcome<UserListId> {
    let id = parse_id(list)?;
    let user = relations::service::find_by_global_id(&request.loaders(), user).await?;
    if is_added {
        relations::service::refuse_blocked(&request.loaders(), user).await?;
        timelines::service::add_to_list(&request.app, viewer, id, user).await?;
    } else {
        timelines::service::remove_from_list(&request.app, viewer, id, user).await?;
    }
    Ok(id)
}

fn parse_id(id: &str) -> Outcome<UserListId> {
    UserListId::from_global(id).ok_or_else(|| service::not_found().into())
}

async fn load_current(request: &Request, id: Option<UserListId>) -> Result<Option<UserListObject>> {
    request.reset_loaders();
    match id {
        Some(id) => Ok(request.loaders().lists.load(id).await?.map(UserListObject)),
        None => Ok(None),
    }
}
