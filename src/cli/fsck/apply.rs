//! Applies remedies. A remedy reads the committed data and makes the derived data agree with it, or replaces a value only if the value is still
//! the one that was found. So a remedy can be applied twice, late, or while servers run.

use crate::app::App;
use crate::base::audit::Remedy;
use crate::base::error::Error;
use crate::base::ids::{SessionId, StatusId, UserId};
use crate::domains::accounts::service as accounts;
use crate::domains::ads::service as ads;
use crate::domains::chats::service as chats;
use crate::domains::comments::service as comments;
use crate::domains::identities::service as identities;
use crate::domains::lists::service as lists;
use crate::domains::relations::service as relations;
use crate::domains::sessions::service as sessions;
use crate::domains::statuses::Mark;
use crate::domains::statuses::service as statuses;
use crate::domains::timelines::service as timelines;
use crate::domains::users::service as users;
use crate::platform::idempotency::service as idempotency;
use crate::platform::journal::{Feed, Progress};

/// Applies one remedy completely.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; internal for data that cannot be decoded.
pub(super) async fn apply(app: &App, remedy: &Remedy) -> Result<(), Error> {
    if remedy.stage() <= 1 || matches!(remedy, Remedy::Recount { .. } | Remedy::SyncLast { .. } | Remedy::DeleteOrphan { .. }) {
        return Box::pin(repair_key(app, remedy)).await;
    }
    Box::pin(settle(app, remedy)).await
}

/// Applies a remedy that writes or deletes single keys, fields or members.
async fn repair_key(app: &App, remedy: &Remedy) -> Result<(), Error> {
    let db = app.db();
    match remedy {
        Remedy::SetExpiry { key, millis } => db.set_expiry(key, *millis).await,
        Remedy::DeleteMistyped { key, kind } => db.delete_mistyped(key, kind).await,
        Remedy::DeleteOrphan { key, owners } => db.delete_orphan(key, owners).await,
        Remedy::Discard { key } => db.delete_key(key).await,
        Remedy::SetField { key, field, found, value } => db.set_field(key, field, found.as_deref(), value.as_deref()).await,
        Remedy::SetText { key, found, value } => db.set_text(key, found, value).await,
        Remedy::RemoveMember { key, member } => db.remove_member(key, member).await,
        Remedy::CorrectScore { key, member } => db.correct_score(key, *member).await,
        Remedy::ReplaceScore { key, member } => db.replace_score(key, *member, app.next_id().await?).await,
        Remedy::Recount { key, field, set } => db.recount(key, field, set).await,
        Remedy::SyncLast { key, stream } => db.sync_last(key, stream).await,
        Remedy::ClaimLogin { user } => users::claim_login(app, *user).await.map(drop),
        Remedy::RemoveFromProfile { owner, status } => statuses::remove_from_profile(app, *owner, *status).await,
        Remedy::ClearComment(id) => comments::clear_comment(app, *id).await,
        Remedy::SettleListOwner { holder, recorded_owner, list, set, record } => {
            // If only `holder` has the list in its set, the record is corrected. Otherwise the list is removed from the set.
            if lists::is_owned_by(app, *holder, *list).await? && !lists::is_owned_by(app, *recorded_owner, *list).await? {
                return db.set_field(record, "uid", Some(&recorded_owner.0.to_string()), Some(&holder.0.to_string())).await;
            }
            db.remove_member(set, list.0.to_string().as_bytes()).await
        }
        _ => Ok(()),
    }
}

/// Applies any other remedy, by a service of a domain.
async fn settle(app: &App, remedy: &Remedy) -> Result<(), Error> {
    match remedy {
        Remedy::RemoveFromHome { owner, status } => timelines::remove_deleted_from(app, Feed::Home(*owner), *status).await,
        Remedy::RemoveFromList { list, status } => timelines::remove_deleted_from(app, Feed::List(*list), *status).await,
        Remedy::ListSession { digest, user, id } => sessions::restore_to_list(app, digest, *user, SessionId(*id)).await,
        Remedy::TrimSessions(user) => sessions::trim(app, *user).await,
        Remedy::EndSessions(user) => sessions::delete_ended_sessions(app, *user).await.map(drop),
        Remedy::ClaimEmail { user } => users::claim_email(app, *user).await,
        Remedy::ReleaseEmail { user, address } => users::release_email(app, *user, address).await,
        Remedy::ClaimExternalId { user } => identities::claim(app, *user).await,
        Remedy::ReleaseExternalId { user, digest } => identities::release(app, *user, digest).await,
        Remedy::SettleLogin { user, login } => users::withdraw_claim(app, *user, login).await,
        Remedy::RepairIdempotencyKeys { tag } => idempotency::repair(app, tag).await,
        Remedy::SettleFollow { follower, followed } => {
            timelines::settle_source(app, Feed::Home(*follower), *followed).await.map(drop)
        }
        Remedy::SettleMute { from, to } => relations::settle(app, *from, *to).await.map(drop),
        Remedy::SettleBlock { from, to } => timelines::settle_block(app, *from, *to).await.map(drop),
        Remedy::SettleFriendship { a, b } => timelines::settle_friendship(app, *a, *b).await.map(drop),
        Remedy::EndMutes(user) => relations::end_all_mutes(app, *user).await,
        Remedy::SettleMembership { list, user } => timelines::settle_source(app, Feed::List(*list), *user).await.map(drop),
        Remedy::SettleLike { user, status } => statuses::settle_like(app, *user, *status).await,
        Remedy::SettleConversationEntry(entry) => statuses::settle_conversation_entry(app, *entry).await,
        Remedy::SettleBookmark { user, status } => statuses::settle_mark(app, Mark::Bookmark, *user, *status).await.map(drop),
        Remedy::SettleRepost { user, status } => settle_repost(app, *user, *status).await,
        Remedy::SettleStatus { author, status } => settle_status(app, *author, *status).await,
        Remedy::PurgeLikes(status) => {
            while !statuses::purge_likes_of_statuses(app, &[*status]).await?.is_empty() {}
            Ok(())
        }
        Remedy::PurgeBookmarks(status) => purge_marks(app, Mark::Bookmark, *status).await,
        Remedy::PurgeReposts(status) => purge_marks(app, Mark::Repost, *status).await,
        Remedy::SettleList { owner, list } => timelines::restore_list(app, *owner, *list).await,
        Remedy::PurgeList { owner, list } => timelines::purge_orphaned_list(app, *owner, *list).await,
        Remedy::ResetFeed { tag } => timelines::reset(app, *tag).await,
        Remedy::SettleComment { author, comment } => comments::settle(app, *author, *comment).await,
        Remedy::RecountVotes(id) => comments::count_votes(app, *id).await,
        Remedy::AddCommentToOrders(id) => comments::restore_to_orders(app, *id).await,
        Remedy::RebuildThread(status) => comments::rebuild_thread(app, *status).await,
        Remedy::PurgeThread(status) => comments::purge_thread(app, *status).await,
        Remedy::SettleCampaign { owner: Some(owner), campaign } => ads::settle_owned(app, *owner, *campaign).await,
        Remedy::SettleCampaign { owner: None, campaign } => ads::settle(app, *campaign).await,
        Remedy::SettleWebsite { owner, website } => ads::settle_website(app, *owner, *website).await.map(drop),
        Remedy::RemoveFromListing { key, member, campaign } => {
            app.db().remove_member(key, member).await?;
            ads::settle(app, *campaign).await
        }
        Remedy::SettleChat { chat, user } => chats::repair_member(app, *chat, *user).await,
        Remedy::PurgeAccount(user) => purge_account(app, *user).await,
        _ => Ok(()),
    }
}

async fn settle_repost(app: &App, user: UserId, status: StatusId) -> Result<(), Error> {
    let mut progress = Some(Progress::default());
    while let Some(from) = progress {
        progress = timelines::settle_repost(app, user, status, from).await?;
    }
    Ok(())
}

async fn settle_status(app: &App, author: UserId, status: StatusId) -> Result<(), Error> {
    let mut progress = Some(Progress::default());
    while let Some(from) = progress {
        progress = timelines::settle_status(app, author, status, from).await?;
    }
    Ok(())
}

/// Deletes the rest of a deleted account; an existing account is left alone. The login is unknown: the audit of logins checks its claim.
async fn purge_account(app: &App, user: UserId) -> Result<(), Error> {
    let mut progress = Some(Progress::default());
    while let Some(from) = progress {
        if users::exists(app, user).await? {
            return Ok(());
        }
        progress = accounts::settle(app, user, ("", &[], None), from).await?;
    }
    Ok(())
}

/// Removes all marks of a deleted status.
async fn purge_marks(app: &App, mark: Mark, status: StatusId) -> Result<(), Error> {
    while !statuses::purge_marks_of_statuses(app, mark, None, &[status]).await?.is_empty() {}
    Ok(())
}
