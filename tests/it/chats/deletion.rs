//! Deleted accounts in chats.

use super::{badge, befriend, card, codes, group, inbox, run_ok, send, start};
use crate::support::{TestApp, findings, references};
use serde_json::json;

#[tokio::test]
async fn a_deleted_account_leaves_no_trace_in_chats() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for (a, b) in [(&ada, &bea), (&ada, &cyd), (&bea, &cyd)] {
        befriend(a, b).await;
    }
    let direct = start(&ada, &bea).await;
    send(&ada, &direct, "mine").await;
    let of_bea = send(&bea, &direct, "theirs").await;
    run_ok(&ada, "ReactToMessage", json!({ "messageId": of_bea, "emoji": "👍" })).await;
    let declined = start(&dan, &ada).await;
    send(&dan, &declined, "x").await;
    run_ok(&ada, "DeclineChatRequest", json!({ "chatId": declined })).await;
    start(&cyd, &ada).await;
    let owned = group(&ada, "owned", &[&bea, &cyd], "ALL").await;
    send(&ada, &owned, "secret").await;
    let in_group = send(&bea, &owned, "hello").await;
    run_ok(&ada, "ReactToMessage", json!({ "messageId": in_group, "emoji": "❤️" })).await;
    run_ok(&bea, "ReactToMessage", json!({ "messageId": in_group, "emoji": "❤️" })).await;
    let left = group(&bea, "left", &[&ada, &cyd], "ALL").await;
    send(&ada, &left, "gone").await;
    run_ok(&ada, "LeaveChat", json!({ "chatId": left })).await;
    let request = group(&ada, "asked", &[&dan], "ALL").await;
    run_ok(&ada, "MuteChat", json!({ "chatId": owned })).await;
    run_ok(&ada, "UpdateChatSettings", json!({ "sharesSeen": false })).await;
    app.drain().await;
    assert_eq!(badge(&bea).await, 1, "of the group; sending has seen the direct chat");
    let input = json!({ "password": "correct horse" });
    let deleted = ada.mutate("deleteAccount", input, "").await;
    assert_eq!(deleted["userErrors"], json!([]));
    // At once.
    let seen = card(&bea, &direct).await;
    assert_eq!((&seen["viewerPeer"], &seen["viewerCanSend"]), (&json!(null), &json!(false)));
    let first = &seen["messages"]["edges"][1]["node"];
    assert_eq!((&first["isDeleted"], &first["text"], &first["sender"]), (&json!(true), &json!(""), &json!(null)));
    app.drain_journal().await;
    assert_eq!(references(&app.app, ada.user_id()).await, Vec::<String>::new());
    let seen = card(&bea, &direct).await;
    assert_eq!((&seen["newestMessage"]["text"], &seen["newestMessage"]["reactions"]), (&json!("theirs"), &json!([])));
    assert_eq!(codes(&bea, "SendMessage", json!({ "chatId": direct, "text": "x" })).await, ["FORBIDDEN"]);
    let members = bea.run("ChatMembers", json!({ "id": owned })).await["data"]["node"]["members"]["edges"].take();
    assert_eq!(
        (&members[0]["node"]["user"]["login"], &members[0]["node"]["role"]),
        (&json!("bea"), &json!("OWNER")),
        "a successor"
    );
    let rows = card(&bea, &owned).await["messages"]["edges"].take();
    let row = |at: usize| &rows[at]["node"];
    assert_eq!(
        (&row(0)["kind"], &row(1)["kind"], &row(1)["subject"]),
        (&json!("ROLE_CHANGED"), &json!("MEMBER_LEFT"), &json!(null))
    );
    assert_eq!(row(2)["reactions"], json!([{ "emoji": "❤️", "count": 1, "viewerHasReacted": true }]));
    assert_eq!((&row(3)["isDeleted"], &row(3)["sender"]), (&json!(true), &json!(null)));
    assert_eq!(badge(&bea).await, 0, "nothing of it is unread");
    assert!(inbox(&dan, "INBOX").await.len() + super::waiting(&dan).await.len() > 0, "{request}");
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, Vec::<String>::new());
    // The last accounts end the chats.
    for actor in [&bea, &cyd, &dan] {
        actor.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    }
    app.drain_journal().await;
    let chats: Vec<String> =
        app.redis.keys().into_iter().filter(|key| key.starts_with("chat") || key.starts_with("direct")).collect();
    // A pause names nobody, and ends by itself within a second.
    let chats: Vec<String> = chats.into_iter().filter(|key| !key.starts_with("chat_positions:")).collect();
    assert_eq!(chats, Vec::<String>::new());
}
