//! JSON Web Tokens of an external issuer as access tokens.

mod accounts;
mod crashes;
mod issuer;
mod key_sets;
mod revocations;
mod serve;
mod sockets;
mod tokens;

use super::keys::create_key;
use crate::support::{Actor, HttpResponse, TestApp, TestServer};
use issuer::{KeyServer, SigningKey};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::jwt::JwtConfig;
use waxwing::base::server_key::Scope;
use waxwing::platform::jwt::service as jwt;

const ISSUER: &str = "https://id.example/realms/social";
const AUDIENCE: &str = "waxwing";
const WHO: &str = "{ viewer { login } }";

/// The settings of servers that accept tokens with keys of this source.
fn config(source: &str, is_provisioning: bool) -> Config {
    let (issuer, audience) = (ISSUER.to_owned(), AUDIENCE.to_owned());
    let key_source = source.parse().expect("a source");
    Config { jwt: Some(JwtConfig { issuer, audience, key_source, is_provisioning }), ..Config::default() }
}

/// A server, an issuer whose keys it has fetched, and a key of the issuer.
struct World {
    app: TestApp,
    server: KeyServer,
    key: SigningKey,
}

impl World {
    async fn start(is_provisioning: bool) -> Self {
        let key = SigningKey::ed25519("first");
        let server = KeyServer::start(&[&key]).await;
        let app = TestApp::with(config(&server.url, is_provisioning)).await;
        jwt::start(&app.app).await;
        Self { app, server, key }
    }

    /// Another server on the same store, which has fetched the keys.
    async fn sibling(&self) -> TestApp {
        let other = self.app.sibling().await;
        jwt::start(&other.app).await;
        other
    }

    /// A valid token of this `sub`.
    fn token(&self, sub: &str) -> String {
        self.key.token(&claims(&self.app, sub))
    }

    /// A valid token of this `sub` with further claims.
    fn token_with(&self, sub: &str, more: Value) -> String {
        self.key.token(&with(claims(&self.app, sub), more))
    }

    /// A client with this token.
    fn client(&self, token: &str) -> Actor {
        self.app.anonymous().with_token(token)
    }

    /// Creates the account of an external id with this login.
    async fn provision(&self, external_id: &str, login: &str) -> Value {
        let backend = self.backend().await;
        let input = json!({ "externalId": external_id, "login": login });
        super::run(&backend, "ProvisionUser", "provisionUser", input).await["user"].take()
    }

    /// A client with a new server key.
    async fn backend(&self) -> Actor {
        let name = format!("key-{}", rand::random::<u64>());
        self.app.anonymous().with_token(&create_key(&self.app, &name, &Scope::ALL).await)
    }
}

/// Claims that are valid now for five minutes.
fn claims(app: &TestServer, sub: &str) -> Value {
    let now = app.clock.now() / 1_000;
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": sub, "iat": now, "exp": now + 300 })
}

/// Claims with others.
fn with(mut claims: Value, more: Value) -> Value {
    for (name, value) in more.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims
}

async fn who(app: &TestServer, token: &str) -> HttpResponse {
    HttpResponse::fetch(super::keys::post(app, token, WHO)).await
}

/// The login of the viewer; the codes of the errors if there are any.
async fn login(app: &TestServer, token: &str) -> Result<String, (u16, Vec<String>)> {
    let response = who(app, token).await;
    match response.json()["data"]["viewer"]["login"].as_str() {
        Some(login) => Ok(login.to_owned()),
        None => Err((response.status, response.refusal().1)),
    }
}

fn unauthenticated() -> Result<String, (u16, Vec<String>)> {
    Err((401, vec!["UNAUTHENTICATED".to_owned()]))
}

fn not_provisioned() -> Result<String, (u16, Vec<String>)> {
    Err((403, vec!["NOT_PROVISIONED".to_owned()]))
}
