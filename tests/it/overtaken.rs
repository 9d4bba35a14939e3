//! Two processes at once, the one held up between what it has read and what it writes: what it has read does not hold any more.

use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, Alone, CALM, RedisServer, START, TestApp, findings};
use serde_json::json;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::clock::Clock;
use waxwing::config::Config;
use waxwing::db::{Db, Timing};
use waxwing::jobs::{Feed, Place};
use waxwing::statuses::Draft;
use waxwing::timelines::service as timelines;

/// What is held up is the one connection that a process has.
async fn alone() -> TestApp {
    TestApp::over(Arc::new(RedisServer::alone(Alone::OneWire)), Clock::manual(START), small()).await
}

fn small() -> Config {
    Config { home_window: 20, star_followers: 4, ..Config::default() }
}

/// Another process, whose answers can be held up.
struct Slow {
    app: App,
    proxy: Proxy,
}

impl Slow {
    async fn beside(app: &TestApp) -> Self {
        let proxy = Proxy::before(&app.redis).await;
        let target = app.redis.tcp_url(proxy.port).parse().expect("an address");
        let db = Db::open(&target, Timing { connections: 1, ..CALM }).await.expect("a store");
        let slow = Self { app: App::new(db, app.clock.clone(), small()), proxy };
        slow.app.next_id().await.expect("a store");
        slow
    }

    /// `work` gets no answer from what it asks with these bytes on, until `meanwhile` has happened.
    async fn is_overtaken<T>(&self, at: &'static [u8], work: impl Future<Output = T>, meanwhile: impl AsyncFnOnce()) -> T {
        self.proxy.set_after(at, Flow::Hold);
        let overtaking = async {
            while self.proxy.lies_in_wait() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, overtaking).0
    }
}

async fn say(app: &TestApp, author: &Actor, count: usize) {
    for number in 0..count {
        app.clock.advance(1_000);
        author.post(&format!("{} {number}", author.login)).await;
    }
}

async fn is_whole(app: &TestApp, reader: &Actor, count: usize) {
    assert_eq!(reader.home().await.len(), count);
    app.drain().await;
    assert_eq!(reader.home().await.len(), count, "and when all is settled");
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert_eq!(found, [""; 0]);
}

/// A reader whose home has room, since somebody talkative was left; somebody who is followed still; a star, who is too; and somebody
/// who is not. What they have to say is older than the home's floor.
async fn with_room(app: &TestApp) -> Vec<Actor> {
    let crowd = app.crowd("c", 8).await;
    let [reader, friend, star, stranger, talker, fans @ ..] = &crowd[..] else { panic!("eight") };
    for fan in fans.iter().chain([reader]) {
        fan.follow(star).await;
    }
    app.drain().await;
    for author in [star, friend, stranger] {
        say(app, author, 10).await;
    }
    say(app, talker, 25).await;
    reader.follow(friend).await;
    reader.follow(talker).await;
    app.drain().await;
    reader.unfollow(talker).await;
    crowd
}

/// So many follow that star no longer that the statuses are to be pushed again.
async fn lose_fans(star: &Actor, fans: &[Actor]) {
    for fan in fans {
        fan.unfollow(star).await;
    }
}

async fn fill_up(app: &App, reader: &Actor) {
    while timelines::refill(app, Feed::Home(reader.user_id()), Place::default()).await.expect("a store").is_some() {}
}

async fn cross(app: &App, star: &Actor) {
    let mut place = Some(Place::default());
    while let Some(at) = place {
        place = timelines::cross(app, star.user_id(), at).await.expect("a store");
    }
}

#[tokio::test]
async fn who_is_followed_while_a_home_is_filled_up_is_in_it() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let slow = Slow::beside(&app).await;
    let filling = timelines::refill(&slow.app, Feed::Home(crowd[0].user_id()), Place::default());
    slow.is_overtaken(b"profile:", filling, async || drop(crowd[0].follow(&crowd[3]).await)).await.expect("a store");
    is_whole(&app, &crowd[0], 30).await;
}

#[tokio::test]
async fn a_star_that_falls_while_a_home_is_filled_up_is_in_it() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let slow = Slow::beside(&app).await;
    lose_fans(&crowd[2], &crowd[5..]).await;
    let filling = timelines::refill(&slow.app, Feed::Home(crowd[0].user_id()), Place::default());
    slow.is_overtaken(b"profile:", filling, async || cross(&app.app, &crowd[2]).await).await.expect("a store");
    is_whole(&app, &crowd[0], 20).await;
}

#[tokio::test]
async fn a_home_that_is_filled_up_while_a_star_falls_has_all_of_it() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let slow = Slow::beside(&app).await;
    lose_fans(&crowd[2], &crowd[5..]).await;
    slow.is_overtaken(b"feed:", cross(&slow.app, &crowd[2]), async || fill_up(&app.app, &crowd[0]).await).await;
    is_whole(&app, &crowd[0], 20).await;
}

#[tokio::test]
async fn who_is_left_while_a_post_is_on_its_way_is_not_in_the_home() {
    let app = alone().await;
    let crowd = app.crowd("c", 2).await;
    crowd[0].follow(&crowd[1]).await;
    let slow = Slow::beside(&app).await;
    let draft = Draft { message: "late".into(), location: None, idempotency_key: None };
    let posting = timelines::post(&slow.app, crowd[1].user_id(), draft);
    slow.is_overtaken(b"followers:", posting, async || drop(crowd[0].unfollow(&crowd[1]).await)).await.expect("a status");
    slow.app.drain().await;
    is_whole(&app, &crowd[0], 0).await;
}

#[tokio::test]
async fn what_is_deleted_while_it_is_on_its_way_is_in_no_home() {
    let app = alone().await;
    let crowd = app.crowd("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    reader.follow(author).await;
    let slow = Slow::beside(&app).await;
    let draft = Draft { message: "late".into(), location: None, idempotency_key: None };
    let posting = timelines::post(&slow.app, author.user_id(), draft);
    slow.is_overtaken(b"followers:", posting, async || {
        let profile = author.run("Profile", json!({ "login": author.login, "first": 1 })).await;
        let status = &profile["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["id"];
        author.delete(status.as_str().unwrap_or_else(|| panic!("{profile}"))).await;
    })
    .await
    .expect("a status");
    slow.app.drain().await;
    is_whole(&app, reader, 0).await;
    let entries: usize = app.redis.run(&["ZCARD", &format!("home:{{{}}}", reader.user_id().0)]);
    assert_eq!(entries, 0);
}
