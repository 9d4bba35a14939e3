//! Which tokens are accepted, and that every other one is refused like an unknown session.

use super::issuer::{KeyServer, SigningKey, encode, hs256};
use super::{World, claims, config, login, unauthenticated, who, with};
use crate::support::{HttpResponse, PROTOCOL, RedisServer, START, SingleServerReason, Socket, TestApp};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::platform::jwt::service as jwt;

/// The body and the relevant headers of a refusal.
fn refusal(response: &HttpResponse) -> (u16, String, String) {
    (response.status, response.text.clone(), response.header("www-authenticate").to_owned())
}

#[tokio::test]
async fn tokens_of_three_algorithms_are_accepted() {
    let keys = [SigningKey::rsa("r", false), SigningKey::p256("e"), SigningKey::ed25519("o")];
    let server = KeyServer::start(&keys.each_ref()).await;
    let app = TestApp::with(config(&server.url, true)).await;
    jwt::start(&app.app).await;
    for key in &keys {
        let claims = with(claims(&app, key.alg()), json!({ "preferred_username": key.alg() }));
        let without_kid = key.sign(&json!({ "alg": key.alg() }), &claims);
        for token in [key.token(&claims), without_kid] {
            assert_eq!(login(&app, &token).await.as_deref(), Ok(key.alg()));
        }
    }
    let claims =
        with(claims(&app, "RS256"), json!({ "aud": ["other", "waxwing"], "nbf": START / 1_000, "iat": START as f64 / 1e3 }));
    assert_eq!(login(&app, &keys[0].token(&claims)).await.as_deref(), Ok("RS256"));
}

#[tokio::test]
async fn every_invalid_token_is_refused_like_an_unknown_session() {
    let (first, second) = (SigningKey::ed25519("first"), SigningKey::ed25519("second"));
    let (rsa, other_rsa, stranger) = (SigningKey::rsa("r", false), SigningKey::rsa("r", true), SigningKey::ed25519("first"));
    let server = KeyServer::start(&[&first, &second, &rsa]).await;
    let app = TestApp::with(config(&server.url, true)).await;
    jwt::start(&app.app).await;
    let claims = claims(&app, "ada");
    let changed = |more: Value| first.token(&with(claims.clone(), more));
    let now = START / 1_000;
    assert!(login(&app, &first.token(&claims)).await.is_ok());
    let valid = first.token(&claims);
    let (signed, signature) = valid.rsplit_once('.').expect("a token");
    let (header, payload) = signed.split_once('.').expect("a token");
    let public = rsa.jwk();
    let none = |alg: &str| format!("{}.{payload}.", encode(json!({ "alg": alg }).to_string()));
    let repeated = encode(format!(r#"{{"sub":"eve",{}"#, &claims.to_string()[1..]));
    let with_header = |header: Value| first.sign(&header, &claims);
    let cases = [
        ("expired", changed(json!({ "iat": now - 400, "exp": now - 60 }))),
        ("not yet valid", changed(json!({ "nbf": now + 61 }))),
        ("issued in the future", changed(json!({ "iat": now + 61 }))),
        ("too long", changed(json!({ "exp": now + 24 * 60 * 60 + 1 }))),
        ("another issuer", changed(json!({ "iss": "https://id.example/realms/social/" }))),
        ("another audience", changed(json!({ "aud": "waxwing2" }))),
        ("another audience in a list", changed(json!({ "aud": ["other"] }))),
        ("a list with a number", changed(json!({ "aud": ["waxwing", 1] }))),
        ("sub with a space", changed(json!({ "sub": "a b" }))),
        ("a number as sub", changed(json!({ "sub": 1 }))),
        ("exp as text", changed(json!({ "exp": (now + 300).to_string() }))),
        ("none", none("none")),
        ("None", none("None")),
        ("none with a signature", format!("{}.{payload}.{signature}", encode(r#"{"alg":"none"}"#))),
        ("HS256 by the modulus", hs256(public["n"].as_str().expect("n").as_bytes(), "r", &claims)),
        ("HS256 by the key", hs256(public.to_string().as_bytes(), "r", &claims)),
        ("HS256 by nothing", hs256(b"", "r", &claims)),
        ("a key in the header", stranger.sign(&json!({ "alg": "EdDSA", "jwk": stranger.jwk() }), &claims)),
        (
            "a key in the header with a known kid",
            stranger.sign(&json!({ "alg": "EdDSA", "kid": "first", "jwk": stranger.jwk() }), &claims),
        ),
        ("keys at a URL", stranger.sign(&json!({ "alg": "EdDSA", "kid": "first", "jku": server.url }), &claims)),
        ("another key with a known kid", stranger.token(&claims)),
        ("another RSA key", other_rsa.token(&claims)),
        ("the algorithm of another key", with_header(json!({ "alg": "RS256", "kid": "first" }))),
        ("the kid of another key", with_header(json!({ "alg": "EdDSA", "kid": "second" }))),
        ("an unknown kid", with_header(json!({ "alg": "EdDSA", "kid": "third" }))),
        ("no kid with two keys", with_header(json!({ "alg": "EdDSA" }))),
        ("crit", with_header(json!({ "alg": "EdDSA", "kid": "first", "crit": ["exp"] }))),
        ("a logout token", with_header(json!({ "alg": "EdDSA", "kid": "first", "typ": "logout+jwt" }))),
        (
            "a changed payload",
            format!("{header}.{}.{signature}", encode(with(claims.clone(), json!({ "sub": "eve" })).to_string())),
        ),
        ("a repeated claim", format!("{header}.{repeated}.{signature}")),
        ("padding", format!("{valid}==")),
        ("a part more", format!("{valid}.AA")),
        ("a part less", signed.to_owned()),
        ("oversize", changed(json!({ "more": "x".repeat(8 * 1024) }))),
        ("no JSON", format!("{}.{}.AA", encode("x"), encode("x"))),
        ("dots", "..".to_owned()),
    ];
    let unknown = refusal(&who(&app, &"x".repeat(43)).await);
    assert_eq!(unknown.0, 401);
    for (name, token) in &cases {
        assert_eq!(refusal(&who(&app, token).await), unknown, "{name}");
        let mut socket = Socket::dial(&app.url, &[("sec-websocket-protocol", PROTOCOL)]).await.expect("a socket");
        socket.send_json(json!({ "type": "connection_init", "payload": { "authorization": format!("Bearer {token}") } })).await;
        assert_eq!(socket.close_reason().await, (4403, "Forbidden".to_owned()), "{name}");
    }
    assert!(login(&app, &valid).await.is_ok(), "a valid one is accepted again");
    let text = app.app.exposition().expect("metrics");
    for reason in ["malformed", "algorithm", "key", "signature", "claims", "expired"] {
        assert!(text.contains(&format!("waxwing_jwt_refused_total{{reason=\"{reason}\"}}")), "{reason}: {text}");
    }
}

#[tokio::test]
async fn without_an_issuer_no_token_is_accepted() {
    let app = TestApp::start().await;
    let token = SigningKey::ed25519("first").token(&claims(&app, "ada"));
    assert_eq!(refusal(&who(&app, &token).await), refusal(&who(&app, &"x".repeat(43)).await));
}

#[tokio::test]
async fn a_token_expires_while_it_is_cached() {
    let world = World::start(true).await;
    let token = world.token("ada");
    assert!(login(&world.app, &token).await.is_ok());
    world.app.clock.advance(359_999);
    assert!(login(&world.app, &token).await.is_ok(), "in the leeway");
    world.app.clock.advance(1);
    assert_eq!(login(&world.app, &token).await, unauthenticated());
}

/// As a cached session: see `speculative_viewer`.
#[tokio::test]
async fn a_cached_token_costs_no_round_trip() {
    let key = SigningKey::ed25519("first");
    let server = KeyServer::start(&[&key]).await;
    let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
    let app = TestApp::on_redis(redis, Clock::manual(START), config(&server.url, true)).await;
    jwt::start(&app.app).await;
    let token = key.token(&with(claims(&app, "ada"), json!({ "jti": "j", "sid": "s" })));
    let ada = app.anonymous().with_token(&token);
    ada.post("x").await;
    app.drain().await;
    let home = "{ viewer { login } homeTimeline { entries { edges { node { status { message } } } } } }";
    for _ in 0..2 {
        ada.gql(home, json!({})).await;
        app.drain().await;
    }
    for query in [home, super::WHO, "{ __typename }"] {
        let before = app.app.db().round_trips();
        let response = ada.gql(query, json!({})).await;
        assert_eq!(response.get("errors"), None, "{response}");
        assert_eq!(app.app.db().round_trips() - before, 1, "{query}");
    }
    let before = server.fetches();
    app.clock.advance(30_000);
    assert!(login(&app, &token).await.is_ok());
    assert_eq!(server.fetches(), before);
}

#[tokio::test]
async fn a_token_of_a_session_still_works_beside_an_issuer() {
    let world = World::start(false).await;
    let ada = world.app.user("ada").await;
    assert_eq!(login(&world.app, ada.token.as_deref().expect("a token")).await.as_deref(), Ok("ada"));
    assert_eq!(Config::default().jwt, None);
}
