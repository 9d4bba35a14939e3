//! Work beyond an estimate: charged after the response, as a debt if the bucket has too little, over every transport and on every server.

use super::{limited, post_query, post_query_as, refused};
use crate::support::{Actor, EventStream, HttpResponse, MultipartResponse, Socket, TestApp, TestServer, error_codes};
use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::Limit;
use waxwing::db::Work;
use waxwing::platform::rates::{FREE_UNITS, Leases, RateLimitDecision, Subject, TOKENS_PER_EXTRA_UNIT, service};

/// Costs 3, and is pushed to every follower.
const POST: &str = "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }";
const VIEWER: &str = "{ viewer { login } }";

/// A server with 1,000 requests an hour, or the given number, and a user with this many followers.
async fn followed(requests: &str, followers: usize) -> (TestApp, Actor) {
    let app = TestApp::without_client_cache(limited(&[(Limit::Requests, requests)])).await;
    let users = app.create_users("c", followers + 1).await;
    let follows: Vec<_> = users[1..].iter().map(|fan| (fan, &users[0])).collect();
    app.create_follows(&follows).await;
    let ada = users[0].clone();
    // Loads the scripts.
    app.create_users("other", 1).await[0].post("x").await;
    app.drain().await;
    (app, ada)
}

/// The charge and the work of a request, as its response reports them.
async fn cost(app: &TestServer, who: &Actor, query: &str) -> (u64, u64) {
    let response = HttpResponse::fetch(post_query_as(app, who, query).header("waxwing-cost", "1")).await;
    let reported = &response.json()["extensions"]["cost"];
    let number = |name: &str| reported[name].as_u64().unwrap_or_else(|| panic!("no {name}: {response:?}"));
    (number("charged"), number("worked"))
}

/// The remaining requests of a user.
async fn left(app: &TestServer, who: &Actor) -> u64 {
    let response = HttpResponse::fetch(post_query_as(app, who, "{ __typename }")).await;
    let rest =
        response.header("ratelimit").split_once("r=").map(|(_, rest)| rest.split(';').next().unwrap_or_default().to_owned());
    rest.and_then(|rest| rest.parse().ok()).unwrap_or_else(|| panic!("{response:?}"))
}

/// Units that were counted.
async fn metric(app: &TestServer, name: &str) -> u64 {
    let text = HttpResponse::fetch(app.http.get(format!("{}/metrics", app.url))).await.text;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("waxwing_{name}_units_total ")));
    line.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[tokio::test]
async fn work_beyond_the_estimate_is_charged_after_the_response() {
    let (app, ada) = followed("1000000/1h", 150).await;
    let (before, excess) = (left(&app, &ada).await, metric(&app, "excess").await);
    let (charged, worked) = cost(&app, &ada, POST).await;
    assert!(worked > 150, "each follower is a command: {worked}");
    assert_eq!(charged, 3 + TOKENS_PER_EXTRA_UNIT * (worked - FREE_UNITS.max(3)), "work beyond the free units is charged");
    assert_eq!(left(&app, &ada).await, before - charged - 1);
    assert_eq!(metric(&app, "excess").await - excess, charged - 3);
    assert_eq!(metric(&app, "debt").await, 0, "the lease covers the charge");
    let reported = HttpResponse::fetch(post_query_as(&app, &ada, POST)).await.header("ratelimit").to_owned();
    assert!(
        reported.starts_with(&format!("\"requests\";r={};", left(&app, &ada).await + 1)),
        "its own work included: {reported}"
    );
}

/// Keywords of campaigns are few commands and many bytes.
#[tokio::test]
async fn a_query_is_charged_for_the_bytes_that_it_reads() {
    let app = TestApp::without_client_cache(limited(&[(Limit::Requests, "1000000/1h")])).await;
    let ada = app.user("ada").await;
    let keywords: Vec<String> = (0..250).map(|number| format!("{number} {}", "word ".repeat(14) + "word")).collect();
    for name in ["a", "b", "c"] {
        let input = json!({ "name": name, "budget": "10", "keywords": keywords });
        assert_eq!(error_codes(&ada.run("CreateCampaign", json!({ "input": input })).await), [""; 0]);
    }
    app.drain().await;
    let before = left(&app, &ada).await;
    let (charged, worked) = cost(&app, &ada, "{ viewerCampaigns(first: 3) { edges { node { keywords } } } }").await;
    let bytes: usize = keywords.iter().map(String::len).sum();
    let received = 3 * (bytes as u64 / 512 + 250 / 8);
    // The values read are part of the response too.
    let made = 3 * bytes as u64 / 512;
    assert!((received + made..received + made + 100).contains(&worked), "{worked} for {received} and {made}");
    let estimate = (TOKENS_PER_EXTRA_UNIT * worked - charged) / (TOKENS_PER_EXTRA_UNIT - 1);
    assert!((80..100).contains(&estimate), "{charged} for {worked}: all beyond an estimate of {estimate}");
    assert_eq!(left(&app, &ada).await, before - charged - 1);
}

#[tokio::test]
async fn an_account_in_debt_is_refused_until_the_debt_is_paid() {
    let (app, ada) = followed("8000/1h", 150).await;
    let debt = cost(&app, &ada, POST).await.0 + cost(&app, &ada, POST).await.0 - 8_000;
    assert!((20..8_000).contains(&debt), "{debt}");
    assert!(metric(&app, "debt").await >= debt);
    // A token is refilled in 0.45 seconds.
    let wait = ((debt + 2) * 45).div_ceil(100);
    for _ in 0..2 {
        assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, &ada, VIEWER)).await, Limit::Requests), Some(wait));
    }
    let reported = HttpResponse::fetch(post_query_as(&app, &ada, VIEWER)).await.header("ratelimit").to_owned();
    assert_eq!(
        reported,
        format!("\"requests\";r=0;t={}", ((8_000 + debt) * 45).div_ceil(100)),
        "the time until the bucket is full"
    );
    assert!(
        app.redis.run::<i64>(&["PTTL", &format!("rate:{{{}}}:requests", ada.user_id().0)]) > 3_600_000,
        "it lives for as long"
    );
    app.clock.advance((debt as i64 + 2) * 450 - 1);
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, &ada, VIEWER)).await, Limit::Requests), Some(1));
    app.clock.advance(1);
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, &ada, VIEWER)).await, Limit::Requests), None);
    let others = app.create_users("d", 1).await;
    assert_eq!(
        refused(&HttpResponse::fetch(post_query_as(&app, &others[0], VIEWER)).await, Limit::Requests),
        None,
        "it is nobody else's"
    );
}

#[tokio::test]
async fn a_debt_is_at_most_a_full_bucket() {
    let (app, ada) = followed("50/1h", 300).await;
    assert!(cost(&app, &ada, POST).await.0 > 200);
    let wait = refused(&HttpResponse::fetch(post_query_as(&app, &ada, VIEWER)).await, Limit::Requests);
    assert_eq!(wait, Some((50 + 2) * 72));
    app.clock.advance(2 * 3_600_000);
    assert_eq!(left(&app, &ada).await, 49, "nothing is missing after two windows");
}

#[tokio::test]
async fn a_debt_counts_on_every_server_once_it_is_written() {
    let (app, ada) = followed("100/1h", 150).await;
    let other = app.sibling().await;
    assert!(cost(&app, &ada, POST).await.0 > 120);
    let wait = refused(&HttpResponse::fetch(post_query_as(&app, &ada, VIEWER)).await, Limit::Requests);
    assert!(wait > Some(20 * 36), "{wait:?}");
    for server in [&other, &app] {
        assert_eq!(refused(&HttpResponse::fetch(post_query_as(server, &ada, VIEWER)).await, Limit::Requests), wait);
    }
    app.clock.advance(wait.expect("seconds") as i64 * 1_000);
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&other, &ada, VIEWER)).await, Limit::Requests), None);
}

/// A client that disconnects before the response drops the charge halfway.
#[tokio::test]
async fn disconnected_clients_are_charged_for_completed_work() {
    let app = TestApp::with(limited(&[(Limit::Requests, "1000/1h")])).await;
    let (leases, subject) = (Leases::default(), Some(Subject::address([192, 0, 2, 1].into())));
    let (decision, bill) = service::charge_operation(&app.app, &leases, subject, 10).await;
    assert!(matches!(decision, RateLimitDecision::Allowed(_)));
    bill.meter().add(Work { commands: 60, ..Work::default() });
    drop(bill);
    let (decision, _) = service::charge_operation(&app.app, &leases, subject, 1).await;
    let RateLimitDecision::Allowed(allowance) = decision else { panic!("{decision:?}") };
    assert_eq!(allowance.left, 1_000 - 10 - TOKENS_PER_EXTRA_UNIT * (60 - FREE_UNITS.max(10)) - 1);
}

/// The request is cancelled while its renewal waits for Redis, which may or may not have the debt already.
#[tokio::test]
async fn a_disconnection_during_a_renewal_keeps_the_debt() {
    let app = TestApp::with(limited(&[(Limit::Requests, "800/1h")])).await;
    let (leases, subject) = (Leases::default(), Some(Subject::address([192, 0, 2, 1].into())));
    let (_, bill) = service::charge_operation(&app.app, &leases, subject, 10).await;
    bill.meter().add(Work { commands: 130, ..Work::default() });
    drop(bill);
    app.redis.signal("STOP");
    let mut paying = Box::pin(service::charge_request(&app.app, &leases, subject, 1));
    assert!(paying.as_mut().now_or_never().is_none(), "the charge does not wait for Redis");
    drop(paying);
    app.redis.signal("CONT");
    let decision = service::charge_request(&app.app, &leases, subject, 1).await;
    let RateLimitDecision::Denied(allowance, _) = decision else { panic!("{decision:?}") };
    assert_eq!(
        (allowance.left, allowance.debt),
        (0, TOKENS_PER_EXTRA_UNIT * (130 - FREE_UNITS.max(10)) - 790),
        "no more and no less"
    );
}

#[tokio::test]
async fn work_over_a_socket_is_charged_to_the_same_bucket() {
    let (app, ada) = followed("100000/1h", 150).await;
    let (charged, _) = cost(&app, &ada, POST).await;
    let before = left(&app, &ada).await;
    let mut socket = Socket::connect(&app, ada.token.as_deref()).await;
    let posted = socket.execute("a", POST).await;
    assert_eq!(error_codes(&posted), [""; 0]);
    assert_eq!(left(&app, &ada).await, before - charged - 1);
}

#[tokio::test]
async fn work_over_a_multipart_response_is_charged_to_the_same_bucket() {
    let (app, ada) = followed("100000/1h", 150).await;
    let (charged, _) = cost(&app, &ada, POST).await;
    let before = left(&app, &ada).await;
    let parts =
        MultipartResponse::open(post_query_as(&app, &ada, POST).header("accept", "multipart/mixed;subscriptionSpec=1.0")).await;
    assert_eq!(parts.all().await.len(), 1);
    assert_eq!(left(&app, &ada).await, before - charged - 1);
}

#[tokio::test]
async fn work_over_an_event_stream_is_charged_to_the_same_bucket() {
    let (app, ada) = followed("100000/1h", 150).await;
    let (charged, _) = cost(&app, &ada, POST).await;
    let before = left(&app, &ada).await;
    let events = EventStream::open(post_query_as(&app, &ada, POST).header("accept", "text/event-stream")).await;
    assert_eq!(events.all().await.len(), 2);
    assert_eq!(left(&app, &ada).await, before - charged - 1);
}

/// The events after an old cursor are read and rendered at once, later ones when they happen.
#[tokio::test]
async fn a_subscription_is_charged_for_its_replay_and_each_event() {
    let app = TestApp::without_client_cache(limited(&[(Limit::Requests, "100000/1h")])).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let cursor = ada.gql("{ statusEventsSyncCursor }", json!({})).await["data"]["statusEventsSyncCursor"].take();
    for _ in 0..40 {
        bob.post("x").await;
    }
    app.drain().await;
    let before = left(&app, &ada).await;
    let query = format!(
        "subscription {{ statusEvents(filter: {{ follow: [\"bob\"] }}, after: {cursor}) {{ cursor ... on StatusPosted {{ status {{ message }} }} }} }}"
    );
    let mut socket = Socket::connect(&app, ada.token.as_deref()).await;
    socket.subscribe("a", &query).await;
    for _ in 0..40 {
        assert_eq!(socket.next().await["type"], "next");
    }
    let replayed = before - left(&app, &ada).await;
    assert!((40 * 3..4_000).contains(&replayed), "at least three commands each: {replayed}");
    let before = left(&app, &ada).await;
    for _ in 0..10 {
        bob.post("x").await;
        assert_eq!(socket.next().await["type"], "next");
    }
    let reported = before - left(&app, &ada).await;
    assert!((10 * 3..1_000).contains(&reported), "{reported}");
}

/// It has read the missed events, and none matched.
#[tokio::test]
async fn a_subscription_is_charged_for_reads_before_its_first_event() {
    let app = TestApp::without_client_cache(limited(&[(Limit::Requests, "100000/1h")])).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let cursor = ada.gql("{ statusEventsSyncCursor }", json!({})).await["data"]["statusEventsSyncCursor"].take();
    for _ in 0..100 {
        bob.post("x").await;
    }
    app.drain().await;
    let before = left(&app, &ada).await;
    let query = format!("subscription {{ statusEvents(filter: {{ follow: [\"ada\"] }}, after: {cursor}) {{ cursor }} }}");
    let mut socket = Socket::connect(&app, ada.token.as_deref()).await;
    socket.subscribe("a", &query).await;
    while app.app.extension::<waxwing::domains::streaming::Hub>().subscriber_count() != 1 {
        tokio::task::yield_now().await;
    }
    // A hundred events of three or more values.
    let read = before - left(&app, &ada).await;
    assert!((300 / 8..1_000 * TOKENS_PER_EXTRA_UNIT).contains(&read), "{read}");
}

/// Each subscription renders for itself or shares a rendering, and is charged for no more than that.
#[tokio::test]
async fn a_shared_event_costs_one_rendering() {
    let app = TestApp::without_client_cache(limited(&[(Limit::Requests, "100000/1h")])).await;
    let bob = app.user("bob").await;
    let people = app.create_users("c", 8).await;
    let query =
        "subscription { statusEvents(filter: { follow: [\"bob\"] }) { cursor ... on StatusPosted { status { message } } } }";
    let mut sockets = Vec::new();
    for one in &people {
        let mut socket = Socket::connect(&app, one.token.as_deref()).await;
        socket.subscribe("a", query).await;
        // The reply shows that the subscription before it has begun.
        socket.subscribe("b", "{ statusEventsSyncCursor }").await;
        while socket.next().await["type"] != "complete" {}
        sockets.push(socket);
    }
    let begun = join_all(people.iter().map(|one| left(&app, one))).await;
    for _ in 0..20 {
        bob.post("x").await;
        for socket in &mut sockets {
            assert_eq!(socket.next().await["type"], "next");
        }
    }
    let now = join_all(people.iter().map(|one| left(&app, one))).await;
    let paid: u64 = begun.iter().zip(&now).map(|(before, after)| before - after - 1).sum();
    assert!((8 * 20..8 * 20 * 3 * TOKENS_PER_EXTRA_UNIT).contains(&paid), "{paid} for 20 events that 8 subscriptions received");
}

#[tokio::test]
async fn a_first_screen_is_never_charged_beyond_its_estimate() {
    let config = limited(&[]);
    for app in [TestApp::without_client_cache(config.clone()).await, TestApp::with(config).await] {
        let reader = app.create_reader().await;
        for (operation, first) in [("Home", 1), ("Home", 10), ("Home", 30), ("Home", 100)] {
            let body = json!({ "query": crate::support::document(operation), "operationName": operation, "variables": { "first": first } });
            let request =
                app.post().bearer_auth(reader.token.as_deref().expect("a session")).header("waxwing-cost", "1").json(&body);
            let response: Value = HttpResponse::fetch(request).await.json();
            assert_eq!(error_codes(&response), [""; 0]);
            let cost = &response["extensions"]["cost"];
            let (charged, worked) = (cost["charged"].as_u64().expect("a number"), cost["worked"].as_u64().expect("a number"));
            assert!(worked <= charged.max(FREE_UNITS), "{first}: {cost}");
        }
        let metrics = HttpResponse::fetch(app.http.get(format!("{}/metrics", app.url))).await.text;
        assert!(metrics.contains("waxwing_debt_units_total 0"), "{metrics}");
    }
}

#[tokio::test]
async fn without_limits_there_is_no_debt() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let ada = &app.create_users("c", 1).await[0];
    let (charged, worked) = cost(&app, ada, POST).await;
    assert!(charged == 3 && worked > FREE_UNITS, "{charged} for {worked}");
    assert_eq!(HttpResponse::fetch(post_query(&app, VIEWER)).await.header("ratelimit"), "");
}
