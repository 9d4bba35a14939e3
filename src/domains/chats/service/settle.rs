//! Reconciles the chat lists of members with a chat.

use super::super::model::MemberState::Request;
use super::super::model::{ChatKind, Member, MemberState, ROWS_PER_BUCKET};
use super::super::store::lists::{self, ChatListUpdate, SettleResult};
use super::super::store::writers::SenderRange;
use super::super::store::{self, ChatDb, ChatSnapshot, MemberSnapshot, NewChat, RecentRows, StepRefusal};
use super::publish;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::base::request::{self, Loaders};
use crate::db::{Meter, Work};
use crate::domains::relations::{BlockState, service as relations};
use crate::domains::users::service as users;
use crate::platform::events::ChatEvent;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress, Task};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Members whose lists one pass settles, with at most nine keys each.
const MEMBERS_PER_PASS: usize = 100;
/// Commands that the lists of a member cost: a read of the values from which they are derived, a read of its account, and their writes.
const COMMANDS_PER_MEMBER: u64 = 13;
/// The stage in which the rows of a chat that has ended are deleted.
const STAGE_DELETE_ROWS: u8 = 1;
/// The stage after the publication of a change: a retried pass does not publish it again.
const STAGE_PUBLISHED: u8 = 2;
/// The version of a chat that has ended, above all others.
const ENDED_VERSION: u64 = u32::MAX as u64;
/// Buckets of rows that one pass deletes.
const BUCKETS_PER_PASS: u64 = 8;

/// Settles the lists of the members in `states` and publishes the change. The lists of the other members of a group are settled by a worker, unless
/// they agree with the chat already. The request is charged for that work. One pipeline on the hash tags of the members; for a direct chat
/// also a read of the blocks; for a group also reads of the blocks of the members, and a read of whether the group has ended.
/// The rows of the chat and `events` are published after the response.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: a worker settles them.
pub(super) async fn finish(
    app: &App,
    lease: EntryLease,
    chat: ChatId,
    states: &ChatSnapshot,
    events: Vec<ChatEvent>,
) -> Result<(), Error> {
    let others = match states.kind {
        ChatKind::Group => {
            let settled = states.members.iter().filter(|snapshot| snapshot.member.is_some()).count();
            states.unsettled.saturating_sub(settled as u64)
        }
        ChatKind::Direct => 0,
    };
    charge_others(others);
    settle_lists(app, chat, states, true).await?;
    match others {
        0 => publish::finish(app, lease, chat, states.unpublished.clone(), events),
        // The workers publish the events, which are in the journal entry.
        _ => publish::hand_over(app, lease, chat, states.unpublished.clone()).await,
    }
    Ok(())
}

/// Adds the work of the workers for members to the measured work of the request.
fn charge_others(members: u64) {
    if let Some(meter) = Meter::current() {
        meter.add(Work { commands: members * COMMANDS_PER_MEMBER, ..Work::default() });
    }
}

/// Reconciles the lists of members with `states`. With `counts_as_activity`, the newest row is activity; after a change of blocks it is not.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn settle_lists(app: &App, chat: ChatId, states: &ChatSnapshot, counts_as_activity: bool) -> Result<(), Error> {
    let hidden = match states.kind {
        ChatKind::Direct => load_hidden_direct(app, states).await?,
        ChatKind::Group => load_hidden_group(app, chat, states).await?,
    };
    let updates: Vec<ChatListUpdate> =
        states.members.iter().map(|snapshot| list_update(chat, states, snapshot, &hidden, counts_as_activity)).collect();
    // Requests from blocked accounts are declined: the block may have come before the request was in a list.
    let mut rest: Vec<Task> = hidden.declining.iter().map(|user| Task::chat_member(chat, *user)).collect();
    let settled = lists::settle_and_schedule(app.db(), &updates, app.now(), Some((chat, &states.retention))).await?;
    for (update, result) in updates.iter().zip(settled) {
        match result {
            SettleResult::NoAccount if update.state != lists::NO_MEMBER => rest.push(Task::chat_member(chat, update.user)),
            SettleResult::NoAccount => {}
            SettleResult::RetryNeeded => rest.push(Task::chat_member(chat, update.user)),
            SettleResult::Settled(over) => {
                rest.extend(over.into_iter().map(|chat| Task::chat_member(chat, update.user)));
            }
        }
    }
    settle_ended(app, chat, states.kind, &updates).await?;
    // Deleted accounts are removed from the chat, and the oldest of too many requests are declined, by the workers.
    journal::enqueue_many(app, rest).await
}

/// If a group has ended since its states were read, removes the group from the keys of these accounts, and from the schedules: the process that ended the
/// group may have cleaned the keys before this one has written them. A read for a group.
async fn settle_ended(app: &App, chat: ChatId, kind: ChatKind, updates: &[ChatListUpdate]) -> Result<(), Error> {
    // A direct chat ends with its accounts, which have no lists any more.
    if kind == ChatKind::Group && store::writers::has_ended(app.db(), chat).await? {
        let removed = |update: &ChatListUpdate| ChatListUpdate::removed(update.user, chat, ENDED_VERSION, false);
        let removals: Vec<ChatListUpdate> = updates.iter().map(removed).collect();
        lists::settle(app.db(), &removals, app.now()).await?;
        store::retention::unschedule(app.db(), chat).await?;
    }
    Ok(())
}

/// Texts, requests and rows that blocks hide from members.
#[derive(Default)]
struct HiddenTexts {
    /// For members with blocks: the accounts whose texts are hidden, and the number of their texts above the member's read position.
    by_member: HashMap<UserId, (HashSet<UserId>, u64)>,
    /// Members that block the account from which their request came.
    declining: Vec<UserId>,
    /// The newest rows: activity, number and author. Empty if the two rows in the record of the chat suffice.
    rows: Vec<(u64, u64, u64)>,
    /// Whether no text of a direct chat counts as unread, because a block exists or the other account was deleted.
    has_no_unread: bool,
}

impl HiddenTexts {
    fn hides(&self, user: UserId, author: u64) -> bool {
        self.by_member.get(&user).is_some_and(|(accounts, _)| accounts.contains(&UserId(author)))
    }

    /// The id of the newest row that is not hidden from a member; 0 for none.
    fn newest_row(&self, user: UserId, recent: &RecentRows) -> u64 {
        let kept = recent.rows.iter().copied().chain(self.rows.iter().map(|(id, _, author)| (*id, *author)));
        let visible = kept.filter(|(_, author)| !self.hides(user, *author)).map(|(id, _)| id);
        visible.max().unwrap_or(0).max(recent.change)
    }

    /// The number of the newest text by another that is not hidden from a member; 0 for none.
    fn newest_text(&self, user: UserId, recent: &RecentRows) -> u64 {
        let texts = self.rows.iter().filter(|(.., author)| *author > 0).map(|(_, number, author)| (*number, *author));
        let visible = recent.texts.iter().copied().chain(texts);
        visible.filter(|(_, author)| *author != user.0 && !self.hides(user, *author)).map(|(number, _)| number).max().unwrap_or(0)
    }

    /// Whether the rows in the record of the chat do not contain the newest ones that a member with blocks sees.
    fn needs_rows(&self, recent: &RecentRows) -> bool {
        let none = |rows: &[(u64, u64)], user: UserId, own: bool| {
            rows.iter().all(|(_, author)| self.hides(user, *author) || (!own && *author == user.0))
        };
        self.by_member.keys().any(|user| none(&recent.rows, *user, true) || none(&recent.texts, *user, false))
    }
}

/// Loads whether a block hides the texts of a direct chat. A read of the blocks.
async fn load_hidden_direct(app: &App, states: &ChatSnapshot) -> Result<HiddenTexts, Error> {
    let [a, b] = states.pair[..] else { return Ok(HiddenTexts { has_no_unread: true, ..HiddenTexts::default() }) };
    let blocks = relations::block_state(app, a, b).await?;
    let has_request =
        |user: &UserId| states.members.iter().any(|it| it.user == *user && it.member.is_some_and(|it| it.state == Request));
    let declining = [(a, blocks.blocks), (b, blocks.is_blocked)].into_iter();
    let declining = declining.filter(|(user, is_blocker)| *is_blocker && has_request(user));
    Ok(HiddenTexts {
        declining: declining.map(|(user, _)| user).collect(),
        has_no_unread: blocks.any(),
        ..HiddenTexts::default()
    })
}

/// Loads the texts that blocks hide in a group. A batch of accounts; for members with blocks three pipelines more, and a script if the newest rows are hidden.
async fn load_hidden_group(app: &App, chat: ChatId, states: &ChatSnapshot) -> Result<HiddenTexts, Error> {
    let ids: Vec<UserId> = states.members.iter().filter(|it| it.member.is_some()).map(|it| it.user).collect();
    let accounts = loaders(app).users.load_many(ids.iter().copied()).await?;
    let accounts = accounts.into_iter().flatten().filter(|account| account.blocks.0 + account.blocked_by.0 > 0);
    let with_blocks: HashSet<UserId> = accounts.map(|account| account.id).collect();
    let mut hidden = HiddenTexts::default();
    if with_blocks.is_empty() {
        return Ok(hidden);
    }
    let writers: HashSet<UserId> = store::writers::writers(app.db(), &[chat]).await?.concat().into_iter().collect();
    let blocking = states.members.iter().filter(|it| with_blocks.contains(&it.user));
    let blocking: Vec<(&MemberSnapshot, Member)> = blocking.filter_map(|snapshot| Some((snapshot, snapshot.member?))).collect();
    let others = |(snapshot, member): &(&MemberSnapshot, Member)| {
        (snapshot.user, writers.iter().copied().chain(member.requested_by).collect())
    };
    let pairs: Vec<(UserId, Vec<UserId>)> = blocking.iter().map(others).collect();
    let mut ranges = Vec::new();
    for (((snapshot, member), (user, others)), blocks) in
        blocking.iter().zip(&pairs).zip(relations::blocks_among(app, &pairs).await?)
    {
        let (from, to) = (snapshot.seen.max(member.first_readable.max(states.oldest).saturating_sub(1)) + 1, states.newest);
        let blocked = others.iter().zip(&blocks).filter(|(_, blocks)| blocks.any());
        let accounts: HashSet<UserId> = blocked.map(|(other, _)| *other).filter(|other| writers.contains(other)).collect();
        ranges.extend(accounts.iter().map(|sender| (*user, SenderRange { chat, sender: *sender, from, to })));
        hidden.by_member.insert(*user, (accounts, 0));
        let is_blocked = |(other, blocks): (&UserId, &BlockState)| member.requested_by == Some(*other) && blocks.blocks;
        if member.state == Request && others.iter().zip(&blocks).any(is_blocked) {
            hidden.declining.push(*user);
        }
    }
    let counts = store::writers::count_texts_of(app.db(), &ranges.iter().map(|(_, range)| *range).collect::<Vec<_>>()).await?;
    for ((user, _), count) in ranges.iter().zip(counts) {
        hidden.by_member.entry(*user).and_modify(|(_, hidden)| *hidden += count);
    }
    hidden.by_member.retain(|_, (accounts, _)| !accounts.is_empty());
    if hidden.needs_rows(&states.recent) {
        hidden.rows = store::writers::newest_authors(app.db(), chat, states.newest).await?;
    }
    Ok(hidden)
}

/// Loaders without a viewer.
pub(super) fn loaders(app: &App) -> Arc<Loaders> {
    request::Request::new(app.clone(), None, None, None).loaders()
}

/// Computes the list update of one member.
fn list_update(
    chat: ChatId,
    states: &ChatSnapshot,
    snapshot: &MemberSnapshot,
    hidden: &HiddenTexts,
    counts_as_activity: bool,
) -> ChatListUpdate {
    let MemberSnapshot { user, member, texts_above, .. } = *snapshot;
    let is_in_record = states.kind == ChatKind::Group || states.pair.contains(&user);
    let removal = ChatListUpdate::removed(user, chat, states.version, is_in_record);
    let Some(member) = member.filter(|member| member.state.is_shown()) else {
        return ChatListUpdate { state: member.map_or(lists::NO_MEMBER, |member| member.state.letter()), ..removal };
    };
    let unread = texts_above.saturating_sub(hidden.by_member.get(&user).map_or(0, |(_, count)| *count));
    let entry = ChatListUpdate {
        state: member.state.letter(),
        activity: member.placed_id.max(chat.0),
        is_unread: unread > 0 && !hidden.has_no_unread,
        cleared: member.cleared_activity,
        ..removal
    };
    if !counts_as_activity {
        return entry;
    }
    let (visible, others_text) = (hidden.newest_row(user, &states.recent), hidden.newest_text(user, &states.recent));
    ChatListUpdate {
        visible,
        considered: (states.recent.rows[0].0, states.newest),
        others_text,
        own_text: member.newest_text,
        ..entry
    }
}

/// Settles the lists of all members of a chat, in passes; of a chat that has ended, deletes the rows. `former` are accounts that were members. The first pass
/// publishes rows that were not published, and `events`.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_chat(
    app: &App,
    chat: ChatId,
    former: &[UserId],
    events: &[ChatEvent],
    progress: Progress,
) -> Result<Option<Progress>, Error> {
    // Reads one member more than a pass settles, to see whether there are more.
    let (settled, mut states) =
        match store::read_states_above(ChatDb::of(app), chat, progress.below, MEMBERS_PER_PASS + 1).await? {
            Ok(found) => found,
            Err(StepRefusal::ChatEnded(newest)) => return purge_ended(app, chat, former, newest, progress).await,
            Err(_) => {
                // The record was deleted. A node may have lost the removal of the chat from the lists of its last members.
                for user in former {
                    lists::purge(app.db(), *user, &[chat]).await?;
                }
                store::retention::unschedule(app.db(), chat).await?;
                return Ok(None);
            }
        };
    if progress.below == 0 && progress.stage != STAGE_PUBLISHED {
        publish::publish_missing(app, chat, progress.is_restarted).await?;
        if !events.is_empty() {
            publish::publish(app, chat, &shown_events(app, chat, events).await?).await?;
            return Ok(Some(Progress { stage: STAGE_PUBLISHED, ..progress }));
        }
    }
    if progress.below == 0
        && !former.is_empty()
        && let Ok((_, states)) = store::read_states(ChatDb::of(app), chat, former, false).await?
    {
        if progress.is_restarted {
            record_former(app, chat, &states).await?;
        }
        settle_lists(app, chat, &states, true).await?;
    }
    let version = if progress.below == 0 { states.version } else { progress.version };
    if settled >= version && !progress.is_restarted {
        // Settling the lists also schedules the chat. Without that, the schedule is written here: a node may have lost it.
        store::retention::schedule(app.db(), chat, &states.retention).await?;
        return Ok(None);
    }
    let is_more = states.members.len() > MEMBERS_PER_PASS;
    states.members.truncate(MEMBERS_PER_PASS);
    if progress.is_restarted {
        let users: Vec<UserId> = states.members.iter().map(|snapshot| snapshot.user).collect();
        states = raise_version_above_lists(app, chat, states, &users).await?;
    }
    settle_lists(app, chat, &states, true).await?;
    match states.members.last().filter(|_| is_more) {
        Some(last) => Ok(Some(Progress { below: last.user.0, version, ..progress })),
        None => {
            store::set_settled(app.db(), chat, version).await?;
            Ok(None)
        }
    }
}

/// Raises the version of a chat above the versions in the members' lists, and reads the states again. Needed after a node has lost the last changes of
/// the chat. A pipeline, and two scripts if a list is above.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn raise_version_above_lists(
    app: &App,
    chat: ChatId,
    states: ChatSnapshot,
    users: &[UserId],
) -> Result<ChatSnapshot, Error> {
    let highest = lists::settled_versions(app.db(), chat, users).await?.into_iter().max().unwrap_or(0);
    if highest <= states.version || highest == ENDED_VERSION {
        return Ok(states);
    }
    store::raise_versions(ChatDb::of(app), &[chat], highest).await?;
    Ok(store::read_states(ChatDb::of(app), chat, users, false).await?.map_or(states, |(_, raised)| raised))
}

/// Records in a group that those accounts in `states` that are no members have left it, so that its end finds them. Needed after a node has lost the last
/// changes of the group, which may not know that they were members. A read and a script for each.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn record_former(app: &App, chat: ChatId, states: &ChatSnapshot) -> Result<(), Error> {
    let former = states.members.iter().filter(|snapshot| states.kind == ChatKind::Group && snapshot.member.is_none());
    for snapshot in former {
        if users::exists(app, snapshot.user).await? {
            store::purge::record_former(ChatDb::of(app), chat, snapshot.user, app.next_id().await?).await?;
        }
    }
    Ok(())
}

/// Deletes the rows and the record of a chat that has ended, in passes. The rows, and the record of those who have left, name the accounts whose keys may
/// have the chat, so each part of them is deleted after the keys of its accounts are settled. Retention may have deleted the rows with an account, so both
/// are needed.
async fn purge_ended(
    app: &App,
    chat: ChatId,
    former: &[UserId],
    newest: u64,
    progress: Progress,
) -> Result<Option<Progress>, Error> {
    let from = if progress.stage == STAGE_DELETE_ROWS {
        progress.below
    } else {
        // The last members wait for the event of their leaving; the deletion of many rows takes long. The record contains the unpublished ends of
        // memberships. No event follows the end of a chat, so that later passes have none to publish.
        publish::publish_missing(app, chat, progress.is_restarted).await?;
        // `below` may be an account, not a bucket: the passes before may have settled members.
        store::purge::bounds(app.db(), chat).await?.map_or(0, |(removed, _)| removed / ROWS_PER_BUCKET)
    };
    let end = newest / ROWS_PER_BUCKET + 1;
    let to = (from + BUCKETS_PER_PASS).min(end);
    let (mut accounts, reacted) = store::purge::read_rows(app.db(), chat, from..to).await?;
    let left = store::purge::former_members(app.db(), chat, MEMBERS_PER_PASS).await?;
    accounts.extend(former);
    accounts.extend(&left);
    accounts.sort_unstable();
    accounts.dedup();
    let removals: Vec<ChatListUpdate> =
        accounts.iter().map(|user| ChatListUpdate::removed(*user, chat, ENDED_VERSION, false)).collect();
    lists::settle(app.db(), &removals, app.now()).await?;
    store::purge::purge_chat_rows(app.db(), chat, from..to, &reacted, &left).await?;
    if to < end || left.len() == MEMBERS_PER_PASS {
        return Ok(Some(Progress { stage: STAGE_DELETE_ROWS, below: to, ..progress }));
    }
    store::purge::delete_record(app.db(), chat).await?;
    Ok(None)
}

/// The events of a change, without those for accounts that do not have the chat: the change may not have been made. A script if there are events for
/// accounts.
async fn shown_events(app: &App, chat: ChatId, events: &[ChatEvent]) -> Result<Vec<ChatEvent>, Error> {
    let account = |event: &ChatEvent| if let ChatEvent::Changed(account) = event { Some(*account) } else { None };
    let accounts: Vec<UserId> = events.iter().filter_map(account).collect();
    if accounts.is_empty() {
        return Ok(events.to_vec());
    }
    let states = store::read_states(ChatDb::of(app), chat, &accounts, false).await?;
    let members = states.map(|(_, states)| states.members).unwrap_or_default();
    let has_chat =
        |user| members.iter().any(|snapshot| snapshot.user == user && snapshot.member.is_some_and(|it| it.state.is_shown()));
    Ok(events.iter().copied().filter(|event| account(event).is_none_or(has_chat)).collect())
}

/// Completes the creation of a direct chat: creates its record if it is missing, and settles the lists of both accounts. Until then the chat exists
/// for neither account.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_direct(app: &App, low: UserId, high: UserId) -> Result<(), Error> {
    let Some(chat) = lists::find_direct(app.db(), low, high).await? else { return Ok(()) };
    create_direct(app, chat, low, high).await?;
    if let Ok((_, states)) = store::read_states(ChatDb::of(app), chat, &[low, high], false).await? {
        settle_lists(app, chat, &states, true).await?;
    }
    Ok(())
}

/// Creates the record of a direct chat, once. One script.
pub(super) async fn create_direct(app: &App, chat: ChatId, low: UserId, high: UserId) -> Result<(), Error> {
    let member = |order| Member::new(super::super::model::ChatRole::Member, order, chat.0, MemberState::Unstarted, None);
    let members = [(low, member(1)), (high, member(2))];
    let history = super::super::model::ChatHistory::All;
    store::create(app.db(), chat, &NewChat { kind: ChatKind::Direct, name: "", history, members: &members }).await
}
