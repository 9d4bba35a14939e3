//! The use cases of friends. The follows of friends, and their effects on homes, belong to the timelines, a higher layer.
//!
//! The lists of the account with the lower id decide about a pair, by one script that sees the requests of both. Two concurrent requests in
//! opposite directions therefore create one friendship, on any number of servers. The lists of the other account are written afterwards.

use super::super::access;
use super::super::model::friends::{FriendList, FriendshipState, MAX_FRIEND_REQUESTS, MAX_FRIENDS, Pair, PairState};
use super::super::store::blocks;
use super::super::store::friends::{self as store, FriendRequest, FriendRequestResult, ReservationKind, SlotResult};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::users::{User, service as users};
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{RelationKind, Task};
use std::sync::Arc;

/// Maximum number of entries that one pass removes from each of the three lists of an account.
const FRIENDS_PER_PASS: usize = 1_000;

/// Requests the friendship of `other`, or accepts the request of `other`: the commit; [`settle`] does the rest. Returns whether the two became
/// friends. One script. If the commit will add an entry to the friends or the sent requests of the account with the higher id, two scripts more: one
/// reserves a slot, which counts towards the limits of that account, and one tries the commit again.
///
/// # Errors
/// `LIMIT_REACHED` at 5,000 friends of either account, and at 1,000 sent requests; `NOT_FOUND` if `other` was deleted, and with
/// `only_accept` without a request; `UNAUTHENTICATED` if the viewer was deleted.
pub async fn request(app: &App, viewer: UserId, other: UserId, only_accept: bool) -> Outcome<bool> {
    let pair = Pair::of(viewer, other);
    let request = FriendRequest { pair, actor: viewer, only_accept, id: app.next_id().await? };
    let mut slot = None;
    loop {
        match store::request(app.db(), request, slot).await? {
            FriendRequestResult::Befriended => return Ok(true),
            FriendRequestResult::Pending | FriendRequestResult::AlreadyFriends => return Ok(false),
            FriendRequestResult::NoAccount => return Err(deleted(pair.first == viewer)),
            FriendRequestResult::FriendsLimit => return Err(friends_limit(pair.first == viewer).into()),
            FriendRequestResult::RequestsLimit => return Err(requests_limit().into()),
            FriendRequestResult::NoRequest => return Err(no_request().into()),
            FriendRequestResult::NeedsReservation(needed) => {
                reserve(app, pair, needed, request.id, viewer).await?;
                slot = Some(needed);
            }
        }
    }
}

/// Reserves a slot of the second account of a pair: the account with the higher id.
async fn reserve(app: &App, pair: Pair, slot: ReservationKind, id: u64, viewer: UserId) -> Outcome<()> {
    let is_viewer = pair.second == viewer;
    match (store::reserve(app.db(), pair, slot, id).await?, slot) {
        (SlotResult::Reserved, _) => Ok(()),
        (SlotResult::NoAccount, _) => Err(deleted(is_viewer)),
        (SlotResult::LimitReached, ReservationKind::Friend) => Err(friends_limit(is_viewer).into()),
        (SlotResult::LimitReached, ReservationKind::Request) => Err(requests_limit().into()),
    }
}

/// Whether two accounts are friends, as committed. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn are_friends(app: &App, a: UserId, b: UserId) -> Result<bool, Error> {
    Ok(store::state(app.db(), Pair::of(a, b)).await?.friendship.is_some())
}

/// Removes the friendship and the requests of two accounts that `lists` selects, seen from the viewer. The commit; [`settle`] does the rest.
/// Returns whether a friendship was ended. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove(app: &App, viewer: UserId, other: UserId, lists: &[FriendList]) -> Result<bool, Error> {
    let pair = Pair::of(viewer, other);
    let of_first = |list: &FriendList| match list {
        FriendList::Sent if viewer == pair.second => FriendList::Received,
        FriendList::Received if viewer == pair.second => FriendList::Sent,
        list => *list,
    };
    let lists: Vec<FriendList> = lists.iter().map(of_first).collect();
    store::remove(app.db(), pair, &lists).await
}

/// Result of settling two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledFriendship {
    /// The lists of both accounts are consistent.
    Consistent,
    /// The accounts have no friendship and no request: the account with the higher id was deleted.
    NoAccount,
    /// The accounts have no friendship and no request: one of them blocks the other.
    Blocked,
}

/// Reconciles the lists of the account with the higher id with those of the other, until the latter no longer change. Removes the friendship and
/// the requests if the account with the higher id was deleted, or if one of the two blocks the other. A read, a read of the blocks if a friendship or
/// request exists, a write and a read.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, a: UserId, b: UserId) -> Result<SettledFriendship, Error> {
    const ALL: [FriendList; 3] = [FriendList::Friends, FriendList::Sent, FriendList::Received];
    let pair = Pair::of(a, b);
    let (mut state, mut settled) = (store::state(app.db(), pair).await?, SettledFriendship::Consistent);
    loop {
        // A block reads friendships after its commit and a friendship reads blocks after its commit, so the later commit detects the conflict.
        if state != PairState::default() && blocks::state_between(app.db(), a, b).await?.any() {
            store::remove(app.db(), pair, &ALL).await?;
            (state, settled) = (store::state(app.db(), pair).await?, SettledFriendship::Blocked);
            continue;
        }
        if !store::write(app.db(), pair, state).await? {
            store::remove(app.db(), pair, &ALL).await?;
            settled = SettledFriendship::NoAccount;
        } else if !state.invalid().is_empty() {
            store::remove(app.db(), pair, &state.invalid()).await?;
        }
        let now = store::state(app.db(), pair).await?;
        if now == state {
            events::publish_change(app, pair.first.0);
            events::publish_change(app, pair.second.0);
            return Ok(settled);
        }
        state = now;
    }
}

/// The task that settles a pair.
pub fn task(a: UserId, b: UserId) -> Task {
    let pair = Pair::of(a, b);
    Task::Relation { kind: RelationKind::Friendship, from: pair.first, to: pair.second }
}

/// Removes the friends and the friend requests of a deleted account, first from the lists of the other accounts, then from its own: up to a thousand
/// of each list. `true` means that more may be left. Other stages of the deletion remove the follows.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, id: UserId) -> Result<bool, Error> {
    let windows = [Window { below: u64::MAX, above: 0, newest_first: true, limit: FRIENDS_PER_PASS }];
    let (mut others, mut more) = (Vec::new(), false);
    for list in [FriendList::Friends, FriendList::Sent, FriendList::Received] {
        let rows = store::read_windows(app.db(), id, list, &windows).await?.pop().unwrap_or_default();
        more |= rows.len() == FRIENDS_PER_PASS;
        others.extend(rows.iter().map(|row| UserId(row.member)));
    }
    for others in others.chunks(FRIENDS_PER_PASS) {
        let subtasks = journal::begin_subtasks(app, others.iter().map(|other| task(id, *other))).await?;
        store::remove_deleted_friend(app.db(), others, id).await?;
        store::remove_friends_of_deleted(app.db(), id, others).await?;
        subtasks.ack(app);
    }
    if !more {
        store::purge_slots(app.db(), id).await?;
    }
    Ok(more)
}

/// The number of accounts in a list. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count(app: &App, id: UserId, list: FriendList) -> Result<u64, Error> {
    store::count(app.db(), id, list).await
}

/// A page of a list of `id`, newest first, with the ids of the friendships or requests as positions. The friends of an account are an empty page
/// for all viewers but the account itself and its friends; for requests, the caller passes the viewer's own id.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn friend_page(
    app: &App,
    loaders: &Loaders,
    id: UserId,
    list: FriendList,
    args: &PageArgs,
) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, list_scope(id, list))?;
    if list == FriendList::Friends && !can_read_friends(loaders, id).await? {
        return Ok(Page::empty());
    }
    page::read_page(&FriendListing { app, loaders, id, list }, request).await
}

/// Whether the viewer may read the friends of an account.
async fn can_read_friends(loaders: &Loaders, id: UserId) -> Result<bool, Error> {
    let Some(viewer) = loaders.friendships.fetcher().viewer else { return Ok(false) };
    Ok(viewer == id || loaders.friendships.load(id).await? == FriendshipState::Friends)
}

/// The scope of the cursors of [`friend_page`].
pub const fn list_scope(id: UserId, list: FriendList) -> CursorScope {
    CursorScope { kind: list.letter(), owner: id.0 }
}

struct FriendListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: UserId,
    list: FriendList,
}

impl PageSource for FriendListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::read_windows(self.app.db(), self.id, self.list, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        let is_own = self.loaders.friendships.fetcher().viewer == Some(self.id);
        load_listed(self.loaders, rows, is_own).await
    }
}

/// Loads the accounts of rows that the viewer may see in a list.
async fn load_listed(loaders: &Loaders, rows: &[Row], is_own: bool) -> Result<Vec<Option<Arc<User>>>, Error> {
    access::load_named(loaders, rows.iter().map(|row| UserId(row.member)), is_own).await
}

/// A page of the friends that the viewer and `id` have in common: the newest friendship of the viewer first, with its id as position. An empty
/// page for the viewer's own account, without a session, and if the viewer may not read the profile of `id`. Cost: that of
/// [`super::can_read_profile`], two round trips that find the friends in common with all accounts of a batch, and a batch of accounts.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn mutual(app: &App, loaders: &Loaders, id: UserId, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, mutual_scope(id))?;
    page::read_page(&MutualFriendListing { loaders, rows: mutual_rows(loaders, id).await? }, request).await
}

/// The number of friends that the viewer and `id` have in common. As [`mutual`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_mutual(loaders: &Loaders, id: UserId) -> Result<u64, Error> {
    Ok(mutual_rows(loaders, id).await?.len() as u64)
}

/// The friends in common; none for a viewer who may not read the profile of `id`.
async fn mutual_rows(loaders: &Loaders, id: UserId) -> Result<Arc<Vec<Row>>, Error> {
    if !access::can_read_profile(loaders, id).await? {
        return Ok(Arc::default());
    }
    loaders.mutual_friends.load(id).await
}

/// The scope of the cursors of [`mutual`].
pub const fn mutual_scope(id: UserId) -> CursorScope {
    CursorScope { kind: b'i', owner: id.0 }
}

struct MutualFriendListing<'a> {
    loaders: &'a Loaders,
    rows: Arc<Vec<Row>>,
}

impl PageSource for MutualFriendListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let read = |window: &Window| {
            let inside = self.rows.iter().copied().filter(|row| (window.above + 1..window.below).contains(&row.position));
            match window.newest_first {
                true => inside.take(window.limit).collect(),
                false => inside.rev().take(window.limit).collect(),
            }
        };
        Ok(windows.iter().map(read).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        // Friends in common are the viewer's own friends.
        load_listed(self.loaders, rows, true).await
    }
}

/// Returns the error for a change that a concurrent block has removed: the same error as if the block had been committed first.
///
/// # Errors
/// Always: `NOT_FOUND` or `FORBIDDEN`, or `STORAGE_UNAVAILABLE`.
pub async fn error_after_block(app: &App, viewer: UserId, other: UserId, only_accept: bool) -> Outcome<()> {
    let between = blocks::state_between(app.db(), viewer, other).await?;
    match (between.is_blocked, only_accept) {
        (true, _) => Err(users::not_found().into()),
        (false, true) => Err(no_request().into()),
        (false, false) => Err(super::forbidden().into()),
    }
}

/// The error if one of two accounts was deleted.
pub fn deleted(is_viewer: bool) -> Refusal {
    if is_viewer { Error::Unauthenticated.into() } else { users::not_found().into() }
}

fn friends_limit(is_viewer: bool) -> UserError {
    let message = if is_viewer {
        format!("You can have at most {MAX_FRIENDS} friends. Remove one first.")
    } else {
        format!("This account already has {MAX_FRIENDS} friends, the maximum.")
    };
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}

fn requests_limit() -> UserError {
    let message =
        format!("You have sent {MAX_FRIEND_REQUESTS} friend requests that are still pending, the maximum. Withdraw one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}

fn no_request() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no friend request from this account.", &["userId"])
}
