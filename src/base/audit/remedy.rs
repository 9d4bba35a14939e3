//! Remedies: the repairs that `waxwing fsck --repair` applies to findings. A remedy can be applied while servers write: most remedies name the objects
//! to settle, and read their current state again. The others compute a value from the current data, or change a key only if it still is as it was found,
//! or if it cannot be valid.

use crate::base::clock::Millis;
use crate::base::email::EmailDigest;
use crate::base::ids::{CampaignId, ChatId, CommentId, ConversationEntryId, StatusId, UserId, UserListId, WebsiteId};

/// The repair of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// Sets the time to live of a key that has none (milliseconds), or removes it from a key that must have none.
    SetExpiry {
        /// The key.
        key: String,
        /// The time to live; `None` for none.
        millis: Option<Millis>,
    },
    /// Deletes a key of a wrong type. Its content is derived from other keys.
    DeleteMistyped {
        /// The key.
        key: String,
        /// The correct type.
        kind: &'static str,
    },
    /// Deletes a key whose owners are all deleted. All keys have one hash tag.
    DeleteOrphan {
        /// The key.
        key: String,
        /// The keys of its owners; the key stays while any of them exists.
        owners: Vec<String>,
    },
    /// Deletes an unreadable key that the program can do without or writes again: a rate bucket, a session, a claim of an address.
    Discard {
        /// The key.
        key: String,
    },
    /// Replaces or deletes a hash field, if it still has the value that was found. `None`: no such field.
    SetField {
        /// The hash.
        key: String,
        /// The field.
        field: String,
        /// The value that was found.
        found: Option<String>,
        /// The new value.
        value: Option<String>,
    },
    /// Replaces a string, if it still begins with the found value. Its time to live stays.
    SetText {
        /// The string.
        key: String,
        /// The beginning of the old value.
        found: String,
        /// The new value.
        value: String,
    },
    /// Removes a member that cannot be valid from a sorted set.
    RemoveMember {
        /// The set.
        key: String,
        /// The member.
        member: Vec<u8>,
    },
    /// Sets the score of a member of a sorted set to the member itself.
    CorrectScore {
        /// The set.
        key: String,
        /// The member.
        member: u64,
    },
    /// Sets the score of a member of a sorted set to a new id, if the score is no id or not unique.
    ReplaceScore {
        /// The set.
        key: String,
        /// The member.
        member: u64,
    },
    /// Claims a login for the account that has it.
    ClaimLogin {
        /// The account.
        user: UserId,
    },
    /// Claims the confirmed address of an account for this account.
    ClaimEmail {
        /// The account.
        user: UserId,
    },
    /// Releases a claim of an address that the account has not confirmed.
    ReleaseEmail {
        /// The account that holds it.
        user: UserId,
        /// The address.
        address: EmailDigest,
    },
    /// Claims the external id of an account for this account.
    ClaimExternalId {
        /// The account.
        user: UserId,
    },
    /// Releases a claim of an external id that the account does not have.
    ReleaseExternalId {
        /// The account that holds it.
        user: UserId,
        /// The digest of the external id.
        digest: String,
    },
    /// Sets a count to the size of its set. All keys have one hash tag.
    Recount {
        /// The hash with the count.
        key: String,
        /// The field.
        field: String,
        /// The sorted set.
        set: String,
    },
    /// Sets the field `last` of a hash to the newest entry of its stream. All keys have one hash tag.
    SyncLast {
        /// The hash with the field `last`.
        key: String,
        /// The stream.
        stream: String,
    },
    /// Removes a status from a profile whose owner is not its author.
    RemoveFromProfile {
        /// The profile's owner.
        owner: UserId,
        /// The status.
        status: StatusId,
    },
    /// Removes a deleted status from a home.
    RemoveFromHome {
        /// The home's owner.
        owner: UserId,
        /// The status.
        status: StatusId,
    },
    /// Removes a deleted status from a list's timeline.
    RemoveFromList {
        /// The list.
        list: UserListId,
        /// The status.
        status: StatusId,
    },
    /// Clears the text and the author of a deleted comment.
    ClearComment(CommentId),
    /// Adds a session to its account's list.
    ListSession {
        /// The session's digest.
        digest: String,
        /// Its account.
        user: UserId,
        /// Its id.
        id: u64,
    },
    /// Removes ended sessions from an account's list, and ends the oldest above the limit.
    TrimSessions(UserId),
    /// Deletes the sessions that a change of the password has ended.
    EndSessions(UserId),
    /// Withdraws a claim of a login whose change was not made.
    SettleLogin {
        /// The account that claims it.
        user: UserId,
        /// The login, in lower case.
        login: String,
    },
    /// Makes the idempotency keys of an account or a server key, and their times, agree.
    RepairIdempotencyKeys {
        /// The hash tag of the keys.
        tag: String,
    },
    /// Settles a mute: the muted account's side.
    SettleMute {
        /// The muter.
        from: UserId,
        /// The muted account.
        to: UserId,
    },
    /// Settles a block: the blocked account's side, and the relations that the block ends.
    SettleBlock {
        /// The blocker.
        from: UserId,
        /// The blocked account.
        to: UserId,
    },
    /// Settles the friendship and the friend requests of two accounts.
    SettleFriendship {
        /// One of the accounts.
        a: UserId,
        /// The other one.
        b: UserId,
    },
    /// Removes the mutes of an account that have ended.
    EndMutes(UserId),
    /// Settles a follow: both accounts, and the follower's home.
    SettleFollow {
        /// The follower.
        follower: UserId,
        /// The followed account.
        followed: UserId,
    },
    /// Settles a list membership: list, member and the list's timeline.
    SettleMembership {
        /// The list.
        list: UserListId,
        /// The account.
        user: UserId,
    },
    /// Settles a like: the account's likes agree with the status's likers.
    SettleLike {
        /// The account.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// Settles an entry of a conversation: removes it if its status is deleted and no entry is below it, or sets the counts of its existing status.
    SettleConversationEntry(ConversationEntryId),
    /// Settles a bookmark: the account's bookmarks agree with the accounts that have bookmarked the status.
    SettleBookmark {
        /// The account.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// Settles a repost: the account's reposts agree with the accounts that have reposted the status.
    SettleRepost {
        /// The account.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// Settles a status: profile, pin, homes, lists, likes, bookmarks and comments agree with its existence.
    SettleStatus {
        /// Its author.
        author: UserId,
        /// The status.
        status: StatusId,
    },
    /// Deletes the likes of a deleted status, on both sides.
    PurgeLikes(StatusId),
    /// Deletes the bookmarks of a deleted status, on both sides.
    PurgeBookmarks(StatusId),
    /// Deletes the reposts of a deleted status, on both sides.
    PurgeReposts(StatusId),
    /// Corrects a list that is in the lists of an account that is not the recorded owner. If the recorded owner does not have the list, this account
    /// becomes the recorded owner; otherwise the list is removed from the lists of this account.
    SettleListOwner {
        /// The account that has the list in its lists.
        holder: UserId,
        /// The recorded owner.
        recorded_owner: UserId,
        /// The list.
        list: UserListId,
        /// The lists of `holder`.
        set: String,
        /// The list's record.
        record: String,
    },
    /// Adds a list to its owner's lists, or deletes the rest of a deleted list.
    SettleList {
        /// The recorded owner.
        owner: UserId,
        /// The list.
        list: UserListId,
    },
    /// Deletes the rest of a list whose record is deleted.
    PurgeList {
        /// The owner, if known.
        owner: Option<UserId>,
        /// The list.
        list: UserListId,
    },
    /// Drops a feed whose state cannot be parsed: the next read rebuilds it.
    ResetFeed {
        /// The id of the account or of the list.
        tag: u64,
    },
    /// Settles a comment: its author's index agrees with the thread.
    SettleComment {
        /// Its author.
        author: UserId,
        /// The comment.
        comment: CommentId,
    },
    /// Recounts the votes on a comment.
    RecountVotes(CommentId),
    /// Adds a comment to the orders of its thread.
    AddCommentToOrders(CommentId),
    /// Rebuilds the orders and counts of a thread from its comments.
    RebuildThread(StatusId),
    /// Purges deleted branches, or the whole thread of a deleted status.
    PurgeThread(StatusId),
    /// Settles a campaign: budget shares, listings and schedule are derived from it.
    SettleCampaign {
        /// The owner, if known.
        owner: Option<UserId>,
        /// The campaign.
        campaign: CampaignId,
    },
    /// Settles a website: its owner's index agrees with its existence.
    SettleWebsite {
        /// Its owner.
        owner: UserId,
        /// The website.
        website: WebsiteId,
    },
    /// Removes a campaign from a listing or a schedule.
    RemoveFromListing {
        /// The set.
        key: String,
        /// The member.
        member: Vec<u8>,
        /// The campaign.
        campaign: CampaignId,
    },
    /// Settles a membership of a chat: the account's lists agree with the chat.
    SettleChat {
        /// The chat.
        chat: ChatId,
        /// The account.
        user: UserId,
    },
    /// Deletes the rest of a deleted account.
    PurgeAccount(UserId),
}

impl Remedy {
    /// The action for the summary: an imperative and its object.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SetExpiry { .. } => "correct a time to live",
            Self::DeleteMistyped { .. } => "delete a key of a wrong type",
            Self::DeleteOrphan { .. } => "delete a key without an owner",
            Self::Discard { .. } => "delete an unreadable record",
            Self::SetField { .. } => "correct a field",
            Self::SetText { .. } => "correct a value",
            Self::RemoveMember { .. } => "remove an invalid member",
            Self::CorrectScore { .. } | Self::ReplaceScore { .. } => "correct a score",
            Self::ClaimLogin { .. } => "claim a login for its account",
            Self::ClaimEmail { .. } => "claim an address for its account",
            Self::ReleaseEmail { .. } => "release a claim of an address",
            Self::ClaimExternalId { .. } => "claim an external id for its account",
            Self::ReleaseExternalId { .. } => "release a claim of an external id",
            Self::Recount { .. } => "correct a count",
            Self::SyncLast { .. } => "correct a log's last entry",
            Self::RemoveFromProfile { .. } => "remove another author's status from a profile",
            Self::RemoveFromHome { .. } | Self::RemoveFromList { .. } => "remove a deleted status from a feed",
            Self::ClearComment(_) => "clear a deleted comment",
            Self::ListSession { .. } => "add a session to its account's list",
            Self::TrimSessions(_) => "remove ended sessions, and end those above the limit",
            Self::EndSessions(_) => "end sessions after a change of the password",
            Self::SettleLogin { .. } => "withdraw a claim of a login",
            Self::RepairIdempotencyKeys { .. } => "repair idempotency keys",
            Self::SettleFollow { .. } => "reconcile a follow",
            Self::SettleMute { .. } => "reconcile a mute",
            Self::SettleBlock { .. } => "reconcile a block",
            Self::SettleFriendship { .. } => "reconcile a friendship",
            Self::EndMutes(_) => "remove ended mutes",
            Self::SettleMembership { .. } => "reconcile a list membership",
            Self::SettleLike { .. } => "reconcile a like",
            Self::SettleConversationEntry(_) => "reconcile an entry of a conversation",
            Self::SettleBookmark { .. } => "reconcile a bookmark",
            Self::SettleRepost { .. } => "reconcile a repost",
            Self::SettleStatus { .. } => "reconcile a status",
            Self::PurgeLikes(_) => "remove the likes of a deleted status",
            Self::PurgeBookmarks(_) => "remove the bookmarks of a deleted status",
            Self::PurgeReposts(_) => "remove the reposts of a deleted status",
            Self::SettleList { .. } | Self::SettleListOwner { .. } => "reconcile a list",
            Self::PurgeList { .. } => "delete the rest of a list",
            Self::ResetFeed { .. } => "reset a feed",
            Self::SettleComment { .. } => "reconcile a comment",
            Self::RecountVotes(_) => "recount votes",
            Self::AddCommentToOrders(_) => "add a comment to the orders of its thread",
            Self::RebuildThread(_) => "rebuild a thread's counts and orders",
            Self::PurgeThread(_) => "purge a thread",
            Self::SettleCampaign { .. } => "reconcile a campaign",
            Self::SettleWebsite { .. } => "reconcile a website",
            Self::RemoveFromListing { .. } => "remove a campaign from a listing",
            Self::SettleChat { .. } => "reconcile a chat",
            Self::PurgeAccount(_) => "delete the rest of an account",
        }
    }

    /// The stage of a repair round in which the remedy is applied, from 0. Malformed data is repaired before data that depends on it. Keys of deleted
    /// owners and the rest of deleted accounts are deleted last.
    pub const fn stage(&self) -> u8 {
        match self {
            Self::SetExpiry { .. } | Self::DeleteMistyped { .. } | Self::SetField { .. } | Self::SetText { .. } => 1,
            Self::RemoveMember { .. } | Self::CorrectScore { .. } | Self::ReplaceScore { .. } | Self::Discard { .. } => 1,
            Self::RemoveFromProfile { .. } | Self::ClearComment(_) | Self::SettleListOwner { .. } => 1,
            // Before an orphaned claim is deleted, so that nobody else can take the login meanwhile.
            Self::ClaimLogin { .. } => 0,
            Self::DeleteOrphan { .. } => 4,
            Self::PurgeAccount(_) => 5,
            Self::Recount { .. } | Self::SyncLast { .. } | Self::RebuildThread(_) => 3,
            _ => 2,
        }
    }
}
