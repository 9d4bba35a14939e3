//! Resuming behind a trimming: what is gone comes no more.

use super::ChatEvents;
use crate::chats::{befriend, open, run_ok, send};
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::Config;

#[tokio::test]
async fn trimmed_rows_come_in_no_resumed_stream() {
    for sweeps in [false, true] {
        let app = TestApp::with(Config { messages_kept: 5, ..Config::default() }).await;
        let [ada, bea] = app.users(["ada", "bea"]).await;
        befriend(&ada, &bea).await;
        let chat = open(&ada, &bea).await;
        app.drain().await;
        let mut events = ChatEvents::listen(&app, &bea).await;
        let first = send(&ada, &chat, "1").await;
        let cursor = events.next().await.cursor;
        drop(events);
        let second = send(&ada, &chat, "2").await;
        run_ok(&ada, "EditMessage", json!({ "messageId": second, "text": "two" })).await;
        run_ok(&ada, "ReactToMessage", json!({ "messageId": second, "emoji": "👍" })).await;
        run_ok(&ada, "DeleteMessage", json!({ "messageId": first })).await;
        for number in 3..=8 {
            send(&ada, &chat, &number.to_string()).await;
        }
        if sweeps {
            run_ok(&ada, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": 0 })).await;
            run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": 6 })).await;
        }
        app.drain().await;
        let mut events = ChatEvents::open(&app, &bea, Some(&cursor)).await;
        let expected = if sweeps { vec!["+7 7", "+8 8"] } else { vec!["+4 4", "+5 5", "+6 6", "+7 7", "+8 8"] };
        assert_eq!(events.lines(expected.len()).await, expected);
        send(&ada, &chat, "9").await;
        assert_eq!(events.lines(1).await, ["+9 9"]);
    }
}
