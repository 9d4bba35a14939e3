//! The keys of an issuer: when they are fetched, which responses count, and which keys are used while the issuer is down.

use super::issuer::{KeyServer, SigningKey, set_of};
use super::{World, claims, config, login, unauthenticated};
use crate::support::{TestApp, findings};
use futures_util::future::join_all;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use waxwing::platform::jwt::service as jwt;

const MINUTE_MS: i64 = 60_000;

#[tokio::test]
async fn a_removed_key_is_refused_from_then_on() {
    let world = World::start(true).await;
    let (token, next) = (world.token("ada"), SigningKey::ed25519("second"));
    assert!(login(&world.app, &token).await.is_ok());
    world.server.serve(&[&next]);
    assert!(login(&world.app, &token).await.is_ok(), "before the next fetch");
    jwt::refresh(&world.app.app).await;
    assert_eq!(login(&world.app, &token).await, unauthenticated(), "though it was cached");
    assert!(login(&world.app, &next.token(&claims(&world.app, "ada"))).await.is_ok());
    world.server.serve(&[]);
    jwt::refresh(&world.app.app).await;
    assert_eq!(login(&world.app, &next.token(&claims(&world.app, "ada"))).await, unauthenticated());
}

#[tokio::test]
async fn an_unknown_key_is_fetched_at_most_once_a_minute() {
    let world = World::start(true).await;
    let next = SigningKey::ed25519("second");
    world.server.serve(&[&world.key, &next]);
    let (known, token) = (world.token("ada"), next.token(&claims(&world.app, "ada")));
    let found = join_all((0..20).map(|_| login(&world.app, &token))).await;
    assert!(found.iter().all(Result::is_ok), "concurrent requests wait for one fetch: {found:?}");
    assert_eq!(world.server.fetches(), 2);
    let third = SigningKey::ed25519("third");
    world.server.serve(&[&world.key, &next, &third]);
    let token = third.token(&claims(&world.app, "ada"));
    for _ in 0..3 {
        assert_eq!(login(&world.app, &token).await, unauthenticated());
        assert!(login(&world.app, &known).await.is_ok());
    }
    assert_eq!(world.server.fetches(), 2, "within the minute");
    world.app.clock.advance(MINUTE_MS);
    assert!(login(&world.app, &token).await.is_ok());
    assert_eq!(world.server.fetches(), 3);
}

#[tokio::test]
async fn the_last_keys_are_used_while_the_issuer_fails() {
    let world = World::start(true).await;
    let token = world.token("ada");
    let evil = SigningKey::ed25519("evil");
    let elsewhere = KeyServer::start(&[&evil]).await;
    let (set, large) = (set_of(&[&evil]).to_string(), format!("{}{}", " ".repeat(1 << 20), set_of(&[&evil])));
    for (status, headers, body) in [
        ("500 Internal Server Error", "", set.as_str()),
        ("404 Not Found", "", set.as_str()),
        ("302 Found", &format!("location: {}\r\n", elsewhere.url), ""),
        ("200 OK", "", "<html>"),
        ("200 OK", "", "{}"),
        ("200 OK", "", "[]"),
        ("200 OK", "", large.as_str()),
    ] {
        world.server.respond(status, headers, body);
        jwt::refresh(&world.app.app).await;
        assert!(login(&world.app, &token).await.is_ok(), "{status}");
        assert_eq!(login(&world.app, &evil.token(&claims(&world.app, "ada"))).await, unauthenticated(), "{status}");
    }
    assert_eq!(elsewhere.fetches(), 0, "redirects are not followed");
    let text = world.app.app.exposition().expect("metrics");
    assert!(text.contains(r#"waxwing_jwt_key_fetches_total{result="failed"}"#), "{text}");
}

#[tokio::test]
async fn the_last_keys_are_kept_for_restarts_and_other_servers() {
    let world = World::start(true).await;
    world.server.respond("503 Service Unavailable", "", "");
    let other = world.sibling().await;
    assert!(login(&other, &world.token("ada")).await.is_ok(), "a server that has fetched nothing");
    let next = SigningKey::ed25519("second");
    world.server.serve(&[&next]);
    world.app.clock.advance(1_000);
    jwt::refresh(&world.app.app).await;
    world.server.respond("503 Service Unavailable", "", "");
    jwt::refresh(&other.app).await;
    assert_eq!(login(&other, &world.token("ada")).await, unauthenticated());
    assert!(login(&other, &next.token(&claims(&other, "ada"))).await.is_ok(), "the later keys of the first server");
    assert_eq!(findings(&world.app.app).await, [""; 0]);
}

#[tokio::test]
async fn keys_of_another_source_are_not_used() {
    let world = World::start(true).await;
    let down = KeyServer::start(&[]).await;
    down.respond("503 Service Unavailable", "", "");
    let clock = world.app.clock.clone();
    let other = TestApp::on_redis(world.app.redis.clone(), clock, config(&down.url, true)).await;
    jwt::start(&other.app).await;
    assert_eq!(login(&other, &world.token("ada")).await, unauthenticated(), "without any keys every token is refused");
    down.serve(&[&world.key]);
    other.clock.advance(MINUTE_MS);
    assert!(login(&other, &world.token("ada")).await.is_ok(), "they are fetched once the issuer is up");
}

#[tokio::test]
async fn keys_are_read_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, key) = (folder.path().join("keys.json"), SigningKey::rsa("r", false));
    let app = TestApp::with(config(file.to_str().expect("a path"), true)).await;
    jwt::start(&app.app).await;
    let token = key.token(&claims(&app, "ada"));
    assert_eq!(login(&app, &token).await, unauthenticated(), "there is no file yet");
    let short = json!({ "kty": "RSA", "kid": "short", "n": "w".repeat(171), "e": "AQAB" });
    let mut set = set_of(&[&key]);
    set["keys"].as_array_mut().expect("keys").extend([short, json!({ "kty": "oct", "k": "AAAA" })]);
    std::fs::write(&file, set.to_string()).expect("it is written");
    jwt::refresh(&app.app).await;
    assert!(login(&app, &token).await.is_ok(), "keys that are not usable are skipped");
}

#[tokio::test]
async fn the_keys_are_fetched_regularly() {
    assert_eq!(jwt::REFRESH, Duration::from_mins(10), "as documented");
    let world = World::start(true).await;
    let token = world.token("1");
    assert!(login(&world.app, &token).await.is_ok());
    world.server.serve(&[]);
    let stop = CancellationToken::new();
    let refused = async {
        while login(&world.app, &token).await != unauthenticated() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    };
    let refreshing = jwt::run(&world.app.app, Duration::from_millis(5), &stop);
    tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(refreshing, refused) })
        .await
        .expect("a fetch without a request for it");
}

#[tokio::test]
async fn an_issuer_that_does_not_respond_delays_a_start_by_five_seconds() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/jwks.json", silent.local_addr().expect("an address"));
    let app = TestApp::with(config(&url, true)).await;
    let began = Instant::now();
    jwt::start(&app.app).await;
    let elapsed = began.elapsed();
    assert!((Duration::from_secs(4)..Duration::from_secs(9)).contains(&elapsed), "{elapsed:?}");
}
