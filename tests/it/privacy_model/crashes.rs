//! Operations during which the server dies after any write, or Redis is killed: each is applied completely or not at all, one that was acknowledged
//! is applied, and nothing is visible in between that is hidden before and afterwards. `WAXWING_PRIVACY_CRASHES` is their number.

use super::model::{Model, Operation, PEOPLE};
use super::{Play, World, number, seed};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, TestServer, findings};
use rand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::{Db, Timing};

/// Operations before the first crash.
const BEFORE: usize = 150;
/// The most writes after which the server dies. Some operations have fewer.
const WRITES: usize = 25;

/// Redis with an append-only file that is synced at every write.
pub(crate) const SYNCED: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// The account, the mutation and its input.
type Request = (usize, &'static str, Value);

impl World {
    /// Runs a mutation on a server that dies after some writes. Returns whether it was acknowledged, and with which user error.
    pub(crate) async fn run_on_crashing_server(&self, (actor, field, input): Request, writes: usize) -> Option<Option<String>> {
        let healthy = &self.servers[self.server];
        let proxy = CrashProxy::start(&healthy.redis, writes).await;
        let target = healthy.redis.tcp_url(proxy.port).parse().expect("an address");
        let db = Db::open(&target, Timing { connections: 1, ..LONG_TIMEOUTS }).await.expect("a store");
        let app = App::new(db, healthy.clock.clone(), healthy.app.config().clone());
        let server = TestServer::start(app, healthy.clock.clone()).await;
        let response = send(&self.people[actor].at(&server), field, input).await;
        server.app.drain().await;
        response
    }

    /// Runs a mutation while Redis is killed and started again.
    pub(crate) async fn run_while_redis_is_killed(
        &self,
        (actor, field, input): Request,
        pause: Duration,
    ) -> Option<Option<String>> {
        let healthy = &self.servers[self.server];
        let redis = healthy.redis.clone();
        let fault = tokio::task::spawn_blocking(move || {
            std::thread::sleep(pause);
            redis.kill();
            redis.restart();
        });
        let response = send(&self.people[actor].at(healthy), field, input).await;
        fault.await.expect("a Redis");
        self.wait_until_connected().await;
        response
    }

    /// Waits until every connection of both servers is open again: until ten requests in a row succeed.
    async fn wait_until_connected(&self) {
        for server in &self.servers {
            let (mut successes, began) = (0, Instant::now());
            while successes < 10 {
                let response = self.people[0].at(server).run("Home", json!({ "first": 1 })).await;
                successes = if response.get("errors").is_none() { successes + 1 } else { 0 };
                assert!(began.elapsed() < Duration::from_secs(20), "{response}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

impl Play {
    /// A status that was posted without a response has its number as its message.
    async fn adopt_status(&mut self, author: usize) -> bool {
        let query = "query($login: String!) { user(login: $login) { profileTimeline { entries(first: 1) { edges { node { status { id message } } } } } } }";
        let person = &self.world.people[author];
        let response = person.at(&self.world.servers[self.world.server]).gql(query, json!({ "login": person.login })).await;
        let status = &response["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"];
        let number = self.world.statuses.len().to_string();
        let is_new = status["message"].as_str() == Some(number.as_str());
        self.world.statuses.extend(status["id"].as_str().filter(|_| is_new).map(str::to_owned));
        is_new
    }

    /// Statuses that a viewer sees although both models hide them.
    async fn leaks(&self, viewer: usize, models: [&Model; 2]) -> Vec<usize> {
        let recent = self.recent();
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }";
        let person = self.world.people[viewer].at(&self.world.servers[viewer % 2]);
        let response = person.gql(query, json!({ "ids": &self.world.statuses[recent..] })).await;
        let nodes = response["data"]["nodes"].as_array().unwrap_or_else(|| panic!("{response}"));
        let is_leak = |at: usize| models.iter().all(|model| model.statuses.len() > at && !model.can_view(viewer, at));
        (recent..).zip(nodes).filter(|(at, node)| !node.is_null() && is_leak(*at)).map(|(at, _)| at).collect()
    }

    /// A line for each difference between the views of all accounts and a model.
    async fn all_differences(&self, model: &Model) -> Vec<String> {
        let mut all = Vec::new();
        for viewer in 0..PEOPLE {
            all.extend(self.differences(viewer, model).await);
        }
        all
    }
}

/// Sends a mutation to a server that may die. Returns the code of its user error if it was acknowledged.
async fn send(actor: &Actor, field: &str, input: Value) -> Option<Option<String>> {
    let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
    let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ userErrors {{ code }} }} }}");
    let response = actor.try_gql(&query, json!({ "input": input })).await.ok()?;
    let payload = response["data"][field].as_object()?;
    Some(payload["userErrors"][0]["code"].as_str().map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_that_are_cut_off_are_applied_completely_or_not_at_all() {
    let seed = seed();
    let crashes = number("WAXWING_PRIVACY_CRASHES").unwrap_or(25) as usize;
    let redis = RedisServer::single_with(SingleServerReason::ConnectionControl, &SYNCED);
    let app = TestApp::on_redis(Arc::new(redis), Clock::manual(START), Config::default()).await;
    let mut play = Play::begin(app, seed).await;
    for _ in 0..BEFORE {
        let operation = play.operation();
        play.run(operation).await;
        play.model.apply(operation);
    }
    let (mut without_response, mut applied) = (0, 0);
    // Some operations have fewer writes than the server survives: it continues until enough of them were interrupted.
    for crash in 0..4 * crashes {
        if crash >= crashes && without_response > crashes / 5 {
            break;
        }
        let (operation, when) = (play.operation(), format!("seed {seed}, crash {crash}"));
        let is_post = matches!(operation, Operation::Post(..));
        let before = play.model.clone();
        let refusal = play.model.apply(operation);
        let request = play.world.request(operation);
        let response = if crash % 8 == 7 {
            let pause = Duration::from_micros(play.random.random_range(0..8_000));
            play.world.run_while_redis_is_killed(request, pause).await
        } else {
            let writes = play.random.random_range(0..WRITES);
            play.world.run_on_crashing_server(request, writes).await
        };
        for viewer in 0..PEOPLE {
            assert_eq!(play.leaks(viewer, [&before, &play.model]).await, [0; 0], "{when}: {operation:?}, seen by {viewer}");
        }
        // The lease expires, and another server completes the change.
        play.world.servers[0].clock.advance(61_000);
        play.world.servers[0].drain_journal().await;
        if let Operation::Post(author, _) = operation {
            let is_posted = play.adopt_status(author).await;
            assert!(is_posted || response.is_none(), "{when}: an acknowledged status is lost");
            if !is_posted {
                play.model = before.clone();
            }
        }
        tokio::time::sleep(Duration::from_millis(1_000)).await;
        let differences = play.all_differences(&play.model).await;
        if let Some(response) = &response {
            assert_eq!(response.as_deref(), refusal, "{when}: {operation:?}");
            assert_eq!(differences, [""; 0], "{when}: {operation:?} was acknowledged");
        } else if !differences.is_empty() {
            assert_eq!(
                play.all_differences(&before).await,
                [""; 0],
                "{when}: {operation:?} is neither absent nor complete: {differences:?}"
            );
            play.model = before;
        } else if refusal.is_none() && !is_post && play.all_differences(&before).await.is_empty() {
            // No view shows whether it was applied: the client repeats it.
            assert_eq!(play.run(operation).await, None, "{when}: {operation:?} again");
        } else {
            applied += 1;
        }
        without_response += usize::from(response.is_none());
        assert_eq!(findings(&play.world.servers[0].app).await, [""; 0], "{when}: {operation:?}");
    }
    println!("{without_response} operations had no response, {applied} of which were seen to be applied");
    assert!(without_response > crashes / 5, "only {without_response} of {crashes} were cut off");
}
