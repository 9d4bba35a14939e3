//! Visibility: every field follows the policy, and a hidden object has the same response as one that does not exist.

mod absent;
mod comments;
mod conversation;
mod mentions;
mod pages;
mod quotes;
mod surfaces;
mod tags;

use crate::support::{Actor, TestApp};
use std::collections::BTreeSet;
use waxwing::platform::events::service as events;

/// Fields that tests of subscriptions cover: `live/hidden.rs`, `live/edits.rs`, `live/reposts.rs`, `live/tags.rs` and `live/placeholders.rs`.
const LIVE: [&str; 12] = [
    "CommentAdded.comment",
    "CommentEdited.comment",
    "CommentVoted.comment",
    "StatusEdited.status",
    "StatusPosted.status",
    "StatusReposted.repostedBy",
    "StatusReposted.status",
    "Subscription.homeTimelineEvents",
    "Subscription.listTimelineEvents",
    "Subscription.statusEvents",
    "Subscription.tagTimelineEvents",
    "Subscription.viewerMentionEvents",
];

/// Fields that tests of chats cover: `chats/blocks.rs`, `chats/direct.rs`, `chats/groups.rs`, `chats/deletion.rs` and `live/chats/typing.rs`.
const CHATS: [&str; 13] = [
    "Chat.viewerPeer",
    "ChatMember.user",
    "ChatMessage.replyTo",
    "ChatMessage.sender",
    "ChatMessage.subject",
    "MessageReaction.reactors",
    "Mutation.addChatMembers",
    "Mutation.createGroupChat",
    "Mutation.reactToMessage",
    "Mutation.removeReaction",
    "Mutation.sendMessage",
    "Mutation.startDirectChat",
    "TypingStarted.user",
];

/// The fields that have a test.
fn covered() -> BTreeSet<&'static str> {
    let cases = absent::CASES.iter().flat_map(|case| case.covers.iter().copied());
    cases
        .chain(pages::COVERED)
        .chain(comments::COVERED)
        .chain(mentions::COVERED)
        .chain(conversation::COVERED)
        .chain(quotes::COVERED)
        .chain(tags::COVERED)
        .chain(LIVE)
        .chain(CHATS)
        .collect()
}

/// Makes `from` block `to` and notifies the servers, but ends no relation between the two: lists and homes must be filtered also while a block is
/// incomplete.
pub(crate) fn block(app: &TestApp, from: &Actor, to: &Actor) {
    let (from, to) = (from.user_id().0.to_string(), to.user_id().0.to_string());
    let sides = [("blocks", &from, &to, "blocks"), ("blockers", &to, &from, "blocked_by")];
    for (kind, owner, member, count) in sides {
        app.redis.run::<i64>(&["ZADD", &format!("{kind}:{{{owner}}}"), "1", member]);
        app.redis.run::<i64>(&["HINCRBY", &format!("user:{{{owner}}}"), count, "1"]);
        app.redis.run::<i64>(&["HINCRBY", &format!("user:{{{owner}}}"), "relations", "1"]);
        events::publish_change(&app.app, owner.parse().expect("an id"));
    }
}

/// Removes the block again.
pub(crate) fn unblock(app: &TestApp, from: &Actor, to: &Actor) {
    let (from, to) = (from.user_id().0.to_string(), to.user_id().0.to_string());
    for (kind, owner, member, count) in [("blocks", &from, &to, "blocks"), ("blockers", &to, &from, "blocked_by")] {
        app.redis.run::<i64>(&["ZREM", &format!("{kind}:{{{owner}}}"), member]);
        app.redis.run::<i64>(&["HINCRBY", &format!("user:{{{owner}}}"), count, "-1"]);
        app.redis.run::<i64>(&["HINCRBY", &format!("user:{{{owner}}}"), "relations", "1"]);
    }
}
