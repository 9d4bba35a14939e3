//! Races of two processes: one is delayed between its reads and its writes, and meanwhile the other one changes the data that it has read.

use crate::ads;
use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, TestServer, findings, references};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::{Refusal, UserErrorCode};
use waxwing::base::ids::{CampaignId, StatusId, UserId, UserListId};
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::graph::service as graph;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::relations::service as relations;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service::ProfileChange;
use waxwing::platform::journal::service as journal;
use waxwing::platform::journal::{Feed, Progress, Task};

/// Starts a server on a single Redis: the proxy delays the only connection of the other process.
pub(crate) async fn single_server() -> TestApp {
    TestApp::on_redis(Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), Clock::manual(START), small()).await
}

fn small() -> Config {
    Config { home_window: 20, star_followers: 4, ..Config::default() }
}

/// Another process on the same Redis. A proxy can delay its replies.
pub(crate) struct SlowProcess {
    pub(crate) app: App,
    proxy: Proxy,
}

impl SlowProcess {
    pub(crate) async fn start(app: &TestApp) -> Self {
        Self::with(app, Timing { connections: 1, ..LONG_TIMEOUTS }).await
    }

    async fn with(app: &TestApp, timing: Timing) -> Self {
        let proxy = Proxy::in_front_of(&app.redis).await;
        let target = app.redis.tcp_url(proxy.port).parse().expect("an address");
        let db = Db::open(&target, timing).await.expect("a store");
        let slow = Self { app: App::new(db, app.clock.clone(), small()), proxy };
        slow.app.next_id().await.expect("a store");
        slow
    }

    /// Runs `work`. Holds the replies of Redis from the first command with the bytes `at` on, until `meanwhile` has run.
    pub(crate) async fn run_interleaved<T>(
        &self,
        at: &'static [u8],
        work: impl Future<Output = T>,
        meanwhile: impl AsyncFnOnce(),
    ) -> T {
        self.proxy.set_after(at, Flow::Hold);
        let interleaved = async {
            while self.proxy.is_armed() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, interleaved).0
    }

    /// Runs `work`. Splits its next pipeline before the last occurrence of the bytes `at`, and runs `meanwhile` between the two parts.
    pub(crate) async fn run_split<T>(
        &self,
        at: &'static [u8],
        work: impl Future<Output = T>,
        meanwhile: impl AsyncFnOnce(),
    ) -> T {
        self.proxy.cut_before(at);
        let interleaved = async {
            while !self.proxy.holds_requests() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, interleaved).0
    }
}

/// The session ends after the settlement has read it and before the settlement writes the list of sessions.
#[tokio::test]
async fn a_session_that_ends_during_its_settlement_is_not_listed() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    let user = ada.user_id();
    let list = format!("sessions:{{{}}}", user.0);
    let listed = || app.redis.run::<Vec<String>>(&["ZRANGE", &list, "0", "-1"]);
    let digest = listed().pop().expect("a session");
    let settling = sessions::settle(&slow.app, user, &digest, false, None);
    let ends = async || {
        let response = ada.gql("mutation { logOut { userErrors { code } } }", json!({})).await;
        assert!(response.get("errors").is_none(), "{response}");
    };
    slow.run_interleaved(b"HGETALL", settling, ends).await.expect("a store");
    assert_eq!(listed(), [""; 0]);
    // The reverse: an existing session that is missing from the list is added again.
    let again = sessions::create(&app.app, user, None).await.expect("a session");
    let digest = listed().pop().expect("a session");
    app.redis.run::<()>(&["DEL", &list]);
    sessions::settle(&slow.app, user, &digest, false, None).await.expect("a store");
    assert_eq!((listed(), again.user), (vec![digest], user));
}

async fn post_statuses(app: &TestApp, author: &Actor, count: usize) {
    for number in 0..count {
        app.clock.advance(1_000);
        author.post(&format!("{} {number}", author.login)).await;
    }
}

async fn assert_complete(app: &TestApp, reader: &Actor, count: usize) {
    assert_eq!(reader.home().await.len(), count);
    app.drain().await;
    assert_eq!(reader.home().await.len(), count, "after the journal is drained");
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert_eq!(found, [""; 0]);
}

/// Creates a reader, a friend and a star whom the reader follows, a stranger, and an account that the reader has unfollowed. The unfollow has
/// left room in the reader's home. The statuses of the other accounts are older than the floor of that home.
async fn home_with_room(app: &TestApp) -> Vec<Actor> {
    let users = app.create_users("c", 8).await;
    let [reader, friend, star, stranger, former, followers @ ..] = &users[..] else { panic!("eight") };
    for follower in followers.iter().chain([reader]) {
        follower.follow(star).await;
    }
    app.drain().await;
    for author in [star, friend, stranger] {
        post_statuses(app, author, 10).await;
    }
    post_statuses(app, former, 25).await;
    reader.follow(friend).await;
    reader.follow(former).await;
    app.drain().await;
    reader.unfollow(former).await;
    users
}

/// Removes so many followers of the star that its statuses must be pushed again.
async fn lose_followers(star: &Actor, followers: &[Actor]) {
    for follower in followers {
        follower.unfollow(star).await;
    }
}

async fn rebuild_home(app: &App, reader: &Actor) {
    while timelines::rebuild(app, Feed::Home(reader.user_id()), Progress::default()).await.expect("a store").is_some() {}
}

async fn switch_mode(app: &App, star: &Actor) {
    let mut progress = Some(Progress::default());
    while let Some(at) = progress {
        progress = timelines::switch_mode(app, star.user_id(), at).await.expect("a store");
    }
}

/// Creates a campaign with a banner and these keywords.
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
    let app = single_server().await;
    let (ada, campaign, id) = campaign(&app, &[]).await;
    let slow = SlowProcess::start(&app).await;
    let pause = async || drop(ads::run(&ada, "PauseCampaign", json!({ "campaignId": campaign })).await);
    slow.run_interleaved(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), pause).await.expect("a store");
    assert_eq!(ads::offers(&app, &campaign), []);
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_keyword_removed_during_a_settlement_finds_no_campaign() {
    let app = single_server().await;
    let (ada, campaign, id) = campaign(&app, &["a", "b"]).await;
    let slow = SlowProcess::start(&app).await;
    let remove = async || drop(ads::run(&ada, "RemoveKeywords", json!({ "campaignId": campaign, "keywords": ["a"] })).await);
    slow.run_interleaved(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), remove).await.expect("a store");
    assert_eq!(ads::offers(&app, &campaign).len(), 1);
    app.clock.advance(61_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_campaign_deleted_during_its_settlement_stays_deleted() {
    let app = single_server().await;
    let (ada, campaign, id) = campaign(&app, &["a", "b"]).await;
    let slow = SlowProcess::start(&app).await;
    let leave = async || {
        accounts::delete_unchecked(&app.app, ada.user_id(), &ada.login).await.expect("it is deleted");
        app.drain().await;
    };
    slow.run_interleaved(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), leave).await.expect("a store");
    let remaining_keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.contains(&id.0.to_string())).collect();
    assert_eq!((remaining_keys, ads::offers(&app, &campaign)), (Vec::new(), Vec::new()));
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_account_followed_during_a_rebuild_is_in_the_home() {
    let app = single_server().await;
    let users = home_with_room(&app).await;
    let slow = SlowProcess::start(&app).await;
    let filling = timelines::rebuild(&slow.app, Feed::Home(users[0].user_id()), Progress::default());
    slow.run_interleaved(b"profile:", filling, async || drop(users[0].follow(&users[3]).await)).await.expect("a store");
    assert_complete(&app, &users[0], 30).await;
}

#[tokio::test]
async fn a_former_star_is_in_a_home_rebuilt_during_the_switch() {
    let app = single_server().await;
    let users = home_with_room(&app).await;
    let slow = SlowProcess::start(&app).await;
    lose_followers(&users[2], &users[5..]).await;
    let filling = timelines::rebuild(&slow.app, Feed::Home(users[0].user_id()), Progress::default());
    slow.run_interleaved(b"profile:", filling, async || switch_mode(&app.app, &users[2]).await).await.expect("a store");
    assert_complete(&app, &users[0], 20).await;
}

#[tokio::test]
async fn a_home_rebuilt_during_a_switch_has_all_statuses_of_the_former_star() {
    let app = single_server().await;
    let users = home_with_room(&app).await;
    let slow = SlowProcess::start(&app).await;
    lose_followers(&users[2], &users[5..]).await;
    slow.run_interleaved(b"feed:", switch_mode(&slow.app, &users[2]), async || rebuild_home(&app.app, &users[0]).await).await;
    assert_complete(&app, &users[0], 20).await;
}

#[tokio::test]
async fn an_account_unfollowed_during_a_fanout_is_not_in_the_home() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    users[0].follow(&users[1]).await;
    let slow = SlowProcess::start(&app).await;
    let draft = StatusDraft {
        message: "late".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: None,
        ..StatusDraft::default()
    };
    let posting = timelines::post(&slow.app, users[1].user_id(), draft);
    slow.run_interleaved(b"followers:", posting, async || drop(users[0].unfollow(&users[1]).await)).await.expect("a status");
    slow.app.drain().await;
    assert_complete(&app, &users[0], 0).await;
}

#[tokio::test]
async fn a_status_deleted_during_its_fanout_is_in_no_home() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    reader.follow(author).await;
    let slow = SlowProcess::start(&app).await;
    let draft = StatusDraft {
        message: "late".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: None,
        ..StatusDraft::default()
    };
    let posting = timelines::post(&slow.app, author.user_id(), draft);
    slow.run_interleaved(b"followers:", posting, async || {
        delete_newest(author).await;
    })
    .await
    .expect("a status");
    slow.app.drain().await;
    assert_complete(&app, reader, 0).await;
    assert_eq!(size(&app, "home", reader), 0);
}

fn size(app: &TestApp, kind: &str, actor: &Actor) -> usize {
    app.redis.run(&["ZCARD", &format!("{kind}:{{{}}}", actor.user_id().0)])
}

/// Deletes the newest status of an author. Returns its id.
async fn delete_newest(author: &Actor) -> StatusId {
    let profile = author.run("Profile", json!({ "login": author.login, "first": 1 })).await;
    let status = &profile["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["id"];
    let status = status.as_str().unwrap_or_else(|| panic!("{profile}"));
    author.delete(status).await;
    StatusId::from_global(status).expect("a status")
}

/// Asserts that a home has this number of statuses, and that the deleted status was not added to it.
async fn assert_complete_without(app: &TestApp, reader: &Actor, deleted: StatusId, count: usize) {
    let home = format!("home:{{{}}}", reader.user_id().0);
    let held: Option<String> = app.redis.run(&["ZSCORE", &home, &deleted.0.to_string()]);
    assert_eq!((held, size(app, "home", reader)), (None, count));
    assert_complete(app, reader, count).await;
}

#[tokio::test]
async fn a_status_deleted_during_a_follow_is_in_no_home() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    post_statuses(&app, author, 3).await;
    let (slow, mut deleted) = (SlowProcess::start(&app).await, None);
    let following = timelines::follow(&slow.app, reader.user_id(), author.user_id());
    slow.run_interleaved(b"profile:", following, async || deleted = Some(delete_newest(author).await)).await.expect("it follows");
    assert_complete_without(&app, reader, deleted.expect("it was deleted"), 2).await;
}

#[tokio::test]
async fn a_status_deleted_during_a_rebuild_is_not_in_the_home() {
    let app = single_server().await;
    let users = home_with_room(&app).await;
    let (reader, friend) = (&users[0], &users[1]);
    let (slow, mut deleted) = (SlowProcess::start(&app).await, None);
    let filling = timelines::rebuild(&slow.app, Feed::Home(reader.user_id()), Progress::default());
    slow.run_interleaved(b"profile:", filling, async || deleted = Some(delete_newest(friend).await)).await.expect("a store");
    let deleted = deleted.expect("it was deleted");
    let home = format!("home:{{{}}}", reader.user_id().0);
    assert_eq!(app.redis.run::<Option<String>>(&["ZSCORE", &home, &deleted.0.to_string()]), None);
    assert_eq!(size(&app, "home", reader), 9, "the other statuses are in the home");
    assert_complete(&app, reader, 19).await;
}

#[tokio::test]
async fn a_status_deleted_during_a_switch_of_mode_is_in_no_home() {
    let app = single_server().await;
    let users = home_with_room(&app).await;
    let (reader, star) = (&users[0], &users[2]);
    rebuild_home(&app.app, reader).await;
    lose_followers(star, &users[5..]).await;
    let (slow, mut deleted) = (SlowProcess::start(&app).await, None);
    slow.run_interleaved(b"profile:", switch_mode(&slow.app, star), async || deleted = Some(delete_newest(star).await)).await;
    assert_complete_without(&app, reader, deleted.expect("it was deleted"), 19).await;
}

/// Returns the number of entries of a home. One page with cursors only, so that the entries are read once.
async fn count_entries(reader: &Actor) -> usize {
    let response = reader.gql("{ homeTimeline { entries(first: 50) { edges { cursor } } } }", json!({})).await;
    response["data"]["homeTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).len()
}

#[tokio::test]
async fn a_home_trimmed_during_a_read_continues_below_the_cut() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    reader.follow(author).await;
    post_statuses(&app, author, 22).await;
    assert_eq!(size(&app, "home", reader), 22, "the next status trims the home");
    let slow = SlowProcess::start(&app).await;
    let served = TestServer::start(slow.app.clone(), app.clock.clone()).await;
    let reading = reader.at(&served);
    let seen = slow.run_split(b"home:{", count_entries(&reading), async || post_statuses(&app, author, 1).await).await;
    assert_eq!((seen, size(&app, "home", reader)), (23, 20));
    assert_complete(&app, reader, 23).await;
}

#[tokio::test]
async fn a_read_notices_a_concurrent_rebuild_of_the_home() {
    let app = single_server().await;
    let users = home_with_room(&app).await;
    let reader = &users[0];
    let slow = SlowProcess::start(&app).await;
    let served = TestServer::start(slow.app.clone(), app.clock.clone()).await;
    let reading = reader.at(&served);
    let seen = slow.run_split(b"feed:{", count_entries(&reading), async || rebuild_home(&app.app, reader).await).await;
    assert_eq!((seen, size(&app, "home", reader)), (20, 10));
    assert_complete(&app, reader, 20).await;
}

/// Runs only the first step of an unfollow, the commit.
async fn commit_unfollow(app: &TestApp, reader: &Actor, author: &Actor) {
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
}

#[tokio::test]
async fn an_older_follow_leaves_the_state_of_the_newer_one() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    post_statuses(&app, author, 30).await;
    let slow = SlowProcess::start(&app).await;
    let following = timelines::follow(&slow.app, reader.user_id(), author.user_id());
    slow.run_interleaved(b"profile:", following, async || {
        reader.unfollow(author).await;
        reader.follow(author).await;
    })
    .await
    .expect("it follows");
    assert_complete(&app, reader, 30).await;
}

#[tokio::test]
async fn an_older_unfollow_keeps_the_record_of_a_newer_unfollow() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    post_statuses(&app, author, 3).await;
    reader.follow(author).await;
    let slow = SlowProcess::start(&app).await;
    let leaving = timelines::unfollow(&slow.app, reader.user_id(), author.user_id());
    slow.run_interleaved(b"feed:{", leaving, async || {
        reader.follow(author).await;
        commit_unfollow(&app, reader, author).await;
    })
    .await
    .expect("it follows no longer");
    assert_eq!(reader.home().await, [""; 0]);
    // The lease of the other process expires.
    app.clock.advance(10_000);
    assert_complete(&app, reader, 0).await;
}

/// Asserts that nothing references a deleted account after the journal is drained.
async fn assert_no_references(app: &TestApp, deleted_account: &Actor) {
    app.drain().await;
    assert_eq!(references(&app.app, deleted_account.user_id()).await, [""; 0]);
}

#[tokio::test]
async fn a_follow_that_is_settled_late_does_not_outlive_its_account() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (deleted_account, other) = (&users[0], &users[1]);
    // Loads the scripts.
    other.follow(deleted_account).await;
    other.unfollow(deleted_account).await;
    deleted_account.follow(other).await;
    let slow = SlowProcess::start(&app).await;
    let id = deleted_account.user_id();
    let account = waxwing::domains::users::service::find(&app.app, id).await.expect("a store").expect("an account");
    assert!(
        waxwing::domains::users::service::delete(&app.app, account.id, &account.login, &account.logins).await.expect("a store")
    );
    let purge = graph::purge_following(&slow.app, deleted_account.user_id());
    slow.run_interleaved(b"followers:", purge, async || {
        let feed = Feed::Home(deleted_account.user_id());
        timelines::settle_source(&app.app, feed, other.user_id()).await.expect("a store");
    })
    .await
    .expect("a store");
    accounts::delete_unchecked(&app.app, deleted_account.user_id(), &deleted_account.login)
        .await
        .expect("the deletion is completed");
    assert_no_references(&app, deleted_account).await;
}

#[tokio::test]
async fn a_list_that_is_settled_late_does_not_outlive_its_owner() {
    let app = single_server().await;
    let deleted_account = app.create_users("c", 1).await.remove(0);
    let new = NewList { name: "friends".into(), idempotency_key: None };
    let list = lists::create(&app.app, deleted_account.user_id(), new).await.expect("a list").expect("it is new");
    let slow = SlowProcess::start(&app).await;
    accounts::delete_unchecked(&app.app, deleted_account.user_id(), &deleted_account.login).await.expect("it is deleted");
    let purge = timelines::purge_lists(&slow.app, deleted_account.user_id());
    slow.run_interleaved(b"removed:", purge, async || {
        timelines::settle_list(&app.app, deleted_account.user_id(), list, "friends").await.expect("a store");
    })
    .await
    .expect("a store");
    assert_no_references(&app, &deleted_account).await;
}

/// The author's own home receives a status without a check of follows, so the push itself must check that the owner exists.
#[tokio::test]
async fn a_late_post_leaves_nothing_of_a_deleted_account() {
    let app = single_server().await;
    let deleted_account = app.create_users("c", 1).await.remove(0);
    // After this time an unread home is dropped.
    app.clock.advance(31 * 24 * 3_600_000);
    let slow = SlowProcess::start(&app).await;
    let draft = StatusDraft {
        message: "late".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: None,
        ..StatusDraft::default()
    };
    let posting = timelines::post(&slow.app, deleted_account.user_id(), draft);
    slow.run_interleaved(b"followers:", posting, async || {
        accounts::delete_unchecked(&app.app, deleted_account.user_id(), &deleted_account.login).await.expect("it is deleted");
        app.drain().await;
    })
    .await
    .expect("a status");
    slow.app.drain().await;
    assert_no_references(&app, &deleted_account).await;
}

/// Asserts that Ada blocks Bea, and that neither follows the other or has the other on a list.
async fn assert_only_the_block(app: &TestApp, ada: &Actor, bea: &Actor, list: UserListId) {
    let edges = [
        graph::edge(&app.app, ada.user_id(), bea.user_id()).await.expect("a store"),
        graph::edge(&app.app, bea.user_id(), ada.user_id()).await.expect("a store"),
        lists::edge(&app.app, list, ada.user_id()).await.expect("a store"),
    ];
    assert_eq!(edges.map(|edge| (edge.follow, edge.unfollowed)), [(None, None); 3]);
    let blocks = relations::block_state(&app.app, ada.user_id(), bea.user_id()).await.expect("a store");
    assert!(blocks.blocks && !blocks.is_blocked);
    app.drain().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// Creates Ada with a status, and Bea with a list.
async fn two_users(app: &TestApp) -> (Actor, Actor, UserListId) {
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let new = NewList { name: "birds".into(), idempotency_key: None };
    let list = lists::create(&app.app, bea.user_id(), new).await.expect("a list").expect("it is new");
    ada.post("from ada").await;
    (ada, bea, list)
}

#[tokio::test]
async fn a_block_after_the_check_of_a_follow_ends_the_follow() {
    let app = single_server().await;
    let (ada, bea, list) = two_users(&app).await;
    let slow = SlowProcess::start(&app).await;
    let following = timelines::follow(&slow.app, bea.user_id(), ada.user_id());
    let block = async || timelines::block(&app.app, ada.user_id(), bea.user_id()).await.expect("a block");
    slow.run_interleaved(b"blocks:", following, block).await.expect("the follow was committed first");
    assert_only_the_block(&app, &ada, &bea, list).await;
    assert_eq!(bea.home().await, [""; 0]);
}

#[tokio::test]
async fn a_block_after_the_check_of_an_addition_to_a_list_ends_the_membership() {
    let app = single_server().await;
    let (ada, bea, list) = two_users(&app).await;
    let slow = SlowProcess::start(&app).await;
    let adding = timelines::add_to_list(&slow.app, bea.user_id(), list, ada.user_id());
    let block = async || timelines::block(&app.app, ada.user_id(), bea.user_id()).await.expect("a block");
    slow.run_interleaved(b"blocks:", adding, block).await.expect("the membership was committed first");
    assert_only_the_block(&app, &ada, &bea, list).await;
}

#[tokio::test]
async fn a_follow_after_the_commit_of_a_block_finds_the_block() {
    let app = single_server().await;
    let (ada, bea, list) = two_users(&app).await;
    let slow = SlowProcess::start(&app).await;
    // The block has searched for follows before these are written.
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
    slow.run_interleaved(b"following:", blocking, connect).await.expect("a block");
    assert_only_the_block(&app, &ada, &bea, list).await;
}

/// A part of the commit of a follow: the keys that it writes.
fn commit_of_follow(reader: UserId) -> &'static [u8] {
    let user = format!("user:{{{}}}", reader.0);
    format!("following:{{{}}}\r\n${}\r\n{user}\r\n", reader.0, user.len()).leak().as_bytes()
}

/// Follows by the slow process, so that its next commit is one command.
async fn load_scripts_of_follows(slow: &SlowProcess, people: &[Actor]) {
    timelines::follow(&slow.app, people[2].user_id(), people[1].user_id()).await.expect("a store");
}

/// Redis stops responding after the commit of a follow, before the server has read again whether the account is private.
#[tokio::test]
async fn a_follow_without_a_storage_after_its_commit_is_settled_later() {
    let app = single_server().await;
    let slow = SlowProcess::with(&app, Timing { connections: 1, response: Duration::from_secs(1), ..LONG_TIMEOUTS }).await;
    let people = app.create_users("f", 3).await;
    load_scripts_of_follows(&slow, &people).await;
    post_statuses(&app, &people[1], 3).await;
    let (reader, author) = (people[0].user_id(), people[1].user_id());
    slow.proxy.set_after(commit_of_follow(reader), Flow::Hold);
    let lost = async {
        while slow.proxy.is_armed() {
            tokio::task::yield_now().await;
        }
        while app.redis.run::<usize>(&["ZCARD", &format!("following:{{{}}}", reader.0)]) == 0 {
            tokio::task::yield_now().await;
        }
        slow.proxy.set(Flow::Hold, Flow::Pass);
    };
    let (followed, ()) = tokio::join!(timelines::follow(&slow.app, reader, author), lost);
    assert!(matches!(followed, Err(Refusal::Fatal(_))), "{followed:?}");
    slow.proxy.set(Flow::Pass, Flow::Pass);
    slow.app.drain().await;
    app.clock.advance(10_001);
    app.drain().await;
    assert_complete(&app, &people[0], 3).await;
}

/// The account becomes private after the commit of a follow by somebody who cannot send another request.
#[tokio::test]
async fn a_follow_that_cannot_become_a_request_leaves_nothing_behind() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let people = app.create_users("f", 3).await;
    load_scripts_of_follows(&slow, &people).await;
    let reader = people[0].user_id();
    let sent = format!("follow_requests_sent:{{{}}}", reader.0);
    for id in 1..=1_000 {
        app.redis.run::<()>(&["ZADD", &sent, &id.to_string(), &(1_000_000 + id).to_string()]);
    }
    let following = timelines::follow(&slow.app, reader, people[1].user_id());
    let becomes_private = async || {
        let change = ProfileChange { is_private: Some(true), ..ProfileChange::default() };
        timelines::update_profile(&app.app, people[1].user_id(), change).await.expect("a store");
    };
    let followed = slow.run_interleaved(commit_of_follow(reader), following, becomes_private).await;
    assert!(matches!(&followed, Err(Refusal::User(rows)) if rows[0].code == UserErrorCode::LimitReached), "{followed:?}");
    app.redis.run::<()>(&["DEL", &sent]);
    app.drain().await;
    let undone_follows: Vec<String> = app.redis.run(&["ZRANGE", &format!("left:{{{}}}", reader.0), "0", "-1"]);
    assert_eq!((undone_follows, people[0].home().await), (vec![], vec![]));
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
