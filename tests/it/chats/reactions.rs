//! Reactions.

use super::{assert_sound, befriend, card, codes, group, run, run_ok, send};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::ids::ChatMessageId;

async fn reactions(actor: &Actor, chat: &str) -> Vec<(String, u64, bool)> {
    let card = card(actor, chat).await;
    let list = card["newestMessage"]["reactions"].as_array().unwrap_or_else(|| panic!("{card}"));
    let one = |it: &Value| {
        let emoji = it["emoji"].as_str().expect("an emoji").to_owned();
        (emoji, it["count"].as_u64().expect("a count"), it["viewerHasReacted"].as_bool().expect("a flag"))
    };
    list.iter().map(one).collect()
}

#[tokio::test]
async fn reactions_are_in_the_order_of_their_emoji() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let id = send(&ada, &chat, "one").await;
    let add = async |actor: &Actor, emoji: &str| codes(actor, "ReactToMessage", json!({ "messageId": id, "emoji": emoji })).await;
    let remove =
        async |actor: &Actor, emoji: &str| codes(actor, "RemoveReaction", json!({ "messageId": id, "emoji": emoji })).await;
    for (actor, emoji) in [(&ada, "👍"), (&bea, "❤️"), (&bea, "👍"), (&bea, "👍"), (&cyd, "👍")] {
        assert_eq!(add(actor, emoji).await, [""; 0], "{emoji}");
    }
    assert_eq!(reactions(&cyd, &chat).await, [("👍".to_owned(), 3, true), ("❤️".to_owned(), 1, false)]);
    let reactors =
        ada.run("MessageReactors", json!({ "id": id })).await["data"]["node"]["reactions"][0]["reactors"]["edges"].take();
    let logins: Vec<&Value> = reactors.as_array().expect("reactors").iter().map(|edge| &edge["node"]["login"]).collect();
    assert_eq!(logins, ["cyd", "bea", "ada"], "the newest first");
    for actor in [&ada, &bea, &cyd] {
        assert_eq!(remove(actor, "👍").await, [""; 0]);
    }
    assert_eq!(remove(&ada, "👍").await, [""; 0], "again changes nothing");
    assert_eq!(add(&ada, "👍").await, [""; 0]);
    assert_eq!(
        reactions(&ada, &chat).await,
        [("❤️".to_owned(), 1, false), ("👍".to_owned(), 1, true)],
        "one that went comes last"
    );
    for invalid in ["", "x", "👍👍", "❤"] {
        assert_eq!(add(&ada, invalid).await, ["INVALID_EMOJI"], "{invalid}");
    }
    for emoji in ["😀", "😁", "😂", "😃", "😄", "😅", "😆", "😇", "😈", "😉"] {
        assert_eq!(add(&ada, emoji).await, [""; 0]);
    }
    assert_eq!(add(&ada, "😊").await, ["LIMIT_REACHED"], "the thirteenth");
    assert_eq!(add(&cyd, "❤️").await, [""; 0], "one that is there");
    let edited = run(&ada, "EditMessage", json!({ "messageId": id, "text": "two" })).await;
    assert_eq!(edited["chatMessage"]["text"], "two");
    assert_eq!(reactions(&ada, &chat).await.len(), 12, "an edit keeps them");
    run_ok(&ada, "DeleteMessage", json!({ "messageId": id })).await;
    assert_eq!(reactions(&ada, &chat).await, []);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_has_at_most_six_thousand_reactions_with_those_of_former_members() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    let id = send(&ada, &chat, "one").await;
    let react = async |actor: &Actor, operation: &str| codes(actor, operation, json!({ "messageId": id, "emoji": "👍" })).await;
    assert_eq!(react(&ada, "ReactToMessage").await, [""; 0]);
    // Of members who have left.
    let message = ChatMessageId::from_global(&id).expect("an id");
    let key = format!("chat_reactions:{{{}}}:{}", message.chat.0, message.sequence);
    let former = (1..6_000).flat_map(|user| [user.to_string(), format!("👍 {user}")]);
    let words: Vec<String> = ["ZADD".to_owned(), key].into_iter().chain(former).collect();
    assert_eq!(app.redis.run::<u64>(&words.iter().map(String::as_str).collect::<Vec<_>>()), 5_999);
    assert_eq!(react(&bea, "ReactToMessage").await, ["LIMIT_REACHED"]);
    assert_eq!(react(&ada, "ReactToMessage").await, [""; 0], "it is there");
    assert_eq!(react(&ada, "RemoveReaction").await, [""; 0]);
    assert_eq!(react(&bea, "ReactToMessage").await, [""; 0]);
}
