//! Pages of large conversations cost as much as pages of small ones. With `WAXWING_LARGE_CONVERSATIONS` the large ones have 100,000 replies and a depth of
//! 10,000.

use super::generated::Statuses;
use super::reply;
use crate::support::{Actor, START, TestApp, findings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;
use waxwing::base::request::Request;
use waxwing::domains::statuses::{Status, service as statuses};

const ENTRIES: &str = "edges { cursor node { id depth replyCount status { id message likeCount author { login } } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

/// Direct replies and depth of the large conversations.
fn large() -> (u64, u64) {
    if std::env::var_os("WAXWING_LARGE_CONVERSATIONS").is_some() { (100_000, 10_000) } else { (4_000, 4_000) }
}

/// The keys of conversations and statuses with their contents.
fn contents(app: &TestApp) -> BTreeMap<String, Vec<Vec<u8>>> {
    let is_of = |key: &String| key.starts_with("conversation") || key.starts_with("status:");
    let keys = app.redis.keys().into_iter().filter(is_of);
    let content = |key: String| {
        let is_set = key.starts_with("conversation_");
        let mut values: Vec<Vec<u8>> = match is_set {
            true => app.redis.run(&["ZRANGE", &key, "0", "-1"]),
            false => app.redis.run(&["HGETALL", &key]),
        };
        if !is_set {
            let mut fields: Vec<Vec<u8>> = values.chunks(2).map(|field| field.join(&b'=')).collect();
            fields.sort();
            values = fields;
        }
        (key, values)
    };
    keys.map(content).collect()
}

#[tokio::test]
async fn an_imported_conversation_equals_one_that_was_posted() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut ids = vec![ada.post("root").await];
    for depth in 1..=40 {
        ids.push(reply(if depth % 2 == 0 { &ada } else { &bea }, &ids[depth - 1], &format!("depth {depth}")).await);
    }
    for at in 0..20 {
        ids.push(reply(&bea, &ids[at % 3], &format!("reply {at}")).await);
    }
    for liked in [2, 45, 50, 58] {
        ada.like(&ids[liked]).await;
        if liked > 48 {
            bea.like(&ids[liked]).await;
        }
    }
    app.drain_journal().await;
    let posted = contents(&app);
    assert_eq!(posted.len(), 61 + 3, "{:?}", posted.keys());

    let loaders = Request::new(app.app.clone(), None, None, None).loaders();
    let mut all: Vec<Status> = Vec::new();
    for id in &ids {
        let id = StatusId::from_global(id).expect("an id");
        let found = loaders.statuses.load(id).await.expect("a store").expect("a status");
        all.push(Status::clone(&found.status));
    }
    for key in posted.keys() {
        app.redis.run::<()>(&["UNLINK", key]);
    }
    for _ in 0..2 {
        statuses::import(&app.app, all.iter()).await.expect("a store");
        assert!(contents(&app) == posted, "the same keys with the same contents, also when it is imported again");
    }
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// The cost of a page.
#[derive(Debug, PartialEq)]
struct PageCost {
    round_trips: u64,
    commands: u64,
    entries: usize,
}

/// Reads a page twice, and returns the cost of the second read.
async fn cost(app: &TestApp, viewer: &Actor, id: StatusId, list: &str) -> PageCost {
    let query = format!("query($id: ID!) {{ node(id: $id) {{ ... on Status {{ list: {list} {{ {ENTRIES} }} }} }} }}");
    let read = async || viewer.gql(&query, json!({ "id": id.global() })).await;
    read().await;
    app.drain().await;
    app.redis.reset_calls();
    let before = app.app.db().round_trips();
    let response = read().await;
    let entries = response["data"]["node"]["list"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    assert!(entries.iter().all(|edge| edge["node"]["status"]["author"]["login"] != Value::Null), "{response}");
    PageCost {
        round_trips: app.app.db().round_trips() - before,
        commands: app.redis.calls().values().sum(),
        entries: entries.len(),
    }
}

#[tokio::test]
async fn a_page_of_a_large_conversation_costs_as_much_as_one_of_a_small_one() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [author, viewer] = app.users(["author", "viewer"]).await;
    let (replies, depth) = large();
    let mut made = Statuses::of(author.user_id(), START - 3_600_000);
    let import = async |all: Vec<Status>| {
        statuses::import(&app.app, all.iter()).await.expect("a store");
        [all.first(), all.last()].map(|it| it.expect("a status").id)
    };
    let ([star, _], [_, deepest]) = (import(made.star(replies)).await, import(made.chain(depth)).await);
    let mut pairs = Vec::new();
    // The small ones have as many entries as the page, so that only the size of the conversation differs.
    for size in [10, 20] {
        let ([small_star, _], [_, small_deepest]) = (import(made.star(size)).await, import(made.chain(size)).await);
        for sort in ["OLD", "NEW", "LIKES"] {
            pairs.push((format!("replies(first: {size}, sort: {sort})"), size as usize, small_star, star));
        }
        for end in ["first", "last"] {
            pairs.push((format!("ancestors({end}: {size})"), size as usize, small_deepest, deepest));
        }
    }
    for (list, size, small, large) in pairs {
        let (small, large) = (cost(&app, &viewer, small, &list).await, cost(&app, &viewer, large, &list).await);
        println!("{list}: {small:?}, {large:?}");
        assert_eq!((small.entries, large.entries), (size, size), "{list}");
        assert_eq!(small.round_trips, large.round_trips, "{list}");
        assert!(2 * large.commands <= 3 * small.commands, "{list}: {small:?}, {large:?}");
    }
}
