//! Direct chats: one for each pair, and what the other account sees.

use super::{assert_sound, badge, befriend, card, codes, inbox, rows, run, run_ok, send, start};
use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn a_pair_has_one_chat_permanently() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let made = run_ok(&ada, "StartDirectChat", json!({ "userId": bea.id })).await["chat"].take();
    let chat = made["id"].as_str().expect("an id").to_owned();
    assert_eq!((&made["kind"], &made["name"], &made["membersCount"]), (&json!("DIRECT"), &json!(null), &json!(2)));
    assert_eq!((&made["viewerPeer"]["login"], &made["viewerState"]), (&json!("bea"), &json!("ACTIVE")));
    assert_eq!((&made["newestSequence"], &made["newestMessage"]), (&json!(0), &json!(null)));
    assert_eq!(made["viewerMember"]["role"], "MEMBER");
    assert_eq!(card(&ada, &chat).await["history"], "ALL");
    assert_eq!(start(&ada, &bea).await, chat);
    assert_eq!(start(&bea, &ada).await, chat, "whoever begins it");
    assert_ne!(start(&ada, &cyd).await, chat);
    assert_eq!(codes(&ada, "StartDirectChat", json!({ "userId": ada.id })).await, ["INVALID_INPUT"]);
    assert_eq!(codes(&ada, "StartDirectChat", json!({ "userId": chat })).await, ["NOT_FOUND"]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_other_account_has_the_chat_from_the_first_row_on() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    let chat = start(&ada, &bea).await;
    assert_eq!(inbox(&ada, "INBOX").await, [chat.as_str()]);
    assert_eq!((card(&bea, &chat).await, inbox(&bea, "INBOX").await), (json!(null), vec![]));
    assert_eq!(codes(&bea, "SendMessage", json!({ "chatId": chat, "text": "x" })).await, ["NOT_FOUND"]);
    send(&ada, &chat, "hello").await;
    assert_eq!(inbox(&bea, "INBOX").await, [chat.as_str()]);
    assert_eq!(rows(&bea, &chat).await, [(1, "TEXT".to_owned(), "hello".to_owned())]);
    assert_eq!((badge(&bea).await, badge(&ada).await), (1, 0));
    let seen = card(&bea, &chat).await;
    assert_eq!((&seen["viewerUnreadCount"], &seen["newestMessage"]["text"]), (&json!(1), &json!("hello")));
    // Only members see it.
    assert_eq!(card(&cyd, &chat).await, json!(null));
    for operation in ["SendMessage", "MarkChatSeen", "LeaveChat", "MuteChat", "ArchiveChat", "DeleteChatHistory", "RenameChat"] {
        let input = match operation {
            "SendMessage" => json!({ "chatId": chat, "text": "x" }),
            "MarkChatSeen" => json!({ "chatId": chat, "sequence": 0 }),
            "RenameChat" => json!({ "chatId": chat, "name": "x" }),
            _ => json!({ "chatId": chat }),
        };
        assert_eq!(codes(&cyd, operation, input).await, ["NOT_FOUND"], "{operation}");
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_account_that_starts_a_direct_chat_is_its_first_member() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let [cyd, dan] = app.users(["cyd", "dan"]).await;
    for (first, second) in [(&bea, &ada), (&cyd, &dan)] {
        befriend(first, second).await;
        let chat = start(first, second).await;
        send(first, &chat, "one").await;
        start(second, first).await;
        for actor in [first, second] {
            let answer = actor.run("ChatMembers", json!({ "id": chat, "first": 2 })).await;
            let logins = [0, 1].map(|at| answer.pointer(&format!("/data/node/members/edges/{at}/node/user/login")).cloned());
            let logins = logins.map(|login| login.unwrap_or_else(|| panic!("{answer}")));
            assert_eq!(logins, [first.login.as_str(), second.login.as_str()]);
        }
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_direct_chat_has_no_roles() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    send(&ada, &chat, "x").await;
    let inputs = [
        ("AddChatMembers", json!({ "chatId": chat, "userIds": [bea.id] })),
        ("RemoveChatMember", json!({ "chatId": chat, "userId": bea.id })),
        ("SetChatMemberRole", json!({ "chatId": chat, "userId": bea.id, "role": "ADMIN" })),
        ("LeaveChat", json!({ "chatId": chat })),
        ("RenameChat", json!({ "chatId": chat, "name": "x" })),
    ];
    for (operation, input) in inputs {
        assert_eq!(codes(&ada, operation, input).await, ["FORBIDDEN"], "{operation}");
    }
}

#[tokio::test]
async fn positions_never_fall() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = start(&ada, &bea).await;
    for text in ["one", "two", "three"] {
        send(&ada, &chat, text).await;
    }
    let mark = async |sequence: i64| run(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": sequence })).await;
    let marked = mark(2).await;
    assert_eq!(
        marked["chat"],
        json!({ "id": chat, "viewerUnreadCount": 1, "viewerMember": { "seenSequence": 2, "deliveredSequence": 2 } })
    );
    assert_eq!(mark(1).await["chat"]["viewerMember"]["seenSequence"], 2, "it never goes back");
    for invalid in [4, -1] {
        assert_eq!(mark(invalid).await["userErrors"][0]["code"], "INVALID_INPUT", "{invalid}");
    }
    assert_eq!(badge(&bea).await, 1);
    assert_eq!(mark(3).await["chat"]["viewerUnreadCount"], 0);
    assert_eq!(badge(&bea).await, 0);
    send(&bea, &chat, "four").await;
    let members = ada.run("ChatMembers", json!({ "id": chat })).await["data"]["node"]["members"]["edges"].take();
    let seen = |login: &str| {
        let edges = members.as_array().expect("members").iter();
        edges.map(|edge| &edge["node"]).find(|node| node["user"]["login"] == login).expect("a member")["seenSequence"].clone()
    };
    assert_eq!((seen("ada"), seen("bea")), (json!(3), json!(4)), "sending moves the sender's position");
    run_ok(&bea, "UpdateChatSettings", json!({ "sharesSeen": false })).await;
    for (viewer, other) in [(&ada, "bea"), (&bea, "ada")] {
        let members = viewer.run("ChatMembers", json!({ "id": chat })).await["data"]["node"]["members"]["edges"].take();
        for edge in members.as_array().expect("members") {
            let is_other = edge["node"]["user"]["login"] == other;
            assert_eq!(edge["node"]["seenSequence"].is_null(), is_other, "{members}");
            assert!(!edge["node"]["deliveredSequence"].is_null());
        }
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn reads_deliver_in_the_background() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = start(&ada, &bea).await;
    send(&ada, &chat, "one").await;
    send(&ada, &chat, "two").await;
    let delivered = async || {
        let members = ada.run("ChatMembers", json!({ "id": chat })).await["data"]["node"]["members"]["edges"].take();
        let edges = members.as_array().expect("members").iter();
        let of_bea = edges.map(|edge| &edge["node"]).find(|node| node["user"]["login"] == "bea").expect("a member");
        (of_bea["deliveredSequence"].clone(), of_bea["seenSequence"].clone())
    };
    assert_eq!(delivered().await, (json!(0), json!(0)));
    super::pending(&bea, 1).await;
    app.drain().await;
    assert_eq!(delivered().await, (json!(1), json!(0)), "one text was handed out");
    card(&bea, &chat).await;
    app.drain().await;
    assert_eq!(delivered().await, (json!(2), json!(0)));
}
