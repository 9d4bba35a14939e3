//! Requests, and who may write to whom.

use super::{assert_sound, badge, card, codes, group, inbox, pending, run, run_ok, send, start, waiting};
use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn a_message_of_a_stranger_is_a_request() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    for text in ["one", "two", "three"] {
        send(&ada, &chat, text).await;
    }
    assert_eq!((waiting(&bea).await, inbox(&bea, "INBOX").await), (vec![chat.clone()], vec![]));
    assert_eq!((badge(&bea).await, pending(&bea, 5).await), (0, vec![]));
    let seen = card(&bea, &chat).await;
    assert_eq!((&seen["viewerState"], &seen["viewerUnreadCount"]), (&json!("REQUEST"), &json!(3)), "it can be read");
    let fourth = run(&ada, "SendMessage", json!({ "chatId": chat, "text": "four" })).await["userErrors"][0].take();
    let message = fourth["message"].as_str().expect("a message");
    assert!(fourth["code"] == "LIMIT_REACHED" && message.contains("accepts the chat"), "{fourth}");
    assert_eq!(card(&ada, &chat).await["viewerCanSend"], false);
    for operation in ["ArchiveChat", "DeleteChatHistory"] {
        assert_eq!(codes(&bea, operation, json!({ "chatId": chat })).await, ["FORBIDDEN"], "{operation}");
    }
    // The read position of an account that has not accepted the chat is hidden.
    run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": 2 })).await;
    let members = ada.run("ChatMembers", json!({ "id": chat })).await["data"]["node"]["members"]["edges"].take();
    let of_bea =
        members.as_array().expect("members").iter().find(|edge| edge["node"]["user"]["login"] == "bea").expect("a member");
    assert_eq!((&of_bea["node"]["seenSequence"], &of_bea["node"]["deliveredSequence"]), (&json!(0), &json!(0)));
    let accepted = run_ok(&bea, "AcceptChatRequest", json!({ "chatId": chat })).await["chat"].take();
    assert_eq!((&accepted["viewerState"], &accepted["viewerUnreadCount"]), (&json!("ACTIVE"), &json!(1)));
    run_ok(&bea, "AcceptChatRequest", json!({ "chatId": chat })).await;
    assert_eq!((waiting(&bea).await, inbox(&bea, "INBOX").await, badge(&bea).await), (vec![], vec![chat.clone()], 1));
    send(&ada, &chat, "four").await;
    assert_eq!(codes(&bea, "DeclineChatRequest", json!({ "chatId": chat })).await, ["NOT_FOUND"], "it is no request any more");
    assert_sound(&app).await;
}

#[tokio::test]
async fn declining_a_direct_chat_sends_no_event_to_the_other_account() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    send(&ada, &chat, "one").await;
    let declined = run_ok(&bea, "DeclineChatRequest", json!({ "chatId": chat })).await;
    assert_eq!(declined["declinedChatId"], json!(chat));
    assert_eq!((waiting(&bea).await, inbox(&bea, "INBOX").await, card(&bea, &chat).await), (vec![], vec![], json!(null)));
    assert_eq!(card(&ada, &chat).await["viewerCanSend"], true);
    send(&ada, &chat, "two").await;
    send(&ada, &chat, "three").await;
    assert_eq!(codes(&ada, "SendMessage", json!({ "chatId": chat, "text": "x" })).await, ["LIMIT_REACHED"]);
    assert_eq!((waiting(&bea).await, card(&bea, &chat).await), (vec![], json!(null)));
    assert_eq!(start(&bea, &ada).await, chat);
    assert_eq!((inbox(&bea, "INBOX").await, badge(&bea).await), (vec![chat.clone()], 1));
    send(&ada, &chat, "four").await;
    assert_sound(&app).await;
}

#[tokio::test]
async fn sending_a_message_accepts_a_request() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let chat = start(&ada, &bea).await;
    send(&ada, &chat, "one").await;
    send(&bea, &chat, "two").await;
    assert_eq!((waiting(&bea).await, inbox(&bea, "INBOX").await), (vec![], vec![chat]));
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let id = send(&ada, &party, "one").await;
    app.drain().await;
    assert_eq!(waiting(&cyd).await, [party.as_str()]);
    assert_eq!(codes(&cyd, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await, ["FORBIDDEN"]);
    let role = json!({ "chatId": party, "userId": cyd.id, "role": "ADMIN" });
    assert_eq!(codes(&ada, "SetChatMemberRole", role).await, ["INVALID_INPUT"], "one who has not accepted");
    run_ok(&cyd, "DeclineChatRequest", json!({ "chatId": party })).await;
    assert_eq!(card(&cyd, &party).await, json!(null));
    assert_eq!(super::rows(&ada, &party).await[0].1, "MEMBER_LEFT", "a declined group is left");
    assert_sound(&app).await;
}

#[tokio::test]
async fn who_may_write_is_checked_only_when_a_chat_starts() {
    let app = TestApp::start().await;
    for (setting, stranger, followed, friend) in [
        ("EVERYONE", true, true, true),
        ("FOLLOWED", false, true, true),
        ("FRIENDS", false, false, true),
        ("NOBODY", false, false, false),
    ] {
        let name = |role: &str| format!("{role}_{}", setting.to_lowercase());
        let receiver = app.user(&name("r")).await;
        let input = json!({ "whoMayWrite": setting });
        assert_eq!(
            run_ok(&receiver, "UpdateChatSettings", input).await["settings"],
            json!({ "whoMayWrite": setting, "sharesSeen": true })
        );
        for (role, is_accepted) in [("s", stranger), ("f", followed), ("x", friend)] {
            let sender = app.user(&name(role)).await;
            match role {
                "f" => drop(receiver.follow(&sender).await),
                "x" => {
                    sender.mutate_ok("requestFriend", json!({ "userId": receiver.id }), "").await;
                    receiver.mutate_ok("requestFriend", json!({ "userId": sender.id }), "").await;
                }
                _ => {}
            }
            let expected = if is_accepted { vec![] } else { vec!["FORBIDDEN".to_owned()] };
            assert_eq!(codes(&sender, "StartDirectChat", json!({ "userId": receiver.id })).await, expected, "{setting} {role}");
            let input = json!({ "name": "g", "userIds": [receiver.id] });
            assert_eq!(codes(&sender, "CreateGroupChat", input).await, expected, "{setting} {role}");
        }
    }
    // A chat that was started before the setting changed is checked at its first text, and not again.
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    run_ok(&bea, "UpdateChatSettings", json!({ "whoMayWrite": "NOBODY" })).await;
    assert_eq!(codes(&ada, "SendMessage", json!({ "chatId": chat, "text": "x" })).await, ["FORBIDDEN"]);
    assert_eq!(card(&ada, &chat).await["viewerCanSend"], false);
    assert_eq!(start(&ada, &bea).await, chat, "it exists");
    assert_eq!(start(&bea, &ada).await, chat);
    send(&ada, &chat, "x").await;
    let settings = run(&bea, "UpdateChatSettings", json!({ "sharesSeen": false })).await;
    assert_eq!(settings["settings"], json!({ "whoMayWrite": "NOBODY", "sharesSeen": false }), "what is left out stays");
    let read = bea.run("ChatSettings", json!({})).await;
    assert_eq!(read["data"]["viewerChatSettings"], settings["settings"]);
}
