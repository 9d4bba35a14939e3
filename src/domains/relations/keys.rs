//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::{UserId, source};

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 10] = [
    "mutes",
    "mute_ends",
    "muters",
    "mute_schedule",
    "blocks",
    "blockers",
    "friends",
    "friend_requests_sent",
    "friend_requests_received",
    "friend_slots",
];

/// The number of partitions of the schedule.
pub(super) const SCHEDULES: u64 = 16;

/// ZSET, user id → mute id: the accounts that `id` mutes. At most [`super::MAX_MUTES`], no time to live.
pub(super) fn mutes(id: UserId) -> String {
    format!("mutes:{{{}}}", id.0)
}

/// ZSET, user id → end in ms: the temporary mutes of `id`. At most [`super::MAX_MUTES`], no time to live.
pub(super) fn mute_ends(id: UserId) -> String {
    format!("mute_ends:{{{}}}", id.0)
}

/// ZSET, user id → mute id: the accounts that mute `id`. At most the number of accounts, no time to live.
pub(super) fn muters(id: UserId) -> String {
    format!("muters:{{{}}}", id.0)
}

/// ZSET, user id → block id: the accounts that `id` blocks. At most [`super::MAX_BLOCKS`], no time to live.
pub fn blocks(id: UserId) -> String {
    format!("blocks:{{{}}}", id.0)
}

/// ZSET, user id → block id: the accounts that block `id`. At most the number of accounts, no time to live.
pub(super) fn blockers(id: UserId) -> String {
    format!("blockers:{{{}}}", id.0)
}

/// ZSET, user id → earliest end of a temporary mute in ms. Divided into [`SCHEDULES`] keys; at most the number of accounts, no time to live.
pub(super) fn mute_schedule(partition: u64) -> String {
    format!("mute_schedule:{{{partition}}}")
}

/// ZSET, user id → friendship id: the friends of `id`. At most [`super::MAX_FRIENDS`], no time to live.
pub(super) fn friends(id: UserId) -> String {
    format!("friends:{{{}}}", id.0)
}

/// ZSET, user id → request id: the accounts whose friendship `id` has requested. At most [`super::MAX_FRIEND_REQUESTS`], no time to live.
pub(super) fn friend_requests_sent(id: UserId) -> String {
    format!("friend_requests_sent:{{{}}}", id.0)
}

/// ZSET, user id → request id: the accounts that have requested the friendship of `id`. At most the number of accounts, no time to live.
pub(super) fn friend_requests_received(id: UserId) -> String {
    format!("friend_requests_received:{{{}}}", id.0)
}

/// ZSET, user id → id: accounts with lower ids, between whom and `id` a friendship or a request is being written. They count towards the limits
/// of `id`, so at most [`super::MAX_FRIENDS`]. Each has an entry in the journal; no time to live.
pub(super) fn friend_slots(id: UserId) -> String {
    format!("friend_slots:{{{}}}", id.0)
}

/// Not a key of Redis: the name of the accounts hidden from `id` in the client-side cache.
pub(super) fn cached_hidden_accounts(id: UserId) -> String {
    format!("hidden accounts of {}", id.0)
}

/// The partition of the schedule that has an account.
pub(super) const fn schedule_partition(id: UserId) -> u64 {
    source::partition(id.0, SCHEDULES)
}

/// A key of this domain, as parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    Mutes(UserId),
    MuteEnds(UserId),
    Muters(UserId),
    Schedule(u64),
    Blocks(UserId),
    Blockers(UserId),
    Friends(UserId),
    SentRequests(UserId),
    ReceivedRequests(UserId),
    FriendSlots(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let id = |kind| audit::id_in(key, kind).map(UserId);
    let schedule = || {
        let partition = audit::tag_in(key, "mute_schedule").and_then(audit::number)?;
        (partition < SCHEDULES).then_some(KeyKind::Schedule(partition))
    };
    let mutes = id("mutes").map(KeyKind::Mutes).or_else(|| id("mute_ends").map(KeyKind::MuteEnds));
    let blocks = || id("blocks").map(KeyKind::Blocks).or_else(|| id("blockers").map(KeyKind::Blockers));
    let friends = || id("friends").map(KeyKind::Friends).or_else(|| id("friend_requests_sent").map(KeyKind::SentRequests));
    let requests =
        || id("friend_requests_received").map(KeyKind::ReceivedRequests).or_else(|| id("friend_slots").map(KeyKind::FriendSlots));
    let others = || schedule().or_else(blocks).or_else(friends).or_else(requests);
    mutes.or_else(|| id("muters").map(KeyKind::Muters)).or_else(others)
}
