//! Pins: their order, their number, and whose statuses can be pinned.

use super::{pin, pinned, post, unpin};
use crate::support::{TestApp, error_codes, findings, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::StatusId;

fn messages(of: &[&str]) -> Option<Vec<String>> {
    Some(of.iter().map(|&message| message.to_owned()).collect())
}

#[tokio::test]
async fn the_newest_pin_comes_first_and_a_second_one_keeps_its_place() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (one, two) = (post(&app, &ada, "one").await, post(&app, &ada, "two").await);
    let pinned_two = pin(&ada, &two).await;
    assert_eq!(pinned_two, json!({ "user": { "login": "ada", "pinnedStatuses": [{ "id": two }] }, "userErrors": [] }));
    pin(&ada, &one).await;
    assert_eq!(pinned(&bea, "ada").await, messages(&["one", "two"]));
    assert_eq!(user_error_codes(&pin(&ada, &two).await), [""; 0]);
    assert_eq!(pinned(&bea, "ada").await, messages(&["one", "two"]), "again keeps its place");
    for _ in 0..2 {
        let unpinned = unpin(&ada, &two).await;
        assert_eq!(unpinned, json!({ "user": { "login": "ada", "pinnedStatuses": [{ "id": one }] }, "userErrors": [] }));
    }
    pin(&ada, &two).await;
    assert_eq!(pinned(&bea, "ada").await, messages(&["two", "one"]));
    assert_eq!(pinned(&ada, "bea").await, messages(&[]));
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_account_pins_at_most_five_statuses() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(post(&app, &ada, &number.to_string()).await);
    }
    for id in &ids[..5] {
        assert_eq!(user_error_codes(&pin(&ada, id).await), [""; 0]);
    }
    let refused = json!({ "user": null, "userErrors": [{ "code": "LIMIT_REACHED", "path": ["statusId"] }] });
    assert_eq!(pin(&ada, &ids[5]).await, refused);
    assert_eq!(user_error_codes(&pin(&ada, &ids[0]).await), [""; 0], "a pinned one does not count again");
    assert_eq!(pinned(&ada, "ada").await, messages(&["4", "3", "2", "1", "0"]));
    ada.delete(&ids[2]).await;
    assert_eq!(pinned(&ada, "ada").await, messages(&["4", "3", "1", "0"]));
    assert_eq!(user_error_codes(&pin(&ada, &ids[5]).await), [""; 0], "a deleted status leaves its place");
    assert_eq!(pinned(&ada, "ada").await, messages(&["5", "4", "3", "1", "0"]));
    assert_eq!(user_error_codes(&unpin(&ada, &ids[0]).await), [""; 0]);
    assert_eq!(pinned(&ada, "ada").await, messages(&["5", "4", "3", "1"]));
}

#[tokio::test]
async fn concurrent_pins_stay_within_the_limit() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let mut ids = Vec::new();
    for number in 0..12 {
        ids.push(post(&app, &ada, &number.to_string()).await);
    }
    let responses = futures_util::future::join_all(ids.iter().map(|id| pin(&ada, id))).await;
    assert_eq!(responses.iter().filter(|response| user_error_codes(response).is_empty()).count(), 5);
    assert_eq!(pinned(&ada, "ada").await.map(|pinned| pinned.len()), Some(5));
}

#[tokio::test]
async fn only_own_statuses_are_pinned() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (of_bea, gone) = (post(&app, &bea, "of bea").await, post(&app, &ada, "gone").await);
    ada.delete(&gone).await;
    let not_found = json!({ "user": null, "userErrors": [{ "code": "NOT_FOUND", "path": ["statusId"] }] });
    for id in [of_bea, gone, StatusId(7).global(), "nonsense".to_owned(), ada.id.clone()] {
        assert_eq!(pin(&ada, &id).await, not_found, "{id}");
        assert_eq!(unpin(&ada, &id).await, not_found, "{id}");
    }
    assert_eq!(pinned(&ada, "ada").await, messages(&[]));
}

#[tokio::test]
async fn without_a_session_nothing_is_pinned() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let status = post(&app, &ada, "one").await;
    for field in ["pinStatus", "unpinStatus"] {
        let mutation = format!("mutation {{ {field}(input: {{ statusId: {status:?} }}) {{ userErrors {{ code }} }} }}");
        let response = app.anonymous().gql(&mutation, json!({})).await;
        assert_eq!((error_codes(&response), &response["data"][field]), (vec!["UNAUTHENTICATED".to_owned()], &Value::Null));
    }
}
