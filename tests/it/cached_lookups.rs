//! The cache of the lookups of the rules of homes (whom the viewer follows, whether a repost exists, whose reposts are hidden) follows every change by
//! another server at the next request.

use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp};
use serde_json::json;
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

/// A reader who follows `ada` and `cyd`; `ada` has replied to `cyd`, and `cyd` has reposted a status of `dee`.
struct Scene {
    reader: Actor,
    cyd: Actor,
    reposted: String,
}

impl Scene {
    async fn begin(app: &TestApp) -> Self {
        let [reader, ada, cyd, dee] = app.users(["reader", "ada", "cyd", "dee"]).await;
        for author in [&ada, &cyd] {
            reader.follow(author).await;
        }
        let of_cyd = cyd.post("cyd").await;
        let reply = json!({ "message": "reply", "replyToId": of_cyd });
        ada.mutate_ok("postStatus", reply, "status { id }").await;
        let scene = Self { reader, reposted: dee.post("dee").await, cyd };
        scene.set_reposted(true).await;
        app.drain().await;
        scene
    }

    async fn set_reposted(&self, is_reposted: bool) {
        let field = if is_reposted { "repostStatus" } else { "undoRepost" };
        self.cyd.mutate_ok(field, json!({ "statusId": self.reposted }), "status { id }").await;
    }

    async fn set_shown(&self, shown: bool) {
        self.reader.mutate_ok("setRepostsShown", json!({ "userId": self.cyd.id, "shown": shown }), "user { id }").await;
    }
}

const ALL: [&str; 3] = ["dee", "reply", "cyd"];

#[tokio::test]
async fn a_home_shows_the_changes_of_another_server() {
    let app = TestApp::start().await;
    let scene = Scene::begin(&app).await;
    let other = app.sibling().await;
    let reader = scene.reader.at(&other);
    for _ in 0..5 {
        assert_eq!(reader.home().await, ALL);
        scene.set_shown(false).await;
        assert_eq!(reader.home().await, ["reply", "cyd"]);
        scene.set_shown(true).await;
        assert_eq!(reader.home().await, ALL);
        scene.set_reposted(false).await;
        assert_eq!(reader.home().await, ["reply", "cyd"]);
        scene.set_reposted(true).await;
        assert_eq!(reader.home().await, ALL);
        scene.reader.unfollow(&scene.cyd).await;
        app.drain_journal().await;
        assert_eq!(reader.home().await, [""; 0], "a reply to an account that is not followed");
        scene.reader.follow(&scene.cyd).await;
        app.drain_journal().await;
    }
}

#[tokio::test]
async fn a_home_with_replies_and_reposts_takes_one_round_trip() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let scene = Scene::begin(&app).await;
    for _ in 0..2 {
        assert_eq!(scene.reader.home().await, ALL);
        app.drain().await;
    }
    app.redis.reset_calls();
    let before = app.app.db().round_trips();
    assert_eq!(scene.reader.home().await, ALL);
    assert_eq!(app.app.db().round_trips() - before, 1, "{:?}", app.redis.calls());
}
