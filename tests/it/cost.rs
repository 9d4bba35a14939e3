//! The cost of requests in commands and round trips, counted by Redis: an N+1 query fails here.

use crate::support::TestApp;
use serde_json::json;
use std::collections::HashMap;
use waxwing::base::config::Config;

fn total(calls: &HashMap<String, u64>, name: &str) -> u64 {
    calls.get(name).copied().unwrap_or(0)
}

#[tokio::test]
async fn the_first_screen_costs_five_round_trips_at_any_length() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let reader = app.create_reader().await;
    reader.run("Home", json!({ "first": 1 })).await;
    app.drain().await;
    // On a cluster, whose nodes reply in any order, the position in the event log is read before the rows.
    let (trips, positions) = if app.app.db().is_cluster() { (6, 8) } else { (5, 1) };
    for (first, authors) in [(1, 1), (30, 4), (100, 11)] {
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        let response = reader.run("Home", json!({ "first": first })).await;
        assert_eq!(response["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len), Some(first), "{response}");
        assert_eq!(app.app.db().round_trips() - before, trips, "session, viewer, rows, statuses, authors");
        let calls = app.redis.calls();
        // The session, the viewer, the statuses (one more, to know whether there is a next page), the authors of all these.
        assert_eq!(total(&calls, "hgetall"), 2 + first as u64 + 1 + authors, "{calls:?}");
        assert_eq!(total(&calls, "zscore"), first as u64 + 1, "{calls:?}");
        // The page, the sync cursor, and the followed tags.
        assert_eq!(total(&calls, "zrange"), 3, "{calls:?}");
        // The state of the home (before and after its entries), the merged authors, and the hidden authors.
        assert_eq!(["hmget", "zinter", "zdiff"].map(|name| total(&calls, name)), [2, 1, 1], "{calls:?}");
        // The position in each shard of the event log.
        assert_eq!(total(&calls, "hget"), positions, "{calls:?}");
        assert_eq!(calls.len(), 7, "nothing else: {calls:?}");
    }
}

#[tokio::test]
async fn a_page_of_accounts_costs_the_same_for_one_and_for_many() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let star = app.user("star").await;
    for number in 0..25 {
        app.user(&format!("fan{number}")).await.follow(&star).await;
    }
    app.drain().await;
    let query = "query($n: Int) { user(login: \"star\") { followers(first: $n) { edges { followedAt node { login viewerIsFollowing isFollowingViewer } } } } }";
    star.gql(query, json!({ "n": 2 })).await;
    for n in [1, 25] {
        let before = app.app.db().round_trips();
        let response = star.gql(query, json!({ "n": n })).await;
        assert_eq!(response["data"]["user"]["followers"]["edges"].as_array().map(Vec::len), Some(n), "{response}");
        assert_eq!(app.app.db().round_trips() - before, 6, "session, login, account, rows, accounts, relations");
    }
}

#[tokio::test]
async fn lists_cost_the_same_for_one_and_for_many() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let users = app.create_users("c", 30).await;
    let ada = &users[0];
    let mut list = String::new();
    for number in 0..25 {
        let made = ada.run("CreateList", json!({ "input": { "name": number.to_string() } })).await;
        list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    }
    let round_trips = async |query: &str, variables: serde_json::Value, pointer: &str, edges: usize| {
        app.drain().await;
        let before = app.app.db().round_trips();
        let response = ada.gql(query, variables).await;
        let found = response.pointer(pointer).and_then(|edges| edges.as_array().map(Vec::len));
        assert_eq!(found, Some(edges), "{response}");
        app.app.drain().await;
        app.app.db().round_trips() - before
    };
    let query = "query($n: Int) { viewerLists(first: $n) { edges { node { name members { totalCount } } } } }";
    for n in [1, 24] {
        let of_members = n as u64; // A page of members needs its own read of rows, as a page of followers does.
        let trips = round_trips(query, json!({ "n": n }), "/data/viewerLists/edges", n).await;
        assert_eq!(trips - of_members, 3, "session, rows, lists");
    }
    let change = "mutation($i: AddUserToListInput!) { addUserToList(input: $i) { userList { name members(first: 100) { edges { node { login } } } } } }";
    // Loads the scripts.
    let first_input = json!({ "i": { "listId": list, "userId": users[26].id } });
    round_trips(change, first_input, "/data/addUserToList/userList/members/edges", 1).await;
    for (number, member) in users[1..=25].iter().enumerate() {
        let input = json!({ "i": { "listId": list, "userId": member.id } });
        let trips = round_trips(change, input, "/data/addUserToList/userList/members/edges", number + 2).await;
        assert_eq!(
            trips, 18,
            "session, account, list, journal, member, edge, owner, blocks, membership, mode, floor, profile, edge; list, rows, accounts; ack; notification"
        );
        member.post("x").await;
    }
    let query = "query($id: ID!, $n: Int) { node(id: $id) { ... on UserList { timeline { entries(first: $n) { edges { node { status { message author { login } } } } } } } } }";
    // The read of a timeline is recorded once an hour.
    round_trips(query, json!({ "id": list, "n": 1 }), "/data/node/timeline/entries/edges", 1).await;
    for n in [1, 20] {
        let trips = round_trips(query, json!({ "id": list, "n": n }), "/data/node/timeline/entries/edges", n).await;
        assert_eq!(trips, 5, "session, list, rows, statuses, authors");
    }
}

#[tokio::test]
async fn the_cost_of_a_thread_grows_with_its_depth_only() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let users = app.create_users("c", 8).await;
    let status = users[0].post("x").await;
    let add = async |author: usize, input: serde_json::Value| {
        let mut input = input;
        input["message"] = json!("x");
        let added = users[author].run("AddComment", json!({ "input": input })).await;
        added["data"]["addComment"]["comment"]["id"].as_str().unwrap_or_else(|| panic!("{added}")).to_owned()
    };
    // Three levels with five replies to each comment; each level has its own authors.
    for top in 0..5 {
        let top = add(1 + top % 2, json!({ "statusId": status })).await;
        for reply in 0..5 {
            let reply = add(3 + reply % 2, json!({ "parentId": top })).await;
            for _ in 0..5 {
                add(5, json!({ "parentId": reply })).await;
            }
        }
    }
    app.drain().await;
    let round_trips = async |query: &str, variables: serde_json::Value| {
        let before = app.app.db().round_trips();
        let response = users[7].gql(query, variables).await;
        assert_eq!(response.get("errors"), None, "{response}");
        (app.app.db().round_trips() - before, response)
    };
    let level = |inner: &str, field: &str| {
        format!(
            "{field}(first: $n) {{ edges {{ node {{ message viewerVote author {{ login }} parent {{ id }} {inner} }} }} pageInfo {{ hasNextPage }} }}"
        )
    };
    let nested = [
        level("", "comments"),
        level(&level("", "replies"), "comments"),
        level(&level(&level("", "replies"), "replies"), "comments"),
    ];
    for (levels, inner) in nested.iter().enumerate() {
        let query = format!(
            "query($id: ID!, $n: Int) {{ node(id: $id) {{ ... on Status {{ commentThread {{ totalCount {inner} }} }} }} }}"
        );
        for n in [1, 5] {
            let (trips, _) = round_trips(&query, json!({ "id": status, "n": n })).await;
            assert_eq!(trips, 3 + 3 * (levels as u64 + 1), "session, status, its author; of each level order, comments, authors");
        }
    }
    let query = "query($id: ID!, $n: Int, $after: String) { node(id: $id) { ... on Status { commentThread { tree(first: $n, after: $after) {
        edges { cursor node { message depth viewerVote author { login } parent { id } } } } } } } }";
    round_trips(query, json!({ "id": status, "n": 1 })).await;
    for n in [1, 100] {
        let (trips, response) = round_trips(query, json!({ "id": status, "n": n })).await;
        let edges = response["data"]["node"]["commentThread"]["tree"]["edges"].as_array().expect("edges");
        assert_eq!(edges.len(), n);
        assert_eq!(trips, 6, "session, status, its author, order, comments, authors");
        let after = &edges[n / 2]["cursor"];
        let (trips, _) = round_trips(query, json!({ "id": status, "n": n, "after": after })).await;
        // The author of the comment before the page is not on a page of one comment.
        assert_eq!(trips, 8 + u64::from(n == 1), "and those above the cursor, and the first of all");
    }
    let one =
        "query($id: ID!) { node(id: $id) { ... on Comment { message author { login } parent { message } status { message } } } }";
    let deep = add(5, json!({ "statusId": status })).await;
    app.drain().await;
    let (trips, _) = round_trips(one, json!({ "id": deep })).await;
    assert_eq!(trips, 5, "session, comment, status, its author, the comment's author");
    // The scripts are loaded.
    let input = json!({ "i": { "statusId": status, "message": "x" } });
    let add = "mutation($i: AddCommentInput!) { addComment(input: $i) { comment { message author { login } } } }";
    let (trips, _) = round_trips(add, input).await;
    assert_eq!(
        trips, 11,
        "session; status, its author and the viewer; journal, comment, author's side, a read; comment, status, its author; acknowledgement"
    );
}

#[tokio::test]
async fn a_refused_document_sends_redis_no_command() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let reader = app.user("reader").await;
    app.drain().await;
    let before = app.app.db().round_trips();
    for document in ["{ nope", "query A { viewer { id } } query B { viewer { id } }", &"[".repeat(100_000)] {
        assert!(reader.gql(document, json!({})).await.get("data").is_none());
    }
    assert_eq!(app.app.db().round_trips(), before);
}
