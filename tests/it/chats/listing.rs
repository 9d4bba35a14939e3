//! The lists of chats: activity, mutes, archive, deleted histories, the badge.

use super::{assert_sound, badge, befriend, card, codes, group, inbox, open, pending, run, run_ok, send, start};
use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn the_latest_activity_comes_first() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let (with_bea, with_cyd) = (open(&ada, &bea).await, open(&ada, &cyd).await);
    let party = group(&bea, "g", &[&ada], "ALL").await;
    app.drain().await;
    assert_eq!(inbox(&ada, "INBOX").await, [&party, &with_cyd, &with_bea].map(String::as_str));
    let id = send(&bea, &with_bea, "one").await;
    assert_eq!(inbox(&ada, "INBOX").await, [&with_bea, &party, &with_cyd].map(String::as_str));
    send(&ada, &with_cyd, "two").await;
    assert_eq!(inbox(&ada, "INBOX").await, [&with_cyd, &with_bea, &party].map(String::as_str));
    // Edits, reactions, positions and settings move nothing.
    run_ok(&bea, "EditMessage", json!({ "messageId": id, "text": "x" })).await;
    run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    run_ok(&ada, "MarkChatSeen", json!({ "chatId": with_bea, "sequence": 1 })).await;
    run_ok(&ada, "MuteChat", json!({ "chatId": party })).await;
    start(&ada, &bea).await;
    assert_eq!(inbox(&ada, "INBOX").await, [&with_cyd, &with_bea, &party].map(String::as_str));
    run_ok(&bea, "RenameChat", json!({ "chatId": party, "name": "h" })).await;
    app.drain().await;
    assert_eq!(inbox(&ada, "INBOX").await, [&party, &with_cyd, &with_bea].map(String::as_str));
    // A page begins after the last entry of the page before.
    let first = ada.run("Chats", json!({ "first": 2 })).await["data"]["viewerChats"].take();
    let cursor = first["pageInfo"]["endCursor"].clone();
    send(&bea, &with_bea, "later").await;
    let rest = ada.run("Chats", json!({ "first": 2, "after": cursor })).await["data"]["viewerChats"].take();
    assert_eq!((&rest["edges"], &rest["totalCount"]), (&json!([]), &json!(3)), "what moved up is before the cursor");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_mute_takes_a_chat_out_of_the_count() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    send(&bea, &chat, "one").await;
    assert_eq!(badge(&ada).await, 1);
    let muted = run_ok(&ada, "MuteChat", json!({ "chatId": chat })).await["chat"].take();
    assert_eq!(muted, json!({ "id": chat, "viewerHasMuted": true, "viewerMutedUntil": null }));
    assert_eq!((badge(&ada).await, pending(&ada, 5).await.len()), (0, 1), "what is pending has muted chats, too");
    run_ok(&ada, "UnmuteChat", json!({ "chatId": chat })).await;
    assert_eq!(badge(&ada).await, 1);
    assert_eq!(codes(&ada, "MuteChat", json!({ "chatId": chat, "until": "2026-03-01T00:00:00Z" })).await, ["INVALID_INPUT"]);
    let muted = run(&ada, "MuteChat", json!({ "chatId": chat, "until": "2026-03-01T01:00:00Z" })).await["chat"].take();
    assert_eq!(muted["viewerMutedUntil"], "2026-03-01T01:00:00.000Z");
    send(&bea, &chat, "two").await;
    assert_eq!(badge(&ada).await, 0);
    app.clock.advance(3_600_000);
    assert_eq!(badge(&ada).await, 1, "the mute is over");
    app.drain().await;
    assert_eq!((badge(&ada).await, &card(&ada, &chat).await["viewerHasMuted"]), (1, &json!(false)));
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_brings_a_chat_back_from_the_archive() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    let id = send(&bea, &chat, "one").await;
    let lists = async || (inbox(&ada, "INBOX").await.len(), inbox(&ada, "ARCHIVED").await.len(), badge(&ada).await);
    let archive = async || run_ok(&ada, "ArchiveChat", json!({ "chatId": chat })).await["chat"]["viewerHasArchived"].clone();
    assert_eq!((archive().await, lists().await), (json!(true), (0, 1, 0)));
    run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    assert_eq!(lists().await, (0, 1, 0));
    run_ok(&ada, "UnarchiveChat", json!({ "chatId": chat })).await;
    assert_eq!(lists().await, (1, 0, 1));
    archive().await;
    send(&bea, &chat, "two").await;
    assert_eq!(lists().await, (1, 0, 1));
    archive().await;
    run_ok(&ada, "MuteChat", json!({ "chatId": chat })).await;
    send(&bea, &chat, "three").await;
    assert_eq!(lists().await, (0, 1, 0), "a muted chat stays");
    run_ok(&ada, "UnmuteChat", json!({ "chatId": chat })).await;
    assert_eq!(lists().await, (0, 1, 0));
    run_ok(&ada, "MuteChat", json!({ "chatId": chat })).await;
    send(&ada, &chat, "four").await;
    assert_eq!(lists().await, (1, 0, 0), "the viewer's own text brings it back, too");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_history_is_deleted_for_the_viewer_only() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    let id = send(&bea, &chat, "one").await;
    run_ok(&ada, "ArchiveChat", json!({ "chatId": chat })).await;
    let cleared = run_ok(&ada, "DeleteChatHistory", json!({ "chatId": chat })).await["chat"].take();
    assert_eq!(cleared, json!({ "id": chat, "viewerUnreadCount": 0, "newestMessage": null }));
    assert_eq!((inbox(&ada, "INBOX").await, inbox(&ada, "ARCHIVED").await, badge(&ada).await), (vec![], vec![], 0));
    let seen = card(&ada, &chat).await;
    assert_eq!((&seen["messages"]["edges"], &seen["messages"]["oldestSequence"]), (&json!([]), &json!(null)));
    let found = ada.gql("query($id: ID!) { node(id: $id) { id } }", json!({ "id": id })).await;
    assert_eq!(found["data"]["node"], json!(null));
    assert_eq!(super::rows(&bea, &chat).await.len(), 1);
    run_ok(&ada, "ArchiveChat", json!({ "chatId": chat })).await;
    assert_eq!(inbox(&ada, "ARCHIVED").await, [""; 0], "a chat in no list stays there");
    send(&bea, &chat, "two").await;
    assert_eq!((inbox(&ada, "INBOX").await, badge(&ada).await), (vec![chat.clone()], 1));
    assert_eq!(super::rows(&ada, &chat).await, [(2, "TEXT".to_owned(), "two".to_owned())]);
    run_ok(&ada, "DeleteChatHistory", json!({ "chatId": chat })).await;
    assert_eq!(start(&ada, &bea).await, chat);
    assert_eq!(inbox(&ada, "INBOX").await, [chat.as_str()], "starting it brings it back");
    assert_sound(&app).await;
}

#[tokio::test]
async fn pending_texts_are_the_oldest_of_each_chat() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let (with_bea, with_cyd) = (open(&ada, &bea).await, open(&ada, &cyd).await);
    let mut ids = Vec::new();
    for number in 1..=5 {
        ids.push(send(&bea, &with_bea, &number.to_string()).await);
    }
    send(&cyd, &with_cyd, "six").await;
    run_ok(&bea, "DeleteMessage", json!({ "messageId": ids[1] })).await;
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        pending(&ada, 3).await,
        [(with_cyd.clone(), texts(&["six"]), false), (with_bea.clone(), texts(&["1", "3", "4"]), true)]
    );
    run_ok(&ada, "MarkChatSeen", json!({ "chatId": with_bea, "sequence": 3 })).await;
    assert_eq!(pending(&ada, 3).await[1], (with_bea.clone(), texts(&["4", "5"]), false));
    run_ok(&ada, "MarkChatSeen", json!({ "chatId": with_cyd, "sequence": 1 })).await;
    assert_eq!(pending(&ada, 3).await.len(), 1);
    let refused = ada.run("PendingMessages", json!({ "first": 100, "perChat": 11 })).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    // Without a session all are null.
    let nobody = app.anonymous();
    for operation in ["Chats", "ChatRequests", "UnreadChats", "PendingMessages", "ChatSettings"] {
        let answer = nobody.run(operation, json!({})).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "UNAUTHENTICATED", "{operation}");
    }
}
