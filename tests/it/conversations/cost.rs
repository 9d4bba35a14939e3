//! The cost of posting a reply, compared with a status that is no reply and mentions nobody.

use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::config::Config;

/// Posts three times, and returns the round trips and the commands of the last one, with its work in the background.
async fn cost(app: &TestApp, author: &Actor, input: &Value) -> (u64, u64) {
    let mut cost = (0, 0);
    for _ in 0..3 {
        app.drain().await;
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        author.mutate_ok("postStatus", input.clone(), "status { id message author { id } }").await;
        app.drain().await;
        cost = (app.app.db().round_trips() - before, app.redis.calls().values().sum());
    }
    cost
}

#[tokio::test]
async fn a_reply_with_mentions_and_tags_costs_little_more_than_a_plain_status() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [author, other] = app.users(["author", "other"]).await;
    app.create_users("mentioned", 3).await;
    for follower in app.create_users("follower", 10).await {
        follower.follow(&author).await;
    }
    let parent = other.post("What do you think?").await;
    let (plain_trips, plain) = cost(&app, &author, &json!({ "message": "Good evening, everyone." })).await;
    let rich = json!({ "message": "@mentioned0 @mentioned1 @mentioned2 #tea #pots #evenings", "replyToId": parent });
    let (trips, commands) = cost(&app, &author, &rich).await;
    println!("plain: {plain_trips} round trips, {plain} commands; reply: {trips}, {commands}");
    assert!(10 * commands <= 13 * plain, "{commands} commands, and {plain} of a plain status");
    assert!(trips <= plain_trips + 6, "{trips} round trips, and {plain_trips} of a plain status");
}
