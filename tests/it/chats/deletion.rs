//! Deleted accounts in chats.

use super::{assert_sound, badge, befriend, card, codes, group, inbox, pending, run_ok, send, start};
use crate::support::{TestApp, findings, references};
use serde_json::json;
use waxwing::base::ids::ChatId;
use waxwing::domains::chats::service as chats;
use waxwing::platform::journal::Progress;

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

#[tokio::test]
async fn texts_of_a_deleted_account_in_a_group_that_it_had_left_are_not_unread() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let left = group(&ada, "g", &[&bea], "ALL").await;
    let text = send(&bea, &left, "one").await;
    run_ok(&bea, "LeaveChat", json!({ "chatId": left })).await;
    app.drain().await;
    assert_eq!(badge(&ada).await, 1);
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    assert_eq!(card(&ada, &left).await["viewerUnreadCount"], 0, "at once");
    let react = json!({ "messageId": text, "emoji": "👍" });
    assert_eq!(codes(&ada, "ReactToMessage", react).await, ["NOT_FOUND"], "it is deleted for readers");
    app.drain().await;
    assert_eq!((badge(&ada).await, pending(&ada, 5).await), (0, vec![]));
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_chat_that_was_deleted_leaves_the_lists_of_its_last_member_again() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    send(&ada, &party, "one").await;
    let (id, user) = (ChatId::from_global(&party).expect("an id"), ada.user_id().0);
    app.drain().await;
    let lists = [format!("chat_states:{{{user}}}"), format!("chats:{{{user}}}")];
    let state: String = app.redis.run(&["HGET", &lists[0], &id.0.to_string()]);
    for actor in [&bea, &ada] {
        run_ok(actor, if actor.login == "bea" { "DeclineChatRequest" } else { "LeaveChat" }, json!({ "chatId": party })).await;
    }
    app.drain().await;
    // The node of the account has lost its last writes.
    app.redis.run::<()>(&["HSET", &lists[0], &id.0.to_string(), &state]);
    app.redis.run::<()>(&["ZADD", &lists[1], &id.0.to_string(), &id.0.to_string()]);
    assert_ne!(findings(&app.app).await, Vec::<String>::new());
    let progress = Progress { is_restarted: true, ..Progress::default() };
    chats::settle_chat(&app.app, id, &[ada.user_id()], &[], progress).await.expect("a store");
    assert_eq!(inbox(&ada, "INBOX").await, [""; 0]);
    assert_sound(&app).await;
}
