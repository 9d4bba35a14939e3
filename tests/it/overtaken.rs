//! Two processes at once, the one held up between what it has read and what it writes: what it has read does not hold any more.

use crate::ads;
use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, TestServer, findings, references};
use serde_json::json;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Refusal;
use waxwing::base::ids::{CampaignId, StatusId, UserListId};
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::graph::service as graph;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::relations::service as relations;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::statuses::Draft;
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::service as journal;
use waxwing::platform::journal::{Feed, Progress, Task};

/// What is held up is the one connection that a process has.
async fn alone() -> TestApp {
    TestApp::on_redis(Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), Clock::manual(START), small()).await
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
        let proxy = Proxy::in_front_of(&app.redis).await;
        let target = app.redis.tcp_url(proxy.port).parse().expect("an address");
        let db = Db::open(&target, Timing { connections: 1, ..LONG_TIMEOUTS }).await.expect("a store");
        let slow = Self { app: App::new(db, app.clock.clone(), small()), proxy };
        slow.app.next_id().await.expect("a store");
        slow
    }

    /// `work` gets no answer from what it asks with these bytes on, until `meanwhile` has happened.
    async fn is_overtaken<T>(&self, at: &'static [u8], work: impl Future<Output = T>, meanwhile: impl AsyncFnOnce()) -> T {
        self.proxy.set_after(at, Flow::Hold);
        let overtaking = async {
            while self.proxy.is_armed() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, overtaking).0
    }

    /// What `work` asks for at once is cut in two where these bytes come last in it; between the halves `meanwhile` happens.
    async fn is_interrupted<T>(&self, at: &'static [u8], work: impl Future<Output = T>, meanwhile: impl AsyncFnOnce()) -> T {
        self.proxy.cut_before(at);
        let interrupting = async {
            while !self.proxy.holds_requests() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, interrupting).0
    }
}

/// A session ends between the look of whoever settles it and the list that is written by that look.
#[tokio::test]
async fn a_session_that_ends_during_its_settlement_is_not_listed() {
    let app = alone().await;
    let slow = Slow::beside(&app).await;
    let ada = app.user("ada").await;
    let user = ada.user_id();
    let list = format!("sessions:{{{}}}", user.0);
    let listed = || app.redis.run::<Vec<String>>(&["ZRANGE", &list, "0", "-1"]);
    let digest = listed().pop().expect("a session");
    let settling = sessions::settle(&slow.app, user, &digest, false);
    let ends = async || {
        let answer = ada.gql("mutation { logOut { userErrors { code } } }", json!({})).await;
        assert!(answer.get("errors").is_none(), "{answer}");
    };
    slow.is_overtaken(b"HGETALL", settling, ends).await.expect("a store");
    assert_eq!(listed(), [""; 0]);
    // And the other way: one that is there and is not listed is listed again.
    let again = sessions::create(&app.app, user, None).await.expect("a session");
    let digest = listed().pop().expect("a session");
    app.redis.run::<()>(&["DEL", &list]);
    sessions::settle(&slow.app, user, &digest, false).await.expect("a store");
    assert_eq!((listed(), again.user), (vec![digest], user));
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
    let crowd = app.create_users("c", 8).await;
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
    while timelines::rebuild(app, Feed::Home(reader.user_id()), Progress::default()).await.expect("a store").is_some() {}
}

async fn cross(app: &App, star: &Actor) {
    let mut progress = Some(Progress::default());
    while let Some(at) = progress {
        progress = timelines::switch_mode(app, star.user_id(), at).await.expect("a store");
    }
}

/// A campaign with a banner, for the keywords.
async fn campaign(app: &TestApp, keywords: &[&str]) -> (Actor, String, CampaignId) {
    let ada = app.user("ada").await;
    let campaign = ads::make(&ada, json!({ "keywords": keywords })).await;
    ads::add(&ada, &campaign, json!({})).await;
    app.drain().await;
    let id = CampaignId::from_global(&campaign).expect("a campaign");
    (ada, campaign, id)
}

#[tokio::test]
async fn a_campaign_paused_during_its_settlement_is_in_no_index() {
    let app = alone().await;
    let (ada, campaign, id) = campaign(&app, &[]).await;
    let slow = Slow::beside(&app).await;
    let pause = async || drop(ads::run(&ada, "PauseCampaign", json!({ "campaignId": campaign })).await);
    slow.is_overtaken(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), pause).await.expect("a store");
    assert_eq!(ads::offers(&app, &campaign), []);
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_keyword_removed_during_a_settlement_finds_no_campaign() {
    let app = alone().await;
    let (ada, campaign, id) = campaign(&app, &["a", "b"]).await;
    let slow = Slow::beside(&app).await;
    let remove = async || drop(ads::run(&ada, "RemoveKeywords", json!({ "campaignId": campaign, "keywords": ["a"] })).await);
    slow.is_overtaken(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), remove).await.expect("a store");
    assert_eq!(ads::offers(&app, &campaign).len(), 1);
    app.clock.advance(61_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_campaign_deleted_during_its_settlement_stays_deleted() {
    let app = alone().await;
    let (ada, campaign, id) = campaign(&app, &["a", "b"]).await;
    let slow = Slow::beside(&app).await;
    let leave = async || {
        accounts::delete_unchecked(&app.app, ada.user_id(), &ada.login).await.expect("it is deleted");
        app.drain().await;
    };
    slow.is_overtaken(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), leave).await.expect("a store");
    let left: Vec<String> = app.redis.keys().into_iter().filter(|key| key.contains(&id.0.to_string())).collect();
    assert_eq!((left, ads::offers(&app, &campaign)), (Vec::new(), Vec::new()));
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_account_followed_during_a_rebuild_is_in_the_home() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let slow = Slow::beside(&app).await;
    let filling = timelines::rebuild(&slow.app, Feed::Home(crowd[0].user_id()), Progress::default());
    slow.is_overtaken(b"profile:", filling, async || drop(crowd[0].follow(&crowd[3]).await)).await.expect("a store");
    is_whole(&app, &crowd[0], 30).await;
}

#[tokio::test]
async fn a_former_star_is_in_a_home_rebuilt_during_the_switch() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let slow = Slow::beside(&app).await;
    lose_fans(&crowd[2], &crowd[5..]).await;
    let filling = timelines::rebuild(&slow.app, Feed::Home(crowd[0].user_id()), Progress::default());
    slow.is_overtaken(b"profile:", filling, async || cross(&app.app, &crowd[2]).await).await.expect("a store");
    is_whole(&app, &crowd[0], 20).await;
}

#[tokio::test]
async fn a_home_rebuilt_during_a_switch_has_all_statuses_of_the_former_star() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let slow = Slow::beside(&app).await;
    lose_fans(&crowd[2], &crowd[5..]).await;
    slow.is_overtaken(b"feed:", cross(&slow.app, &crowd[2]), async || fill_up(&app.app, &crowd[0]).await).await;
    is_whole(&app, &crowd[0], 20).await;
}

#[tokio::test]
async fn an_account_unfollowed_during_a_fanout_is_not_in_the_home() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    crowd[0].follow(&crowd[1]).await;
    let slow = Slow::beside(&app).await;
    let draft = Draft { message: "late".into(), location: None, idempotency_key: None };
    let posting = timelines::post(&slow.app, crowd[1].user_id(), draft);
    slow.is_overtaken(b"followers:", posting, async || drop(crowd[0].unfollow(&crowd[1]).await)).await.expect("a status");
    slow.app.drain().await;
    is_whole(&app, &crowd[0], 0).await;
}

#[tokio::test]
async fn a_status_deleted_during_its_fanout_is_in_no_home() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    reader.follow(author).await;
    let slow = Slow::beside(&app).await;
    let draft = Draft { message: "late".into(), location: None, idempotency_key: None };
    let posting = timelines::post(&slow.app, author.user_id(), draft);
    slow.is_overtaken(b"followers:", posting, async || {
        delete_newest(author).await;
    })
    .await
    .expect("a status");
    slow.app.drain().await;
    is_whole(&app, reader, 0).await;
    assert_eq!(size(&app, "home", reader), 0);
}

fn size(app: &TestApp, kind: &str, actor: &Actor) -> usize {
    app.redis.run(&["ZCARD", &format!("{kind}:{{{}}}", actor.user_id().0)])
}

/// Deletes what somebody said last.
async fn delete_newest(author: &Actor) -> StatusId {
    let profile = author.run("Profile", json!({ "login": author.login, "first": 1 })).await;
    let status = &profile["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["id"];
    let status = status.as_str().unwrap_or_else(|| panic!("{profile}"));
    author.delete(status).await;
    StatusId::from_global(status).expect("a status")
}

/// A home is whole, and does not hold what was deleted before it came there.
async fn is_whole_without(app: &TestApp, reader: &Actor, deleted: StatusId, count: usize) {
    let home = format!("home:{{{}}}", reader.user_id().0);
    let held: Option<String> = app.redis.run(&["ZSCORE", &home, &deleted.0.to_string()]);
    assert_eq!((held, size(app, "home", reader)), (None, count));
    is_whole(app, reader, count).await;
}

#[tokio::test]
async fn a_status_deleted_during_a_follow_is_in_no_home() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    say(&app, author, 3).await;
    let (slow, mut deleted) = (Slow::beside(&app).await, None);
    let following = timelines::follow(&slow.app, reader.user_id(), author.user_id());
    slow.is_overtaken(b"profile:", following, async || deleted = Some(delete_newest(author).await)).await.expect("it follows");
    is_whole_without(&app, reader, deleted.expect("it was deleted"), 2).await;
}

#[tokio::test]
async fn a_status_deleted_during_a_rebuild_is_not_in_the_home() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let (reader, friend) = (&crowd[0], &crowd[1]);
    let (slow, mut deleted) = (Slow::beside(&app).await, None);
    let filling = timelines::rebuild(&slow.app, Feed::Home(reader.user_id()), Progress::default());
    slow.is_overtaken(b"profile:", filling, async || deleted = Some(delete_newest(friend).await)).await.expect("a store");
    let deleted = deleted.expect("it was deleted");
    let home = format!("home:{{{}}}", reader.user_id().0);
    assert_eq!(app.redis.run::<Option<String>>(&["ZSCORE", &home, &deleted.0.to_string()]), None);
    assert_eq!(size(&app, "home", reader), 9, "and the others are");
    is_whole(&app, reader, 19).await;
}

#[tokio::test]
async fn a_status_deleted_during_a_switch_of_mode_is_in_no_home() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let (reader, star) = (&crowd[0], &crowd[2]);
    fill_up(&app.app, reader).await;
    lose_fans(star, &crowd[5..]).await;
    let (slow, mut deleted) = (Slow::beside(&app).await, None);
    slow.is_overtaken(b"profile:", cross(&slow.app, star), async || deleted = Some(delete_newest(star).await)).await;
    is_whole_without(&app, reader, deleted.expect("it was deleted"), 19).await;
}

/// How many entries somebody sees who asks for no more than these, so that they are read once.
async fn see(reader: &Actor) -> usize {
    let answer = reader.gql("{ homeTimeline { entries(first: 50) { edges { cursor } } } }", json!({})).await;
    answer["data"]["homeTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}")).len()
}

#[tokio::test]
async fn a_home_trimmed_during_a_read_continues_below_the_cut() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    reader.follow(author).await;
    say(&app, author, 22).await;
    assert_eq!(size(&app, "home", reader), 22, "one more is one too many");
    let slow = Slow::beside(&app).await;
    let served = TestServer::start(slow.app.clone(), app.clock.clone()).await;
    let reading = reader.at(&served);
    let seen = slow.is_interrupted(b"home:{", see(&reading), async || say(&app, author, 1).await).await;
    assert_eq!((seen, size(&app, "home", reader)), (23, 20));
    is_whole(&app, reader, 23).await;
}

#[tokio::test]
async fn a_read_notices_a_concurrent_rebuild_of_the_home() {
    let app = alone().await;
    let crowd = with_room(&app).await;
    let reader = &crowd[0];
    let slow = Slow::beside(&app).await;
    let served = TestServer::start(slow.app.clone(), app.clock.clone()).await;
    let reading = reader.at(&served);
    let seen = slow.is_interrupted(b"feed:{", see(&reading), async || fill_up(&app.app, reader).await).await;
    assert_eq!((seen, size(&app, "home", reader)), (20, 10));
    is_whole(&app, reader, 20).await;
}

/// Takes the first step of an unfollow, and no other.
async fn begin_to_leave(app: &TestApp, reader: &Actor, author: &Actor) {
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
}

#[tokio::test]
async fn an_older_follow_leaves_the_state_of_the_newer_one() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    say(&app, author, 30).await;
    let slow = Slow::beside(&app).await;
    let following = timelines::follow(&slow.app, reader.user_id(), author.user_id());
    slow.is_overtaken(b"profile:", following, async || {
        reader.unfollow(author).await;
        reader.follow(author).await;
    })
    .await
    .expect("it follows");
    is_whole(&app, reader, 30).await;
}

#[tokio::test]
async fn an_older_unfollow_keeps_the_record_of_a_newer_unfollow() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    say(&app, author, 3).await;
    reader.follow(author).await;
    let slow = Slow::beside(&app).await;
    let leaving = timelines::unfollow(&slow.app, reader.user_id(), author.user_id());
    slow.is_overtaken(b"feed:{", leaving, async || {
        reader.follow(author).await;
        begin_to_leave(&app, reader, author).await;
    })
    .await
    .expect("it follows no longer");
    assert_eq!(reader.home().await, [""; 0]);
    // Then the other process is taken for dead.
    app.clock.advance(10_000);
    is_whole(&app, reader, 0).await;
}

/// Whatever was late to settle, an account that is being taken away has no part in it.
async fn is_nowhere(app: &TestApp, gone: &Actor) {
    app.drain().await;
    assert_eq!(references(&app.app, gone.user_id()).await, [""; 0]);
}

#[tokio::test]
async fn a_follow_that_is_settled_late_does_not_outlive_its_account() {
    let app = alone().await;
    let crowd = app.create_users("c", 2).await;
    let (gone, other) = (&crowd[0], &crowd[1]);
    // Scripts are known then.
    other.follow(gone).await;
    other.unfollow(gone).await;
    gone.follow(other).await;
    let slow = Slow::beside(&app).await;
    waxwing::domains::users::service::remove(&app.app, gone.user_id(), &gone.login).await.expect("it is deleted");
    let purge = graph::purge_following(&slow.app, gone.user_id());
    slow.is_overtaken(b"followers:", purge, async || {
        let feed = Feed::Home(gone.user_id());
        timelines::settle_source(&app.app, feed, other.user_id()).await.expect("a store");
    })
    .await
    .expect("a store");
    accounts::delete_unchecked(&app.app, gone.user_id(), &gone.login).await.expect("the rest");
    is_nowhere(&app, gone).await;
}

#[tokio::test]
async fn a_list_that_is_settled_late_does_not_outlive_its_owner() {
    let app = alone().await;
    let gone = app.create_users("c", 1).await.remove(0);
    let new = NewList { name: "friends".into(), idempotency_key: None };
    let list = lists::create(&app.app, gone.user_id(), new).await.expect("a list").expect("it is new");
    let slow = Slow::beside(&app).await;
    accounts::delete_unchecked(&app.app, gone.user_id(), &gone.login).await.expect("it is deleted");
    let purge = timelines::purge_lists(&slow.app, gone.user_id());
    slow.is_overtaken(b"removed:", purge, async || {
        timelines::settle_list(&app.app, gone.user_id(), list, "friends").await.expect("a store");
    })
    .await
    .expect("a store");
    is_nowhere(&app, &gone).await;
}

/// A home is pushed to as long as its owner is there, also what the owner says, for which nobody asks who follows whom.
#[tokio::test]
async fn a_late_post_leaves_nothing_of_a_deleted_account() {
    let app = alone().await;
    let gone = app.create_users("c", 1).await.remove(0);
    // By then a home that nobody reads is dropped.
    app.clock.advance(31 * 24 * 3_600_000);
    let slow = Slow::beside(&app).await;
    let draft = Draft { message: "late".into(), location: None, idempotency_key: None };
    let posting = timelines::post(&slow.app, gone.user_id(), draft);
    slow.is_overtaken(b"followers:", posting, async || {
        accounts::delete_unchecked(&app.app, gone.user_id(), &gone.login).await.expect("it is deleted");
        app.drain().await;
    })
    .await
    .expect("a status");
    slow.app.drain().await;
    is_nowhere(&app, &gone).await;
}

/// Neither of two accounts follows the other, or has it on a list, and the first blocks the second.
async fn block_stands_alone(app: &TestApp, ada: &Actor, bea: &Actor, list: UserListId) {
    let edges = [
        graph::edge(&app.app, ada.user_id(), bea.user_id()).await.expect("a store"),
        graph::edge(&app.app, bea.user_id(), ada.user_id()).await.expect("a store"),
        lists::edge(&app.app, list, ada.user_id()).await.expect("a store"),
    ];
    assert_eq!(edges.map(|edge| (edge.follow, edge.left)), [(None, None); 3]);
    let blocks = relations::block_state(&app.app, ada.user_id(), bea.user_id()).await.expect("a store");
    assert!(blocks.blocks && !blocks.is_blocked);
    app.drain().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// Ada, and Bea with a list.
async fn two_people(app: &TestApp) -> (Actor, Actor, UserListId) {
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let new = NewList { name: "birds".into(), idempotency_key: None };
    let list = lists::create(&app.app, bea.user_id(), new).await.expect("a list").expect("it is new");
    ada.post("from ada").await;
    (ada, bea, list)
}

#[tokio::test]
async fn a_block_after_the_check_of_a_follow_ends_the_follow() {
    let app = alone().await;
    let (ada, bea, list) = two_people(&app).await;
    let slow = Slow::beside(&app).await;
    let following = timelines::follow(&slow.app, bea.user_id(), ada.user_id());
    let block = async || timelines::block(&app.app, ada.user_id(), bea.user_id()).await.expect("a block");
    slow.is_overtaken(b"blocks:", following, block).await.expect("the follow came first");
    block_stands_alone(&app, &ada, &bea, list).await;
    assert_eq!(bea.home().await, [""; 0]);
}

#[tokio::test]
async fn a_block_after_the_check_of_an_addition_to_a_list_ends_the_membership() {
    let app = alone().await;
    let (ada, bea, list) = two_people(&app).await;
    let slow = Slow::beside(&app).await;
    let adding = timelines::add_to_list(&slow.app, bea.user_id(), list, ada.user_id());
    let block = async || timelines::block(&app.app, ada.user_id(), bea.user_id()).await.expect("a block");
    slow.is_overtaken(b"blocks:", adding, block).await.expect("the membership came first");
    block_stands_alone(&app, &ada, &bea, list).await;
}

#[tokio::test]
async fn a_follow_after_the_commit_of_a_block_finds_the_block() {
    let app = alone().await;
    let (ada, bea, list) = two_people(&app).await;
    let slow = Slow::beside(&app).await;
    // The block has looked for follows before this one is written.
    let blocking = timelines::block(&slow.app, ada.user_id(), bea.user_id());
    let connect = async || {
        let results = [
            timelines::follow(&app.app, bea.user_id(), ada.user_id()).await,
            timelines::follow(&app.app, ada.user_id(), bea.user_id()).await,
            timelines::add_to_list(&app.app, bea.user_id(), list, ada.user_id()).await,
        ];
        let codes = results.map(|result| match result {
            Err(Refusal::User(errors)) => errors[0].code.name(),
            other => panic!("{other:?}"),
        });
        assert_eq!(codes, ["NOT_FOUND", "FORBIDDEN", "NOT_FOUND"]);
    };
    slow.is_overtaken(b"following:", blocking, connect).await.expect("a block");
    block_stands_alone(&app, &ada, &bea, list).await;
}
