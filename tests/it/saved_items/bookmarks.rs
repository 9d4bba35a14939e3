//! Bookmarks: what they change, their order, pages and limits.

use super::{bookmark, bookmarks, page, post, remove_bookmark};
use crate::support::{Actor, TestApp, error_codes, findings, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::StatusId;

#[tokio::test]
async fn a_bookmark_is_kept_until_it_is_removed() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = post(&app, &ada, "one").await;
    for _ in 0..2 {
        let kept = bookmark(&bea, &status).await;
        assert_eq!(kept, json!({ "status": { "id": status, "viewerHasBookmarked": true }, "userErrors": [] }));
    }
    assert_eq!(bookmarks(&bea).await, ["one"]);
    assert_eq!(bookmarks(&ada).await, [""; 0], "they are the viewer's own");
    for _ in 0..2 {
        let removed = remove_bookmark(&bea, &status).await;
        assert_eq!(removed, json!({ "status": { "id": status, "viewerHasBookmarked": false }, "userErrors": [] }));
    }
    assert_eq!(bookmarks(&bea).await, [""; 0]);
    assert_eq!(user_error_codes(&bookmark(&ada, &status).await), [""; 0], "one's own");
    assert_eq!(bookmarks(&ada).await, ["one"]);
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn the_first_time_counts_and_the_newest_bookmark_comes_first() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (one, two) = (post(&app, &ada, "one").await, post(&app, &ada, "two").await);
    bookmark(&bea, &two).await;
    app.clock.advance(60_000);
    bookmark(&bea, &one).await;
    let before = page(&bea, json!({})).await;
    assert_eq!(bookmarks(&bea).await, ["one", "two"]);
    assert_eq!(before["edges"][1]["bookmarkedAt"], "2026-03-01T00:00:02.000Z");
    assert_eq!(before["edges"][0]["bookmarkedAt"], "2026-03-01T00:01:02.000Z");
    app.clock.advance(60_000);
    bookmark(&bea, &two).await;
    assert_eq!(page(&bea, json!({})).await, before, "a second bookmark changes nothing");
    remove_bookmark(&bea, &two).await;
    bookmark(&bea, &two).await;
    assert_eq!(bookmarks(&bea).await, ["two", "one"], "a new bookmark has a new time");
}

#[tokio::test]
async fn statuses_that_are_not_there_are_not_found() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let gone = post(&app, &ada, "gone").await;
    ada.delete(&gone).await;
    let not_found = json!({ "status": null, "userErrors": [{ "code": "NOT_FOUND", "path": ["statusId"] }] });
    for id in ["", "nonsense", bea.id.as_str()] {
        assert_eq!(bookmark(&bea, id).await, not_found, "{id}");
        assert_eq!(remove_bookmark(&bea, id).await, not_found, "{id}");
    }
    for id in [gone, StatusId(7).global()] {
        assert_eq!(bookmark(&bea, &id).await, not_found, "{id}");
        assert_eq!(remove_bookmark(&bea, &id).await, json!({ "status": null, "userErrors": [] }), "{id}");
    }
}

#[tokio::test]
async fn without_a_session_there_are_no_bookmarks() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = post(&app, &ada, "one").await;
    bookmark(&ada, &status).await;
    let nobody = app.anonymous();
    let response = nobody.gql("{ viewerBookmarks { edges { cursor } } }", json!({})).await;
    assert_eq!(
        (error_codes(&response), &response["data"]["viewerBookmarks"]),
        (vec!["UNAUTHENTICATED".to_owned()], &Value::Null)
    );
    assert!(!has_bookmarked(&nobody, &status).await);
    assert!(has_bookmarked(&ada, &status).await);
    for field in ["bookmarkStatus", "removeBookmark"] {
        let mutation = format!("mutation {{ {field}(input: {{ statusId: {status:?} }}) {{ userErrors {{ code }} }} }}");
        assert_eq!(error_codes(&nobody.gql(&mutation, json!({})).await), ["UNAUTHENTICATED"], "{field}");
    }
}

async fn has_bookmarked(actor: &Actor, status: &str) -> bool {
    let query = "query($id: ID!) { node(id: $id) { ... on Status { viewerHasBookmarked } } }";
    let response = actor.gql(query, json!({ "id": status })).await;
    response["data"]["node"]["viewerHasBookmarked"].as_bool().unwrap_or_else(|| panic!("{response}"))
}

#[tokio::test]
async fn pages_of_every_size_add_up() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut expected = Vec::new();
    for number in 0..45 {
        let status = post(&app, &ada, &number.to_string()).await;
        bookmark(&bea, &status).await;
        expected.insert(0, number.to_string());
    }
    for size in [1, 7, 20] {
        let (mut read, mut after) = (Vec::new(), Value::Null);
        loop {
            let page = page(&bea, json!({ "first": size, "after": after })).await;
            let edges = page["edges"].as_array().expect("edges");
            read.extend(edges.iter().map(|edge| edge["node"]["message"].as_str().expect("a message").to_owned()));
            assert_eq!(page["pageInfo"]["hasNextPage"], read.len() < expected.len(), "{size}: {page}");
            if page["pageInfo"]["hasNextPage"] == false {
                break;
            }
            assert_eq!(edges.len(), size);
            after = page["pageInfo"]["endCursor"].clone();
        }
        assert_eq!(read, expected, "{size}");
    }
    let foreign = page(&bea, json!({ "first": 1 })).await["pageInfo"]["endCursor"].take();
    let query = "query($after: String) { viewerBookmarks(after: $after) { edges { cursor } } }";
    assert_eq!(error_codes(&ada.gql(query, json!({ "after": foreign })).await), ["BAD_USER_INPUT"], "a cursor is the owner's");
}

#[tokio::test]
async fn an_account_has_at_most_a_hundred_thousand_bookmarks() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (one, two) = (post(&app, &ada, "one").await, post(&app, &ada, "two").await);
    bookmark(&bea, &one).await;
    let (id, key) = (bea.user_id().0, format!("bookmarks:{{{}}}", bea.user_id().0));
    let fill =
        "for n = 1, 99999 do redis.call('ZADD', KEYS[1], n, n) end return redis.call('HINCRBY', KEYS[2], 'bookmarks', 99999)";
    app.redis.run::<i64>(&["EVAL", fill, "2", &key, &format!("user:{{{id}}}")]);
    let refused = bookmark(&bea, &two).await;
    assert_eq!(refused, json!({ "status": null, "userErrors": [{ "code": "LIMIT_REACHED", "path": ["statusId"] }] }));
    assert_eq!(user_error_codes(&bookmark(&bea, &one).await), [""; 0], "a repeated bookmark does not count again");
    let status = StatusId::from_global(&two).expect("an id").0;
    assert_eq!(app.redis.run::<u64>(&["EXISTS", &format!("bookmarkers:{{{status}}}")]), 0, "nothing is left of the refused one");
    remove_bookmark(&bea, &one).await;
    assert_eq!(user_error_codes(&bookmark(&bea, &two).await), [""; 0]);
    assert_eq!(app.redis.run::<u64>(&["ZCARD", &key]), 100_000);
}

#[tokio::test]
async fn concurrent_bookmarks_and_removals_leave_both_sides_equal() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let other = app.sibling().await;
    let status = post(&app, &ada, "one").await;
    let (here, there) = (bea.clone(), bea.at(&other));
    for round in 0..crate::support::races(10) {
        tokio::join!(bookmark(&here, &status), remove_bookmark(&there, &status), bookmark(&there, &status));
        let listed = !bookmarks(&bea).await.is_empty();
        assert_eq!(has_bookmarked(&here, &status).await, listed, "{round}");
    }
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
