//! The cost of a home page with a JWT and with a session of the same accounts.

use super::bed::Bed;
use super::cases::HOME;
use super::edge::Edge;
use super::inside::is_whole;
use super::meter::{Cost, measure};
use super::privacy::Row;
use super::stage::FULL;
use super::world::{self, Reader};
use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use std::path::PathBuf;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::external_id::ExternalId;
use waxwing::base::ids::{StatusId, UserId};
use waxwing::base::jwt::{JwtConfig, KeySource};
use waxwing::db::Target;
use waxwing::domains::{graph, identities, sessions, timelines};
use waxwing::platform::jwt::service as jwt;

const ISSUER: &str = "https://id.example/";
const AUDIENCE: &str = "waxwing";
/// The issuer's key. Its public part is in jwks.json.
const SEED: [u8; 32] = [7; 32];
/// The measurements with each kind of credential, by turns, of which the median counts: the machine may be busy for a while.
const ROUNDS: usize = 9;
/// The number of requests of a measurement.
const REQUESTS: usize = 400;

pub(crate) fn run() -> Vec<Row> {
    println!("Home pages by credential, a request:    CPU us: own   Redis   trips   commands");
    super::runtime().block_on(async {
        let bed = Bed::with(&[], Config::default()).await;
        let readers = world::load(&bed, FULL.world).await;
        let edge = Edge::with(&Target::socket(&bed.socket()), true, Clock::System, config()).await;
        jwt::start(&edge.app).await;
        let accounts = accounts(&edge, &readers).await;
        let sessions = sessions::service::create_many(&edge.app, &accounts).await.expect("sessions");
        let (now, readers) = (edge.app.now() / 1_000, 0..readers.len());
        let jwts: Vec<String> = { readers }.map(|number| token(number, now)).collect();
        for tokens in [&sessions, &jwts] {
            ask(&edge, tokens, tokens.len()).await;
        }
        let (mut by_session, mut by_jwt, mut by_new_jwt) = (Vec::new(), Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            let new: Vec<String> = (0..jwts.len()).map(|number| token(number, now + round as u64)).collect();
            by_session.push(cost(&bed, &edge, &sessions).await);
            by_jwt.push(cost(&bed, &edge, &jwts).await);
            by_new_jwt.push(cost(&bed, &edge, &new).await);
        }
        let all = [("session", by_session), ("JWT", by_jwt), ("JWT, its first request", by_new_jwt)];
        let rows = all.map(|(name, costs)| row(name, Cost::median(costs))).into();
        println!();
        rows
    })
}

fn row(name: &str, cost: Cost) -> Row {
    println!("  {name:<36} {:>12.0} {:>7.0} {:>7.1} {:>10.1}", cost.own, cost.redis, cost.trips, cost.commands);
    Row { name: format!("home page, {name}"), cost }
}

async fn cost(bed: &Bed, edge: &Edge, tokens: &[String]) -> Cost {
    let work = async { (REQUESTS, ask(edge, tokens, REQUESTS).await) };
    measure(bed, &edge.app, work).await
}

/// Requests home pages with these tokens by turns. Returns the bytes of the responses.
async fn ask(edge: &Edge, tokens: &[String], requests: usize) -> usize {
    let body = Bytes::from(json!({ "query": HOME }).to_string());
    let mut bytes = 0;
    for number in 0..requests {
        let response = edge.ask(Some(&tokens[number % tokens.len()]), body.clone()).await;
        is_whole(&response);
        bytes += response.len();
    }
    bytes
}

/// Creates an account for each reader by a JWT, with the same home.
async fn accounts(edge: &Edge, readers: &[Reader]) -> Vec<UserId> {
    let (app, now) = (&edge.app, edge.app.now() / 1_000);
    let mut accounts = Vec::new();
    for (number, reader) in readers.iter().enumerate() {
        let body = json!({ "query": "{ viewer { login } }" }).to_string();
        is_whole(&edge.ask(Some(&token(number, now)), body.into()).await);
        let external_id = ExternalId::parse(&subject(number)).expect("an external id");
        let account = identities::service::find(app, &external_id).await.expect("a store").expect("an account");
        let home: Vec<StatusId> = reader.home.iter().map(|id| StatusId(*id)).collect();
        timelines::service::import(app, account, &[], home).await.expect("a home");
        let users: Vec<UserId> = std::iter::once(account).chain(reader.follows.iter().map(|id| UserId(*id))).collect();
        let follows: Vec<_> = (1..users.len()).map(|followed| (0, followed, reader.home[followed])).collect();
        graph::service::import(app, &users, &follows).await.expect("follows");
        accounts.push(account);
    }
    accounts
}

fn config() -> Config {
    let key_set = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bench/pages/jwks.json"));
    let (issuer, audience) = (ISSUER.to_owned(), AUDIENCE.to_owned());
    let jwt = JwtConfig { issuer, audience, key_source: KeySource::File(key_set), is_provisioning: true };
    Config { jwt: Some(jwt), ..Config::default() }
}

fn subject(number: usize) -> String {
    format!("reader|{number}")
}

/// A JWT with the claims that providers usually send, issued at `now` in seconds.
fn token(number: usize, now: u64) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let subject = subject(number);
    let claims = json!({
        "iss": ISSUER, "aud": [AUDIENCE], "sub": subject, "iat": now, "exp": now + 43_200, "jti": format!("{subject}|{now}"),
        "preferred_username": format!("reader{number}"), "name": format!("Reader {number}"),
    });
    let signed = format!("{}.{}", encode(&json!({ "alg": "EdDSA", "typ": "JWT", "kid": "bench" })), encode(&claims));
    let key = Ed25519KeyPair::from_seed_unchecked(&SEED).expect("a key");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())))
}
