//! Limits of chats and members.

use super::{card, codes, group, run, run_ok, start};
use crate::rates::limited;
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::rate_limits::Limit;

#[tokio::test]
async fn a_group_has_at_most_five_hundred_members() {
    let app = TestApp::start().await;
    let people = app.create_users("c", 502).await;
    let ids: Vec<&str> = people.iter().map(|actor| actor.id.as_str()).collect();
    let owner = &people[0];
    let too_many = json!({ "name": "g", "userIds": ids[1..252] });
    assert_eq!(codes(owner, "CreateGroupChat", too_many).await, ["INVALID_INPUT"]);
    let made = run_ok(owner, "CreateGroupChat", json!({ "name": "g", "userIds": ids[1..251] })).await;
    let chat = made["chat"]["id"].clone();
    let added = run_ok(owner, "AddChatMembers", json!({ "chatId": chat, "userIds": ids[251..500] })).await;
    assert_eq!(added["chat"], json!({ "id": chat, "membersCount": 500, "newestSequence": 249 }));
    let refused = run(owner, "AddChatMembers", json!({ "chatId": chat, "userIds": ids[500..501] })).await;
    assert_eq!((&refused["userErrors"][0]["code"], &refused["chat"]), (&json!("LIMIT_REACHED"), &json!(null)));
    assert_eq!(refused["userErrors"][0]["message"], "A group has at most 500 members.");
    run_ok(owner, "AddChatMembers", json!({ "chatId": chat, "userIds": ids[400..500] })).await;
    app.drain().await;
    let last = &people[499];
    let seen = card(last, chat.as_str().expect("an id")).await;
    assert_eq!((&seen["membersCount"], &seen["viewerMember"]["deliveredSequence"]), (&json!(500), &json!(null)));
    let members = owner.run("ChatMembers", json!({ "id": chat })).await["data"]["node"]["members"].take();
    assert_eq!((&members["totalCount"], &members["edges"][1]["node"]["deliveredSequence"]), (&json!(500), &json!(null)));
}

#[tokio::test]
async fn added_accounts_are_charged_each_and_found_chats_are_free() {
    let app = TestApp::with(limited(&[(Limit::ChatMembers, "3/1h"), (Limit::Chats, "2/1h")])).await;
    let [ada, bea, cyd, dan, eve] = app.users(["ada", "bea", "cyd", "dan", "eve"]).await;
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let add = async |ids: &[&str]| {
        let answer = ada.run("AddChatMembers", json!({ "input": { "chatId": chat, "userIds": ids } })).await;
        answer["errors"][0]["extensions"]["limit"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(add(&[&dan.id, &eve.id]).await, "chat-members", "two, and one token is left");
    assert_eq!(add(&[&dan.id, &bea.id]).await, "", "a member counts for nothing");
    assert_eq!(add(&[&dan.id, &bea.id]).await, "");
    let direct = start(&ada, &eve).await;
    for _ in 0..3 {
        assert_eq!(start(&ada, &eve).await, direct);
    }
    let answer = ada.run("StartDirectChat", json!({ "input": { "userId": bea.id } })).await;
    assert_eq!(answer["errors"][0]["extensions"]["limit"], "chats");
}
