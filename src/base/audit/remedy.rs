//! What `waxwing fsck --repair` does about a finding. A remedy names what to settle, never what to write: the truth is looked up again when it is
//! applied, so that it is right beside servers that go on writing.

use crate::base::clock::Millis;
use crate::base::ids::{CampaignId, CommentId, StatusId, UserId, UserListId, WebsiteId};

/// A repair of one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// Sets the time to live of a key that has none (milliseconds), or takes it away from a key that must have none.
    SetExpiry {
        /// The key.
        key: String,
        /// How long it lives; `None` for ever.
        millis: Option<Millis>,
    },
    /// Deletes a key of a wrong type. What it should hold follows from other keys.
    DeleteMistyped {
        /// The key.
        key: String,
        /// The type that it should have.
        kind: &'static str,
    },
    /// Deletes a key whose owners are all gone. Keys of one hash tag.
    DeleteOrphan {
        /// The key.
        key: String,
        /// The keys of its owners; it stays while any of them exists.
        owners: Vec<String>,
    },
    /// Deletes a key that holds no content and cannot be read: a rate bucket, a session.
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
        /// The value that it gets.
        value: Option<String>,
    },
    /// Replaces a string, if it still begins with what was found. Its time to live stays.
    SetText {
        /// The string.
        key: String,
        /// Its beginning as it was found.
        found: String,
        /// What it becomes.
        value: String,
    },
    /// Removes a member from a sorted set that cannot be one of its members.
    RemoveMember {
        /// The set.
        key: String,
        /// The member.
        member: Vec<u8>,
    },
    /// Gives a member of a sorted set itself as its score.
    PlaceMember {
        /// The set.
        key: String,
        /// The member.
        member: u64,
    },
    /// Gives a member of a sorted set a new id as its score, if the score is not an id or another member has the same.
    RestampMember {
        /// The set.
        key: String,
        /// The member.
        member: u64,
    },
    /// Makes a login belong to the account that has it.
    ClaimLogin {
        /// The account.
        user: UserId,
    },
    /// Sets a count to the size of the set that it counts. Keys of one hash tag.
    Recount {
        /// The hash with the count.
        key: String,
        /// The field.
        field: String,
        /// The sorted set.
        set: String,
    },
    /// Makes a hash name the newest entry of its stream. Keys of one hash tag.
    SyncLast {
        /// The hash with the field `last`.
        key: String,
        /// The stream.
        stream: String,
    },
    /// Takes a status out of a profile whose owner is not its author.
    Unlist {
        /// The profile's owner.
        owner: UserId,
        /// The status.
        status: StatusId,
    },
    /// Takes a deleted status out of a home.
    ForgetInHome {
        /// The home's owner.
        owner: UserId,
        /// The status.
        status: StatusId,
    },
    /// Takes a deleted status out of a list's timeline.
    ForgetInList {
        /// The list.
        list: UserListId,
        /// The status.
        status: StatusId,
    },
    /// Clears the text and the author of a comment that is marked as deleted.
    StripComment(CommentId),
    /// Lists a session under its account.
    ListSession {
        /// The session's digest.
        digest: String,
        /// Its account.
        user: UserId,
        /// Its id.
        id: u64,
    },
    /// Takes ended sessions from an account's list, and ends the oldest past the limit.
    TrimSessions(UserId),
    /// Makes the answers under an account's idempotency keys and their times agree.
    SettleAnswers(UserId),
    /// Settles a follow: both sides, and the follower's home.
    SettleFollow {
        /// The follower.
        follower: UserId,
        /// Whom they follow, or not.
        followed: UserId,
    },
    /// Settles a list membership: both sides, and the list's timeline.
    SettleMembership {
        /// The list.
        list: UserListId,
        /// The member, or not.
        user: UserId,
    },
    /// Settles a like: the liker's side says what the status's side says.
    SettleLike {
        /// Who likes, or not.
        user: UserId,
        /// The status.
        status: StatusId,
    },
    /// Settles a status: profile, homes, lists, likes and comments agree with whether it exists.
    SettleStatus {
        /// Its author.
        author: UserId,
        /// The status.
        status: StatusId,
    },
    /// Takes the likes of a status away that is gone, on both sides.
    ForgetLikes(StatusId),
    /// Makes a list's record name the account that has the list, or takes the list from that account when the one it names has it.
    SettleListOwner {
        /// The account that has the list.
        owner: UserId,
        /// The account that the record names.
        named: UserId,
        /// The list.
        list: UserListId,
        /// The owner's lists.
        set: String,
        /// The list's record.
        record: String,
    },
    /// Lists a list under its owner again, or deletes what is left of it when it was deleted.
    SettleList {
        /// The owner that it names.
        owner: UserId,
        /// The list.
        list: UserListId,
    },
    /// Deletes what is left of a list whose own record is gone.
    EndList {
        /// The owner, where one is known.
        owner: Option<UserId>,
        /// The list.
        list: UserListId,
    },
    /// Drops a feed whose state cannot be read: the next read builds it again.
    ResetFeed {
        /// The id of the account or of the list.
        tag: u64,
    },
    /// Settles a comment: its author's side says what the thread says.
    SettleComment {
        /// Its author.
        author: UserId,
        /// The comment.
        comment: CommentId,
    },
    /// Counts the votes on a comment again.
    RecountVotes(CommentId),
    /// Puts a comment back into the orders of its thread.
    PlaceComment(CommentId),
    /// Rebuilds the orders and counts of a thread from its comments.
    RebuildThread(StatusId),
    /// Clears away removed branches, or the whole thread of a status that is gone.
    ClearThread(StatusId),
    /// Settles a campaign: shares, listings and schedule follow from it.
    SettleCampaign {
        /// Its owner, where one is known.
        owner: Option<UserId>,
        /// The campaign.
        campaign: CampaignId,
    },
    /// Settles a website: its owner's side says whether it exists.
    SettleWebsite {
        /// Its owner.
        owner: UserId,
        /// The website.
        website: WebsiteId,
    },
    /// Removes a campaign from a listing or a schedule in which it should not be.
    Delist {
        /// The set.
        key: String,
        /// The member.
        member: Vec<u8>,
        /// The campaign.
        campaign: CampaignId,
    },
    /// Deletes everything that an account has left which does not exist any more.
    PurgeAccount(UserId),
}

impl Remedy {
    /// What it does, for the summary: an imperative and its object.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SetExpiry { .. } => "correct a time to live",
            Self::DeleteMistyped { .. } => "delete a key of a wrong type",
            Self::DeleteOrphan { .. } => "delete a key without an owner",
            Self::Discard { .. } => "delete an unreadable record",
            Self::SetField { .. } => "correct a field",
            Self::SetText { .. } => "correct a value",
            Self::RemoveMember { .. } => "remove an invalid member",
            Self::PlaceMember { .. } | Self::RestampMember { .. } => "correct a score",
            Self::ClaimLogin { .. } => "claim a login for its account",
            Self::Recount { .. } => "correct a count",
            Self::SyncLast { .. } => "correct a log's last entry",
            Self::Unlist { .. } => "remove another author's status from a profile",
            Self::ForgetInHome { .. } | Self::ForgetInList { .. } => "remove a deleted status from a feed",
            Self::StripComment(_) => "clear a deleted comment",
            Self::ListSession { .. } => "list a session",
            Self::TrimSessions(_) => "trim a list of sessions",
            Self::SettleAnswers(_) => "settle idempotency keys",
            Self::SettleFollow { .. } => "settle a follow",
            Self::SettleMembership { .. } => "settle a list membership",
            Self::SettleLike { .. } => "settle a like",
            Self::SettleStatus { .. } => "settle a status",
            Self::ForgetLikes(_) => "remove the likes of a deleted status",
            Self::SettleList { .. } | Self::SettleListOwner { .. } => "settle a list",
            Self::EndList { .. } => "delete the rest of a list",
            Self::ResetFeed { .. } => "reset a feed",
            Self::SettleComment { .. } => "settle a comment",
            Self::RecountVotes(_) => "recount votes",
            Self::PlaceComment(_) => "put a comment into its thread",
            Self::RebuildThread(_) => "rebuild a thread's counts and orders",
            Self::ClearThread(_) => "clear a thread",
            Self::SettleCampaign { .. } => "settle a campaign",
            Self::SettleWebsite { .. } => "settle a website",
            Self::Delist { .. } => "remove a campaign from a listing",
            Self::PurgeAccount(_) => "delete the rest of an account",
        }
    }

    /// When it is applied: the stages of a round follow one another. What is malformed goes first, what deletes goes by what is left after that.
    pub const fn stage(&self) -> u8 {
        match self {
            Self::SetExpiry { .. } | Self::DeleteMistyped { .. } | Self::SetField { .. } | Self::SetText { .. } => 1,
            Self::RemoveMember { .. } | Self::PlaceMember { .. } | Self::RestampMember { .. } | Self::Discard { .. } => 1,
            Self::Unlist { .. } | Self::StripComment(_) | Self::SettleListOwner { .. } => 1,
            // Before an orphaned claim is deleted, so that nobody else can take the login in between.
            Self::ClaimLogin { .. } => 0,
            Self::DeleteOrphan { .. } => 4,
            Self::PurgeAccount(_) => 5,
            Self::Recount { .. } | Self::SyncLast { .. } | Self::RebuildThread(_) => 3,
            _ => 2,
        }
    }
}
