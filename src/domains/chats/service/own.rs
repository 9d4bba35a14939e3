//! The own state of a member of a chat: what it has seen, its mute, its archive, its history; and the chat settings of an account.

use super::super::model::{ChatSettings, NO_END, WhoMayWrite};
use super::super::store::lists::{self, ArchiveResult};
use super::super::store::{self, ChatDb, ChatSnapshot, MemberChange, StepRefusal, UnpublishedRows};
use super::messages::unread_count;
use super::{charge, forbidden, not_found, publish, refusal, settle};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{ChatId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::platform::events::ChatEvent;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress, Task};

/// Marks all rows up to a number as seen; the position never falls. A charge, the journal, the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for the chat; `INVALID_INPUT` for a number below 0 or above the newest row; `RATE_LIMITED`.
pub async fn mark_seen(app: &App, viewer: UserId, chat: &str, sequence: i64) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let sequence = u64::try_from(sequence).map_err(|_| refusal(StepRefusal::PositionTooHigh));
    // A chat that does not exist for the viewer is refused as such whatever the number is.
    change(app, viewer, chat, MemberChange::MarkSeen(*sequence.as_ref().unwrap_or(&0))).await?;
    sequence.map(|_| chat)
}

/// Makes a change that a member decides alone. The journal, the commit and the lists.
///
/// # Errors
/// The refusals of the step.
pub(super) async fn change(app: &App, viewer: UserId, chat: ChatId, change: MemberChange) -> Outcome<ChatId> {
    let lease = journal::begin_deletion(app, Task::ChatMember { chat, user: viewer, is_silent: false }).await?;
    match store::change_member(ChatDb::of(app), chat, viewer, change).await? {
        Ok((delivered, states)) => {
            settle::settle_lists(app, chat, &states, true).await?;
            publish_change(app, lease, viewer, chat, (change, delivered > 0), &states).await;
            Ok(chat)
        }
        Err(step) => {
            // A repeated step may have been made already.
            lease.finish(app, (change == MemberChange::Decline).then(Progress::default)).await;
            Err(refusal(step))
        }
    }
}

/// Publishes a change to the sessions of the viewer, and the viewer's positions to the other members, after the response. With `has_delivered`, the
/// delivery position has changed, too.
async fn publish_change(
    app: &App,
    lease: EntryLease,
    viewer: UserId,
    chat: ChatId,
    (change, has_delivered): (MemberChange, bool),
    states: &ChatSnapshot,
) {
    let seen = states.members.iter().find(|snapshot| snapshot.user == viewer).map_or(0, |snapshot| snapshot.seen);
    match change {
        // A lower position changes nothing, so nothing is published. (A script that was sent again reports no delivery: the next event shows it.)
        MemberChange::MarkSeen(row) if row < seen => return lease.ack(app),
        MemberChange::MarkSeen(_) => {
            publish::publish_positions(app, &[chat], viewer, !has_delivered);
            return lease.ack(app);
        }
        MemberChange::DeleteHistory if states.newest > 0 => publish::publish_positions(app, &[chat], viewer, !has_delivered),
        MemberChange::DeleteHistory | MemberChange::Start(_) | MemberChange::Accept | MemberChange::Decline => {}
    }
    publish::finish(app, lease, chat, UnpublishedRows::default(), vec![ChatEvent::Changed(viewer)]);
}

/// Deletes the history of a chat for the viewer: the chat is in no list until its next row. The journal, the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for the chat; `FORBIDDEN` for a request.
pub async fn clear_history(app: &App, viewer: UserId, chat: &str) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    change(app, viewer, chat, MemberChange::DeleteHistory).await
}

/// The end of a mute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MuteUntil {
    /// The chat is not muted.
    Ended,
    /// Without an end.
    NoEnd,
    /// Until a time.
    Time(Millis),
}

/// Mutes a chat for the viewer, or ends its mute. A charge, the chat and one script.
///
/// # Errors
/// `NOT_FOUND` for the chat; `INVALID_INPUT` for an end that is not in the future; `RATE_LIMITED`.
pub async fn mute(app: &App, loaders: &Loaders, viewer: UserId, chat: &str, until: MuteUntil) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    let until = match until {
        MuteUntil::Ended => None,
        MuteUntil::NoEnd => Some(NO_END),
        MuteUntil::Time(time) if time > app.now() => Some(time.min(NO_END - 1)),
        MuteUntil::Time(_) => {
            let message = "The end of a mute must be in the future.";
            return Err(UserError::new(UserErrorCode::InvalidInput, message, &["until"]).into());
        }
    };
    if !lists::mute(app.db(), viewer, chat, until).await? {
        // The chat may be too new for the viewer's lists.
        settle_viewer_lists(app, viewer, chat).await?;
        if !lists::mute(app.db(), viewer, chat, until).await? {
            return Err(not_found().into());
        }
    }
    publish::publish_in_background(app, chat, ChatEvent::Changed(viewer));
    Ok(chat)
}

/// Archives a chat for the viewer, or takes it out of the archive. A charge, the chat, one script, and the lists once more.
///
/// # Errors
/// `NOT_FOUND` for the chat; `FORBIDDEN` for a request; `RATE_LIMITED`.
pub async fn archive(app: &App, loaders: &Loaders, viewer: UserId, chat: &str, is_archived: bool) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    let is_unread = unread_count(loaders, &view).await? > 0;
    let newest = is_archived.then_some(view.newest);
    let mut result = lists::archive(app.db(), viewer, chat, newest, is_unread, app.now()).await?;
    if result == ArchiveResult::NoChat {
        // The chat may be too new for the viewer's lists.
        settle_viewer_lists(app, viewer, chat).await?;
        result = lists::archive(app.db(), viewer, chat, newest, is_unread, app.now()).await?;
    }
    match result {
        ArchiveResult::NoChat => Err(not_found().into()),
        ArchiveResult::Request => Err(forbidden("Accept the chat first.", "chatId").into()),
        ArchiveResult::Done => {
            // A text may have come since the chat was read.
            settle_viewer_lists(app, viewer, chat).await?;
            publish::publish_in_background(app, chat, ChatEvent::Changed(viewer));
            Ok(chat)
        }
    }
}

/// Makes the viewer's lists agree with a chat. A script and the lists.
async fn settle_viewer_lists(app: &App, viewer: UserId, chat: ChatId) -> Result<(), Error> {
    match store::read_states(ChatDb::of(app), chat, &[viewer], false).await? {
        Ok((_, states)) => settle::settle_lists(app, chat, &states, true).await,
        Err(_) => Ok(()),
    }
}

/// Sets who may write to the viewer, and whether read receipts are on; values that are `None` do not change. A charge, one script and a read.
///
/// # Errors
/// `UNAUTHENTICATED` if the account was deleted; `RATE_LIMITED`.
pub async fn set_settings(
    app: &App,
    viewer: UserId,
    who: Option<WhoMayWrite>,
    shares_seen: Option<bool>,
) -> Outcome<ChatSettings> {
    charge(app, Limit::ChatSettings, viewer).await?;
    if (who.is_some() || shares_seen.is_some()) && !lists::set_settings(app.db(), viewer, who, shares_seen).await? {
        return Err(Error::Unauthenticated.into());
    }
    let found = lists::counts_and_settings(app.db(), &[viewer]).await?.pop();
    Ok(found.map(|(_, settings)| settings).unwrap_or_default())
}
