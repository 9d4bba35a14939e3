//! Races of two processes at homes: rebuilds, fan-outs, switches of the fan-out mode, and reads.

use super::{SlowProcess, assert_complete, post_statuses, single_server};
use crate::support::{Actor, TestApp, TestServer};
use serde_json::json;
use waxwing::app::App;
use waxwing::base::ids::StatusId;
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::{Feed, Progress};

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
