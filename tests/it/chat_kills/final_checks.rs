//! The final checks: what members read, against what was acknowledged, and an audit of the store.

use super::member::Member;
use super::{MEMBERS, World};
use crate::chats::{badge, inbox};
use crate::support::{Actor, LONG_TIMEOUTS, findings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::Db;

/// Compares everything. Returns the newest row of each chat.
pub(super) async fn check(world: &World, members: &[Member]) -> Vec<u64> {
    let url = world.servers.url(0).expect("a server");
    let mut newest = vec![0; world.chats.len()];
    for member in members {
        let actor = world.people[member.at].at_url(&url);
        for chat in World::chats_of(member.at) {
            newest[chat] = check_chat(world, members, member, &actor, chat).await;
        }
        check_lists(&actor, member).await;
    }
    let guests = &members[0].guests;
    let card = read(&world.people[0].at_url(&url), &world.chats[0], Value::Null).await;
    let present = guests.iter().filter(|is_present| **is_present).count();
    assert_eq!(card["membersCount"], MEMBERS + present, "{guests:?}");
    for (guest, is_present) in guests.iter().enumerate() {
        let card = read(&world.people[MEMBERS + guest].at_url(&url), &world.chats[0], Value::Null).await;
        assert_eq!(!card.is_null(), *is_present, "guest {guest}");
    }
    check_store(world).await;
    newest
}

/// A chat with a page of its rows.
async fn read(actor: &Actor, chat: &str, after: Value) -> Value {
    let query = "query($id: ID!, $after: String) { node(id: $id) { ... on Chat { membersCount newestSequence viewerUnreadCount
        viewerMember { seenSequence deliveredSequence }
        messages(first: 100, after: $after) { newestSequence edges { node { id sequence kind text isDeleted sentAt
            sender { login } reactions { emoji count viewerHasReacted } } } pageInfo { hasNextPage endCursor } } } } }";
    let mut response = actor.gql(query, json!({ "id": chat, "after": after })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["node"].take()
}

/// All rows of a chat, the oldest first, and the chat.
async fn rows(actor: &Actor, chat: &str) -> (Value, Vec<Value>) {
    let (mut all, mut after) = (Vec::new(), Value::Null);
    loop {
        let card = read(actor, chat, after).await;
        let edges = card["messages"]["edges"].as_array().unwrap_or_else(|| panic!("{card}"));
        all.extend(edges.iter().map(|edge| edge["node"].clone()));
        after = card["messages"]["pageInfo"]["endCursor"].clone();
        if card["messages"]["pageInfo"]["hasNextPage"] == false {
            all.reverse();
            return (card, all);
        }
    }
}

/// Compares a chat as a member reads it. Returns the newest row.
async fn check_chat(world: &World, members: &[Member], member: &Member, actor: &Actor, chat: usize) -> u64 {
    let (card, rows) = rows(actor, &world.chats[chat]).await;
    let newest = card["newestSequence"].as_u64().expect("a number");
    let numbers: Vec<u64> = rows.iter().map(|row| row["sequence"].as_u64().expect("a number")).collect();
    assert_eq!(numbers, (1..=newest).collect::<Vec<_>>(), "numbers have no gap and no double");
    let times: Vec<&str> = rows.iter().map(|row| row["sentAt"].as_str().expect("a time")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["kind"] == "TEXT" && row["isDeleted"] == false) {
        *texts.entry(row["text"].as_str().expect("a text")).or_default() += 1;
    }
    let mut acknowledged = 0;
    for sender in members {
        let login = &world.people[sender.at].login;
        for ((_, first), sent) in sender.sent.iter().filter(|((of, _), _)| *of == chat) {
            acknowledged += 1;
            let row = &rows[sent.sequence as usize - 1];
            assert_eq!((&row["id"], &row["sender"]["login"]), (&json!(sent.id), &json!(login)), "{first:?}");
            assert_eq!(row["isDeleted"], sent.text.is_none(), "{first:?}");
            assert_eq!(row["text"], sent.text.as_deref().unwrap_or_default());
            let count = usize::from(sent.has_reacted && sent.text.is_some());
            let reactions = row["reactions"].as_array().expect("reactions");
            assert_eq!(reactions.len(), count, "{row}");
            let own = json!({ "emoji": "👍", "count": 1, "viewerHasReacted": sender.at == member.at });
            assert!(reactions.iter().all(|reaction| *reaction == own), "{row}");
            if let Some(text) = &sent.text {
                assert_eq!(texts.remove(text.as_str()), Some(1), "{text:?} was acknowledged once");
            }
        }
        for (_, text) in sender.unknown.iter().filter(|(of, _)| *of == chat) {
            assert!(texts.remove(text.as_str()).is_none_or(|count| count == 1), "{text:?} was sent once");
        }
    }
    assert!(texts.is_empty() && acknowledged > 0, "nobody has sent {texts:?}");
    check_positions(member, chat, &card, &rows, &actor.login);
    newest
}

/// The position is at least the acknowledged one, and the count that of the texts above it.
fn check_positions(member: &Member, chat: usize, card: &Value, rows: &[Value], login: &str) {
    let position = |name: &str| card["viewerMember"][name].as_u64().expect("a position");
    let (seen, delivered) = (position("seenSequence"), position("deliveredSequence"));
    let acknowledged = member.seen.get(&chat).copied().unwrap_or_default();
    assert!(acknowledged <= seen && seen <= delivered && delivered <= rows.len() as u64, "{acknowledged} {seen} {delivered}");
    let counts = |row: &&Value| row["kind"] == "TEXT" && row["isDeleted"] == false && row["sender"]["login"] != *login;
    let unread = rows.iter().skip(seen as usize).filter(counts).count();
    assert_eq!(card["viewerUnreadCount"], unread, "unread texts of {login}");
}

/// The lists have both chats, and the badge agrees with the counts. The order is not compared: a text that is sent again with its key has the activity of the
/// first attempt.
async fn check_lists(actor: &Actor, member: &Member) {
    let chats = inbox(actor, "INBOX").await;
    assert_eq!(chats.len(), 2, "the chats of {}", member.at);
    let mut unread = 0;
    for chat in &chats {
        let card = read(actor, chat, Value::Null).await;
        unread += u64::from(card["viewerUnreadCount"] != 0);
    }
    assert_eq!(badge(actor).await, unread, "the badge of {}", member.at);
}

/// Audits the store with the command, and again with a clock one minute later, when all data is old enough.
async fn check_store(world: &World) {
    let (code, found) = world.command("fsck");
    assert_eq!(code, 0, "{found}");
    let db = Db::open(&world.servers.redis.target(), LONG_TIMEOUTS).await.expect("a store");
    let later = App::new(db, Clock::manual(Clock::System.now() + 61_000), Config::default());
    assert_eq!(findings(&later).await, [""; 0]);
}
