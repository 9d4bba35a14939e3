//! A store at its memory limit: writes fail with `STORAGE_FULL` and change nothing; reads and deletions succeed.

use crate::support::{Actor, HttpResponse, TestApp, error_codes, findings};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::RateLimits;
use waxwing::db::tracking_writes;

/// Sets the memory limit of every node, in bytes; 0 for none.
fn set_memory_limit(app: &TestApp, bytes: u64) {
    app.redis.each::<()>(&["CONFIG", "SET", "maxmemory", &bytes.to_string()]);
}

/// Returns the memory that each node uses, in bytes.
fn used_memory(app: &TestApp) -> Vec<u64> {
    let nodes = app.redis.each::<redis::InfoDict>(&["INFO", "memory"]);
    nodes.iter().map(|node| node.get("used_memory").expect("a number")).collect()
}

/// A memory limit below the size of an empty Redis.
const NOTHING: u64 = 1_000;

/// Runs a mutation. Returns its response, and the codes of its errors and user errors.
async fn change(actor: &Actor, field: &str, input: &str) -> (Value, Vec<String>) {
    let query = format!("mutation {{ {field}(input: {{ {input} }}) {{ userErrors {{ code }} }} }}");
    let response = actor.gql(&query, json!({})).await;
    let mut codes = error_codes(&response);
    let rows = response["data"][field]["userErrors"].as_array().cloned().unwrap_or_default();
    codes.extend(rows.iter().map(|row| row["code"].as_str().expect("a code").to_owned()));
    (response, codes)
}

async fn assert_ok(actor: &Actor, field: &str, input: &str) {
    let (response, codes) = change(actor, field, input).await;
    assert!(codes.is_empty(), "{field}: {response}");
}

async fn readiness(app: &TestApp) -> (u16, String) {
    let response = HttpResponse::fetch(app.get("/readyz")).await;
    (response.status, response.text)
}

/// Runs a mutation that creates an object. Returns the id of the object.
async fn create(actor: &Actor, query: &str) -> String {
    let response = actor.gql(query, json!({})).await;
    let payload = response["data"].as_object().and_then(|data| data.values().next()).unwrap_or_else(|| panic!("{response}"));
    let object = payload.as_object().expect("a payload").values().find(|value| value.is_object());
    object.and_then(|object| object["id"].as_str()).unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// Creates a server with rate limits, so that every change is charged, and data of three users.
async fn create_world() -> (TestApp, [Actor; 3], World) {
    let app = TestApp::with(Config { rates: Some(RateLimits::default()), ..Config::default() }).await;
    let users = app.users(["ada", "bob", "cyd"]).await;
    let [ada, bob, cyd] = &users;
    bob.follow(ada).await;
    let status = ada.post("first").await;
    bob.like(&status).await;
    let comment = create(
        bob,
        &format!("mutation {{ addComment(input: {{ statusId: \"{status}\", message: \"hi\" }}) {{ comment {{ id }} }} }}"),
    )
    .await;
    let list = create(bob, "mutation { createUserList(input: { name: \"list\" }) { userList { id } } }").await;
    assert_ok(bob, "addUserToList", &format!("listId: \"{list}\", userId: \"{}\"", ada.id)).await;
    cyd.post("of one who leaves").await;
    app.drain().await;
    (app, users, World { status, comment, list })
}

/// A full store accepts one of two writes in a pipeline. The change is partly applied, so its journal entry must stay.
#[tokio::test]
async fn a_write_that_a_full_store_accepts_in_part_has_an_unknown_outcome() {
    let app = TestApp::with(Config::default()).await;
    app.user("ada").await;
    set_memory_limit(&app, NOTHING);
    let set = |tag: u64| redis::cmd("HSET").arg(format!("user:{{{tag}}}")).arg("a").arg(0).take();
    let unlink = redis::cmd("UNLINK").arg("user:{7}").take();
    for (commands, expected, writes) in [
        (vec![set(7), set(8)], Err("STORAGE_FULL"), false),
        (vec![set(7), unlink.clone()], Err("OUTCOME_UNKNOWN"), true),
        (vec![unlink.clone(), set(8), set(9)], Err("OUTCOME_UNKNOWN"), true),
        (vec![unlink.clone()], Ok(1), true),
    ] {
        let (written, has_written) = tracking_writes(app.app.db().write_many(commands)).await;
        let written = written.map(|replies| replies.len()).map_err(|error| error.code());
        assert_eq!((written, has_written), (expected, writes));
    }
    set_memory_limit(&app, 0);
}

struct World {
    status: String,
    comment: String,
    list: String,
}

#[tokio::test]
async fn a_full_store_refuses_writes_but_allows_reads_and_deletions() {
    let (app, [ada, bob, cyd], it) = create_world().await;
    let backend = crate::identity::provision::backend(&app).await;
    for external_id in ["7", "8"] {
        assert_ok(&backend, "provisionUser", &format!("externalId: \"{external_id}\"")).await;
    }
    assert_eq!(readiness(&app).await.0, 200);
    set_memory_limit(&app, NOTHING);
    assert_eq!(readiness(&app).await, (503, "the storage is full\n".to_owned()));
    assert_eq!(HttpResponse::fetch(app.get("/healthz")).await.status, 200);

    let (status, comment, list, ada_id) = (&it.status, &it.comment, &it.list, &ada.id);
    for (field, input) in [
        ("postStatus", "message: \"second\"".to_owned()),
        ("postStatus", "message: \"second\", idempotencyKey: \"k\"".to_owned()),
        ("likeStatus", format!("statusId: \"{status}\"")),
        ("bookmarkStatus", format!("statusId: \"{status}\"")),
        ("pinStatus", format!("statusId: \"{status}\"")),
        ("followUser", format!("userId: \"{}\"", bob.id)),
        ("addComment", format!("statusId: \"{status}\", message: \"more\"")),
        ("createUserList", "name: \"another\"".to_owned()),
        ("updateProfile", "bio: \"longer\"".to_owned()),
        ("createCampaign", "name: \"c\", budget: \"1\"".to_owned()),
        ("registerWebsite", "name: \"w\", origin: \"https://news.example\"".to_owned()),
    ] {
        let (response, codes) = change(&ada, field, &input).await;
        assert_eq!(codes, ["STORAGE_FULL"], "{field}: {response}");
        assert_eq!(response["errors"][0]["message"], "The storage is full. Nothing can be added until data is deleted.");
    }
    for (field, input) in [
        ("editComment", format!("commentId: \"{comment}\", message: \"edited\"")),
        ("renameUserList", format!("listId: \"{list}\", name: \"renamed\"")),
        ("addUserToList", format!("listId: \"{list}\", userId: \"{}\"", cyd.id)),
    ] {
        assert_eq!(change(&bob, field, &input).await.1, ["STORAGE_FULL"], "{field}");
    }
    let sign_up = change(&app.anonymous(), "signUp", "login: \"dan\", name: \"d\", password: \"correct horse\"").await;
    assert_eq!(sign_up.1, ["STORAGE_FULL"]);
    for input in ["externalId: \"9\"", "externalId: \"9\", idempotencyKey: \"k\"", "externalId: \"7\", name: \"longer\""] {
        assert_eq!(change(&backend, "provisionUser", input).await.1, ["STORAGE_FULL"], "{input}");
    }

    assert_eq!(bob.home().await, ["first"]);
    let everything = format!(
        "{{ viewer {{ login }} viewerSessions {{ id }} viewerLists(first: 5) {{ edges {{ node {{ name }} }} }} viewerCampaigns(first: 5) {{ \
         edges {{ node {{ id }} }} }} user(login: \"ada\") {{ followers(first: 5) {{ edges {{ node {{ login }} }} }} }} node(id: \"{status}\") \
         {{ id }} serverLimits {{ depth }} }}"
    );
    let response = bob.gql(&everything, json!({})).await;
    assert!(error_codes(&response).is_empty(), "{response}");
    assert_eq!(response["data"]["user"]["followers"]["edges"][0]["node"]["login"], "bob", "{response}");

    assert_ok(&app.anonymous(), "logIn", "login: \"bob\", password: \"correct horse\"").await;
    assert_ok(&bob, "unlikeStatus", &format!("statusId: \"{status}\"")).await;
    assert_ok(&bob, "removeBookmark", &format!("statusId: \"{status}\"")).await;
    assert_ok(&ada, "unpinStatus", &format!("statusId: \"{status}\"")).await;
    assert_ok(&bob, "removeUserFromList", &format!("listId: \"{list}\", userId: \"{ada_id}\"")).await;
    assert_ok(&bob, "deleteUserList", &format!("listId: \"{list}\"")).await;
    assert_ok(&bob, "deleteComment", &format!("commentId: \"{comment}\"")).await;
    assert_ok(&bob, "unfollowUser", &format!("userId: \"{ada_id}\"")).await;
    assert_ok(&ada, "deleteStatus", &format!("statusId: \"{status}\"")).await;
    for (field, input) in [
        ("issueSession", "externalId: \"7\""),
        ("revokeSessions", "externalId: \"7\""),
        ("revokeSessions", "jwtId: \"7\""),
        ("removeUser", "externalId: \"8\""),
    ] {
        assert_ok(&backend, field, input).await;
    }
    assert_ok(&cyd, "deleteAccount", "password: \"correct horse\"").await;
    app.drain().await;
    assert_ok(&ada, "endSessions", "allOthers: true").await;
    let response = ada.gql("mutation { logOut { endedSessionId } }", json!({})).await;
    assert!(error_codes(&response).iter().all(|code| code != "STORAGE_FULL"), "{response}");
    // Started changes are settled when their leases have expired.
    app.clock.advance(120_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, Vec::<String>::new());

    set_memory_limit(&app, 0);
    assert_eq!(readiness(&app).await, (200, "ok\n".to_owned()));
    bob.post("space again").await;
    app.drain().await;
    assert_eq!(bob.home().await, ["space again"]);
    app.clock.advance(120_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, Vec::<String>::new());
    assert!(app.redis.keys().iter().all(|key| !key.starts_with("dead:")), "a journal entry is a dead letter");
}

#[tokio::test]
async fn deletions_free_space_in_a_full_store() {
    // Few events are kept, so that the events of the deletions need no additional memory.
    let app = TestApp::with(Config { events_kept: 100, ..Config::default() }).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    app.drain().await;
    set_memory_limit(&app, used_memory(&app).into_iter().max().expect("a node") + 300_000);
    let mut posted = Vec::new();
    let refused = loop {
        let input = json!({ "input": { "message": format!("{} {}", posted.len(), "x".repeat(200)) } });
        let response = ada.run("PostStatus", input).await;
        match response["data"]["postStatus"]["status"]["id"].as_str() {
            Some(id) => posted.push(id.to_owned()),
            None => break response,
        }
        assert!(posted.len() < 10_000, "the store never becomes full");
    };
    assert_eq!(error_codes(&refused), ["STORAGE_FULL"], "{refused}");
    let before: u64 = used_memory(&app).iter().sum();
    for id in &posted {
        assert_ok(&ada, "deleteStatus", &format!("statusId: \"{id}\"")).await;
    }
    // On a cluster the journal keeps settled entries for ten seconds.
    app.drain_journal().await;
    let after: u64 = used_memory(&app).iter().sum();
    assert!(after < before, "{after} of {before} bytes are used");
    ada.post("there is space").await;
    set_memory_limit(&app, 0);
    app.clock.advance(120_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, Vec::<String>::new());
}
