//! Lists of friends and of requests: who sees them, their pages, and their limits.

use super::{accept, befriend, change, empty, expected, fill, is_sound, logins, people, relationship, request};
use crate::support::{Actor, PagedConnection, TestApp, error_codes, user_error_codes};
use serde_json::json;

#[tokio::test]
async fn friends_are_shown_to_the_account_and_its_friends_alone() {
    let app = TestApp::start().await;
    let [ada, bea, cy, dan] = app.users(["ada", "bea", "cy", "dan"]).await;
    befriend(&ada, &bea).await;
    befriend(&cy, &ada).await;
    dan.follow(&ada).await;
    request(&dan, &ada).await;
    for friend in [&ada, &bea, &cy] {
        let seen = people(friend, &ada, "friends").await;
        assert_eq!((seen.1, logins(seen)), (2, vec!["cy".to_owned(), "bea".to_owned()]));
    }
    for stranger in [&dan, &app.anonymous()] {
        assert_eq!(people(stranger, &ada, "friends").await, (vec![], 2), "the count is the same for everybody");
        let empty = stranger
            .gql("{ user(login: \"ada\") { friends(first: 1) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }", json!({}))
            .await;
        let page_info = json!({ "hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null });
        assert_eq!(empty["data"]["user"]["friends"], json!({ "edges": [], "pageInfo": page_info }));
        assert_eq!(relationship(stranger, &bea).await.0, "NONE");
    }
    assert_eq!(relationship(&ada, &ada).await.0, "NONE");
    let wrong = dan.gql("{ user(login: \"ada\") { friends(first: 0) { totalCount } } }", json!({})).await;
    assert_eq!(error_codes(&wrong), ["BAD_USER_INPUT"], "arguments are checked in any case");
    change(&bea, "removeFriend", &ada.id).await;
    assert_eq!(logins(people(&bea, &ada, "friends").await), [""; 0]);
}

#[tokio::test]
async fn mutual_friends_are_those_of_both_newest_of_the_viewers_first() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let crowd = app.create_users("c", 8).await;
    for at in [3, 1, 5, 0, 2] {
        befriend(&ada, &crowd[at]).await;
    }
    for at in [0, 1, 2, 6, 7] {
        befriend(&crowd[at], &bea).await;
    }
    let mutual = people(&ada, &bea, "mutualFriends").await;
    let own = people(&ada, &ada, "friends").await.0;
    assert!(mutual.0.iter().all(|entry| own.contains(entry)), "the viewer's own friendships: {mutual:?} of {own:?}");
    assert_eq!((mutual.1, logins(mutual)), (3, ["c2", "c0", "c1"].map(str::to_owned).to_vec()));
    let mutual = people(&bea, &ada, "mutualFriends").await;
    assert_eq!((mutual.1, logins(mutual)), (3, ["c2", "c1", "c0"].map(str::to_owned).to_vec()));
    for (viewer, of) in [(&ada, &ada), (&app.anonymous(), &ada), (&crowd[7], &crowd[3])] {
        assert_eq!(people(viewer, of, "mutualFriends").await, (vec![], 0));
    }
}

#[tokio::test]
async fn lists_of_friends_are_paged() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let crowd = app.create_users("c", 13).await;
    for friend in &crowd {
        befriend(&ada, friend).await;
    }
    for friend in crowd.iter().step_by(2) {
        befriend(&bea, friend).await;
    }
    let askers = app.create_users("d", 9).await;
    for asker in &askers {
        request(asker, &ada).await;
    }
    let list = |path: &str, field: &'static str, pointer: &'static str| PagedConnection {
        actor: ada.clone(),
        path: path.to_owned(),
        field,
        arguments: "",
        pointer,
    };
    let newest_first = |people: &[&Actor]| people.iter().rev().map(|actor| actor.id.clone()).collect::<Vec<_>>();
    list("user(login: \"ada\") { @ }", "friends", "/data/user/list")
        .check(&newest_first(&crowd.iter().collect::<Vec<_>>()))
        .await;
    let mutual: Vec<&Actor> = crowd.iter().step_by(2).collect();
    list("user(login: \"bea\") { @ }", "mutualFriends", "/data/user/list").check(&newest_first(&mutual)).await;
    list("@", "viewerFriendRequests", "/data/list").check(&newest_first(&askers.iter().collect::<Vec<_>>())).await;
}

#[tokio::test]
async fn at_the_bound_of_either_side_a_request_stays() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (asker, asked) in [(&first, &second), (&second, &first)] {
        for full in [asker, asked] {
            fill(&app, "friends", full, 5_000);
            request(asker, asked).await;
            assert_eq!(relationship(asked, asker).await.0, "REQUEST_RECEIVED", "requests are still possible");
            for field in ["acceptFriendRequest", "requestFriend"] {
                let refused = change(asked, field, &asker.id).await;
                assert_eq!(user_error_codes(&refused), ["LIMIT_REACHED"], "{field}");
                assert_eq!(refused["userErrors"][0]["path"], json!(["userId"]));
            }
            assert_eq!(relationship(asker, asked).await, expected("REQUEST_SENT", false, false));
            assert_eq!(relationship(asked, asker).await, expected("REQUEST_RECEIVED", false, false));
            let _: u64 = app.redis.run(&["ZREM", &format!("friends:{{{}}}", full.user_id().0), "10"]);
            assert_eq!(user_error_codes(&accept(asked, asker).await), [""; 0], "4,999 are not too many");
            change(asked, "removeFriend", &asker.id).await;
            empty(&app, "friends", full);
        }
        fill(&app, "friend_requests_sent", asker, 1_000);
        assert_eq!(user_error_codes(&request(asker, asked).await), ["LIMIT_REACHED"]);
        assert_eq!(relationship(asked, asker).await.0, "NONE");
        request(asked, asker).await;
        assert_eq!(request(asker, asked).await["user"]["viewerFriendship"], "FRIENDS", "a crossing request needs no place");
        change(asked, "removeFriend", &asker.id).await;
        empty(&app, "friend_requests_sent", asker);
    }
    is_sound(&app).await;
}

#[tokio::test]
async fn an_account_that_follows_ten_thousand_becomes_a_friend_without_the_follow() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (full, other) in [(&first, &second), (&second, &first)] {
        fill(&app, "following", full, 10_000);
        befriend(other, full).await;
        assert_eq!(relationship(full, other).await, expected("FRIENDS", false, true));
        change(full, "removeFriend", &other.id).await;
        assert_eq!(relationship(full, other).await, expected("NONE", false, false));
        empty(&app, "following", full);
    }
    is_sound(&app).await;
}
