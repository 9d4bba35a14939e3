//! The use cases of lists. What a change does to a list's timeline is the timelines' part, one floor up.
//!
//! Each change of several steps is a *commit*, one script that is the truth, and a *settling*, which makes the rest agree with it. An
//! entry of the journal is written before the commit and struck out after the settling.

use super::model::{MAX_LISTS, MAX_MEMBERS, NewList, UserList, name};
use super::store::{self, Added, CreateListResult, Taken};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{UserId, UserListId};
use crate::base::page::{self, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::graph::Edge;
use crate::domains::users::User;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::sync::Arc;

/// Makes a list. A charge, the journal, two scripts and a look; one script more with an idempotency key.
///
/// With a key that was used in the last 24 hours the same list comes back and its steps are done again, which changes nothing; `None`
/// when it has been deleted since.
///
/// # Errors
/// `INVALID_NAME`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; `LIMIT_REACHED` past 50; `RATE_LIMITED`, also for a repetition.
pub async fn create(app: &App, owner: UserId, new: NewList) -> Outcome<Option<UserListId>> {
    let new = new.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Lists, Subject::Account(owner))]).await?;
    let mut id = UserListId(app.next_id().await?);
    let keyed = new.idempotency_key.as_deref().map(|key| IdempotentRequest::new("createUserList", key, &new.name));
    if let Some(keyed) = &keyed {
        id = UserListId(idempotency::remember(app, owner, keyed, id.0).await?);
    }
    let lease = journal::begin(app, Task::List { owner, list: id, name: new.name.clone() }).await?;
    match store::add_list(app.db(), owner, id).await? {
        CreateListResult::Stands => {
            store::write_list(app.db(), owner, id, &new.name).await?;
            let stands = agree_on_list(app, owner, id, &new.name, Some(true)).await?;
            lease.ack(app);
            Ok(stands.then_some(id))
        }
        CreateListResult::Dropped => {
            lease.ack(app);
            Ok(None)
        }
        refused => {
            lease.ack(app);
            if let Some(keyed) = &keyed {
                idempotency::forget(app, owner, keyed, id.0).await?;
            }
            Err(if refused == CreateListResult::NoAccount { Error::Unauthenticated.into() } else { too_many_lists().into() })
        }
    }
}

/// Gives a list another name. A charge, a look and one script.
///
/// # Errors
/// `INVALID_NAME`; `NOT_FOUND` when there is no such list of `owner`; `RATE_LIMITED`.
pub async fn rename(app: &App, owner: UserId, id: UserListId, new: &str) -> Outcome<()> {
    let name = name(new)?;
    charge(app, &[(Limit::Lists, Subject::Account(owner))]).await?;
    owned(app, owner, id).await?;
    if store::rename_list(app.db(), id, &name).await? { Ok(()) } else { Err(not_found().into()) }
}

/// Takes a list from its owner: the commit. Nobody sees it from here on. One script.
///
/// # Errors
/// `NOT_FOUND` when there is no such list of `owner`, also the second time.
pub async fn delete(app: &App, owner: UserId, id: UserListId) -> Outcome<()> {
    match store::remove_list(app.db(), owner, id, app.now()).await? {
        Taken::Now => Ok(()),
        Taken::Before | Taken::NotThere => Err(not_found().into()),
    }
}

/// What must hold before `owner` may change a list, and is paid for; the list. A charge and a look.
///
/// # Errors
/// `NOT_FOUND` when there is no such list of `owner`; `RATE_LIMITED`.
pub async fn may_change(app: &App, owner: UserId, id: UserListId) -> Outcome<UserList> {
    charge(app, &[(Limit::Lists, Subject::Account(owner))]).await?;
    owned(app, owner, id).await
}

/// Puts somebody on a list: the commit. One script.
///
/// # Errors
/// `NOT_FOUND` when there is no such list; `LIMIT_REACHED` past 500.
pub async fn add(app: &App, id: UserListId, user: UserId) -> Outcome<()> {
    match store::add_member(app.db(), id, user, app.next_id().await?).await? {
        Added::Stands(_) => Ok(()),
        Added::NoList => Err(not_found().into()),
        Added::LimitReached => Err(too_many_members().into()),
    }
}

/// Takes somebody off a list: the commit. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove(app: &App, id: UserListId, user: UserId) -> Result<(), Error> {
    store::remove_member(app.db(), id, user, app.next_id().await?).await.map(drop)
}

/// Whether somebody is on a list, and whether something of them may be in its timeline still. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn edge(app: &App, id: UserListId, user: UserId) -> Result<Edge, Error> {
    store::edge(app.db(), id, user).await
}

/// Makes the member's side say what the list's says; `false` when that account is gone, and then it is on the list no longer. One script. The
/// caller looks at the list's side before and after, and again if it has changed.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_member(app: &App, id: UserListId, user: UserId, edge: Edge) -> Result<bool, Error> {
    let Some(membership) = edge.follow else {
        store::remove_membership(app.db(), user, id).await?;
        return Ok(true);
    };
    let there = store::add_membership(app.db(), user, id, membership).await?;
    if !there {
        remove(app, id, user).await?;
    }
    Ok(there)
}

/// Nothing of somebody is in a list's timeline any more who was taken off it by this removal, or an earlier one. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget_removed(app: &App, id: UserListId, user: UserId, removal: u64) -> Result<(), Error> {
    store::forget_removed(app.db(), id, user, removal).await
}

/// Whether `owner` has this list. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_of(app: &App, owner: UserId, id: UserListId) -> Result<bool, Error> {
    store::has_list(app.db(), owner, id).await
}

/// How often the members of lists have changed so far. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn changes(app: &App, ids: &[UserListId]) -> Result<Vec<u64>, Error> {
    store::changes(app.db(), ids).await
}

/// Who is on a list, all of them in no order, and how often that has changed so far. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sources(app: &App, id: UserListId) -> Result<(Vec<UserId>, u64), Error> {
    store::sources(app.db(), id).await
}

/// Makes everything agree with whether `owner` has this list, which had this name when it was made, and returns whether they do. At any
/// time, and as often as one likes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: settle again.
pub async fn settle_list(app: &App, owner: UserId, id: UserListId, name: &str) -> Result<bool, Error> {
    agree_on_list(app, owner, id, name, None).await
}

/// Goes on until what was `written` is what the owner's side says.
async fn agree_on_list(app: &App, owner: UserId, id: UserListId, name: &str, mut written: Option<bool>) -> Result<bool, Error> {
    loop {
        let stands = store::has_list(app.db(), owner, id).await?;
        if written == Some(stands) {
            return Ok(stands);
        }
        if stands {
            store::write_list(app.db(), owner, id, name).await?;
        } else {
            erase(app, id).await?;
        }
        written = Some(stands);
    }
}

/// Takes away all that follows from a list. From its first command on nobody is on it; those who were are found until the last one has
/// ended.
async fn erase(app: &App, id: UserListId) -> Result<(), Error> {
    store::erase_list(app.db(), id).await?;
    loop {
        let rows = members_below(app, id, u64::MAX, MAX_MEMBERS).await?;
        let users: Vec<UserId> = rows.iter().map(|row| UserId(row.member)).collect();
        let parts = users.iter().map(|user| Task::Source { feed: Feed::List(id), source: *user });
        let parts = journal::begin_subtasks(app, parts).await?;
        store::erase_members(app.db(), id, &users).await?;
        parts.ack(app);
        if users.len() < MAX_MEMBERS {
            return Ok(());
        }
    }
}

/// What became of a list that its owner's side did not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relisted {
    /// Its owner has it again.
    Stands,
    /// It was deleted, or its owner's account was: what is left of it is to go.
    Gone,
    /// Its owner has as many lists as one may.
    NoRoom,
}

/// Lists a list under the owner that it names, unless it was deleted: its record is written after its owner's side and goes after it, so it was
/// theirs. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn list_again(app: &App, owner: UserId, id: UserListId) -> Result<Relisted, Error> {
    if store::owners(app.db(), &[id]).await? != [Some(owner)] {
        return Ok(Relisted::Stands);
    }
    Ok(match store::add_list(app.db(), owner, id).await? {
        CreateListResult::Stands => Relisted::Stands,
        CreateListResult::LimitReached => Relisted::NoRoom,
        CreateListResult::Dropped | CreateListResult::NoAccount => Relisted::Gone,
    })
}

/// Takes away what is left of a list without a record, from its owner too; `false` when the record is there. A look, a script and pipelines.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn end(app: &App, owner: Option<UserId>, id: UserListId) -> Result<bool, Error> {
    if store::exists(app.db(), id).await? {
        return Ok(false);
    }
    if let Some(owner) = owner {
        store::remove_list(app.db(), owner, id, app.now()).await?;
    }
    erase(app, id).await?;
    Ok(true)
}

/// Those of `ids` whose records name no other owner. One pipeline; none costs nothing.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn not_of_others(app: &App, owner: UserId, ids: &[UserListId]) -> Result<Vec<UserListId>, Error> {
    let owners = store::owners(app.db(), ids).await?;
    Ok(ids.iter().zip(owners).filter(|(_, of)| of.is_none_or(|of| of == owner)).map(|(id, _)| *id).collect())
}

/// Up to `limit` of an account's lists, whether the account is there or not. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn some_of(app: &App, owner: UserId, limit: usize) -> Result<Vec<UserListId>, Error> {
    let rows = first(store::lists(app.db(), owner, &[newest(u64::MAX, limit)]).await)?;
    Ok(rows.into_iter().map(|row| UserListId(row.member)).collect())
}

/// Forgets lists of an account that is gone, of which nothing is left but that it had them. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget_all(app: &App, owner: UserId, ids: &[UserListId]) -> Result<(), Error> {
    store::forget_lists(app.db(), owner, ids).await
}

/// A list of `owner`. One pipeline.
async fn owned(app: &App, owner: UserId, id: UserListId) -> Outcome<UserList> {
    let list = store::load(app.db(), owner, &[id]).await?.pop().flatten();
    list.ok_or_else(|| not_found().into())
}

/// How many lists an account has. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count(app: &App, owner: UserId) -> Result<u64, Error> {
    store::count(app.db(), owner).await
}

/// Up to `limit` of the lists that somebody is on, below the membership `below`, newest first, each with its membership as place. For
/// fan-out.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn memberships_below(app: &App, user: UserId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    first(store::memberships(app.db(), user, &[newest(below, limit)]).await)
}

/// Up to `limit` of those on a list below the membership `below`, newest first, each with its membership as place.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn members_below(app: &App, id: UserListId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    first(store::members(app.db(), id, &[newest(below, limit)]).await)
}

const fn newest(below: u64, limit: usize) -> Window {
    Window { below, above: 0, newest_first: true, limit }
}

fn first(windows: Result<Vec<Vec<Row>>, Error>) -> Result<Vec<Row>, Error> {
    Ok(windows?.pop().unwrap_or_default())
}

/// A page of an account's lists, newest first. For itself alone: to others there are none.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn lists(app: &App, loaders: &Loaders, owner: UserId, args: &PageArgs) -> Result<Page<Arc<UserList>>, Error> {
    let request = args.check(&app.cursors().await?, lists_id(owner))?;
    page::fill(&Lists { app, loaders, owner }, request).await
}

/// The list that a cursor of [`lists`] belongs to.
pub const fn lists_id(owner: UserId) -> page::ListId {
    page::ListId { kind: b'n', owner: owner.0 }
}

struct Lists<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    owner: UserId,
}

impl PageSource for Lists<'_> {
    type Item = Arc<UserList>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::lists(self.app.db(), self.owner, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<UserList>>>, Error> {
        self.loaders.lists.load_many(rows.iter().map(|row| UserListId(row.member))).await
    }
}

/// A page of those on a list, newest membership first, each with its membership as place.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn members(app: &App, loaders: &Loaders, id: UserListId, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, members_id(id))?;
    page::fill(&Members { app, loaders, id }, request).await
}

/// The list that a cursor of [`members`] belongs to.
pub const fn members_id(id: UserListId) -> page::ListId {
    page::ListId { kind: b'm', owner: id.0 }
}

struct Members<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: UserListId,
}

impl PageSource for Members<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::members(self.app.db(), self.id, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        self.loaders.users.load_many(rows.iter().map(|row| UserId(row.member))).await
    }
}

/// The row for a list that is not there, or another's.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such list of yours.", &["listId"])
}

/// The row for somebody who is not there.
pub fn no_account() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such account.", &["userId"])
}

fn too_many_lists() -> UserError {
    let message = format!("One has at most {MAX_LISTS} lists. Delete one first.");
    UserError::new(UserErrorCode::LimitReached, message, &[])
}

fn too_many_members() -> UserError {
    let message = format!("A list has at most {MAX_MEMBERS} members. Take somebody off it first.");
    UserError::new(UserErrorCode::LimitReached, message, &["listId"])
}
