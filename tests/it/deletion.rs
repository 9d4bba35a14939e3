//! Deletion of accounts: once the response has arrived, nobody sees the account or its content; once the journal is drained, nothing
//! references the account.

use crate::support::{Actor, RedisServer, TestApp, error_codes, findings, references, run_command, user_error_codes, waxwing};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::{Error, Outcome, Refusal};
use waxwing::base::external_id::ExternalId;
use waxwing::base::ids::{StatusId, UserId};
use waxwing::base::rate_limits::RateLimits;
use waxwing::base::request::Request;
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::ads::{self, NewWebsite};
use waxwing::domains::lists::{self, NewList};
use waxwing::domains::statuses::{self, AudienceInput, StatusDraft};
use waxwing::domains::{sessions, timelines};

const DAY_MS: i64 = 24 * 3_600_000;

async fn delete_account(who: &Actor, password: &str) -> Value {
    let document = "mutation($i: DeleteAccountInput!) { deleteAccount(input: $i) { deletedUserId userErrors { code path } } }";
    who.gql(document, json!({ "i": { "password": password } })).await
}

async fn sign_up(app: &TestApp, login: &str) -> Value {
    let input = json!({ "login": login, "name": login, "password": "correct horse" });
    app.anonymous().run("SignUp", json!({ "input": input })).await["data"]["signUp"].take()
}

async fn make_list(owner: &Actor, members: &[&Actor]) -> String {
    let made = owner.run("CreateList", json!({ "input": { "name": "A list", "idempotencyKey": "list" } })).await;
    let id = made["data"]["createUserList"]["userList"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    for member in members {
        owner.run("AddToList", json!({ "input": { "listId": id, "userId": member.id } })).await;
    }
    id
}

/// Returns the messages of a list's timeline.
async fn timeline(owner: &Actor, list: &str) -> Vec<String> {
    let query = "query($id: ID!) { node(id: $id) { ... on UserList { timeline { entries(first: 100) { edges { node { status { message } } } } } } } }";
    let response = owner.gql(query, json!({ "id": list })).await;
    let edges = response["data"]["node"]["timeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
}

/// Asserts that nothing references the account, and that the store has no findings.
async fn assert_purged(app: &TestApp, id: UserId) {
    assert_eq!(references(&app.app, id).await, [""; 0]);
    assert!(!app.redis.dump().contains(&id.0.to_string()), "the store has the id, but the audit does not find it");
    assert_no_findings(app).await;
}

async fn assert_no_findings(app: &TestApp) {
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert_eq!(found, [""; 0]);
}

/// Five users. The first one and the second and third follow each other. The first is on a list of the second, and has a list of its own,
/// likes in both directions, and a status with an idempotency key.
struct Scene {
    app: TestApp,
    people: Vec<Actor>,
    of_ada: String,
    of_bob: String,
    list_of_bob: String,
}

impl Scene {
    async fn create(config: Config) -> Self {
        let app = TestApp::with(config).await;
        let people = app.create_users("p", 5).await;
        let (ada, bob, cyd) = (&people[0], &people[1], &people[2]);
        for (a, b) in [(bob, ada), (cyd, ada), (ada, bob), (ada, cyd), (cyd, bob)] {
            a.follow(b).await;
        }
        let list_of_bob = make_list(bob, &[ada, cyd]).await;
        make_list(ada, &[bob, ada]).await;
        let of_ada = ada.post("of ada").await;
        ada.run("PostStatus", json!({ "input": { "message": "once", "idempotencyKey": "k" } })).await;
        let gone = ada.post("deleted").await;
        ada.delete(&gone).await;
        let of_bob = bob.post("of bob").await;
        for (who, what) in [(bob, &of_ada), (cyd, &of_ada), (ada, &of_ada), (ada, &of_bob), (cyd, &of_bob)] {
            who.like(what).await;
            who.mutate_ok("bookmarkStatus", json!({ "statusId": what }), "").await;
        }
        for (who, own) in [(ada, &of_ada), (bob, &of_bob)] {
            who.mutate_ok("pinStatus", json!({ "statusId": own }), "").await;
        }
        let external_id = ExternalId::parse("ada-7").expect("an external id");
        let (id, key) = (ada.user_id().0.to_string(), format!("external_id:{{{}}}", external_id.digest()));
        app.redis.run::<()>(&["HSET", &key, "uid", &id, "at", "1"]);
        app.redis.run::<()>(&["HSET", &format!("identity:{{{id}}}"), "subject", "ada-7", "linked", "1"]);
        app.drain().await;
        Self { app, people, of_ada, of_bob, list_of_bob }
    }

    fn ada(&self) -> UserId {
        self.people[0].user_id()
    }

    /// Asserts that nobody sees the first user or its content.
    async fn assert_invisible(&self) {
        let (ada, bob, cyd) = (&self.people[0], &self.people[1], &self.people[2]);
        assert_eq!((bob.home().await, cyd.home().await), (vec!["of bob".to_owned()], vec!["of bob".to_owned()]));
        assert_eq!(timeline(bob, &self.list_of_bob).await, [""; 0]);
        let nodes = bob.gql("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", json!({ "ids": [ada.id, self.of_ada] })).await;
        assert_eq!(nodes["data"]["nodes"], json!([null, null]));
        assert_eq!(bob.gql("{ user(login: \"p0\") { id } }", json!({})).await["data"]["user"], Value::Null);
        assert_eq!(user_error_codes(&bob.like(&self.of_ada).await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&bob.follow(ada).await), ["NOT_FOUND"]);
        let query = "query($id: ID!) { node(id: $id) { ... on Status { likers { edges { node { login } } } } } \
            viewer { followers { edges { node { login } } } following { edges { node { login } } } } }";
        let response = bob.gql(query, json!({ "id": self.of_bob })).await;
        let logins = |pointer: &str| {
            let edges = response.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{response}"));
            edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(logins("/data/node/likers/edges"), ["p2"]);
        assert_eq!(
            (logins("/data/viewer/followers/edges"), logins("/data/viewer/following/edges")),
            (vec!["p2".to_owned()], vec![])
        );
    }
}

async fn like(app: &App, user: UserId, id: StatusId) -> Outcome<()> {
    let request = Request::new(app.clone(), None, None, None);
    statuses::service::like(app, &request.loaders(), user, id, true).await
}

#[tokio::test]
async fn a_deleted_account_is_invisible_once_the_deletion_is_acknowledged() {
    let scene = Scene::create(Config::default()).await;
    let (app, ada, bob) = (&scene.app, &scene.people[0], &scene.people[1]);
    let input = json!({ "login": "p0", "password": "correct horse" });
    let other = app.anonymous().run("LogIn", json!({ "input": input })).await;
    let other = ada.with_token(other["data"]["logIn"]["session"]["token"].as_str().expect("a token"));
    let response = delete_account(ada, "correct horse").await;
    assert_eq!(response["data"]["deleteAccount"], json!({ "deletedUserId": ada.id, "userErrors": [] }), "{response}");
    for session in [ada, &other] {
        assert_eq!(error_codes(&session.gql("{ viewer { id } }", json!({})).await), ["UNAUTHENTICATED"]);
    }
    assert_eq!(
        user_error_codes(&app.anonymous().run("LogIn", json!({ "input": input })).await["data"]["logIn"]),
        ["WRONG_CREDENTIALS"]
    );
    scene.assert_invisible().await;
    app.drain().await;
    scene.assert_invisible().await;
    let counts = bob.gql("{ viewer { followersCount followingCount } }", json!({})).await;
    assert_eq!(counts["data"]["viewer"], json!({ "followersCount": 1, "followingCount": 0 }));
    let likes = bob.gql("query($id: ID!) { node(id: $id) { ... on Status { likeCount } } }", json!({ "id": scene.of_bob })).await;
    assert_eq!(likes["data"]["node"]["likeCount"], 1);
    assert_purged(app, scene.ada()).await;
}

#[tokio::test]
async fn statuses_of_a_deleted_star_are_merged_into_no_home() {
    let scene = Scene::create(Config { star_followers: 2, home_window: 20, ..Config::default() }).await;
    let mode: Option<String> = scene.app.redis.run(&["HGET", &format!("user:{{{}}}", scene.ada().0), "reach"]);
    assert!(mode.is_some_and(|mode| mode.starts_with("merged ")), "it is a star");
    delete_account(&scene.people[0], "correct horse").await;
    scene.assert_invisible().await;
    scene.app.drain().await;
    scene.assert_invisible().await;
    assert_purged(&scene.app, scene.ada()).await;
}

#[tokio::test]
async fn pages_are_full_despite_deleted_accounts() {
    let app = TestApp::start().await;
    let people = app.create_users("p", 3).await;
    for author in &people[1..] {
        people[0].follow(author).await;
    }
    for number in 0..60 {
        app.clock.advance(1_000);
        people[1 + number % 2].post(&number.to_string()).await;
    }
    delete_account(&people[1], "correct horse").await;
    let response = people[0].run("Home", json!({ "first": 25 })).await;
    let edges = response["data"]["homeTimeline"]["entries"]["edges"].as_array().expect("edges");
    assert_eq!(edges.len(), 25);
    assert_eq!(people[0].home().await.len(), 30);
}

#[tokio::test]
async fn a_deletion_requires_the_password_and_limits_guesses() {
    let app = TestApp::with(Config { rates: Some(RateLimits::default()), ..Config::default() }).await;
    let people = app.create_users("p", 2).await;
    for wrong in ["wrong horse", "", "short"] {
        let payload = &delete_account(&people[0], wrong).await["data"]["deleteAccount"];
        assert_eq!(payload["deletedUserId"], Value::Null);
        assert_eq!(payload["userErrors"], json!([{ "code": "WRONG_CREDENTIALS", "path": ["password"] }]));
    }
    for _ in 3..10 {
        delete_account(&people[0], "wrong horse").await;
    }
    let response = delete_account(&people[0], "correct horse").await;
    assert_eq!(error_codes(&response), ["RATE_LIMITED"], "also for the right one");
    let input = json!({ "login": "P0", "password": "correct horse" });
    let elsewhere = app.anonymous().run("LogIn", json!({ "input": input })).await;
    assert!(elsewhere["data"]["logIn"]["session"].is_object(), "the limit is of the session that has guessed: {elsewhere}");
    assert_eq!(error_codes(&delete_account(&app.anonymous(), "correct horse").await), ["UNAUTHENTICATED"]);
    app.clock.advance(15 * 60_000);
    let id = people[0].user_id();
    assert_eq!(user_error_codes(&delete_account(&people[0], "correct horse").await["data"]["deleteAccount"]), [""; 0]);
    app.drain().await;
    let requests = format!("rate:{{{}}}:requests: belongs to the account", id.0);
    let mut found = references(&app.app, id).await;
    found.retain(|line| *line != requests);
    assert_eq!(found, [""; 0], "but for a bucket that ends within seconds");
}

#[tokio::test]
async fn the_buckets_of_failed_log_ins_are_deleted_with_the_account() {
    let app = TestApp::with(Config { rates: Some(RateLimits::default()), ..Config::default() }).await;
    let ada = app.create_users("p", 1).await.remove(0);
    let input = json!({ "login": "p0", "password": "wrong horse" });
    let refused = app.anonymous().run("LogIn", json!({ "input": input })).await;
    assert_eq!(user_error_codes(&refused["data"]["logIn"]), ["WRONG_CREDENTIALS"]);
    let buckets = || app.redis.keys().into_iter().filter(|key| key.ends_with(":log-ins-of-account")).count();
    assert_eq!(buckets(), 2, "of its logins, and of all its identifiers");
    delete_account(&ada, "correct horse").await;
    app.drain().await;
    assert_eq!(buckets(), 0);
}

#[tokio::test]
async fn a_login_can_be_claimed_again_after_thirty_days() {
    let app = TestApp::start().await;
    let people = app.create_users("p", 1).await;
    delete_account(&people[0], "correct horse").await;
    assert_eq!(user_error_codes(&sign_up(&app, "P0").await), ["LOGIN_TAKEN"], "at once");
    app.drain().await;
    for by in [60_000, 30 * DAY_MS - 60_001] {
        app.clock.advance(by);
        assert_eq!(user_error_codes(&sign_up(&app, "P0").await), ["LOGIN_TAKEN"]);
    }
    app.clock.advance(1);
    let again = sign_up(&app, "P0").await;
    assert_eq!(user_error_codes(&again), [""; 0]);
    assert_ne!(again["session"]["user"]["id"], people[0].id);
    assert_no_findings(&app).await;
}

/// A claimed login without an account is free after ten seconds, but not while its account is being deleted.
#[tokio::test]
async fn a_login_is_not_claimed_while_its_account_is_being_deleted() {
    let app = TestApp::start().await;
    let ada = app.create_users("p", 1).await.remove(0);
    app.clock.advance(60_000);
    // The process dies after the commit.
    let account = waxwing::domains::users::service::find(&app.app, ada.user_id()).await.expect("a store").expect("an account");
    assert!(
        waxwing::domains::users::service::delete(&app.app, account.id, &account.login, &account.logins).await.expect("a store")
    );
    assert_eq!(user_error_codes(&sign_up(&app, "p0").await), ["LOGIN_TAKEN"]);
}

#[tokio::test]
async fn an_uncommitted_deletion_changes_nothing() {
    let app = TestApp::start().await;
    let ada = app.create_users("p", 1).await.remove(0);
    ada.post("posted").await;
    let task = waxwing::platform::journal::Task::account(ada.user_id(), "p0".into());
    let _lost = waxwing::platform::journal::service::begin(&app.app, task).await.expect("an entry");
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!(ada.home().await, ["posted"]);
    assert_eq!(user_error_codes(&sign_up(&app, "p0").await), ["LOGIN_TAKEN"]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn an_account_larger_than_a_pass_is_deleted_completely() {
    let app = TestApp::with(Config { home_window: 20, ..Config::default() }).await;
    let users = app.create_users("c", 260).await;
    let (ada, followers) = users.split_first().expect("people");
    let edges: Vec<(&Actor, &Actor)> =
        followers.iter().map(|follower| (follower, ada)).chain(followers.iter().map(|follower| (ada, follower))).collect();
    app.create_follows(&edges).await;
    let list_of_everybody = make_list(&followers[0], &[ada]).await;
    let mut ids = Vec::new();
    for number in 0..230 {
        let draft = StatusDraft {
            message: number.to_string(),
            location: None,
            audience: AudienceInput::default(),
            idempotency_key: None,
            ..StatusDraft::default()
        };
        ids.push(timelines::service::post(&app.app, ada.user_id(), draft).await.expect("a status").expect("it is new"));
    }
    let likes = followers.iter().map(|follower| like(&app.app, follower.user_id(), ids[7]));
    join_all(likes).await.into_iter().for_each(|like| like.expect("a like"));
    for id in &ids[..30] {
        like(&app.app, followers[3].user_id(), *id).await.expect("a like");
    }
    app.drain().await;
    delete_account(ada, "correct horse").await;
    assert_eq!(timeline(&followers[0], &list_of_everybody).await, [""; 0]);
    app.drain().await;
    assert_purged(&app, ada.user_id()).await;
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("liked:") || key.starts_with("likers:")), "no likes are left");
}

#[tokio::test]
async fn a_deleted_status_is_removed_from_the_likes_of_all_accounts() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 1_001).await;
    let (id, other) = (users[0].post("x").await, users[0].post("y").await);
    let status = StatusId::from_global(&id).expect("a status");
    for part in users.chunks(100) {
        let likes = part.iter().map(|follower| like(&app.app, follower.user_id(), status));
        join_all(likes).await.into_iter().for_each(|like| like.expect("a like"));
    }
    users[1].like(&other).await;
    users[0].delete(&id).await;
    app.app.drain().await;
    let remaining_keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.starts_with("liked:")).collect();
    assert_eq!(remaining_keys.len(), 2, "the request itself removes the first thousand");
    app.drain_journal().await;
    assert!(!app.redis.dump_without_events().replace(&format!("gone:{{{}}}", status.0), "").contains(&status.0.to_string()));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn an_account_can_like_at_most_a_million_statuses() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let (id, liked) = (users[0].post("x").await, format!("liked:{{{}}}", users[1].user_id().0));
    let fill = "for n = 1, 1000000 do redis.call('ZADD', KEYS[1], n, n) end";
    app.redis.run::<()>(&["EVAL", fill, "1", &liked]);
    let refused = users[1].like(&id).await;
    assert_eq!((user_error_codes(&refused), &refused["userErrors"][0]["path"]), (vec!["LIMIT_REACHED"], &json!(["statusId"])));
    let seen = users[0].gql("query($id: ID!) { node(id: $id) { ... on Status { likeCount } } }", json!({ "id": id })).await;
    assert_eq!(seen["data"]["node"]["likeCount"], 0);
    app.redis.run::<()>(&["ZREM", &liked, "5"]);
    assert_eq!(user_error_codes(&users[1].like(&id).await), [""; 0]);
    assert_eq!(user_error_codes(&users[1].like(&id).await), [""; 0], "a repeated like does not count again");
}

fn is_refused<T: std::fmt::Debug>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Err(Refusal::Error(Error::Unauthenticated)))
}

/// Requests that were authenticated before the deletion of the account, and run their first step after it.
#[tokio::test]
async fn a_deleted_account_receives_nothing() {
    let scene = Scene::create(Config::default()).await;
    let (app, ada, bob) = (&scene.app.app, scene.ada(), scene.people[1].user_id());
    delete_account(&scene.people[0], "correct horse").await;
    scene.app.drain().await;
    let key = || Some("late".to_owned());
    let draft = |idempotency_key| StatusDraft {
        message: "late".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key,
        ..StatusDraft::default()
    };
    let of_bob = StatusId::from_global(&scene.of_bob).expect("a status");
    let new = |idempotency_key| NewList { name: "late".into(), idempotency_key };
    assert!(is_refused(&timelines::service::post(app, ada, draft(None)).await));
    assert!(is_refused(&timelines::service::post(app, ada, draft(key())).await));
    assert!(is_refused(&timelines::service::follow(app, ada, bob).await));
    assert!(is_refused(&like(app, ada, of_bob).await));
    assert!(is_refused(&lists::service::create(app, ada, new(None)).await));
    assert!(is_refused(&lists::service::create(app, ada, new(key())).await));
    let site = |idempotency_key| NewWebsite {
        name: "late".into(),
        origin: "https://a.example".into(),
        require_server_key: false,
        idempotency_key,
    };
    assert!(is_refused(&ads::service::register(app, ada, site(None)).await));
    assert!(is_refused(&ads::service::register(app, ada, site(key())).await));
    assert!(matches!(sessions::service::create(app, ada, None).await, Err(Error::Unauthenticated)));
    assert!(matches!(timelines::service::follow(app, bob, ada).await, Err(Refusal::User(_))));
    timelines::service::unfollow(app, ada, bob).await.expect("nothing to undo");
    scene.people[1].post("a push").await;
    scene.app.drain().await;
    assert_purged(&scene.app, ada).await;
}

/// Repeats changes concurrently with a deletion, so that they happen before, during and after it.
#[tokio::test]
async fn changes_concurrent_with_a_deletion_leave_nothing() {
    let app = TestApp::with(Config { home_window: 20, ..Config::default() }).await;
    for round in 0..12 {
        let users = app.create_users(&format!("r{round}x"), 4).await;
        let (ada, bob, cyd) = (&users[0], &users[1], &users[2]);
        bob.follow(ada).await;
        let (of_ada, of_bob) = (ada.post("of ada").await, bob.post("of bob").await);
        let list = make_list(cyd, &[]).await;
        let nobody = app.anonymous();
        let late = async {
            tokio::join!(
                ada.follow(bob),
                cyd.follow(ada),
                bob.unfollow(ada),
                ada.run("PostStatus", json!({ "input": { "message": "late", "idempotencyKey": "k" } })),
                ada.like(&of_bob),
                cyd.like(&of_ada),
                ada.run("CreateList", json!({ "input": { "name": "late" } })),
                cyd.run("AddToList", json!({ "input": { "listId": list, "userId": ada.id } })),
                nobody.run("LogIn", json!({ "input": { "login": ada.login, "password": "correct horse" } })),
            )
        };
        let deletion = async {
            accounts::delete(&app.app, ada.user_id(), "correct horse", None).await.expect("it is deleted");
        };
        tokio::join!(late, deletion);
        app.drain().await;
        assert_eq!(references(&app.app, ada.user_id()).await, [""; 0], "round {round}");
    }
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_store_with_a_pending_deletion_passes_the_audit() {
    let scene = Scene::create(Config::default()).await;
    scene.app.clock.advance(61_000);
    waxwing::platform::journal::service::enqueue(
        &scene.app.app,
        waxwing::platform::journal::Task::account(scene.ada(), "p0".into()),
    )
    .await
    .expect("an entry");
    scene.app.redis.run::<()>(&["DEL", &format!("user:{{{}}}", scene.ada().0)]);
    let found = findings(&scene.app.app).await;
    assert_eq!(found, [""; 0]);
}

#[tokio::test]
async fn the_command_deletes_an_account_completely() {
    let redis = Arc::new(RedisServer::start());
    let url = redis.url();
    let run = |arguments: &[&str]| run_command(waxwing(arguments).args(["--redis", &url]));
    assert_eq!(run(&["demo"]).0, 0);
    let ada = redis.run::<Vec<String>>(&["EVAL", "for _, key in ipairs(redis.call('KEYS', 'users:*')) do local id = redis.call('HGET', key, 'ada') if id then return {id} end end", "0"]);
    let global = UserId(ada[0].parse().expect("an id")).global();
    for id in [&ada[0], &global] {
        let (code, stdout, _) = run(&["fsck", "--account", id]);
        assert_eq!(code, 1);
        assert!(stdout.contains(&format!("user:{{{}}}: belongs to the account", ada[0])), "{stdout}");
        assert!(stdout.lines().any(|line| line.ends_with(": contains the account")), "{stdout}");
    }
    assert_eq!(run(&["fsck", "--account", "nonsense"]).0, 2);
    let (code, _, stderr) = run(&["admin", "delete-account", "nobody_at_all"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("there is no account with the login"), "{stderr}");
    let (code, stdout, stderr) = run(&["admin", "delete-account", "Ada"]);
    assert_eq!((code, stdout), (0, format!("ada ({global}) is deleted.\n")), "{stderr}");
    assert!(stderr.contains("deleting: followers"), "{stderr}");
    // The workers of a server settle the lists of the other members of its groups.
    let app = TestApp::on_redis(redis.clone(), Clock::manual(Clock::System.now()), Config::default()).await;
    app.drain_journal().await;
    let (code, stdout, _) = run(&["fsck", "--account", &ada[0]]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.ends_with(" keys read, no references to the account.\n"), "{stdout}");
    let (code, stdout, _) = run(&["fsck", "--home-window", "1000"]);
    assert_eq!(code, 0, "{stdout}");
}
