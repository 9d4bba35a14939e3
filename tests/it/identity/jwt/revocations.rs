//! Revoked tokens: by account, by `jti` and by `sid`, also while they are cached, on all servers.

use super::super::run;
use super::{World, login, unauthenticated};
use serde_json::{Value, json};

async fn revoke(world: &World, input: Value) {
    let backend = world.backend().await;
    let payload = run(&backend, "RevokeSessions", "revokeSessions", input).await;
    assert_eq!(payload["userErrors"], json!([]), "{payload}");
}

#[tokio::test]
async fn revoking_an_account_refuses_tokens_that_were_issued_before() {
    let world = World::start(true).await;
    let other = world.sibling().await;
    let (old, stranger) = (world.token("1"), world.token("2"));
    for server in [&world.app, &other] {
        assert!(login(server, &old).await.is_ok() && login(server, &stranger).await.is_ok());
    }
    world.app.clock.advance(500);
    revoke(&world, json!({ "externalId": "1" })).await;
    for server in [&world.app, &other] {
        assert_eq!(login(server, &old).await, unauthenticated());
        assert_eq!(login(server, &world.token("1")).await, unauthenticated(), "of the same second");
        assert!(login(server, &stranger).await.is_ok());
    }
    world.app.clock.advance(500);
    // The last server has nothing of the account in its cache.
    for server in [&world.app, &other, &world.sibling().await] {
        assert!(login(server, &world.token("1")).await.is_ok(), "issued later");
    }
}

#[tokio::test]
async fn a_token_is_revoked_by_its_id_or_its_session() {
    let world = World::start(true).await;
    let other = world.sibling().await;
    let token = |jti: &str, sid: &str| world.token_with("1", json!({ "jti": jti, "sid": sid }));
    let tokens = [token("a", "x"), token("b", "x"), token("c", "y"), token("x", "a")];
    for server in [&world.app, &other] {
        for token in tokens.iter().chain(&tokens) {
            assert!(login(server, token).await.is_ok());
        }
    }
    for (input, revoked) in
        [(json!({ "jwtId": "a" }), 1), (json!({ "jwtSessionId": "x" }), 2), (json!({ "jwtId": "unknown" }), 2)]
    {
        revoke(&world, input.clone()).await;
        for server in [&world.app, &other] {
            for (at, token) in tokens.iter().enumerate() {
                assert_eq!(login(server, token).await.is_err(), at < revoked, "{input}: {at}");
            }
        }
    }
    let keys = world.app.redis.keys();
    assert_eq!(keys.iter().filter(|key| key.starts_with("revoked_jwt:")).count(), 3, "{keys:?}");
}

#[tokio::test]
async fn a_revocation_precedes_the_first_use() {
    let world = World::start(true).await;
    revoke(&world, json!({ "jwtId": "a" })).await;
    let token = world.token_with("1", json!({ "jti": "a" }));
    assert_eq!(login(&world.app, &token).await, unauthenticated());
    let later = world.token_with("1", json!({ "jti": "b", "preferred_username": "ada" }));
    assert_eq!(login(&world.app, &later).await.as_deref(), Ok("ada"), "the first has created no account");
}
