//! Groups: creation, members, roles and names.

use super::super::model::{self, ChatHistory, ChatKind, ChatRole, MAX_ADDED, Member, MemberState};
use super::super::store::{self, ChatChangeResult, ChatDb, ChatSnapshot, MembershipEnd, NewChat, NewMember, StepRefusal};
use super::invitations::{self, InvitationResult};
use super::{charge, charge_many, not_found, refusal, settle};
use crate::app::App;
use crate::base::error::{Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{ChatId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::service as users;
use crate::platform::events::ChatEvent;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress, Task};
use futures_util::future::try_join_all;
use futures_util::try_join;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The indexes of accounts in an input, as texts for the paths of user errors.
static INDEXES: LazyLock<Vec<String>> = LazyLock::new(|| (0..MAX_ADDED).map(|index| index.to_string()).collect());

/// A new group as the client sent it, unchecked.
#[derive(Clone, Debug)]
pub struct NewGroup {
    /// The name.
    pub name: String,
    /// The global ids of the accounts that are added.
    pub users: Vec<String>,
    /// The rows that accounts which join later can read.
    pub history: ChatHistory,
    /// Identifies a repeated request.
    pub idempotency_key: Option<String>,
}

/// Creates a group whose owner is the viewer. Two charges, the accounts with their relations and settings, the journal, the commit, a script that
/// reads the group, and the viewer's lists; the lists of the others follow in the background. Two more scripts with an idempotency key.
///
/// # Errors
/// `INVALID_NAME`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; an error for each account that cannot be added: `NOT_FOUND`, `FORBIDDEN`, `LIMIT_REACHED`;
/// `LIMIT_REACHED` at 5,000 chats; `RATE_LIMITED`.
pub async fn create_group(app: &App, loaders: &Loaders, viewer: UserId, new: NewGroup) -> Outcome<ChatId> {
    let name = match (model::name(&new.name), model::key(new.idempotency_key.as_deref())) {
        (Ok(name), Ok(())) => name,
        (name, key) => return Err(Refusal::User(name.err().into_iter().chain(key.err()).collect())),
    };
    let id = app.next_id().await?;
    let Some(key) = new.idempotency_key.as_deref() else {
        return create_once(app, loaders, (id, viewer), &name, &new).await;
    };
    let input = format!("{name}\n{}\n{}", new.history.name(), new.users.join(","));
    let request = IdempotentRequest::new("createGroupChat", key, &input);
    let bound = idempotency::bind_with_result(app, viewer, &request, id).await?;
    if bound.result.is_some() {
        return Ok(ChatId(bound.id));
    }
    let created = create_once(app, loaders, (bound.id, viewer), &name, &new).await;
    match &created {
        // The group may end while the idempotency key is stored, and is not created again.
        Ok(created) => idempotency::complete(app, viewer, &request, created.0, 1).await,
        // An earlier request may have created it.
        Err(Refusal::User(_)) if bound.id == id => idempotency::release(app, viewer, &request, id).await?,
        Err(_) => {}
    }
    created
}

/// Creates a group, once for each id.
async fn create_once(app: &App, loaders: &Loaders, (id, viewer): (u64, UserId), name: &str, new: &NewGroup) -> Outcome<ChatId> {
    let id = ChatId(id);
    let invited = check_accounts(loaders, viewer, &new.users, true).await?;
    invitations::check_chat_limit(loaders, viewer).await?;
    charge(app, Limit::Chats, viewer).await?;
    charge_many(app, Limit::ChatMembers, viewer, invited.len()).await?;
    let requested_by = |state: MemberState| (state == MemberState::Request).then_some(viewer);
    let owner = (viewer, Member::new(ChatRole::Owner, 1, id.0, MemberState::Active, None));
    let others = invited.iter().zip(2..);
    let others =
        others.map(|((user, state), order)| (*user, Member::new(ChatRole::Member, order, id.0, *state, requested_by(*state))));
    let members: Vec<(UserId, Member)> = std::iter::once(owner).chain(others).collect();
    let events = vec![ChatEvent::Created];
    let lease = journal::begin(app, Task::chat_change(id, events.clone())).await?;
    let chat = NewChat { kind: ChatKind::Group, name, history: new.history, members: &members };
    store::create(app.db(), id, &chat).await?;
    match store::read_states(ChatDb::of(app), id, &[viewer], false).await? {
        Ok((_, states)) => {
            let states = ChatSnapshot { unsettled: members.len() as u64, ..states };
            settle::finish(app, lease, id, &states, events).await?;
        }
        // A repeated request after the group has ended.
        Err(_) => lease.ack(app),
    }
    Ok(id)
}

/// Checks that accounts can be added. Returns each once and without the viewer, with the state that it gets.
async fn check_accounts(
    loaders: &Loaders,
    viewer: UserId,
    global_ids: &[String],
    needs_one: bool,
) -> Outcome<Vec<(UserId, MemberState)>> {
    let invalid = |message: String| UserError::new(UserErrorCode::InvalidInput, message, &["userIds"]);
    if global_ids.len() > MAX_ADDED {
        return Err(invalid(format!("Add at most {MAX_ADDED} accounts at once.")).into());
    }
    let ids: Vec<Option<UserId>> = global_ids.iter().map(|id| UserId::from_global(id)).collect();
    let lookup_ids: Vec<UserId> = ids.iter().map(|id| id.unwrap_or(users::UNUSED_USER_ID)).collect();
    if needs_one && lookup_ids.iter().all(|id| *id == viewer) {
        return Err(invalid("Add at least one other account.".to_owned()).into());
    }
    let found = try_join_all(lookup_ids.iter().map(|id| relations::find(loaders, *id)));
    let (found, relationships) = try_join!(found, relations::relationships(loaders, &lookup_ids))?;
    let invitations = invitations::check_invitations(loaders, &lookup_ids).await?;
    let (mut seen, mut invited, mut errors) = (HashSet::from([viewer]), Vec::new(), Vec::new());
    for (at, id) in lookup_ids.iter().enumerate() {
        let mut refuse = |code, message: &str| {
            let index: &'static str = INDEXES.get(at).map_or("", String::as_str);
            errors.push(UserError::new(code, message, &["userIds", index]));
        };
        if ids[at].is_some_and(|id| !seen.insert(id)) {
            // The viewer, or an account that was named before.
        } else if found[at].is_none() {
            refuse(UserErrorCode::NotFound, "There is no such account.");
        } else if relationships[at].blocks {
            refuse(UserErrorCode::Forbidden, "You block this account.");
        } else {
            match invitations[at] {
                InvitationResult::Accepted(state) => invited.push((*id, state)),
                InvitationResult::Refused => refuse(UserErrorCode::Forbidden, "This account does not accept messages from you."),
                InvitationResult::LimitReached => {
                    refuse(UserErrorCode::LimitReached, "This account has reached its maximum number of chats.")
                }
            }
        }
    }
    if errors.is_empty() { Ok(invited) } else { Err(Refusal::User(errors)) }
}

/// Adds accounts to a group, all or none; accounts that are members already are skipped. The chat, its members, the accounts with their relations and
/// settings, a charge, the journal, the commit and the lists of those who are added.
///
/// # Errors
/// As [`create_group`], for the accounts; `NOT_FOUND` for the chat; `FORBIDDEN` for members, and in a direct chat; `LIMIT_REACHED` at 500 members.
pub async fn add_members(app: &App, loaders: &Loaders, viewer: UserId, chat: &str, global_ids: &[String]) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    refuse_role(view.kind, view.member.role)?;
    let present: HashSet<UserId> =
        store::writers::members(app.db(), &[chat]).await?.concat().into_iter().map(|row| row.user).collect();
    let is_new = |id: &&String| UserId::from_global(id).is_none_or(|id| !present.contains(&id));
    // The paths of errors count all accounts of the input.
    let invited = if global_ids.iter().any(|id| is_new(&id)) {
        check_new_accounts(loaders, viewer, global_ids, &present).await?
    } else {
        Vec::new()
    };
    match invited.len() {
        0 => charge(app, Limit::ChatSettings, viewer).await?,
        count => charge_many(app, Limit::ChatMembers, viewer, count).await?,
    }
    let is_request =
        |(user, state): &(UserId, MemberState)| (*state == MemberState::Request).then_some(ChatEvent::Changed(*user));
    let requests: Vec<ChatEvent> = invited.iter().filter_map(is_request).collect();
    let mut new = Vec::with_capacity(invited.len());
    for (user, state) in invited {
        new.push(NewMember { user, state, joined: app.next_id().await? });
    }
    let lease = journal::begin(app, Task::chat_change(chat, requests.clone())).await?;
    let step = store::add(ChatDb::of(app), chat, view.newest, viewer, &new, app.now()).await?;
    complete(app, lease, chat, step, requests).await
}

/// Checks accounts as [`check_accounts`], without those that are members already.
async fn check_new_accounts(
    loaders: &Loaders,
    viewer: UserId,
    global_ids: &[String],
    present: &HashSet<UserId>,
) -> Outcome<Vec<(UserId, MemberState)>> {
    // `check_accounts` skips the viewer's own id: with this id in place of each member, the indexes in the paths of errors stay those of the input.
    let own_id = viewer.global();
    let is_present = |id: &String| UserId::from_global(id).is_some_and(|id| present.contains(&id));
    let ids: Vec<String> = global_ids.iter().map(|id| if is_present(id) { own_id.clone() } else { id.clone() }).collect();
    check_accounts(loaders, viewer, &ids, false).await
}

fn refuse_role(kind: ChatKind, role: ChatRole) -> Outcome<()> {
    match (kind, role) {
        (ChatKind::Direct, _) => Err(refusal(StepRefusal::DirectChat)),
        (ChatKind::Group, ChatRole::Member) => Err(refusal(StepRefusal::Forbidden)),
        (ChatKind::Group, ChatRole::Owner | ChatRole::Admin) => Ok(()),
    }
}

async fn complete(app: &App, lease: EntryLease, chat: ChatId, step: ChatChangeResult, events: Vec<ChatEvent>) -> Outcome<ChatId> {
    match step {
        Ok((_, states)) => {
            settle::finish(app, lease, chat, &states, events).await?;
            Ok(chat)
        }
        Err(StepRefusal::ChatEnded(_)) => {
            lease.finish(app, Some(Progress::default())).await;
            Ok(chat)
        }
        Err(step) => {
            lease.ack(app);
            Err(refusal(step))
        }
    }
}

/// Leaves a group. If the owner leaves, an admin or a member becomes the owner; with the last member the group ends. A charge, the chat, the journal,
/// the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for the chat; `FORBIDDEN` in a direct chat; `RATE_LIMITED`.
pub async fn leave(app: &App, loaders: &Loaders, viewer: UserId, chat: &str) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    end_membership(app, chat, view.newest, viewer, MembershipEnd::Leave).await
}

/// Ends a membership of a group on behalf of `actor`. The journal, the commit and the lists.
///
/// # Errors
/// The refusals of the step.
pub(super) async fn end_membership(
    app: &App,
    chat: ChatId,
    newest: u64,
    actor: UserId,
    ending: MembershipEnd,
) -> Outcome<ChatId> {
    let user = if let MembershipEnd::Remove(user) = ending { user } else { actor };
    let ids = [app.next_id().await?, app.next_id().await?];
    let lease = journal::begin_deletion(app, Task::Chat { chat, former: vec![user], events: Vec::new() }).await?;
    let step = store::end_membership(ChatDb::of(app), chat, newest, actor, ending, ids, app.now()).await?;
    if matches!(step, Err(StepRefusal::ChatEnded(_))) {
        // The chat is in no list from here on; its rows are deleted in the background.
        settle::settle_chat(app, chat, &[user], &[], Progress::default()).await?;
    }
    complete(app, lease, chat, step, Vec::new()).await
}

/// Removes a member from a group. A charge, the chat, the membership, the journal, the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for the chat, and for an account that is no member; `FORBIDDEN` by role, and in a direct chat; `INVALID_INPUT` for oneself; `RATE_LIMITED`.
pub async fn remove_member(app: &App, loaders: &Loaders, viewer: UserId, chat: &str, user: &str) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    refuse_role(view.kind, view.member.role)?;
    let user = UserId::from_global(user).ok_or_else(|| refusal(StepRefusal::TargetNotMember))?;
    // No journal entry is written for an account that is no member.
    let is_member = |states: &ChatSnapshot| states.members.iter().any(|snapshot| snapshot.member.is_some());
    if !store::read_states(ChatDb::of(app), chat, &[user], false).await?.is_ok_and(|(_, states)| is_member(&states))
        && user != viewer
    {
        return Err(refusal(StepRefusal::TargetNotMember));
    }
    end_membership(app, chat, view.newest, viewer, MembershipEnd::Remove(user)).await
}

/// Changes the role of a member of a group; `Owner` hands the group over. The same role again changes nothing. A charge, the chat, the journal, the
/// commit and the viewer's lists.
///
/// # Errors
/// As [`remove_member`]; `INVALID_INPUT` for the owner's own role, and for a higher role of a member that has not accepted the chat.
pub async fn set_role(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    chat: &str,
    user: &str,
    role: ChatRole,
) -> Outcome<(ChatId, UserId)> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    let user = UserId::from_global(user).ok_or_else(|| refusal(StepRefusal::TargetNotMember))?;
    let ids = [app.next_id().await?, app.next_id().await?];
    let lease = journal::begin(app, Task::chat_change(chat, Vec::new())).await?;
    let step = store::set_role(ChatDb::of(app), chat, view.newest, viewer, (user, role), ids, app.now()).await?;
    if step == Err(StepRefusal::NotAccepted) {
        lease.ack(app);
        let message = "This account has not accepted the chat yet.";
        return Err(UserError::new(UserErrorCode::InvalidInput, message, &["userId"]).into());
    }
    complete(app, lease, chat, step, Vec::new()).await.map(|chat| (chat, user))
}

/// Renames a group. The same name again changes nothing. A charge, the chat, the journal, the commit and the viewer's lists.
///
/// # Errors
/// `INVALID_NAME`; `NOT_FOUND` for the chat; `FORBIDDEN` for members, and in a direct chat; `RATE_LIMITED`.
pub async fn rename(app: &App, loaders: &Loaders, viewer: UserId, chat: &str, name: &str) -> Outcome<ChatId> {
    let name = model::name(name)?;
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    let lease = journal::begin(app, Task::chat_change(chat, Vec::new())).await?;
    let id = app.next_id().await?;
    let step = store::rename(ChatDb::of(app), chat, view.newest, viewer, &name, id, app.now()).await?;
    complete(app, lease, chat, step, Vec::new()).await
}
