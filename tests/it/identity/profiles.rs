//! The fuller profile: its fields and their bounds, who sees the date of birth and the age, and the time of the last post.

use super::{DAY_MS, assert_refused, run};
use crate::support::texts::{invalid, valid};
use crate::support::{Actor, HttpResponse, TestApp, findings};
use serde_json::{Value, json};
use waxwing::base::config::Config;

async fn update(actor: &Actor, input: Value) -> Value {
    run(actor, "FullerProfile", "updateProfile", input).await
}

/// Changes a profile, which must succeed, and returns the profile.
async fn updated(actor: &Actor, input: Value) -> Value {
    let mut payload = update(actor, input).await;
    assert_eq!(payload["userErrors"], json!([]));
    payload["user"].take()
}

/// The profile of an account, as a viewer sees it.
async fn profile(viewer: &Actor, login: &str) -> Value {
    let mut response = viewer.run("PublicProfile", json!({ "login": login })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["user"].take()
}

/// The date of birth and the age.
async fn born_and_age(viewer: &Actor, login: &str) -> (Value, Value) {
    let mut profile = profile(viewer, login).await;
    (profile["birthDate"].take(), profile["age"].take())
}

async fn on(actor: &Actor, field: &str, other: &Actor) {
    actor.mutate_ok(field, json!({ "userId": other.id }), "").await;
}

async fn befriend(one: &Actor, other: &Actor) {
    on(one, "requestFriend", other).await;
    on(other, "acceptFriendRequest", one).await;
}

async fn post_to(author: &Actor, audience: &str, list: Option<&str>) -> String {
    let input = json!({ "message": "hello", "audience": audience, "audienceListId": list });
    author.mutate_ok("postStatus", input, "status { postedAt }").await["status"]["postedAt"].as_str().expect("a time").to_owned()
}

#[tokio::test]
async fn a_location_and_a_gender_are_short_texts_by_the_rules_of_names() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    for (field, max) in [("location", 60), ("gender", 40)] {
        for (text, kept) in valid(max) {
            assert_eq!(updated(&ada, json!({ field: text })).await[field], kept, "{text}");
        }
        let before = profile(&ada, "ada").await;
        for text in invalid(max).into_iter().chain(["", "  ", "a\nb"].map(str::to_owned)) {
            assert_refused(&update(&ada, json!({ field: text, "bio": "new" })).await, "INVALID_INPUT", &[field]);
        }
        assert_eq!(profile(&ada, "ada").await, before, "nothing was changed");
    }
}

#[tokio::test]
async fn urls_are_absolute_https_without_a_user_and_kept_as_they_are_written() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let of_bytes = |bytes: usize| format!("https://example.com/{}", "p".repeat(bytes - 20));
    for field in ["avatarUrl", "bannerUrl", "websiteUrl"] {
        for url in ["HTTPS://Bücher.Example:443/%7Ea/../b?c#d", "https://example.com", &of_bytes(2_000)] {
            assert_eq!(updated(&ada, json!({ field: url })).await[field], url);
        }
        let before = profile(&ada, "ada").await;
        let malformed =
            ["", "example.com", "/a.png", "//example.com", "http://example.com", "javascript:alert(1)", "https:example.com"];
        let with_user =
            ["https://ada@example.com", "https://ada:x@example.com", " https://example.com", "https://a.example/\u{202e}x"];
        for url in malformed.into_iter().chain(with_user).chain([of_bytes(2_001).as_str()]) {
            assert_refused(&update(&ada, json!({ field: url, "bio": "new" })).await, "INVALID_URL", &[field]);
        }
        assert_eq!(profile(&ada, "ada").await, before, "nothing was changed");
    }
}

#[tokio::test]
async fn the_server_never_fetches_the_urls_of_a_profile() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let site = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/a.png", site.local_addr().expect("an address"));
    updated(&ada, json!({ "avatarUrl": url, "bannerUrl": url, "websiteUrl": url })).await;
    assert_eq!(profile(&app.anonymous(), "ada").await["avatarUrl"], url);
    app.drain().await;
    // A connection that was made before is accepted before this one.
    let own = tokio::net::TcpStream::connect(site.local_addr().expect("an address")).await.expect("a connection");
    let (_, first) = site.accept().await.expect("a connection");
    assert_eq!(first, own.local_addr().expect("an address"));
}

#[tokio::test]
async fn a_date_of_birth_is_from_1900_to_today_in_utc() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    // The clock is at 2026-03-01T00:00:00Z.
    for date in ["1900-01-01", "1969-12-31", "2000-02-29", "2026-03-01"] {
        assert_eq!(updated(&ada, json!({ "birthDate": date })).await["birthDate"], date);
    }
    for date in ["1899-12-31", "0001-01-01", "2026-03-02", "9999-12-31"] {
        assert_refused(&update(&ada, json!({ "birthDate": date, "bio": "new" })).await, "INVALID_DATE", &["birthDate"]);
    }
    app.clock.advance(DAY_MS - 1);
    assert_refused(&update(&ada, json!({ "birthDate": "2026-03-02" })).await, "INVALID_DATE", &["birthDate"]);
    app.clock.advance(1);
    assert_eq!(updated(&ada, json!({ "birthDate": "2026-03-02" })).await["age"], 0);
    for date in ["2023-02-29", "yesterday", "2020-1-1"] {
        let refused = ada.run("FullerProfile", json!({ "input": { "birthDate": date } })).await;
        assert!(refused["errors"][0]["message"].as_str().is_some_and(|text| text.contains("Date")), "{refused}");
    }
}

const DETAILS: [(&str, &str); 8] = [
    ("avatarUrl", "https://example.com/a.png"),
    ("bannerUrl", "https://example.com/b.png"),
    ("websiteUrl", "https://example.com"),
    ("location", "Turin"),
    ("gender", "woman"),
    ("birthDate", "1990-06-15"),
    ("showBirthDate", "EVERYONE"),
    ("showAge", "FRIENDS"),
];

/// The details of an account as its owner sees them, with those of `viewerAccount`.
async fn details(owner: &Actor) -> Value {
    let query = "{ viewer { avatarUrl bannerUrl websiteUrl location gender } viewerAccount { birthDate showBirthDate showAge } }";
    let mut data = owner.gql(query, json!({})).await["data"].take();
    let own = data["viewerAccount"].take();
    let mut details = data["viewer"].take();
    for field in ["birthDate", "showBirthDate", "showAge"] {
        details[field] = own[field].clone();
    }
    details
}

/// An object with a value for each detail.
fn of_details(value: impl Fn(&str, &str) -> Value) -> Value {
    Value::Object(DETAILS.into_iter().map(|(field, text)| (field.to_owned(), value(field, text))).collect())
}

fn all_details() -> Value {
    of_details(|_, text| json!(text))
}

#[tokio::test]
async fn omitted_fields_do_not_change_and_null_clears() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let empty = details(&ada).await;
    let unset = |field: &str| if field.starts_with("show") { json!("NOBODY") } else { Value::Null };
    assert_eq!(empty, of_details(|field, _| unset(field)));
    updated(&ada, all_details()).await;
    assert_eq!(details(&ada).await, all_details());
    updated(&ada, json!({ "name": "Ada", "isPrivate": true })).await;
    assert_eq!(details(&ada).await, all_details(), "what is left out stays");
    for (field, value) in DETAILS {
        updated(&ada, json!({ field: null })).await;
        let mut rest = all_details();
        rest[field] = unset(field);
        assert_eq!(details(&ada).await, rest, "{field}");
        updated(&ada, json!({ field: value })).await;
    }
    let fields: Vec<String> = app.redis.run(&["HKEYS", &format!("user:{{{}}}", ada.user_id().0)]);
    updated(&ada, of_details(|_, _| Value::Null)).await;
    assert_eq!(details(&ada).await, empty);
    let rest: Vec<String> = app.redis.run(&["HKEYS", &format!("user:{{{}}}", ada.user_id().0)]);
    assert_eq!(fields.len() - rest.len(), DETAILS.len(), "cleared fields are not stored: {rest:?}");
    assert_eq!(profile(&ada, "ada").await["name"], "Ada");
}

#[tokio::test]
async fn a_change_of_the_profile_is_no_change_of_privacy() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    updated(&ada, json!({ "isPrivate": true, "location": "Turin" })).await;
    let is_private = async || ada.gql("{ viewer { isPrivate location } }", json!({})).await["data"]["viewer"].take();
    assert_eq!(is_private().await, json!({ "isPrivate": true, "location": "Turin" }));
    updated(&ada, json!({ "location": null, "birthDate": "1990-06-15" })).await;
    assert_eq!(is_private().await, json!({ "isPrivate": true, "location": null }));
    updated(&ada, json!({ "isPrivate": false, "location": "Rome", "birthDate": null })).await;
    assert_eq!(is_private().await, json!({ "isPrivate": false, "location": "Rome" }));
}

#[tokio::test]
async fn a_stored_url_that_would_be_refused_now_is_kept() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let key = format!("user:{{{}}}", ada.user_id().0);
    let _: u64 = app.redis.run(&["HSET", &key, "avatar", "http://old.example/a.png"]);
    let changed = updated(&ada, json!({ "location": "Turin" })).await;
    assert_eq!((&changed["avatarUrl"], &changed["location"]), (&json!("http://old.example/a.png"), &json!("Turin")));
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn the_date_of_birth_and_the_age_are_seen_by_their_audiences() {
    let app = TestApp::start().await;
    let [ada, friend, follower, stranger, blocker, blocked] =
        app.users(["ada", "friend", "follower", "stranger", "blocker", "blocked"]).await;
    befriend(&ada, &friend).await;
    follower.follow(&ada).await;
    on(&ada, "blockUser", &blocker).await;
    on(&blocked, "blockUser", &ada).await;
    let anonymous = app.anonymous();
    let viewers = [&ada, &friend, &follower, &stranger, &anonymous, &blocked];
    let sees = async |detail: usize| {
        let mut seen = Vec::new();
        for viewer in viewers {
            let (born, age) = born_and_age(viewer, "ada").await;
            seen.push(![born, age][detail].is_null());
        }
        seen
    };
    updated(&ada, json!({ "birthDate": "1990-06-15" })).await;
    assert_eq!(born_and_age(&ada, "ada").await, (json!("1990-06-15"), json!(35)));
    let audiences = [
        ("NOBODY", [true, false, false, false, false, false]),
        ("FRIENDS", [true, true, false, false, false, false]),
        ("EVERYONE", [true, true, true, true, true, false]),
    ];
    for is_private in [false, true] {
        for (shown, hidden, detail) in [("showBirthDate", "showAge", 0), ("showAge", "showBirthDate", 1)] {
            for (audience, expected) in audiences {
                updated(&ada, json!({ "isPrivate": is_private, shown: audience, hidden: "NOBODY" })).await;
                assert_eq!(sees(detail).await, expected, "{shown} {audience}, private: {is_private}");
                assert_eq!(sees(1 - detail).await, audiences[0].1, "{hidden} is another setting");
            }
        }
    }
    assert_eq!(profile(&blocker, "ada").await, Value::Null, "an account that ada blocks does not find her");
    // Each read checks the audience again.
    updated(&ada, json!({ "isPrivate": false, "showBirthDate": "FRIENDS" })).await;
    assert_eq!(born_and_age(&friend, "ada").await.0, "1990-06-15");
    on(&friend, "removeFriend", &ada).await;
    assert_eq!(born_and_age(&friend, "ada").await.0, Value::Null);
    updated(&ada, json!({ "showBirthDate": "EVERYONE", "birthDate": null })).await;
    assert_eq!(born_and_age(&stranger, "ada").await, (Value::Null, Value::Null));
}

#[tokio::test]
async fn everybody_who_finds_an_account_sees_the_other_fields() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    updated(&ada, all_details()).await;
    updated(&ada, json!({ "isPrivate": true })).await;
    for viewer in [&ada, &bea, &app.anonymous()] {
        let seen = profile(viewer, "ada").await;
        for (field, value) in &DETAILS[..5] {
            assert_eq!(seen[*field], *value, "{field}");
        }
    }
}

#[tokio::test]
async fn an_age_is_whole_years_on_the_day_in_utc() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    updated(&ada, json!({ "birthDate": "2004-02-29", "showAge": "EVERYONE" })).await;
    updated(&bea, json!({ "birthDate": "2004-03-02", "showAge": "EVERYONE" })).await;
    let age = async |login: &str| born_and_age(&app.anonymous(), login).await.1;
    // 2026-03-01T00:00:00Z: the birthday of somebody who was born on 29 February.
    assert_eq!((age("ada").await, age("bea").await), (json!(22), json!(21)));
    app.clock.advance(-1);
    assert_eq!(age("ada").await, 21, "on 28 February");
    app.clock.advance(DAY_MS);
    assert_eq!(age("bea").await, 21, "in the last millisecond of 1 March");
    app.clock.advance(1);
    assert_eq!(age("bea").await, 22);
}

#[tokio::test]
async fn only_the_owner_sees_the_settings() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    updated(&ada, json!({ "birthDate": "1990-06-15", "showAge": "FRIENDS" })).await;
    let mut response = ada.run("MyAccount", json!({})).await;
    let account = response["data"]["viewerAccount"].take();
    let own = (&account["birthDate"], &account["showBirthDate"], &account["showAge"]);
    assert_eq!(own, (&json!("1990-06-15"), &json!("NOBODY"), &json!("FRIENDS")), "{response}");
    for field in ["showBirthDate", "showAge"] {
        let refused = ada.gql(&format!("{{ viewer {{ {field} }} }}"), json!({})).await;
        assert!(refused["errors"][0]["message"].as_str().is_some_and(|text| text.contains(field)), "{refused}");
    }
}

#[tokio::test]
async fn the_last_post_is_the_first_entry_of_the_profile_as_the_viewer_sees_it() {
    let app = TestApp::start().await;
    let [ada, friend, member, stranger, blocked] = app.users(["ada", "friend", "member", "stranger", "blocked"]).await;
    befriend(&ada, &friend).await;
    on(&blocked, "blockUser", &ada).await;
    let viewers = [&ada, &friend, &member, &stranger, &app.anonymous(), &blocked];
    // The first entry of the timeline, which the field must equal for every viewer.
    let seen = async || {
        let query = "{ user(login: \"ada\") { lastPostedAt profileTimeline { entries(first: 1) { edges { node { status { postedAt } } } } } } }";
        let mut times = Vec::new();
        for viewer in viewers {
            let user = viewer.gql(query, json!({})).await["data"]["user"].take();
            let first = user["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["postedAt"].clone();
            assert_eq!(user["lastPostedAt"], first);
            times.push(first);
        }
        times
    };
    let nothing = Value::Null;
    assert_eq!(seen().await, vec![nothing.clone(); 6], "an account without statuses");
    let other = stranger.post("of another").await;
    ada.mutate_ok("repostStatus", json!({ "statusId": other }), "").await;
    assert_eq!(seen().await, vec![nothing.clone(); 6], "a repost is no post");
    let post = async |audience: &str, list: Option<&str>| {
        app.clock.advance(60_000);
        json!(post_to(&ada, audience, list).await)
    };
    let public = post("PUBLIC", None).await;
    let others = |time: &Value| [time.clone(), time.clone(), time.clone(), time.clone(), time.clone(), nothing.clone()];
    assert_eq!(seen().await, others(&public));
    let to_friends = post("FRIENDS", None).await;
    assert_eq!(seen().await[..4], [to_friends.clone(), to_friends.clone(), public.clone(), public.clone()]);
    // So many that the viewer cannot see that several windows are read.
    for _ in 0..14 {
        post("FRIENDS", None).await;
    }
    assert_eq!(seen().await[3], public);
    let made = ada.mutate_ok("createUserList", json!({ "name": "l" }), "userList { id }").await;
    let list = made["userList"]["id"].as_str().expect("an id");
    ada.mutate_ok("addUserToList", json!({ "listId": list, "userId": member.id }), "").await;
    let to_list = post("LIST", Some(list)).await;
    assert_eq!(seen().await[2], to_list);
    updated(&ada, json!({ "isPrivate": true })).await;
    let private = seen().await;
    assert_eq!(
        private[2..],
        [to_list, nothing.clone(), nothing.clone(), nothing.clone()],
        "a member of a list sees what is addressed to it"
    );
    updated(&ada, json!({ "isPrivate": false })).await;
    let answered = stranger.post("a question").await;
    app.clock.advance(60_000);
    let reply = json!({ "message": "an answer", "replyToId": answered });
    let reply = ada.mutate_ok("postStatus", reply, "status { id postedAt author { lastPostedAt } }").await["status"].take();
    assert_eq!(reply["author"]["lastPostedAt"], reply["postedAt"], "the response shows the new status");
    assert_eq!(seen().await[3], reply["postedAt"], "a reply counts");
    ada.delete(reply["id"].as_str().expect("an id")).await;
    assert_eq!(seen().await[3], public);
}

#[tokio::test]
async fn the_last_posts_of_many_accounts_cost_as_many_round_trips_as_of_one() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let users = app.create_users("c", 26).await;
    let follows: Vec<_> = users[1..].iter().map(|fan| (fan, &users[0])).collect();
    app.create_follows(&follows).await;
    for user in &users[1..25] {
        user.post("hello").await;
    }
    app.drain().await;
    let read = async |n: usize, field: &str| {
        let query =
            format!("query($n: Int) {{ user(login: \"c0\") {{ followers(first: $n) {{ edges {{ node {{ {field} }} }} }} }} }}");
        // The first request of a kind reads the event log's position and leases tokens.
        users[0].gql(&query, json!({ "n": n })).await;
        app.drain().await;
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        let response = users[0].gql(&query, json!({ "n": n })).await;
        let edges = response["data"]["user"]["followers"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
        assert_eq!(edges.len(), n);
        let with_time = edges.iter().filter(|edge| !edge["node"]["lastPostedAt"].is_null()).count();
        (app.app.db().round_trips() - before, app.redis.calls(), with_time)
    };
    for n in [2, 25] {
        let (plain, plain_calls, _) = read(n, "id").await;
        let (trips, calls, with_time) = read(n, "id lastPostedAt").await;
        // The last account has not posted, so nothing is read for it.
        let authors = n - usize::from(with_time < n);
        assert_eq!(with_time, authors);
        assert_eq!(trips - plain, 2, "the rows, and the statuses: the accounts are loaded");
        let more = |name: &str| calls.get(name).copied().unwrap_or(0) - plain_calls.get(name).copied().unwrap_or(0);
        assert_eq!(
            more("zrange") + more("zrevrange") + more("zrangebyscore") + more("zrevrangebyscore"),
            authors as u64,
            "{calls:?}"
        );
        assert_eq!(more("hgetall"), authors as u64, "one status of each: {calls:?}");
    }
    let (trips, ..) = read(25, "id birthDate age").await;
    assert_eq!(trips, read(25, "id").await.0, "accounts without a date of birth cost nothing more");
}

#[tokio::test]
async fn the_last_post_is_charged_like_the_timeline_that_it_reads() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let charged = async |selection: &str| {
        let body = json!({ "query": format!("{{ viewer {{ {selection} }} }}") });
        let request = app.post().bearer_auth(ada.token.as_deref().expect("a session")).header("waxwing-cost", "1");
        let response = HttpResponse::fetch(request.json(&body)).await.json();
        response["extensions"]["cost"]["charged"].as_u64().unwrap_or_else(|| panic!("{response}"))
    };
    let timeline = charged("profileTimeline { entries(first: 1) { edges { node { status { postedAt } } } } }").await;
    assert_eq!(charged("lastPostedAt").await, timeline);
    assert_eq!(charged("birthDate").await, charged("name").await);
}

#[tokio::test]
async fn a_deleted_account_leaves_no_detail() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    updated(&ada, all_details()).await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    ada.mutate_ok("deleteAccount", json!({ "password": super::RIGHT }), "").await;
    app.drain().await;
    let dump = app.redis.dump_without_events();
    for (_, value) in &DETAILS[..6] {
        assert!(!dump.contains(value), "{value} is left");
    }
}
