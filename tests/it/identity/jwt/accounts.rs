//! The accounts of tokens: found, created by the first token, and not found.

use super::super::provision_races::accounts;
use super::super::{RIGHT, assert_no_findings, change_password, emails_of, found_by, request_reset, reset, run, sessions_of};
use super::{KeyServer, SigningKey, World, config, login, not_provisioned, unauthenticated};
use crate::support::{Actor, MailServer, Socket, TestApp, error_codes, findings, races, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::platform::jwt::service as jwt;

/// A server whose messages go to this mail server, and an issuer whose keys it has fetched.
async fn start_with(mail: &MailServer) -> World {
    let key = SigningKey::ed25519("first");
    let server = KeyServer::start(&[&key]).await;
    let app = TestApp::with(Config { jwt: config(&server.url, true).jwt, ..mail.config() }).await;
    jwt::start(&app.app).await;
    World { app, server, key }
}

/// A token of a new account that has set a password, and a session of the account.
async fn with_password(world: &World, mail: &MailServer) -> (String, Actor) {
    let profile = json!({ "preferred_username": "ada", "email": "ada@example.org", "email_verified": true });
    let token = world.token_with("1", profile);
    assert_eq!(login(&world.app, &token).await.as_deref(), Ok("ada"));
    request_reset(&world.app, "ada@example.org").await;
    world.app.drain().await;
    let link = mail.take().pop().expect("a link").token("/reset-password");
    let session = reset(&world.app, &link, RIGHT).await["session"].take();
    (token, world.client(session["token"].as_str().expect("a token")))
}

async fn account(world: &World, token: &str) -> Value {
    let mut response = world.client(token).run("MyAccount", json!({})).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["viewerAccount"].take()
}

#[tokio::test]
async fn without_provisioning_a_token_needs_an_account() {
    let world = World::start(false).await;
    let token = world.token("User-7");
    assert_eq!(login(&world.app, &token).await, not_provisioned());
    world.provision("User-7", "ada").await;
    assert_eq!(login(&world.app, &token).await.as_deref(), Ok("ada"));
    assert_eq!(login(&world.app, &world.token("user-7")).await, not_provisioned(), "case counts");
    let identity = account(&world, &token).await["identities"][0].take();
    assert_eq!((&identity["issuer"], &identity["subject"]), (&json!(super::ISSUER), &json!("User-7")));
}

#[tokio::test]
async fn a_token_of_another_issuer_is_not_provisioned() {
    let world = World::start(true).await;
    let user = world.provision("User-7", "ada").await;
    let id = waxwing::base::ids::UserId::from_global(user["id"].as_str().expect("an id")).expect("a user").0;
    world.app.redis.run::<u64>(&["HSET", &format!("identity:{{{id}}}"), "issuer", "https://other.example"]);
    assert_eq!(login(&world.app, &world.token("User-7")).await, not_provisioned());
}

#[tokio::test]
async fn the_first_token_creates_the_account_from_its_claims() {
    let world = World::start(true).await;
    world.app.user("ada").await;
    let profile = |username: &str, name: Value| json!({ "preferred_username": username, "name": name });
    for (sub, more, expected_login, expected_name) in [
        ("1", profile("Grace.Hopper", json!("Grace Hopper")), "GraceHopper", "Grace Hopper"),
        ("2", profile("x-y_z@example.org", json!(null)), "xy_zexampleorg", "xy_zexampleorg"),
        ("3", profile(&"a".repeat(40), json!(7)), &"a".repeat(24), &"a".repeat(24)),
        ("4", profile("ж!", json!("x".repeat(500))), "user", "user"),
    ] {
        let token = world.token_with(sub, more);
        let response = world.client(&token).gql("{ viewer { login name } }", json!({})).await;
        assert_eq!(response["data"]["viewer"], json!({ "login": expected_login, "name": expected_name }), "{response}");
    }
    let taken = login(&world.app, &world.token_with("5", json!({ "preferred_username": "ADA" }))).await.expect("a login");
    assert!(taken.len() == "ADA_".len() + 5 && taken.starts_with("ADA_"), "{taken}");
    let unnamed = login(&world.app, &world.token("6")).await.expect("a login");
    assert!(unnamed.starts_with("user_") && unnamed.len() == "user_".len() + 5, "{unnamed}");
    let later = world.token_with("1", json!({ "preferred_username": "Other", "name": "Other" }));
    assert_eq!(login(&world.app, &later).await.as_deref(), Ok("GraceHopper"), "at first sight alone");
    let response = world.client(&later).gql("{ viewer { name } }", json!({})).await;
    assert_eq!(response["data"]["viewer"]["name"], "Grace Hopper", "at first sight alone");
    let first = account(&world, &later).await;
    assert_eq!((&first["hasPassword"], &first["identities"][0]["subject"]), (&json!(false), &json!("1")));
    world.app.drain().await;
    assert_eq!(findings(&world.app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_address_is_taken_only_if_verified_and_free() {
    let mail = MailServer::start().await;
    let world = start_with(&mail).await;
    let owner = super::super::confirmed(&world.app, &mail, "owner", "taken@example.org").await;
    for (sub, email, is_verified, expected) in [
        ("1", "Ada@example.org", json!(true), json!("Ada@example.org")),
        ("2", "bea@example.org", json!("true"), Value::Null),
        ("3", "cyd@example.org", json!(false), Value::Null),
        ("4", "taken@example.org", json!(true), Value::Null),
        ("5", "nobody", json!(true), Value::Null),
    ] {
        let token = world.token_with(sub, json!({ "email": email, "email_verified": is_verified }));
        assert!(login(&world.app, &token).await.is_ok(), "{sub}");
        assert_eq!(emails_of(&world.client(&token)).await, (expected, Value::Null), "{sub}");
    }
    assert_eq!(emails_of(&owner).await.0, "taken@example.org", "an address alone links to no account");
    world.app.drain().await;
    assert_eq!(mail.take().len(), 0, "no message");
    assert_eq!(findings(&world.app.app).await, [""; 0]);
}

/// Uses a token a hundred times at once, on two servers.
async fn use_concurrently(world: &World, other: &TestApp, token: &str) -> Vec<Result<String, (u16, Vec<String>)>> {
    join_all((0..100).map(|at| login(if at % 2 == 0 { &world.app } else { other }, token))).await
}

#[tokio::test]
async fn of_a_hundred_first_tokens_one_creates_the_account() {
    let world = World::start(true).await;
    let other = world.sibling().await;
    let profile = json!({ "preferred_username": "ada", "email": "ada@example.org", "email_verified": true });
    for (round, (more, expected)) in [(json!({}), "user"), (profile, "ada")].into_iter().enumerate() {
        let token = world.token_with(&format!("sub-{round}"), more);
        let seen = use_concurrently(&world, &other, &token).await;
        assert!(seen.iter().all(|login| login.as_deref() == Ok(expected)), "{expected}: {seen:?}");
        world.app.drain().await;
        assert_eq!(accounts(&world.app), round + 1, "{expected}");
    }
    assert_no_findings(&world.app, "a hundred first tokens").await;
}

#[tokio::test]
async fn first_tokens_beside_provisioning_create_one_account() {
    let world = World::start(true).await;
    let other = world.sibling().await;
    let backend = world.backend().await;
    for round in 0..races(3) {
        let sub = format!("sub-{round}");
        let token = world.token_with(&sub, json!({ "preferred_username": "ada" }));
        let provisioned = join_all((0..10).map(|at| {
            let backend = if at % 2 == 0 { backend.clone() } else { backend.at(&other) };
            let input = json!({ "externalId": sub });
            async move { run(&backend, "ProvisionUser", "provisionUser", input).await }
        }));
        let (provisioned, seen) = tokio::join!(provisioned, use_concurrently(&world, &other, &token));
        let expected = provisioned[0]["user"]["login"].as_str().unwrap_or_else(|| panic!("{}", provisioned[0]));
        assert!(provisioned.iter().all(|it| it["user"]["login"] == expected), "round {round}: {provisioned:?}");
        assert!(seen.iter().all(|login| login.as_deref() == Ok(expected)), "round {round}: {expected} {seen:?}");
        let created = provisioned.iter().filter(|it| it["wasCreated"] == true).count();
        assert!(created <= 1, "round {round}: {provisioned:?}");
        world.app.drain().await;
        assert_eq!(accounts(&world.app), round + 1, "round {round}");
    }
    assert_no_findings(&world.app, "tokens beside provisioning").await;
}

#[tokio::test]
async fn after_a_deletion_only_later_tokens_create_an_account() {
    let world = World::start(true).await;
    let old = world.token_with("1", json!({ "preferred_username": "ada" }));
    assert_eq!(login(&world.app, &old).await.as_deref(), Ok("ada"));
    world.app.clock.advance(1_000);
    let backend = world.backend().await;
    let removed = run(&backend, "RemoveUser", "removeUser", json!({ "externalId": "1" })).await;
    assert!(removed["removedUserId"].is_string(), "{removed}");
    let other = world.sibling().await;
    for server in [&world.app, &other] {
        assert_eq!(login(server, &old).await, unauthenticated());
    }
    world.app.drain().await;
    assert_eq!(login(&world.app, &old).await, unauthenticated(), "after the purge");
    world.app.clock.advance(1_000);
    let new = world.token_with("1", json!({ "preferred_username": "ada" }));
    let login_of_new = login(&world.app, &new).await.expect("a new account");
    assert!(login_of_new.starts_with("ada_"), "the login before stays reserved: {login_of_new}");
    assert_eq!(login(&world.app, &old).await, unauthenticated());
}

#[tokio::test]
async fn a_token_is_no_session() {
    let world = World::start(true).await;
    let token = world.token("1");
    let client = world.client(&token);
    let response = client.run("MySessions", json!({})).await;
    assert_eq!(response["data"]["viewerSessions"], json!([]), "{response}");
    let response = client.gql("mutation { logOut { endedSessionId } }", json!({})).await;
    assert_eq!(error_codes(&response), ["FORBIDDEN"], "{response}");
    assert!(login(&world.app, &token).await.is_ok());
}

#[tokio::test]
async fn a_changed_password_does_not_end_a_token() {
    let mail = MailServer::start().await;
    let world = start_with(&mail).await;
    let (token, ada) = with_password(&world, &mail).await;
    assert_eq!(login(&world.app, &token).await.as_deref(), Ok("ada"), "after a reset");
    let mut socket = Socket::connect(&world.app, Some(&token)).await;
    assert_eq!(user_error_codes(&change_password(&ada, RIGHT, "battery staple").await), [""; 0]);
    assert_eq!(login(&world.app, &token).await.as_deref(), Ok("ada"), "after a change");
    assert_eq!(socket.execute("a", super::WHO).await["data"]["viewer"]["login"], "ada");
    // With the token itself all sessions end.
    let changed = change_password(&world.client(&token), "battery staple", RIGHT).await;
    assert_eq!(changed["endedSessionIds"].as_array().map(Vec::len), Some(1), "{changed}");
    assert_eq!(sessions_of(&ada).await, None);
    assert_eq!(login(&world.app, &token).await.as_deref(), Ok("ada"));
    assert_eq!(socket.execute("b", super::WHO).await["data"]["viewer"]["login"], "ada");
}

#[tokio::test]
async fn an_account_that_deletes_itself_is_not_created_again_by_its_tokens() {
    let mail = MailServer::start().await;
    let world = start_with(&mail).await;
    let (token, _) = with_password(&world, &mail).await;
    let mut socket = Socket::connect(&world.app, Some(&token)).await;
    let deleted = world.client(&token).mutate("deleteAccount", json!({ "password": RIGHT }), "deletedUserId").await;
    assert!(deleted["deletedUserId"].is_string(), "{deleted}");
    assert_eq!(socket.close_reason().await.0, 4403);
    for when in ["at once", "after the purge"] {
        assert_eq!(login(&world.app, &token).await, unauthenticated(), "{when}");
        assert_eq!((found_by(&world.app, "ada").await, accounts(&world.app)), (Value::Null, 0), "{when}");
        world.app.drain().await;
    }
    // A token that is issued later is one of a new account.
    world.app.clock.advance(1_000);
    assert_eq!(login(&world.app, &world.token("1")).await.as_deref(), Ok("user"));
}
