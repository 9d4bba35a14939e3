//! Broken chats: each damage is found; what is derived is repaired from the chats.

use crate::chats::{befriend, group, open, run_ok, send, start};
use crate::support::{TestApp, findings};
use serde_json::json;
use std::time::Duration;
use waxwing::base::ids::{ChatId, source};
use waxwing::cli::fsck::{self, AuditOptions};

/// A command that breaks the store, the finding, and whether it is repaired. `|` stands for a space.
type Case = (&'static str, &'static str, bool);

const CASES: [Case; 27] = [
    ("DEL chats:{$ada}", "chat_states:{$ada}: the lists do not agree with it about $chat", true),
    ("HDEL chat_states:{$ada} $chat", "chat_members:{$chat}: the lists of $ada do not agree with it", true),
    ("DEL chats_former:{$cyd}", "chat_members:{$begun}: the lists of $cyd do not agree with it", true),
    ("HSET chat_states:{$ada} 7 3|I|5|0|0", "chat_states:{$ada}: has 7, which does not exist for it", true),
    ("HSET chat_states:{$ada} $chat 99|A|5|0|0", "chat_states:{$ada}: the lists do not agree with it about $chat", true),
    ("ZADD chats_former:{$ada} 5 7", "chats_former:{$ada}: has 7, which does not exist", true),
    ("ZREM chat_left:{$left} $bea", "chats_former:{$bea}: has $left, which has no record of it", true),
    ("ZREM chats_former:{$bea} $left", "chat_left:{$left}: the lists of $bea do not agree with it", true),
    ("ZADD chat_left:{$left} 5 $ada", "chat_left:{$left}: has $ada, which is a member", true),
    ("ZADD chat_left:{$left} 5 7", "chat_left:{$left}: names 7, which is not an account", true),
    ("ZADD chat_left:{$left} 5 x", "chat_left:{$left}: has a member that is no account", true),
    ("ZADD chat_left:{7} 5 $bea", "chat_left:{7}: there is no such chat", true),
    ("ZADD chats_unread:{$ada} 5 7", "chats_unread:{$ada}: has 7, which does not exist for it", true),
    ("HSET chat_states:{$ada} $chat x", "chat_states:{$ada}: its state of $chat cannot be read", false),
    ("ZADD chats:{7} 5 7", "chats:{7}: there is no such account", true),
    ("HSET chat_members:{$group} $bea O|2|1|9|A|0|0|0|9|0", "chat_members:{$group}: has not exactly one owner (2)", false),
    ("SETBIT chat_texts:{$chat} 1 0", "chat_rows:{$chat}:0: the bit of its row 1 is wrong", false),
    ("HSET chat_rows:{$chat}:0 1 x", "chat_rows:{$chat}:0: its row 1 cannot be read", false),
    ("ZADD chat_reactions:{$chat}:2 5 x|7", "chat_reactions:{$chat}:2: its text has another number of reactions (1)", false),
    ("SET chat_sent:{$other} x", "chat_sent:{$other}: should be a zset (it is a string)", true),
    ("HSET chat_rows:{7}:0 1 x", "chat_rows:{7}:0: there is no such chat", true),
    ("HDEL chat_rows:{$chat}:0 2", "chat:{$chat}: lacks rows from 1 to 2", false),
    ("HSET chat:{$chat} removed 1 oldest 2", "chat_rows:{$chat}:0: its row 1 should be deleted", false),
    ("HSET chat:{$chat} trimmed 9", "chat:{$chat}: its retention fields are invalid", false),
    ("HSET chat:{$chat} since 0", "chat:{$chat}: the time since which its oldest row is seen cannot be right", false),
    ("ZREM chat_seen_since:{$part} $chat", "chat:{$chat}: is not found by chat_seen_since:{$part}", true),
    ("ZADD chat_sizes:{0} 128 7", "chat_sizes:{0}: has 7, which does not belong there", true),
];

#[tokio::test]
async fn broken_chats_are_found_and_lists_are_repaired() {
    for case in CASES {
        check(case).await;
    }
}

async fn check((command, finding, is_repaired): Case) {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    let id = send(&ada, &chat, "one").await;
    send(&bea, &chat, "two").await;
    run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    send(&bea, &party, "three").await;
    let begun = start(&ada, &cyd).await;
    let left = group(&ada, "h", &[&bea], "ALL").await;
    run_ok(&bea, "LeaveChat", json!({ "chatId": left })).await;
    app.drain_journal().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0], "before {command}");
    let number = |id: &str| ChatId::from_global(id).expect("an id").0.to_string();
    let names = [
        ("$chat", number(&chat)),
        ("$part", source::partition(ChatId::from_global(&chat).expect("an id").0, 16).to_string()),
        ("$group", number(&party)),
        ("$begun", number(&begun)),
        ("$left", number(&left)),
        ("$other", "7".to_owned()),
        ("$ada", ada.user_id().0.to_string()),
        ("$bea", bea.user_id().0.to_string()),
        ("$cyd", cyd.user_id().0.to_string()),
    ];
    let named = |text: &str| names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    let command = named(command);
    let words: Vec<String> = command.split(' ').map(|word| word.replace('|', " ")).collect();
    app.redis.run::<redis::Value>(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let found = findings(&app.app).await;
    assert!(found.iter().any(|it| it.starts_with(&named(finding))), "{command}: {found:?}");
    let options =
        AuditOptions { home_window: Some(app.app.config().home_window), pause: Duration::ZERO, ..AuditOptions::default() };
    fsck::repair(&app.app, options, false, |_| ()).await.expect("a store");
    app.drain_journal().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await.is_empty(), is_repaired, "{command}: {:?}", findings(&app.app).await);
}
