//! Private accounts and follow requests.

mod races;

use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, findings, references, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{StatusId, UserId};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::graph::{RequestDirection, service as graph};
use waxwing::domains::timelines::service as timelines;

const STANDING: &str = "id login followersCount followingCount viewerFollowState viewerIsFollowing viewerHasFollowRequest";
const REQUESTS: &str = "query($first: Int, $after: String) { viewerFollowRequests(first: $first, after: $after) {
    totalCount edges { cursor requestedAt node { login } } pageInfo { hasNextPage endCursor } } }";
const SENT: &str = "{ viewerSentFollowRequests { totalCount edges { requestedAt node { login viewerFollowState } } } }";

/// Runs a mutation with the account `other`, and returns its payload.
async fn change(actor: &Actor, field: &str, other: &Actor) -> Value {
    let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
    let result = format!("user {{ {STANDING} }} viewer {{ {STANDING} }} userErrors {{ code path }}");
    let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ {result} }} }}");
    let mut response = actor.gql(&query, json!({ "input": { "userId": other.id } })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"][field].take()
}

async fn set_private(actor: &Actor, is_private: bool) {
    let query =
        "mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { user { isPrivate } userErrors { code } } }";
    let response = actor.gql(query, json!({ "input": { "isPrivate": is_private } })).await;
    assert_eq!(response["data"]["updateProfile"], json!({ "user": { "isPrivate": is_private }, "userErrors": [] }), "{response}");
}

/// The follow state of `actor` towards `other`.
async fn state(actor: &Actor, other: &Actor) -> String {
    let query = format!("query($login: String!) {{ user(login: $login) {{ {STANDING} }} }}");
    let response = actor.gql(&query, json!({ "login": other.login })).await;
    response["data"]["user"]["viewerFollowState"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// The logins whose requests an actor has received, newest first, and the total.
async fn requests(actor: &Actor) -> (Vec<String>, u64) {
    let response = actor.gql(REQUESTS, json!({ "first": 100 })).await;
    let connection = &response["data"]["viewerFollowRequests"];
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let logins = edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login").to_owned()).collect();
    (logins, connection["totalCount"].as_u64().expect("a number"))
}

/// The logins that an actor has asked to follow, newest first.
async fn sent(actor: &Actor) -> Vec<String> {
    let response = actor.gql(SENT, json!({})).await;
    let edges = response["data"]["viewerSentFollowRequests"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login").to_owned()).collect()
}

fn not_found() -> Value {
    json!([{ "code": "NOT_FOUND", "path": ["userId"] }])
}

#[tokio::test]
async fn following_a_private_account_creates_a_request() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    set_private(&bea, true).await;
    bea.post("from bea").await;
    let requested = change(&ada, "followUser", &bea).await;
    let expected = json!({ "id": bea.id, "login": "bea", "followersCount": 0, "followingCount": 0,
        "viewerFollowState": "REQUESTED", "viewerIsFollowing": false, "viewerHasFollowRequest": false });
    assert_eq!((&requested["user"], &requested["viewer"]["followingCount"]), (&expected, &json!(0)));
    assert_eq!(ada.home().await, [""; 0]);
    assert_eq!((requests(&bea).await, sent(&ada).await), ((vec!["ada".to_owned()], 1), vec!["bea".to_owned()]));
    // Asking again keeps the first time.
    app.clock.advance(60_000);
    change(&ada, "followUser", &bea).await;
    let response = bea.gql(REQUESTS, json!({})).await;
    assert_eq!(response["data"]["viewerFollowRequests"]["edges"][0]["requestedAt"], "2026-03-01T00:00:00.000Z");
    let query = format!("{{ user(login: \"ada\") {{ {STANDING} }} }}");
    assert_eq!(bea.gql(&query, json!({})).await["data"]["user"]["viewerHasFollowRequest"], true);
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_accepted_request_is_a_follow_that_begins_then() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    set_private(&bea, true).await;
    bea.post("from bea").await;
    change(&ada, "followUser", &bea).await;
    app.clock.advance(60_000);
    for _ in 0..2 {
        let accepted = change(&bea, "acceptFollowRequest", &ada).await;
        assert_eq!((&accepted["userErrors"], &accepted["viewer"]["followersCount"]), (&json!([]), &json!(1)), "again, too");
        assert_eq!(
            (&accepted["user"]["followingCount"], &accepted["user"]["viewerHasFollowRequest"]),
            (&json!(1), &json!(false))
        );
    }
    assert_eq!((state(&ada, &bea).await, ada.home().await), ("FOLLOWING".to_owned(), vec!["from bea".to_owned()]));
    assert_eq!((requests(&bea).await, sent(&ada).await), ((vec![], 0), vec![]));
    let query = "{ user(login: \"bea\") { followers { edges { followedAt } } } }";
    let response = ada.gql(query, json!({})).await;
    assert_eq!(
        response["data"]["user"]["followers"]["edges"][0]["followedAt"], "2026-03-01T00:01:00.000Z",
        "not the request's time"
    );
    bea.post("more").await;
    assert_eq!(ada.home().await, ["more", "from bea"]);
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_request_ends_when_it_is_rejected_or_withdrawn() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    set_private(&bea, true).await;
    assert_eq!(change(&bea, "acceptFollowRequest", &ada).await["userErrors"], not_found(), "there is no request");
    assert_eq!(change(&bea, "rejectFollowRequest", &ada).await["userErrors"], json!([]), "nothing to reject");
    for end in ["rejectFollowRequest", "unfollowUser"] {
        change(&ada, "followUser", &bea).await;
        assert_eq!(state(&ada, &bea).await, "REQUESTED", "before {end}: also after a rejection");
        let ended = if end == "unfollowUser" { change(&ada, end, &bea).await } else { change(&bea, end, &ada).await };
        assert_eq!(ended["userErrors"], json!([]));
        assert_eq!((state(&ada, &bea).await, requests(&bea).await, sent(&ada).await), ("NONE".to_owned(), (vec![], 0), vec![]));
        assert_eq!(change(&bea, "acceptFollowRequest", &ada).await["userErrors"], not_found(), "after {end}");
    }
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// The home of an account that has not followed has no statuses to remove.
#[tokio::test]
async fn a_rejection_does_not_read_the_home_of_the_requester() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    set_private(&bea, true).await;
    change(&ada, "followUser", &bea).await;
    app.drain().await;
    let monitor = Monitor::start(&app.redis);
    change(&bea, "rejectFollowRequest", &ada).await;
    let commands = monitor.end(&app.redis);
    let uses = |kind: &str| {
        let key = format!("{kind}:{{{}}}", ada.user_id().0).into_bytes();
        commands.iter().any(|words| words.contains(&key))
    };
    assert_eq!((uses("follow_requests_sent"), uses("home")), (true, false));
}

#[tokio::test]
async fn removing_a_follower_ends_the_follow_and_no_request() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    bea.post("from bea").await;
    ada.follow(&bea).await;
    set_private(&bea, true).await;
    cy.follow(&bea).await;
    assert_eq!(ada.home().await, ["from bea"], "followers stay when the account becomes private");
    let removed = change(&bea, "removeFollower", &ada).await;
    assert_eq!((&removed["viewer"]["followersCount"], &removed["user"]["followingCount"]), (&json!(0), &json!(0)));
    assert_eq!((state(&ada, &bea).await, ada.home().await), ("NONE".to_owned(), vec![]));
    assert_eq!(change(&bea, "removeFollower", &cy).await["userErrors"], json!([]), "no follower");
    assert_eq!((state(&cy, &bea).await, requests(&bea).await), ("REQUESTED".to_owned(), (vec!["cy".to_owned()], 1)));
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn invalid_changes_of_requests_are_refused() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut nobody = bea.clone();
    nobody.id = UserId(12_345).global();
    for field in ["acceptFollowRequest", "rejectFollowRequest", "removeFollower"] {
        let own = change(&ada, field, &ada).await;
        assert_eq!(own["userErrors"], json!([{ "code": "INVALID_INPUT", "path": ["userId"] }]), "{field}");
        assert_eq!(change(&ada, field, &nobody).await["userErrors"], not_found(), "{field}");
    }
    let anonymous =
        app.anonymous().gql("{ viewerFollowRequests { totalCount } viewerSentFollowRequests { totalCount } }", json!({})).await;
    assert_eq!(anonymous["data"], json!({ "viewerFollowRequests": null, "viewerSentFollowRequests": null }), "{anonymous}");
    let query = format!("{{ user(login: \"ada\") {{ isPrivate {STANDING} }} }}");
    let own = ada.gql(&query, json!({})).await["data"]["user"].take();
    assert_eq!(
        (&own["isPrivate"], &own["viewerFollowState"], &own["viewerHasFollowRequest"]),
        (&json!(false), &json!("NONE"), &json!(false))
    );
}

#[tokio::test]
async fn the_privacy_of_an_account_does_not_change_unless_requested() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    set_private(&ada, true).await;
    let query = "mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { user { isPrivate bio } } }";
    for input in [json!({ "bio": "x" }), json!({ "bio": "x", "isPrivate": null })] {
        let response = ada.gql(query, json!({ "input": input })).await;
        assert_eq!(response["data"]["updateProfile"]["user"], json!({ "isPrivate": true, "bio": "x" }), "{response}");
    }
    let key = format!("user:{{{}}}", ada.user_id().0);
    assert_eq!(app.redis.run::<String>(&["HGET", &key, "private"]), "1");
    set_private(&ada, false).await;
    assert_eq!(app.redis.run::<u64>(&["HEXISTS", &key, "private"]), 0, "a public account has no such field");
}

#[tokio::test]
async fn requests_are_listed_in_pages_newest_first() {
    let app = TestApp::start().await;
    let [ada, bea, cy, dan] = app.users(["ada", "bea", "cy", "dan"]).await;
    set_private(&ada, true).await;
    for other in [&bea, &cy, &dan] {
        other.follow(&ada).await;
    }
    let first = ada.gql(REQUESTS, json!({ "first": 2 })).await["data"]["viewerFollowRequests"].take();
    assert_eq!((&first["edges"][0]["node"]["login"], &first["edges"][1]["node"]["login"]), (&json!("dan"), &json!("cy")));
    assert_eq!((&first["totalCount"], &first["pageInfo"]["hasNextPage"]), (&json!(3), &json!(true)));
    let next = ada.gql(REQUESTS, json!({ "first": 2, "after": first["pageInfo"]["endCursor"] })).await;
    let next = &next["data"]["viewerFollowRequests"];
    assert_eq!((&next["edges"][0]["node"]["login"], &next["pageInfo"]["hasNextPage"]), (&json!("bea"), &json!(false)));
}

/// Users who have asked to follow `to`, in the order of their requests.
async fn requesters(app: &TestApp, count: usize, to: &Actor) -> Vec<Actor> {
    let requesters = app.create_users("requester", count).await;
    for requesters in requesters.chunks(50) {
        join_all(requesters.iter().map(async |requester| {
            timelines::follow(&app.app, requester.user_id(), to.user_id()).await.expect("a request");
        }))
        .await;
    }
    requesters
}

async fn followers_and_requests(app: &TestApp, of: &Actor) -> (u64, u64) {
    let stats = graph::follower_stats(&app.app, of.user_id()).await.expect("a store");
    let requests = graph::count_requests(&app.app, of.user_id(), RequestDirection::Received).await.expect("a store");
    (stats.followers, requests)
}

#[tokio::test]
async fn going_public_accepts_requests_the_oldest_first() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    set_private(&ada, true).await;
    ada.post("from ada").await;
    let first = app.user("first").await;
    first.follow(&ada).await;
    app.clock.advance(1_000);
    requesters(&app, 1_030, &ada).await;
    app.clock.advance(1_000);
    let last = app.user("last").await;
    last.follow(&ada).await;
    set_private(&ada, false).await;
    assert_eq!(followers_and_requests(&app, &ada).await, (1_000, 32), "the first thousand before the response");
    assert_eq!((state(&first, &ada).await, first.home().await), ("FOLLOWING".to_owned(), vec!["from ada".to_owned()]));
    assert_eq!(last.home().await, [""; 0]);
    // Private again: requests that were not accepted stay pending.
    set_private(&ada, true).await;
    app.drain_journal().await;
    assert_eq!((followers_and_requests(&app, &ada).await, state(&last, &ada).await), ((1_000, 32), "REQUESTED".to_owned()));
    set_private(&ada, false).await;
    app.drain_journal().await;
    assert_eq!((followers_and_requests(&app, &ada).await, state(&last, &ada).await), ((1_032, 0), "FOLLOWING".to_owned()));
    assert_eq!((last.home().await, sent(&last).await), (vec!["from ada".to_owned()], vec![]));
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn the_rest_is_accepted_within_seconds() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    set_private(&ada, true).await;
    requesters(&app, 1_010, &ada).await;
    set_private(&ada, false).await;
    app.drain_journal().await;
    assert_eq!(followers_and_requests(&app, &ada).await, (1_010, 0));
}

/// Makes `actor` follow `count` accounts that do not exist: only the number matters.
fn pretend_to_follow(app: &TestApp, actor: &Actor, kind: &str, count: usize) {
    let script = "for n = 1, ARGV[1] do redis.call('ZADD', KEYS[1], n, n) end";
    app.redis.run::<()>(&["EVAL", script, "1", &format!("{kind}:{{{}}}", actor.user_id().0), &count.to_string()]);
}

#[tokio::test]
async fn a_requester_at_the_limit_of_follows_is_not_accepted() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    set_private(&bea, true).await;
    ada.follow(&bea).await;
    pretend_to_follow(&app, &ada, "following", 10_000);
    let refused = change(&bea, "acceptFollowRequest", &ada).await;
    assert_eq!(refused["userErrors"], json!([{ "code": "LIMIT_REACHED", "path": ["userId"] }]));
    assert_eq!((requests(&bea).await, sent(&ada).await), ((vec!["ada".to_owned()], 1), vec!["bea".to_owned()]), "it stays");
    set_private(&bea, false).await;
    assert_eq!((requests(&bea).await, sent(&ada).await), ((vec![], 0), vec![]), "it is dropped");
    assert_eq!(followers_and_requests(&app, &bea).await, (0, 0));
}

#[tokio::test]
async fn an_account_waits_for_at_most_a_thousand_others() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    set_private(&bea, true).await;
    pretend_to_follow(&app, &ada, "follow_requests_sent", 1_000);
    let refused = change(&ada, "followUser", &bea).await;
    assert_eq!(refused["userErrors"], json!([{ "code": "LIMIT_REACHED", "path": ["userId"] }]));
    assert_eq!(requests(&bea).await, (vec![], 0));
}

#[tokio::test]
async fn the_deletion_of_an_account_ends_its_requests_and_those_to_it() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    for private in [&bea, &cy] {
        set_private(private, true).await;
    }
    ada.follow(&bea).await;
    bea.follow(&cy).await;
    accounts::purge(&app.app, bea.user_id(), "bea", |_| ()).await.expect("it is deleted");
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
    assert_eq!((sent(&ada).await, requests(&cy).await), (vec![], (vec![], 0)));
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_account_with_many_requests_is_deleted_in_passes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    set_private(&ada, true).await;
    let requesters = requesters(&app, 1_010, &ada).await;
    accounts::purge(&app.app, ada.user_id(), "ada", |_| ()).await.expect("it is deleted");
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert_eq!(sent(&requesters[0]).await, [""; 0]);
}

/// The data of ada that a viewer can read, in addition to the account itself.
async fn seen(viewer: &Actor, status: &str) -> Value {
    let query = "query($status: ID!) { node(id: $status) { ... on Status { message likers { edges { node { login } } }
            commentThread { totalCount } } }
        nodes(ids: [$status]) { id }
        user(login: \"ada\") { login name isPrivate followersCount statusesCount
            profileTimeline { entries(first: 5) { edges { node { status { message } } } pageInfo { hasNextPage endCursor } } }
            followers { edges { node { login } } pageInfo { hasNextPage endCursor } }
            following { edges { node { login } } pageInfo { hasNextPage endCursor } } }
        bea: user(login: \"bea\") { followers { edges { node { login } } } following { edges { node { login } } } } }";
    let mut response = viewer.gql(query, json!({ "status": status })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"].take()
}

#[tokio::test]
async fn a_private_account_shows_its_profile_and_no_activity() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    bea.follow(&ada).await;
    ada.follow(&bea).await;
    let status = ada.post("from ada").await;
    bea.like(&status).await;
    let before = [seen(&cy, &status).await, seen(&app.anonymous(), &status).await];
    let (follower, own) = (seen(&bea, &status).await, seen(&ada, &status).await);
    set_private(&ada, true).await;
    let empty = json!({ "edges": [], "pageInfo": { "hasNextPage": false, "endCursor": null } });
    for viewer in [&cy, &app.anonymous()] {
        let hidden = seen(viewer, &status).await;
        assert_eq!((&hidden["node"], &hidden["nodes"]), (&Value::Null, &json!([null])), "{hidden}");
        let account = &hidden["user"];
        assert_eq!(
            (&account["isPrivate"], &account["followersCount"], &account["statusesCount"]),
            (&json!(true), &json!(1), &json!(1))
        );
        assert_eq!(
            (&account["followers"], &account["following"], &account["profileTimeline"]["entries"]),
            (&empty, &empty, &empty)
        );
        let no_edges = json!({ "edges": [] });
        assert_eq!(hidden["bea"], json!({ "followers": no_edges, "following": no_edges }), "it is not named elsewhere either");
    }
    let as_private = |mut seen: Value| {
        seen["user"]["isPrivate"] = json!(true);
        seen
    };
    assert_eq!(seen(&bea, &status).await, as_private(follower));
    assert_eq!(seen(&ada, &status).await, as_private(own));
    set_private(&ada, false).await;
    assert_eq!([seen(&cy, &status).await, seen(&app.anonymous(), &status).await], before, "everything is back as it was");
}

#[tokio::test]
async fn mutations_of_a_hidden_status_fail_as_those_of_a_missing_status() {
    let app = TestApp::start().await;
    let [ada, cy] = app.users(["ada", "cy"]).await;
    let status = ada.post("from ada").await;
    let comment = "mutation($id: ID!) { addComment(input: { statusId: $id, message: \"x\" }) { comment { id } userErrors { code message path } } }";
    let commented = cy.gql(comment, json!({ "id": status })).await;
    let under = commented["data"]["addComment"]["comment"]["id"].as_str().unwrap_or_else(|| panic!("{commented}")).to_owned();
    set_private(&ada, true).await;
    let absent = StatusId(StatusId::from_global(&status).expect("an id").0 + 1).global();
    let absent_comment = {
        let mut id = waxwing::base::ids::CommentId::from_global(&under).expect("an id");
        id.status = StatusId::from_global(&absent).expect("an id");
        id.global()
    };
    let errors = "userErrors { code message path }";
    for (query, hidden, absent) in [
        (comment.to_owned(), &status, &absent),
        (
            format!("mutation($id: ID!) {{ likeStatus(input: {{ statusId: $id }}) {{ status {{ id }} {errors} }} }}"),
            &status,
            &absent,
        ),
        (
            format!("mutation($id: ID!) {{ voteComment(input: {{ commentId: $id, vote: UP }}) {{ {errors} }} }}"),
            &under,
            &absent_comment,
        ),
        (
            format!("mutation($id: ID!) {{ editComment(input: {{ commentId: $id, message: \"y\" }}) {{ {errors} }} }}"),
            &under,
            &absent_comment,
        ),
        (format!("mutation($id: ID!) {{ deleteComment(input: {{ commentId: $id }}) {{ {errors} }} }}"), &under, &absent_comment),
    ] {
        let hidden = cy.gql(&query, json!({ "id": hidden })).await;
        assert_eq!(hidden["data"], cy.gql(&query, json!({ "id": absent })).await["data"], "{query}");
        let payload = hidden["data"].as_object().and_then(|data| data.values().next()).expect("a payload");
        assert_eq!(user_error_codes(payload), ["NOT_FOUND"], "{query}");
    }
}

#[tokio::test]
async fn a_list_shows_a_private_member_to_followers_only() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let made = ada.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    ada.run("AddToList", json!({ "input": { "listId": list, "userId": bea.id } })).await;
    bea.post("from bea").await;
    let shown = async || {
        let response = ada.run("ListTimeline", json!({ "id": list, "first": 10 })).await;
        response["data"]["node"]["timeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).len()
    };
    assert_eq!(shown().await, 1);
    set_private(&bea, true).await;
    assert_eq!(shown().await, 0);
    ada.follow(&bea).await;
    assert_eq!(shown().await, 0, "a request shows nothing");
    change(&bea, "acceptFollowRequest", &ada).await;
    assert_eq!(shown().await, 1);
}
