//! Homes with followed tags.

use super::{assert_no_findings, follow_tag, post, unfollow_tag};
use crate::conversations::reply;
use crate::support::{Actor, PagedConnection, TestApp};
use serde_json::json;
use waxwing::base::config::Config;

fn home_of(viewer: &Actor) -> PagedConnection {
    PagedConnection {
        actor: viewer.clone(),
        path: "homeTimeline { @ }".to_owned(),
        field: "entries",
        arguments: "",
        pointer: "/data/homeTimeline/list",
    }
}

/// Checks that a home has these messages, in pages of every size and in both directions.
async fn assert_home(viewer: &Actor, expected: &[String]) {
    assert_eq!(viewer.home().await, expected);
    let query = "{ homeTimeline { entries(first: 100) { edges { node { id } } } } }";
    let found = viewer.gql(query, json!({})).await;
    let edges = found["data"]["homeTimeline"]["entries"]["edges"].as_array().expect("edges");
    let ids: Vec<String> = edges.iter().map(|edge| edge["node"]["id"].as_str().expect("an id").to_owned()).collect();
    home_of(viewer).check(&ids).await;
}

#[tokio::test]
async fn a_followed_tag_adds_public_statuses_of_all_accounts_until_it_is_unfollowed() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    ada.follow(&bea).await;
    post(&app, &cyd, "before #Birds").await;
    post(&app, &bea, "followed #birds").await;
    post(&app, &cyd, "no tag").await;
    assert_eq!(ada.home().await, ["followed #birds"]);
    follow_tag(&ada, "birds").await;
    assert_eq!(ada.home().await, ["followed #birds", "before #Birds"], "also what was posted before");
    let status = post(&app, &cyd, "after #BIRDS and #trees").await;
    follow_tag(&ada, "trees").await;
    assert_eq!(ada.home().await, ["after #BIRDS and #trees", "followed #birds", "before #Birds"], "each once");
    ada.follow(&cyd).await;
    assert_eq!(ada.home().await, ["after #BIRDS and #trees", "no tag", "followed #birds", "before #Birds"]);
    ada.unfollow(&cyd).await;
    assert_eq!(ada.home().await, ["after #BIRDS and #trees", "followed #birds", "before #Birds"]);
    unfollow_tag(&ada, "birds").await;
    assert_eq!(ada.home().await, ["after #BIRDS and #trees", "followed #birds"]);
    crate::edits::edit(&cyd, &status, "no tag any more").await;
    assert_eq!(ada.home().await, ["followed #birds"]);
    crate::edits::edit(&cyd, &status, "#Trees again").await;
    assert_eq!(ada.home().await, ["#Trees again", "followed #birds"], "at its position");
    cyd.delete(&status).await;
    assert_eq!(ada.home().await, ["followed #birds"]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_followed_tag_adds_neither_replies_nor_statuses_hidden_from_the_viewer() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    follow_tag(&ada, "birds").await;
    let question = post(&app, &cyd, "a question").await;
    reply(&cyd, &question, "a reply about #birds").await;
    reply(&bea, &question, "another about #birds").await;
    assert_eq!(ada.home().await, [""; 0]);
    ada.follow(&cyd).await;
    assert_eq!(ada.home().await, ["a reply about #birds", "a question"], "the reply of a followed account to itself");
    ada.unfollow(&cyd).await;
    let status = post(&app, &cyd, "public #birds").await;
    assert_eq!(ada.home().await, ["public #birds"]);
    let hide = [("muteUser", "unmuteUser"), ("blockUser", "unblockUser")];
    for (hides, shows) in hide {
        ada.mutate_ok(hides, json!({ "userId": cyd.id }), "").await;
        assert_eq!(ada.home().await, [""; 0], "{hides}");
        ada.mutate_ok(shows, json!({ "userId": cyd.id }), "").await;
        assert_eq!(ada.home().await, ["public #birds"], "{shows}");
    }
    cyd.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    assert_eq!(ada.home().await, [""; 0]);
    cyd.mutate_ok("unblockUser", json!({ "userId": ada.id }), "").await;
    for audience in ["FOLLOWERS", "PUBLIC"] {
        cyd.mutate_ok("setStatusAudience", json!({ "statusId": status, "audience": audience }), "").await;
        let expected: &[&str] = if audience == "PUBLIC" { &["public #birds"] } else { &[] };
        assert_eq!(ada.home().await, expected, "{audience}");
    }
    for is_private in [true, false] {
        cyd.mutate_ok("updateProfile", json!({ "isPrivate": is_private }), "").await;
        app.drain().await;
        let expected: &[&str] = if is_private { &[] } else { &["public #birds"] };
        assert_eq!(ada.home().await, expected, "{is_private}");
    }
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn pages_of_a_home_with_tags_add_up_above_and_below_its_window() {
    let config = Config { home_window: 20, star_followers: 3, ..Config::default() };
    let app = TestApp::with(config).await;
    let users = app.create_users("h", 8).await;
    let (ada, star) = (&users[0], &users[1]);
    for user in &users[1..=6] {
        ada.follow(user).await;
    }
    for user in &users[2..=4] {
        user.follow(star).await;
    }
    app.drain().await;
    let mut expected = Vec::new();
    for number in 0..90 {
        // The last one is followed by nobody: it comes by its tags alone, and not by every status.
        let (user, tag) = (&users[1 + number % 7], ["", " #birds", " #trees", " #birds #trees"][number % 4]);
        let message = format!("{number}{tag}");
        post(&app, user, &message).await;
        if number % 7 < 6 || !tag.is_empty() {
            expected.insert(0, message);
        }
    }
    follow_tag(ada, "birds").await;
    follow_tag(ada, "trees").await;
    assert_home(ada, &expected).await;
    app.drain().await;
    assert_home(ada, &expected).await;
    // Without the tags the home is what it was.
    unfollow_tag(ada, "birds").await;
    unfollow_tag(ada, "trees").await;
    let followed: Vec<String> = expected
        .iter()
        .filter(|text| text.split(' ').next().and_then(|n| n.parse::<usize>().ok()).expect("a number") % 7 < 6)
        .cloned()
        .collect();
    assert_home(ada, &followed).await;
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_home_of_many_tags_takes_a_bounded_number_of_round_trips() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    for number in 0..100 {
        follow_tag(&ada, &format!("tag{number}")).await;
    }
    let mut expected = Vec::new();
    for number in 0..60 {
        let message = format!("{number} #tag{} #tag{}", number % 3, 99 - number % 40);
        post(&app, &bea, &message).await;
        expected.insert(0, message);
    }
    assert_home(&ada, &expected).await;
    assert_no_findings(&app).await;
}
