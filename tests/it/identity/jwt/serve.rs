//! The options of a server that accepts tokens.

use super::{AUDIENCE, ISSUER, KeyServer, SigningKey, WHO};
use crate::support::{HttpResponse, Process, RedisServer, waxwing};
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_fetches_the_keys_at_start_and_creates_accounts_only_if_it_is_told_to() {
    let key = SigningKey::ed25519("first");
    for (provision, expected) in [(None, 403), (Some("off"), 403), (Some("on"), 200)] {
        let (server, redis) = (KeyServer::start(&[&key]).await, RedisServer::start());
        let mut command = waxwing(&["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &redis.url()]);
        command.args(["--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE, "--jwt-jwks", &server.url]);
        if let Some(provision) = provision {
            command.args(["--jwt-provision", provision]);
        }
        let process = Process::start(&mut command);
        assert_eq!(server.fetches(), 1, "before it is ready");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300 });
        let request = reqwest::Client::new().post(format!("{}/graphql", process.url)).bearer_auth(key.token(&claims));
        let response = HttpResponse::fetch(request.json(&json!({ "query": WHO }))).await;
        assert_eq!(response.status, expected, "{provision:?}: {response:?}");
        assert_eq!(server.fetches(), 1, "the keys are known");
    }
}
