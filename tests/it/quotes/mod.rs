//! Quotes: which statuses may be quoted, what a quote shows, its counts and lists.

mod visibility;

use crate::support::{Actor, TestApp, findings, references};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::ids::StatusId;

/// Posts a quote; returns the payload.
async fn try_quote(by: &Actor, quoted: &str, message: &str) -> Value {
    by.mutate("postStatus", json!({ "quotedStatusId": quoted, "message": message }), "status { id }").await
}

/// Posts a quote; returns its id.
pub(crate) async fn quote(by: &Actor, quoted: &str, message: &str) -> String {
    let posted = try_quote(by, quoted, message).await;
    posted["status"]["id"].as_str().unwrap_or_else(|| panic!("{posted}")).to_owned()
}

/// A selection of a status.
async fn read(viewer: &Actor, status: &str, selection: &str) -> Value {
    let query = format!("query($id: ID!) {{ node(id: $id) {{ ... on Status {{ {selection} }} }} }}");
    let found = viewer.gql(&query, json!({ "id": status })).await;
    assert_eq!(found.get("errors"), None, "{found}");
    found["data"]["node"].clone()
}

/// The messages of the statuses that quote a status, in pages of `size`.
async fn quotes(viewer: &Actor, status: &str, size: usize) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), Value::Null);
    loop {
        let list = read(
            viewer,
            status,
            &format!(
                "quotes(first: {size}, after: {after}) {{ edges {{ node {{ message }} }} pageInfo {{ hasNextPage endCursor }} }}"
            ),
        )
        .await;
        let edges = list["quotes"]["edges"].as_array().unwrap_or_else(|| panic!("{list}"));
        all.extend(edges.iter().map(|edge| edge["node"]["message"].as_str().expect("a message").to_owned()));
        if list["quotes"]["pageInfo"]["hasNextPage"] == json!(false) {
            return all;
        }
        after = list["quotes"]["pageInfo"]["endCursor"].clone();
    }
}

async fn assert_no_findings(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_quote_is_a_status_that_shows_another_one() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let first = ada.post("first").await;
    let second = quote(&bea, &first, "second").await;
    let third = quote(&ada, &second, "third").await;
    let input = json!({ "quotedStatusId": first, "replyToId": second, "message": "a reply that quotes" });
    let both = ada.mutate_ok("postStatus", input, "status { id }").await["status"]["id"].as_str().expect("an id").to_owned();
    let nested =
        "isQuote quoteCount quotedStatus { message isQuote quotedStatus { message author { login } quotedStatus { id } } }";
    for viewer in [&ada, &bea, &app.anonymous()] {
        let inner = json!({ "message": "first", "author": { "login": "ada" }, "quotedStatus": null });
        let outer = json!({ "message": "second", "isQuote": true, "quotedStatus": inner });
        assert_eq!(read(viewer, &third, nested).await, json!({ "isQuote": true, "quoteCount": 0, "quotedStatus": outer }));
        assert_eq!(read(viewer, &first, nested).await, json!({ "isQuote": false, "quoteCount": 2, "quotedStatus": null }));
        assert_eq!(quotes(viewer, &first, 20).await, ["a reply that quotes", "second"]);
        assert_eq!(
            read(viewer, &both, "replyTo { status { message } } quotedStatus { message }").await,
            json!({ "replyTo": { "status": { "message": "second" } }, "quotedStatus": { "message": "first" } })
        );
    }
    bea.follow(&ada).await;
    assert_eq!(bea.home().await, ["a reply that quotes", "third", "second", "first"], "a quote is in homes as any status");
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn only_statuses_that_everybody_can_see_are_quoted() {
    let app = TestApp::start().await;
    let [ada, bea, closed] = app.users(["ada", "bea", "closed"]).await;
    bea.follow(&closed).await;
    let of_private = closed.post("private").await;
    closed.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    let narrow = ada.mutate_ok("postStatus", json!({ "message": "x", "audience": "FOLLOWERS" }), "status { id }").await;
    let narrow = narrow["status"]["id"].as_str().expect("an id").to_owned();
    let gone = ada.post("gone").await;
    ada.delete(&gone).await;
    let refused = |code: &str| json!({ "status": null, "userErrors": [{ "code": code, "path": ["quotedStatusId"] }] });
    for (by, id, code) in [
        (&ada, &narrow, "FORBIDDEN"),
        (&bea, &narrow, "NOT_FOUND"),
        (&bea, &of_private, "FORBIDDEN"),
        (&ada, &of_private, "NOT_FOUND"),
        (&ada, &gone, "NOT_FOUND"),
        (&ada, &StatusId(7).global(), "NOT_FOUND"),
        (&ada, &ada.id, "NOT_FOUND"),
    ] {
        assert_eq!(try_quote(by, id, "a quote").await, refused(code), "{id}");
    }
}

#[tokio::test]
async fn a_repeated_request_returns_the_quote_and_another_quote_is_a_mismatch() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (one, two) = (ada.post("one").await, ada.post("two").await);
    let post = async |quoted: Option<&String>| {
        let input = json!({ "message": "mine", "idempotencyKey": "once", "quotedStatusId": quoted });
        bea.mutate("postStatus", input, "status { id }").await
    };
    let first = post(Some(&one)).await;
    assert_eq!(post(Some(&one)).await, first);
    for other in [Some(&two), None] {
        assert_eq!(post(other).await["userErrors"][0]["code"], "IDEMPOTENCY_MISMATCH");
    }
    ada.delete(&one).await;
    assert_eq!(post(Some(&one)).await, first, "although what it quotes was deleted");
    assert_eq!(read(&ada, &two, "quoteCount").await["quoteCount"], 0);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn deletions_lower_the_count_and_leave_nothing() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let (one, two) = (ada.post("one").await, ada.post("two").await);
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(quote(&bea, &one, &format!("bea {n}")).await);
        quote(&cyd, &one, &format!("cyd {n}")).await;
    }
    let of_two = quote(&bea, &two, "of two").await;
    for size in [1, 7, 20] {
        assert_eq!(quotes(&ada, &one, size).await.len(), 10, "{size}");
    }
    bea.delete(&ids[2]).await;
    assert_eq!(read(&bea, &one, "quoteCount").await["quoteCount"], 9, "when the response has arrived");
    assert!(!quotes(&ada, &one, 3).await.contains(&"bea 2".to_owned()));
    ada.delete(&two).await;
    assert_eq!(
        read(&bea, &of_two, "isQuote quotedStatus { id } message").await,
        json!({ "isQuote": true, "quotedStatus": null, "message": "of two" })
    );
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    assert_eq!(quotes(&ada, &one, 20).await, ["cyd 4", "cyd 3", "cyd 2", "cyd 1", "cyd 0"], "at once");
    app.drain_journal().await;
    assert_eq!(read(&ada, &one, "quoteCount").await["quoteCount"], 5);
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
    ada.delete(&one).await;
    app.drain_journal().await;
    assert!(app.redis.keys().iter().all(|key| !key.starts_with("quotes:")));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn quotes_at_once_are_counted_exactly() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("q", 64).await;
    let status = users[0].post("popular").await;
    let act = async |at: usize| {
        let user = if at.is_multiple_of(2) { users[at].at(&app) } else { users[at].at(&other) };
        let id = quote(&user, &status, &format!("quote {at}")).await;
        if at.is_multiple_of(4) {
            user.delete(&id).await;
        }
    };
    join_all((0..64).map(act)).await;
    assert_eq!(read(&users[0], &status, "quoteCount").await["quoteCount"], 48);
    assert_eq!(quotes(&users[0], &status, 20).await.len(), 48);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_page_of_quotes_of_quotes_costs_a_constant_number_of_round_trips() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = ada.post("popular").await;
    let mut trips = Vec::new();
    let page =
        "quotes(first: 20) { edges { node { message author { login } quotedStatus { message quotedStatus { message } } } } }";
    for count in [2, 20] {
        for n in 0..count {
            let other = ada.post("other").await;
            let inner = quote(&bea, &other, "inner").await;
            let _ = (inner, quote(if n % 2 == 0 { &ada } else { &bea }, &status, "outer").await);
        }
        for _ in 0..2 {
            app.drain().await;
            let before = app.app.db().round_trips();
            read(&bea, &status, page).await;
            trips.push(app.app.db().round_trips() - before);
        }
    }
    assert_eq!(trips[1], trips[3], "with 2 and with 20 quotes: {trips:?}");
}
