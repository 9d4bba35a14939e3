//! Edits of one status on two servers at once.

use super::{assert_no_findings, count, mentions};
use crate::edits::edit;
use crate::support::{TestApp, races};
use futures_util::future::join_all;
use serde_json::json;

const LOGINS: [&str; 3] = ["bea", "cyd", "dan"];

#[tokio::test]
async fn after_edits_on_two_servers_at_once_tags_and_mentions_are_those_of_the_last_text() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let people = app.users(LOGINS).await;
    for round in 0..races(6) {
        let status = ada.post("first #tag0 @bea").await;
        let servers = [ada.clone(), ada.at(&other)];
        let text = |number: usize| format!("{number} #tag{number} @{}", LOGINS[number % 3]);
        let edits = (1..=8).map(|number| {
            let (by, status, text) = (&servers[number % 2], &status, text(number));
            async move { edit(by, status, &text).await }
        });
        let answers = join_all(edits).await;
        assert!(answers.iter().all(|answer| answer["userErrors"] == json!([])), "{answers:?}");
        let read = "query($id: ID!) { node(id: $id) { ... on Status { message edits(first: 1) { totalCount } } } }";
        let found = ada.gql(read, json!({ "id": status })).await;
        let last = found["data"]["node"]["message"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned();
        assert_eq!(found["data"]["node"]["edits"]["totalCount"], 9, "every edit is a version");
        for number in 0..=8 {
            let expected = u64::from(last == text(number));
            assert_eq!(count(&ada, &format!("tag{number}")).await, expected, "round {round}: #tag{number} of {last:?}");
        }
        for (person, login) in people.iter().zip(LOGINS) {
            let expected: Vec<String> = last.ends_with(login).then(|| last.clone()).into_iter().collect();
            assert_eq!(mentions(person).await.1, expected, "round {round}: @{login} of {last:?}");
        }
        ada.delete(&status).await;
        app.clock.advance(3_600_000);
    }
    assert_no_findings(&app).await;
}
