//! Blocks between members.

use super::{assert_sound, badge, befriend, card, codes, group, pending, rows, run_ok, send, send_many, start, waiting};
use crate::support::{Actor, TestApp};
use serde_json::json;

async fn block(actor: &Actor, other: &Actor) {
    actor.mutate_ok("blockUser", json!({ "userId": other.id }), "").await;
}

async fn unblock(actor: &Actor, other: &Actor) {
    actor.mutate_ok("unblockUser", json!({ "userId": other.id }), "").await;
}

#[tokio::test]
async fn a_block_closes_a_direct_chat() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = start(&ada, &bea).await;
    let (of_ada, of_bea) = (send(&ada, &chat, "one").await, send(&bea, &chat, "two").await);
    assert_eq!((badge(&ada).await, badge(&bea).await), (1, 0));
    block(&bea, &ada).await;
    assert_eq!((badge(&ada).await, badge(&bea).await), (0, 0));
    for (actor, own) in [(&ada, &of_ada), (&bea, &of_bea)] {
        let seen = card(actor, &chat).await;
        assert_eq!((&seen["viewerCanSend"], &seen["viewerUnreadCount"]), (&json!(false), &json!(0)));
        assert_eq!(rows(actor, &chat).await.len(), 2, "history stays readable");
        assert_eq!(codes(actor, "SendMessage", json!({ "chatId": chat, "text": "x" })).await, ["FORBIDDEN"]);
        assert_eq!(codes(actor, "EditMessage", json!({ "messageId": own, "text": "x" })).await, ["FORBIDDEN"]);
        assert_eq!(codes(actor, "ReactToMessage", json!({ "messageId": own, "emoji": "👍" })).await, ["FORBIDDEN"]);
    }
    // The blocker is not shown to the blocked one.
    assert_eq!(
        (&card(&ada, &chat).await["viewerPeer"], &card(&bea, &chat).await["viewerPeer"]["login"]),
        (&json!(null), &json!("ada"))
    );
    assert_eq!(card(&ada, &chat).await["newestMessage"]["sender"], json!(null));
    assert_eq!(codes(&ada, "StartDirectChat", json!({ "userId": bea.id })).await, ["NOT_FOUND"]);
    assert_eq!(start(&bea, &ada).await, chat, "the blocker finds the chat that is there");
    unblock(&bea, &ada).await;
    assert_eq!((badge(&ada).await, card(&ada, &chat).await["viewerUnreadCount"].clone()), (1, json!(1)), "exactly reversible");
    block(&ada, &bea).await;
    run_ok(&bea, "DeleteMessage", json!({ "messageId": of_bea })).await;
    unblock(&ada, &bea).await;
    assert_eq!(badge(&ada).await, 0);
    assert_sound(&app).await;
}

#[tokio::test]
async fn an_account_cannot_start_a_chat_with_one_that_it_blocks() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    block(&ada, &bea).await;
    assert_eq!(codes(&ada, "StartDirectChat", json!({ "userId": bea.id })).await, ["FORBIDDEN"]);
    assert_eq!(codes(&bea, "StartDirectChat", json!({ "userId": ada.id })).await, ["NOT_FOUND"]);
    assert_eq!(codes(&ada, "CreateGroupChat", json!({ "name": "g", "userIds": [bea.id] })).await, ["FORBIDDEN"]);
    // A request from one who is blocked is declined, also after the end of the block.
    let (direct, party) = (start(&cyd, &bea).await, group(&cyd, "g", &[&bea, &ada], "ALL").await);
    send(&cyd, &direct, "one").await;
    app.drain().await;
    assert_eq!(waiting(&bea).await.len(), 2);
    block(&bea, &cyd).await;
    assert_eq!(waiting(&bea).await, [""; 0]);
    unblock(&bea, &cyd).await;
    assert_eq!((waiting(&bea).await, card(&bea, &party).await), (vec![], json!(null)));
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_block_hides_texts_in_a_group() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let of_bea = send(&bea, &chat, "one").await;
    run_ok(&ada, "ReactToMessage", json!({ "messageId": of_bea, "emoji": "👍" })).await;
    send(&ada, &chat, "two").await;
    app.drain().await;
    assert_eq!((badge(&cyd).await, card(&cyd, &chat).await["viewerUnreadCount"].clone()), (1, json!(2)));
    block(&cyd, &bea).await;
    let seen = card(&cyd, &chat).await;
    assert_eq!(seen["viewerUnreadCount"], 1, "hidden rows are unread for nobody to whom they are hidden");
    let hidden = &seen["messages"]["edges"][1]["node"];
    assert_eq!((&hidden["isHidden"], &hidden["text"], &hidden["sender"]), (&json!(true), &json!(""), &json!(null)));
    assert_eq!((&hidden["reactions"], &hidden["sequence"]), (&json!([]), &json!(1)));
    assert_eq!(pending(&cyd, 5).await, [(chat.clone(), vec!["two".to_owned()], false)]);
    for (operation, input) in [
        ("ReactToMessage", json!({ "messageId": of_bea, "emoji": "👍" })),
        ("SendMessage", json!({ "chatId": chat, "text": "x", "replyToId": of_bea })),
    ] {
        assert_eq!(codes(&cyd, operation, input).await, ["NOT_FOUND"], "{operation}");
    }
    run_ok(&cyd, "MarkChatSeen", json!({ "chatId": chat, "sequence": 2 })).await;
    send(&bea, &chat, "three").await;
    app.drain().await;
    assert_eq!((badge(&cyd).await, badge(&ada).await), (0, 1), "a hidden text is no news");
    send(&cyd, &chat, "four").await;
    app.drain().await;
    assert_eq!(card(&bea, &chat).await["newestMessage"]["isHidden"], true, "in both directions");
    assert_eq!(card(&bea, &chat).await["viewerUnreadCount"], 0);
    assert_eq!(card(&ada, &chat).await["viewerUnreadCount"], 2);
    unblock(&cyd, &bea).await;
    let seen = card(&bea, &chat).await;
    assert_eq!((&seen["newestMessage"]["text"], &seen["viewerUnreadCount"]), (&json!("four"), &json!(1)));
    assert_eq!(badge(&bea).await, 1);
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_badge_of_a_blocker_with_many_common_groups_is_exact_at_once() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    // More than are settled at once for the other account.
    for _ in 0..60 {
        let chat = group(&bea, "g", &[&ada], "ALL").await;
        send_many(&app, &bea, &chat, std::iter::once("one".to_owned())).await;
    }
    app.drain().await;
    assert_eq!(badge(&ada).await, 60);
    block(&ada, &bea).await;
    assert_eq!(badge(&ada).await, 0, "the workers have done nothing yet");
    unblock(&ada, &bea).await;
    assert_eq!(badge(&ada).await, 60);
    assert_sound(&app).await;
}
