//! Groups: creation, members, roles, history.

use super::{assert_sound, card, codes, group, inbox, rows, run, run_ok, send};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

fn kinds(rows: &[(u64, String, String)]) -> Vec<&str> {
    rows.iter().map(|(_, kind, _)| kind.as_str()).collect()
}

/// The members of a chat: login and role.
async fn members(actor: &Actor, chat: &str) -> Vec<(String, String)> {
    let answer = actor.run("ChatMembers", json!({ "id": chat, "first": 100 })).await;
    let edges = answer["data"]["node"]["members"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text_or_nobody = |value: &Value| value.as_str().unwrap_or("nobody").to_owned();
    edges.iter().map(|edge| (text_or_nobody(&edge["node"]["user"]["login"]), text_or_nobody(&edge["node"]["role"]))).collect()
}

fn format_members(members: &[(String, String)]) -> Vec<String> {
    members.iter().map(|(login, role)| format!("{login} {role}")).collect()
}

#[tokio::test]
async fn a_group_is_created_with_other_accounts() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let input = json!({ "name": " Birds ", "userIds": [bea.id, ada.id, cyd.id, bea.id] });
    let made = run_ok(&ada, "CreateGroupChat", input).await["chat"].take();
    let chat = made["id"].as_str().expect("an id").to_owned();
    assert_eq!((&made["name"], &made["membersCount"], &made["newestSequence"]), (&json!("Birds"), &json!(3), &json!(0)));
    assert_eq!((&made["viewerMember"]["role"], &made["viewerPeer"]), (&json!("OWNER"), &json!(null)));
    assert_eq!(card(&ada, &chat).await["history"], "FROM_JOIN");
    assert_eq!(format_members(&members(&ada, &chat).await), ["ada OWNER", "bea MEMBER", "cyd MEMBER"]);
    for invalid in ["", "a\nb", &"x".repeat(51)] {
        assert_eq!(codes(&ada, "CreateGroupChat", json!({ "name": invalid, "userIds": [bea.id] })).await, ["INVALID_NAME"]);
    }
    assert_eq!(codes(&ada, "CreateGroupChat", json!({ "name": "g", "userIds": [] })).await, ["INVALID_INPUT"]);
    assert_eq!(codes(&ada, "CreateGroupChat", json!({ "name": "g", "userIds": [ada.id] })).await, ["INVALID_INPUT"]);
    cyd.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    let refused = run(&ada, "CreateGroupChat", json!({ "name": "g", "userIds": [bea.id, chat, bea.id, cyd.id, cyd.id] })).await;
    let errors: Vec<(&Value, &Value)> =
        refused["userErrors"].as_array().expect("errors").iter().map(|row| (&row["code"], &row["path"])).collect();
    let not_found = json!("NOT_FOUND");
    assert_eq!(errors, [(&not_found, &json!(["userIds", "1"])), (&not_found, &json!(["userIds", "3"]))], "each once");
    assert_eq!(refused["chat"], json!(null));
    assert_sound(&app).await;
}

#[tokio::test]
async fn adding_members_writes_a_row_for_each_new_member() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for (history, first) in [("ALL", 1), ("FROM_JOIN", 3)] {
        let chat = group(&ada, "g", &[&bea], history).await;
        send(&ada, &chat, "before").await;
        let add = json!({ "chatId": chat, "userIds": [cyd.id, bea.id, dan.id] });
        assert_eq!(codes(&bea, "AddChatMembers", add.clone()).await, ["FORBIDDEN"]);
        let added = run_ok(&ada, "AddChatMembers", add.clone()).await["chat"].take();
        assert_eq!(added, json!({ "id": chat, "membersCount": 4, "newestSequence": 3 }));
        assert_eq!(run_ok(&ada, "AddChatMembers", add).await["chat"]["newestSequence"], 3, "nobody is new");
        app.drain().await;
        let seen = card(&dan, &chat).await;
        assert_eq!((&seen["viewerUnreadCount"], &seen["messages"]["oldestSequence"]), (&json!(0), &json!(first)));
        assert_eq!(seen["viewerMember"]["seenSequence"], 3);
        let row = &seen["messages"]["edges"][0]["node"];
        assert_eq!(
            (&row["kind"], &row["sender"]["login"], &row["subject"]["login"]),
            (&json!("MEMBER_JOINED"), &json!("ada"), &json!("dan"))
        );
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn roles_determine_permissions() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for other in [&bea, &cyd, &dan] {
        super::befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let role = async |actor: &Actor, user: &Actor, role: &str| {
        let payload = run(actor, "SetChatMemberRole", json!({ "chatId": chat, "userId": user.id, "role": role })).await;
        match payload["userErrors"][0]["code"].as_str() {
            Some(code) => code.to_owned(),
            None => payload["member"]["role"].as_str().expect("a role").to_owned(),
        }
    };
    assert_eq!(role(&bea, &cyd, "ADMIN").await, "FORBIDDEN");
    assert_eq!(role(&ada, &bea, "ADMIN").await, "ADMIN");
    assert_eq!(role(&ada, &bea, "ADMIN").await, "ADMIN", "the same again writes no row");
    assert_eq!(role(&ada, &ada, "MEMBER").await, "INVALID_INPUT");
    assert_eq!(role(&ada, &dan, "ADMIN").await, "NOT_FOUND");
    assert_eq!(rows(&ada, &chat).await.len(), 1);
    assert_eq!(codes(&cyd, "RenameChat", json!({ "chatId": chat, "name": "x" })).await, ["FORBIDDEN"]);
    run_ok(&bea, "RenameChat", json!({ "chatId": chat, "name": "h" })).await;
    run_ok(&bea, "RenameChat", json!({ "chatId": chat, "name": "h" })).await;
    assert_eq!(rows(&ada, &chat).await[0], (2, "RENAMED".to_owned(), "h".to_owned()));
    run_ok(&bea, "AddChatMembers", json!({ "chatId": chat, "userIds": [dan.id] })).await;
    let remove =
        async |actor: &Actor, user: &Actor| codes(actor, "RemoveChatMember", json!({ "chatId": chat, "userId": user.id })).await;
    assert_eq!(remove(&cyd, &dan).await, ["FORBIDDEN"]);
    assert_eq!(remove(&bea, &ada).await, ["FORBIDDEN"]);
    assert_eq!(remove(&bea, &bea).await, ["INVALID_INPUT"]);
    assert_eq!(remove(&bea, &dan).await, [""; 0]);
    assert_eq!(remove(&bea, &dan).await, ["NOT_FOUND"]);
    assert_eq!((card(&dan, &chat).await, inbox(&dan, "INBOX").await), (json!(null), vec![]));
    assert_eq!(role(&ada, &cyd, "OWNER").await, "OWNER");
    assert_eq!(format_members(&members(&ada, &chat).await), ["cyd OWNER", "ada ADMIN", "bea ADMIN"]);
    let all = rows(&ada, &chat).await;
    assert_eq!(kinds(&all)[..4], ["ROLE_CHANGED", "ROLE_CHANGED", "MEMBER_REMOVED", "MEMBER_JOINED"]);
    let page = card(&ada, &chat).await["messages"]["edges"].take();
    let roles: Vec<(&Value, &Value)> = page.as_array().expect("rows")[..2]
        .iter()
        .map(|edge| (&edge["node"]["subject"]["login"], &edge["node"]["role"]))
        .collect();
    assert_eq!(
        roles,
        [(&json!("ada"), &json!("ADMIN")), (&json!("cyd"), &json!("OWNER"))],
        "the new owner's row is written first"
    );
    assert_sound(&app).await;
}

#[tokio::test]
async fn an_owner_who_leaves_has_a_successor() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for other in [&bea, &cyd, &dan] {
        super::befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd, &dan], "ALL").await;
    run_ok(&ada, "SetChatMemberRole", json!({ "chatId": chat, "userId": cyd.id, "role": "ADMIN" })).await;
    send(&ada, &chat, "mine").await;
    let left = run_ok(&ada, "LeaveChat", json!({ "chatId": chat })).await;
    assert_eq!(left["leftChatId"], json!(chat));
    assert_eq!(codes(&ada, "LeaveChat", json!({ "chatId": chat })).await, ["NOT_FOUND"]);
    assert_eq!((card(&ada, &chat).await, inbox(&ada, "INBOX").await), (json!(null), vec![]));
    assert_eq!(format_members(&members(&bea, &chat).await), ["cyd OWNER", "bea MEMBER", "dan MEMBER"], "the admin comes first");
    let all = rows(&bea, &chat).await;
    assert_eq!(kinds(&all), ["ROLE_CHANGED", "MEMBER_LEFT", "TEXT", "ROLE_CHANGED"], "nothing between the first two");
    let page = card(&bea, &chat).await["messages"]["edges"].take();
    assert_eq!(page[2]["node"]["sender"]["login"], "ada", "texts stay, with their sender");
    assert_eq!((&page[1]["node"]["sender"]["login"], &page[1]["node"]["subject"]["login"]), (&json!("ada"), &json!("ada")));
    run_ok(&cyd, "LeaveChat", json!({ "chatId": chat })).await;
    assert_eq!(format_members(&members(&bea, &chat).await), ["bea OWNER", "dan MEMBER"]);
    // Coming back is a new membership.
    run_ok(&bea, "AddChatMembers", json!({ "chatId": chat, "userIds": [ada.id] })).await;
    app.drain().await;
    assert_eq!(format_members(&members(&bea, &chat).await), ["bea OWNER", "dan MEMBER", "ada MEMBER"]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_group_ends_with_its_last_member() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    super::befriend(&ada, &bea).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    for number in 0..140 {
        send(&ada, &chat, &number.to_string()).await;
    }
    let id = send(&bea, &chat, "x").await;
    run_ok(&ada, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    run_ok(&ada, "LeaveChat", json!({ "chatId": chat })).await;
    run_ok(&bea, "LeaveChat", json!({ "chatId": chat })).await;
    assert_eq!(card(&bea, &chat).await, json!(null));
    app.drain_journal().await;
    // For the second after an event about positions, a throttle is left.
    let is_of_chats =
        |key: &String| ["chat", "direct"].iter().any(|kind| key.starts_with(kind)) && !key.starts_with("chat_positions:");
    let left: Vec<String> = app.redis.keys().into_iter().filter(is_of_chats).collect();
    assert_eq!(left, Vec::<String>::new(), "all keys are gone");
    assert_sound(&app).await;
}
