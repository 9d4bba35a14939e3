//! Lists in GraphQL.

use super::model::{NewList, UserList};
use super::service;
use crate::base::error::Outcome;
use crate::base::ids::{UserId, UserListId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::timelines::{self, Timeline};
use crate::domains::users::UserObject;
use crate::schema::{
    AddedAt, Connection, ConnectionKind, DateTime, DirectSerialize, Text, TotalCount, UserError, refuse, request,
};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use std::sync::Arc;

/// A list of the viewer.
pub struct UserListObject(pub Arc<UserList>);

/// A named list of users with a timeline of its own. One need not follow the people on it, and they are not told. Only its owner sees it.
#[Object(name = "UserList")]
impl UserListObject {
    /// Its id.
    pub async fn id(&self) -> ID {
        self.0.id.global().into()
    }

    /// Its name: 1 to 50 characters, not unique.
    async fn name(&self) -> Text<'_> {
        Text(&self.0.name)
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.id.time())
    }

    /// Those on it, whoever was put there last first. At most 500.
    async fn members(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the newest: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the oldest: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
    ) -> Result<Connection<Members>> {
        Box::pin(self.page_of_members(request(ctx)?, PageArgs { first, after, last, before })).await
    }

    /// What those on it say, newest first.
    async fn timeline(&self) -> Timeline {
        Timeline::List(self.0.id)
    }
}

impl UserListObject {
    async fn page_of_members(&self, request: &Request, args: PageArgs) -> Result<Connection<Members>> {
        let page = service::members(&request.app, &request.loaders(), self.0.id, &args).await?;
        let total = TotalCount::Loaded(self.0.members);
        let member = |position, user| (UserObject(user), AddedAt::from_position(position));
        Connection::from_page(request, page, service::members_id(self.0.id), total, member).await
    }
}

impl DirectSerialize for UserListObject {}

/// The accounts on a list.
struct Members;

impl ConnectionKind for Members {
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

/// What can be read of lists.
#[derive(Default)]
pub struct ListQuery;

#[Object]
impl ListQuery {
    /// The viewer's lists, the newest first. Needs a session.
    async fn viewer_lists(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the newest: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the oldest: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
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
    Connection::from_page(request, page, service::lists_id(owner), total, list).await
}

/// A list to make.
#[derive(InputObject)]
struct CreateUserListInput {
    /// 1 to 50 characters as a reader counts them. Several lists may have one name.
    name: String,
    /// 1 to 64 visible ASCII characters of your choice. The same key within 24 hours gives the first answer again.
    idempotency_key: Option<String>,
}

/// Another name for a list.
#[derive(InputObject)]
struct RenameUserListInput {
    /// A list of the viewer.
    list_id: ID,
    /// 1 to 50 characters as a reader counts them.
    name: String,
}

/// Which list to delete.
#[derive(InputObject)]
struct DeleteUserListInput {
    /// A list of the viewer.
    list_id: ID,
}

/// Whom to put on which list.
#[derive(InputObject)]
struct AddUserToListInput {
    /// A list of the viewer.
    list_id: ID,
    /// The account. The viewer need not follow it; it may be the viewer's own.
    user_id: ID,
}

/// Whom to take off which list.
#[derive(InputObject)]
struct RemoveUserFromListInput {
    /// A list of the viewer.
    list_id: ID,
    /// The account.
    user_id: ID,
}

/// Declares a payload with a list.
macro_rules! list_payload {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(SimpleObject)]
        struct $name {
            /// The list as it is now; null when there are errors.
            user_list: Option<UserListObject>,
            /// What is wrong with the input; empty on success.
            user_errors: Vec<UserError>,
        }
    )*};
}

list_payload! {
    /// What came of making a list. A repeated request whose list has been deleted since has neither list nor errors.
    CreateUserListPayload;
    /// What came of renaming a list.
    RenameUserListPayload;
    /// What came of putting somebody on a list.
    AddUserToListPayload;
    /// What came of taking somebody off a list.
    RemoveUserFromListPayload;
}

/// What came of deleting a list.
#[derive(SimpleObject)]
struct DeleteUserListPayload {
    /// The list that is gone; null when there are errors.
    deleted_user_list_id: Option<ID>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be changed of lists.
#[derive(Default)]
pub struct ListMutation;

#[Object]
impl ListMutation {
    /// Makes a list of users, of which one may have 50. Only the viewer sees it. Needs a session.
    async fn create_user_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list to make.")] input: CreateUserListInput,
    ) -> Option<Result<CreateUserListPayload>> {
        let made = create(ctx, input).await;
        Some(made.map(|(user_list, user_errors)| CreateUserListPayload { user_list, user_errors }))
    }

    /// Gives a list of the viewer another name. Needs a session.
    async fn rename_user_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list and its new name.")] input: RenameUserListInput,
    ) -> Option<Result<RenameUserListPayload>> {
        let renamed = rename(ctx, input).await;
        Some(renamed.map(|(user_list, user_errors)| RenameUserListPayload { user_list, user_errors }))
    }

    /// Deletes a list of the viewer, and with it its timeline. Needs a session.
    async fn delete_user_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which list to delete.")] input: DeleteUserListInput,
    ) -> Option<Result<DeleteUserListPayload>> {
        Some(delete(ctx, input).await)
    }

    /// Puts somebody on a list of the viewer, which holds 500: their latest statuses are in its timeline when this answers. Doing it
    /// again changes nothing. Needs a session.
    async fn add_user_to_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom to put on which list.")] input: AddUserToListInput,
    ) -> Option<Result<AddUserToListPayload>> {
        let added = change(ctx, &input.list_id, &input.user_id, true).await;
        Some(added.map(|(user_list, user_errors)| AddUserToListPayload { user_list, user_errors }))
    }

    /// Takes somebody off a list of the viewer: their statuses are out of its timeline when this answers. Undoing what is not done
    /// changes nothing. Needs a session.
    async fn remove_user_from_list(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom to take off which list.")] input: RemoveUserFromListInput,
    ) -> Option<Result<RemoveUserFromListPayload>> {
        let removed = change(ctx, &input.list_id, &input.user_id, false).await;
        Some(removed.map(|(user_list, user_errors)| RemoveUserFromListPayload { user_list, user_errors }))
    }
}

type Changed = (Option<UserListObject>, Vec<UserError>);

async fn create(ctx: &Context<'_>, input: CreateUserListInput) -> Result<Changed> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let new = NewList { name: input.name, idempotency_key: input.idempotency_key };
    let (made, user_errors) = refuse(service::create(&request.app, viewer, new).await)?;
    Ok((as_it_is_now(request, made.flatten()).await?, user_errors))
}

async fn rename(ctx: &Context<'_>, input: RenameUserListInput) -> Result<Changed> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let renamed: Outcome<UserListId> = async {
        let id = known(&input.list_id)?;
        service::rename(&request.app, viewer, id, &input.name).await?;
        Ok(id)
    }
    .await;
    let (renamed, user_errors) = refuse(renamed)?;
    Ok((as_it_is_now(request, renamed).await?, user_errors))
}

async fn delete(ctx: &Context<'_>, input: DeleteUserListInput) -> Result<DeleteUserListPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let deleted: Outcome<UserListId> = async {
        let id = known(&input.list_id)?;
        timelines::service::delete_list(&request.app, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (deleted, user_errors) = refuse(deleted)?;
    request.reset_loaders();
    Ok(DeleteUserListPayload { deleted_user_list_id: deleted.map(|id| id.global().into()), user_errors })
}

async fn change(ctx: &Context<'_>, list: &str, user: &str, on: bool) -> Result<Changed> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let (changed, user_errors) = refuse(apply(request, viewer, list, user, on).await)?;
    Ok((as_it_is_now(request, changed).await?, user_errors))
}

async fn apply(request: &Request, viewer: UserId, list: &str, user: &str, on: bool) -> Outcome<UserListId> {
    let id = known(list)?;
    let user = UserId::from_global(user).ok_or_else(service::no_account)?;
    if request.loaders().users.load(user).await?.is_none() {
        return Err(service::no_account().into());
    }
    if on {
        timelines::service::add_to_list(&request.app, viewer, id, user).await?;
    } else {
        timelines::service::remove_from_list(&request.app, viewer, id, user).await?;
    }
    Ok(id)
}

fn known(id: &str) -> Outcome<UserListId> {
    UserListId::from_global(id).ok_or_else(|| service::not_found().into())
}

async fn as_it_is_now(request: &Request, id: Option<UserListId>) -> Result<Option<UserListObject>> {
    request.reset_loaders();
    match id {
        Some(id) => Ok(request.loaders().lists.load(id).await?.map(UserListObject)),
        None => Ok(None),
    }
}
