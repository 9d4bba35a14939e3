//! A Redis that serves reads and refuses writes: every query answers, and every mutation is applied completely or not at all.

use super::{assert_sound, befriend, group, open, run_ok, send, start};
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, error_codes, is_repeated_run};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// At its memory limit: writes that need none are accepted.
    Full,
    WithoutReplicas,
    Replica,
}

impl Fault {
    fn set(self, app: &TestApp, is_on: bool) {
        let command: &[&str] = match (self, is_on) {
            (Self::Full, true) => &["CONFIG", "SET", "maxmemory", "1000"],
            (Self::Full, false) => &["CONFIG", "SET", "maxmemory", "0"],
            (Self::WithoutReplicas, true) => &["CONFIG", "SET", "min-replicas-to-write", "1"],
            (Self::WithoutReplicas, false) => &["CONFIG", "SET", "min-replicas-to-write", "0"],
            (Self::Replica, true) => &["REPLICAOF", "127.0.0.1", "1"],
            (Self::Replica, false) => &["REPLICAOF", "NO", "ONE"],
        };
        app.redis.each::<()>(command);
    }
}

/// The chats of an account, without times and ids.
const EVERYTHING: &str = "{
    viewerUnreadChatsCount viewerChatSettings { whoMayWrite sharesSeen }
    viewerChats(first: 10) { totalCount edges { node { ...ChatParts } } }
    archived: viewerChats(first: 10, filter: ARCHIVED) { totalCount edges { node { ...ChatParts } } }
    viewerChatRequests(first: 10) { totalCount edges { node { ...ChatParts } } }
    pendingMessages(first: 10) { edges { node { hasMore messages { sequence text } chat { name } } } } }
    fragment ChatParts on Chat { kind name membersCount newestSequence viewerPeer { login } viewerState viewerCanSend viewerUnreadCount viewerHasMuted
        viewerHasArchived viewerMember { role seenSequence } newestMessage { sequence kind text }
        members(first: 10) { edges { node { user { login } role } } }
        messages(first: 10) { oldestSequence edges { node { sequence kind text isDeleted isHidden role sender { login } subject { login }
            replyTo { sequence text } reactions { emoji count viewerHasReacted reactors(first: 5) { edges { node { login } } } } } } } }";

struct World {
    people: [Actor; 4],
    direct: String,
    group: String,
    request: String,
    /// A text of the first in the group, and of the second.
    texts: [String; 2],
}

impl World {
    async fn begin(app: &TestApp) -> Self {
        let people = app.users(["ada", "bea", "cyd", "dan"]).await;
        let [ada, bea, cyd, dan] = &people;
        for other in [bea, cyd] {
            befriend(ada, other).await;
        }
        let direct = open(ada, bea).await;
        send(bea, &direct, "one").await;
        let party = group(ada, "g", &[bea], "ALL").await;
        let texts = [send(ada, &party, "first").await, send(bea, &party, "second").await];
        run_ok(ada, "ReactToMessage", json!({ "messageId": texts[1], "emoji": "🎉" })).await;
        let request = start(dan, ada).await;
        send(dan, &request, "hello").await;
        app.drain().await;
        Self { people, direct, group: party, request, texts }
    }

    /// Reads the chats of all accounts.
    async fn read(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for person in &self.people {
            let response = person.gql(EVERYTHING, json!({})).await;
            assert_eq!(response.get("errors"), None, "{response}");
            all.push(response);
        }
        all
    }

    /// Every mutation of the first account.
    fn mutations(&self) -> Vec<(&'static str, Value)> {
        let [_, bea, cyd, _] = &self.people;
        let (of_group, of_direct) = (json!({ "chatId": self.group }), json!({ "chatId": self.direct }));
        vec![
            ("startDirectChat", json!({ "userId": cyd.id })),
            ("createGroupChat", json!({ "name": "new", "userIds": [bea.id, cyd.id] })),
            ("sendMessage", json!({ "chatId": self.direct, "text": "new" })),
            ("sendMessage", json!({ "chatId": self.group, "text": "new", "replyToId": self.texts[1], "idempotencyKey": "k" })),
            ("editMessage", json!({ "messageId": self.texts[0], "text": "edited" })),
            ("deleteMessage", json!({ "messageId": self.texts[0] })),
            ("reactToMessage", json!({ "messageId": self.texts[1], "emoji": "👍" })),
            ("removeReaction", json!({ "messageId": self.texts[1], "emoji": "🎉" })),
            ("markChatSeen", json!({ "chatId": self.direct, "sequence": 1 })),
            ("addChatMembers", json!({ "chatId": self.group, "userIds": [cyd.id] })),
            ("removeChatMember", json!({ "chatId": self.group, "userId": bea.id })),
            ("setChatMemberRole", json!({ "chatId": self.group, "userId": bea.id, "role": "OWNER" })),
            ("leaveChat", of_group.clone()),
            ("renameChat", json!({ "chatId": self.group, "name": "renamed" })),
            ("muteChat", of_direct.clone()),
            ("archiveChat", of_group),
            ("deleteChatHistory", of_direct),
            ("updateChatSettings", json!({ "whoMayWrite": "NOBODY", "sharesSeen": false })),
            ("acceptChatRequest", json!({ "chatId": self.request })),
            ("declineChatRequest", json!({ "chatId": self.request })),
            ("blockUser", json!({ "userId": bea.id })),
        ]
    }

    /// Runs a mutation, and returns the codes of its errors.
    async fn run(&self, (field, input): &(&str, Value)) -> Vec<String> {
        let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
        let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ userErrors {{ code }} }} }}");
        let response = self.people[0].gql(&query, json!({ "input": input })).await;
        let codes = error_codes(&response);
        assert!(!codes.is_empty() || response["data"][field]["userErrors"] == json!([]), "{field}: {response}");
        codes
    }
}

/// Completes what is in the journal, also what was left there by a failure.
async fn settle(app: &TestApp) {
    app.drain().await;
    app.clock.advance(61_000);
    app.drain().await;
}

async fn check_mutations_during(fault: Fault) {
    let redis = match fault {
        Fault::Replica => RedisServer::single(SingleServerReason::Replica),
        _ => RedisServer::start(),
    };
    let app = TestApp::on_redis(Arc::new(redis), Clock::manual(START), Config::default()).await;
    let world = World::begin(&app).await;
    settle(&app).await;
    let (before, contents) = (world.read().await, app.redis.snapshot());
    let stride = if is_repeated_run() { 3 } else { 1 };
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for mutation in world.mutations().iter().step_by(stride) {
        let when = format!("{fault:?}, {}", mutation.0);
        app.redis.restore(&contents);
        app.app.next_id().await.expect("ids in stock");
        fault.set(&app, true);
        assert_eq!(world.read().await, before, "{when}: reads before");
        let codes = world.run(mutation).await;
        let during = world.read().await;
        fault.set(&app, false);
        settle(&app).await;
        let after = world.read().await;
        assert_sound(&app).await;
        // The mutation without the fault.
        app.redis.restore(&contents);
        assert_eq!(world.run(mutation).await, [""; 0], "{when}");
        settle(&app).await;
        let complete = world.read().await;
        match codes.first().map(String::as_str) {
            None => {
                assert_eq!(after, complete, "{when}: it is acknowledged");
                done.push(mutation.0);
            }
            Some("STORAGE_FULL" | "STORAGE_UNAVAILABLE") => {
                assert_eq!(during, before, "{when}: it is refused");
                assert_eq!(after, before, "{when}: it is refused, and not done later");
                refused.push(mutation.0);
            }
            Some("OUTCOME_UNKNOWN") => assert!(after == before || after == complete, "{when}: {after:?}"),
            Some(code) => panic!("{when}: {code}"),
        }
    }
    println!("{fault:?}: done {done:?}, refused {refused:?}");
    assert!(refused.contains(&"sendMessage"));
    app.redis.restore(&contents);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_full_store_applies_changes_of_chats_completely_or_not_at_all() {
    check_mutations_during(Fault::Full).await;
}

#[tokio::test]
async fn a_store_without_replicas_applies_changes_of_chats_completely_or_not_at_all() {
    check_mutations_during(Fault::WithoutReplicas).await;
}

#[tokio::test]
async fn a_replica_serves_reads_of_chats_and_applies_no_change() {
    check_mutations_during(Fault::Replica).await;
}
