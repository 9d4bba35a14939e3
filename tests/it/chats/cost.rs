//! The cost of requests: round trips and memory.

use super::{badge, befriend, card, group, open, run_ok, send, send_many, start};
use crate::support::monitor::Monitor;
use crate::support::{Actor, HttpResponse, RedisServer, START, SingleServerReason, TestApp, document};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::ChatId;

/// The round trips of an operation.
async fn trips(app: &TestApp, actor: &Actor, operation: &str, variables: Value) -> u64 {
    app.drain().await;
    let before = app.app.db().round_trips();
    let answer = actor.run(operation, variables).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    app.app.db().round_trips() - before
}

/// The same with the work after the response.
async fn trips_in_all(app: &TestApp, actor: &Actor, operation: &str, variables: Value) -> u64 {
    app.drain().await;
    let before = app.app.db().round_trips();
    let answer = actor.run(operation, variables).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    app.app.drain().await;
    app.app.db().round_trips() - before
}

#[tokio::test]
async fn no_read_grows_with_chats_or_rows() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    send(&bea, &chat, "one").await;
    let list = async || trips_in_all(&app, &ada, "Chats", json!({ "first": 20 })).await;
    let badge = async || trips_in_all(&app, &ada, "UnreadChats", json!({})).await;
    let page =
        async |around: u64| trips_in_all(&app, &ada, "ChatPage", json!({ "id": chat, "first": 10, "around": around })).await;
    let one = (list().await, badge().await, page(1).await);
    for number in 0..30 {
        let other = app.user(&format!("x{number}")).await;
        befriend(&ada, &other).await;
        let with = start(&other, &ada).await;
        send(&other, &with, "hello").await;
    }
    send_many(&app, &bea, &chat, (0..300).map(|number| number.to_string())).await;
    let many = (list().await, badge().await, page(150).await);
    println!("round trips: list, badge, page {one:?} {many:?}");
    assert!(many.0 <= one.0 && many.1 <= one.1 && many.2 <= one.2 + 1, "{one:?} {many:?}");
}

/// The commands that were recorded outside of scripts, as text.
fn recorded_commands(monitor: Monitor, app: &TestApp) -> Vec<String> {
    let commands = monitor.end_outside_scripts(&app.redis);
    let text = |words: &Vec<Vec<u8>>| words.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ");
    commands.iter().map(text).collect()
}

/// At most four commands on the chat's hash tag and four on the member's, with the work after the response: reads, commit and lists.
#[tokio::test]
async fn marking_a_chat_as_seen_takes_four_commands_on_each_tag() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    for text in ["one", "two", "three"] {
        send(&bea, &chat, text).await;
    }
    app.drain().await;
    // The scripts are loaded. Within a second the next event waits for the end of that second.
    run_ok(&ada, "MarkChatSeen", json!({ "chatId": chat, "sequence": 2 })).await;
    app.drain().await;
    let monitor = Monitor::start(&app.redis);
    run_ok(&ada, "MarkChatSeen", json!({ "chatId": chat, "sequence": 3 })).await;
    app.drain().await;
    let commands = recorded_commands(monitor, &app);
    assert_eq!(badge(&ada).await, 0);
    let on = |id: u64| commands.iter().filter(|command| command.contains(&format!("{{{id}}}"))).collect::<Vec<_>>();
    let (of_chat, of_member) = (on(ChatId::from_global(&chat).expect("an id").0), on(ada.user_id().0));
    assert!((1..=4).contains(&of_chat.len()), "{of_chat:#?} of {commands:#?}");
    assert!((1..=4).contains(&of_member.len()), "{of_member:#?} of {commands:#?}");
}

/// Otherwise changes between the two reads would be neither on the page nor after its cursor.
#[tokio::test]
async fn cursors_of_lists_are_read_before_the_lists() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    send(&bea, &start(&bea, &ada).await, "hello").await;
    app.drain().await;
    for (field, key) in [("viewerChats", "chats:"), ("viewerChatRequests", "chat_requests:")] {
        let monitor = Monitor::start(&app.redis);
        let answer = ada.gql(&format!("{{ {field} {{ edges {{ node {{ id }} }} syncCursor }} }}"), json!({})).await;
        assert_eq!(answer.get("errors"), None, "{answer}");
        let commands = recorded_commands(monitor, &app);
        let position = commands.iter().position(|command| command.starts_with("HGET ") && command.ends_with(" last"));
        let list = commands.iter().position(|command| command.contains(&format!(" {key}")));
        assert!(position.is_some() && list.is_some() && position < list, "{field}: {commands:#?}");
    }
}

#[tokio::test]
async fn a_text_takes_little_memory() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = start(&ada, &bea).await;
    let text = "x".repeat(100);
    send(&ada, &chat, &text).await;
    app.drain_journal().await;
    let used = || -> u64 {
        let bytes = |info: &String| info.lines().find_map(|line| line.strip_prefix("used_memory_dataset:")?.trim().parse().ok());
        app.redis.each::<String>(&["INFO", "memory"]).iter().map(|info| bytes(info).unwrap_or(0)).sum()
    };
    let before = used();
    send_many(&app, &ada, &chat, (0..2_560).map(|_| text.clone())).await;
    app.drain_journal().await;
    let each = used().saturating_sub(before) / 2_560;
    println!("{each} bytes for a text of 100 bytes");
    assert!(each <= 350, "{each} bytes");
    assert_eq!(card(&bea, &chat).await["newestSequence"], 2_561);
}

/// A card without what counts over all chats.
const CARDS: &str =
    "{ viewerChats(first: 20) { edges { node { id name membersCount viewerUnreadCount viewerHasMuted viewerPeer { login }
    viewerMember { seenSequence deliveredSequence } newestMessage { text sentAt sender { login } } } } } }";

#[tokio::test]
async fn a_list_costs_four_round_trips_and_a_badge_one() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    send(&bea, &chat, "one").await;
    let party = group(&bea, "g", &[&ada], "ALL").await;
    send(&bea, &party, "two").await;
    let request = async |query: &str| {
        app.drain().await;
        let before = app.app.db().round_trips();
        let answer = ada.gql(query, json!({})).await;
        assert_eq!(answer.get("errors"), None, "{answer}");
        app.app.db().round_trips() - before
    };
    request(CARDS).await;
    assert_eq!(request(CARDS).await, 4, "session, rows, chats, accounts");
    request("{ viewerUnreadChatsCount }").await;
    assert_eq!(request("{ viewerUnreadChatsCount }").await, 2, "session, count");
    // The first text that both have seen loads the script that schedules its retention.
    send(&ada, &chat, "three").await;
    let sent = trips(&app, &ada, "SendMessage", json!({ "input": { "chatId": chat, "text": "four" } })).await;
    assert!(sent <= 12, "{sent}: no more than a post to ten followers");
    println!("round trips of a text: {sent}");
}

#[tokio::test]
async fn members_and_reactors_of_many_chats_take_one_pipeline() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let query = "{ viewerChats(first: 20) { edges { node { members(first: 5) { edges { node { user { login } } } }
        newestMessage { reactions { emoji reactors(first: 5) { edges { node { login } } } } } } } } }";
    let mut trips = Vec::new();
    for chats in [1, 8] {
        for number in trips.len() / 2..chats {
            let party = group(&ada, &format!("g{number}"), &[&bea], "ALL").await;
            let id = send(&ada, &party, "one").await;
            run_ok(&ada, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
        }
        // The first one stores delivery positions.
        for _ in 0..2 {
            app.drain().await;
            let before = app.app.db().round_trips();
            let answer = ada.gql(query, json!({})).await;
            let edges = answer["data"]["viewerChats"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(edges.len(), chats);
            let reactors = &edges[0]["node"]["newestMessage"]["reactions"][0]["reactors"]["edges"];
            assert_eq!(*reactors, json!([{ "node": { "login": "ada" } }]));
            trips.push(app.app.db().round_trips() - before);
        }
    }
    assert_eq!(trips[1], trips[3], "{trips:?}");
}

/// The commands of Redis before the response and by the workers, and the measured work, of a mutation.
async fn commands(app: &TestApp, actor: &Actor, operation: &str, input: Value) -> [u64; 3] {
    app.drain_journal().await;
    app.redis.reset_calls();
    let token = actor.token.as_deref().expect("a session");
    let body = json!({ "query": document(operation), "operationName": operation, "variables": { "input": input } });
    let request = app.post().bearer_auth(token).header("waxwing-cost", "1").json(&body);
    let answer = HttpResponse::fetch(request).await.json();
    assert_eq!(answer.get("errors"), None, "{answer}");
    app.app.drain().await;
    let before = app.redis.calls().values().sum();
    app.redis.reset_calls();
    app.drain_journal().await;
    [before, app.redis.calls().values().sum(), answer["extensions"]["cost"]["worked"].as_u64().expect("units")]
}

#[tokio::test]
async fn a_change_of_a_group_answers_at_one_cost_and_pays_for_its_members() {
    // Each node of a cluster loads the scripts by itself.
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::without_client_cache_on(redis, Config::default()).await;
    let people = app.create_users("c", 300).await;
    let ids: Vec<&str> = people.iter().map(|actor| actor.id.as_str()).collect();
    let owner = &people[0];
    let mut costs = Vec::new();
    for size in [5_u64, 300] {
        let users = &ids[1..usize::try_from(size).expect("a size")];
        let made = run_ok(owner, "CreateGroupChat", json!({ "name": "g", "userIds": users[..users.len().min(250)] })).await;
        let chat = made["chat"]["id"].clone();
        run_ok(owner, "AddChatMembers", json!({ "chatId": chat, "userIds": users[users.len().min(250)..] })).await;
        let rename = |name: &str| json!({ "chatId": chat, "name": name });
        let role = |role: &str| json!({ "chatId": chat, "userId": ids[1], "role": role });
        // The first ones load scripts.
        run_ok(owner, "RenameChat", rename("h")).await;
        run_ok(owner, "SetChatMemberRole", role("MEMBER")).await;
        let renamed = commands(&app, owner, "RenameChat", rename("i")).await;
        let again = commands(&app, owner, "RenameChat", rename("i")).await;
        costs.push((size, renamed, again, commands(&app, owner, "SetChatMemberRole", role("MEMBER")).await));
    }
    let [few, many] = &costs[..] else { panic!("{costs:?}") };
    println!("commands before the response and by the workers, measured work: {costs:?}");
    assert_eq!(few.1[0], many.1[0], "a rename answers at the same cost");
    assert_eq!((&few.2[..2], &few.3[..2]), (&many.2[..2], &many.3[..2]), "what changes nothing settles nobody");
    let [_, by_workers, worked] = [0, 1, 2].map(|at| many.1[at] - few.1[at]);
    let members = many.0 - few.0;
    assert!(by_workers > 5 * members && by_workers <= 10 * members, "{by_workers} commands for {members} members");
    assert!(worked >= by_workers, "{by_workers} commands by the workers, of which {worked} are paid");
}
