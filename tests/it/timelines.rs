//! Home and profile timelines: their contents, also under concurrent changes.

use crate::support::{Actor, TestApp, error_codes, user_error_codes};
use futures_util::StreamExt;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;

fn home_size(app: &TestApp, actor: &Actor) -> usize {
    app.redis.run(&["ZCARD", &format!("home:{{{}}}", actor.user_id().0)])
}

#[tokio::test]
async fn a_post_is_in_the_timelines_of_author_and_followers_on_every_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 4).await;
    users[1].follow(&users[0]).await;
    users[2].follow(&users[1]).await;
    app.clock.advance(1_000);
    users[0].at(&other).post("first").await;
    app.clock.advance(1_000);
    users[1].post("second").await;
    for server in [&app, &other] {
        assert_eq!(users[0].at(server).home().await, ["first"]);
        assert_eq!(users[1].at(server).home().await, ["second", "first"]);
        assert_eq!(users[2].at(server).home().await, ["second"]);
        assert_eq!(users[3].at(server).home().await, [""; 0]);
    }
    let response = users[1].run("Home", json!({ "first": 5 })).await;
    let entry = &response["data"]["homeTimeline"]["entries"]["edges"][1]["node"]["status"];
    assert_eq!((&entry["author"]["login"], &entry["author"]["followersCount"]), (&json!("c0"), &json!(1)));
    assert_eq!((&entry["postedAt"], &entry["commentCount"]), (&json!("2026-03-01T00:00:01.000Z"), &json!(0)));
}

#[tokio::test]
async fn a_follow_adds_older_statuses_and_an_unfollow_removes_them() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 3).await;
    let (ada, bea, cyd) = (&users[0], &users[1], &users[2]);
    for (author, message) in [(bea, "b1"), (ada, "a1"), (cyd, "c1"), (bea, "b2"), (cyd, "c2"), (ada, "a2")] {
        author.post(message).await;
    }
    ada.follow(bea).await;
    assert_eq!(ada.home().await, ["a2", "b2", "a1", "b1"]);
    ada.follow(cyd).await;
    assert_eq!(ada.home().await, ["a2", "c2", "b2", "c1", "a1", "b1"]);
    bea.post("b3").await;
    ada.unfollow(bea).await;
    assert_eq!(ada.home().await, ["a2", "c2", "c1", "a1"]);
    bea.post("b4").await;
    ada.unfollow(ada).await;
    assert_eq!(ada.home().await, ["a2", "c2", "c1", "a1"]);
    assert_eq!(bea.home().await, ["b4", "b3", "b2", "b1"]);
    ada.follow(bea).await;
    assert_eq!(ada.home().await, ["b4", "b3", "a2", "c2", "b2", "c1", "a1", "b1"]);
}

#[tokio::test]
async fn a_post_and_its_deletion_reach_thousands_of_homes() {
    let app = TestApp::start().await;
    let star = app.create_users("star", 1).await.remove(0);
    let fans = app.create_users("fan", 2_100).await;
    app.create_follows(&fans.iter().map(|fan| (fan, &star)).collect::<Vec<_>>()).await;
    let reached = || fans.iter().filter(|fan| home_size(&app, fan) == 1).count();
    let id = star.post("to all").await;
    assert!(reached() >= 1_000, "the first thousand homes have the status within the request");
    app.drain().await;
    assert_eq!(reached(), 2_100);
    assert_eq!(fans[0].home().await, ["to all"]);
    assert_eq!(user_error_codes(&star.delete(&id).await), [""; 0]);
    assert_eq!(fans[0].home().await, [""; 0]);
    assert_eq!(fans[2_099].home().await, [""; 0]);
    app.drain().await;
    assert_eq!(fans.iter().filter(|fan| home_size(&app, fan) > 0).count(), 0);
}

#[tokio::test]
async fn a_deletion_right_after_a_post_leaves_it_in_no_home() {
    let app = TestApp::start().await;
    let star = app.create_users("star", 1).await.remove(0);
    let fans = app.create_users("fan", 1_300).await;
    app.create_follows(&fans.iter().map(|fan| (fan, &star)).collect::<Vec<_>>()).await;
    for _ in 0..3 {
        let id = star.post("soon gone").await;
        star.delete(&id).await;
    }
    app.drain().await;
    assert_eq!(fans.iter().filter(|fan| home_size(&app, fan) > 0).count(), 0);
}

#[tokio::test]
async fn a_home_keeps_the_newest_of_its_window() {
    let app = TestApp::with(Config { home_window: 100, ..Config::default() }).await;
    let users = app.create_users("c", 3).await;
    for number in 0..70 {
        users[0].post(&format!("a{number}")).await;
        users[1].post(&format!("b{number}")).await;
    }
    users[2].follow(&users[0]).await;
    users[2].follow(&users[1]).await;
    assert_eq!(home_size(&app, &users[2]), 100);
    let expected: Vec<String> = (20..70).rev().flat_map(|number| [format!("b{number}"), format!("a{number}")]).collect();
    assert_eq!(users[2].home().await, expected);
    users[0].post("newest").await;
    assert_eq!((home_size(&app, &users[2]), users[2].home().await[0].as_str()), (101, "newest"));
    for number in 0..110 {
        users[2].post(&number.to_string()).await;
    }
    assert!((100..=110).contains(&home_size(&app, &users[2])), "the window and a tenth at most");
}

#[tokio::test]
async fn without_a_session_only_the_home_is_null() {
    let app = TestApp::start().await;
    app.create_users("ada", 1).await[0].post("x").await;
    let response = app.anonymous().run("Home", json!({ "first": 5 })).await;
    assert_eq!(response["data"], json!({ "viewer": null, "homeTimeline": null }));
    assert_eq!(
        (error_codes(&response), &response["errors"][0]["path"]),
        (vec!["UNAUTHENTICATED".to_owned()], &json!(["homeTimeline"]))
    );
    let response = app.anonymous().run("Profile", json!({ "login": "ada0" })).await;
    assert_eq!(response["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["message"], "x");
    assert_eq!(response.get("errors"), None);
}

#[tokio::test]
async fn a_response_matches_its_cursor_despite_concurrent_posts() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    users[0].follow(&users[1]).await;
    let posting = async {
        for number in 0..60 {
            users[1].post(&number.to_string()).await;
        }
    };
    let reading = async {
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..400 {
            let response = match &cursor {
                None => users[0].run("Home", json!({ "first": 100 })).await,
                Some(cursor) => users[0].gql(SYNC, json!({ "before": cursor })).await,
            };
            let home = &response["data"]["homeTimeline"];
            let edges = home["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
            let messages = edges.iter().rev().filter_map(|edge| edge["node"]["status"]["message"].as_str());
            seen.extend(messages.map(str::to_owned));
            cursor = edges
                .first()
                .map(|edge| &edge["cursor"])
                .or(cursor.is_none().then_some(&home["syncCursor"]))
                .and_then(Value::as_str)
                .map(str::to_owned)
                .or(cursor);
            if seen.len() >= 60 {
                break;
            }
        }
        seen
    };
    let ((), seen) = futures_util::future::join(posting, reading).await;
    assert_eq!(seen, (0..60).map(|number| number.to_string()).collect::<Vec<_>>(), "each once and in order");
}

const SYNC: &str = "query($before: String!) { homeTimeline { entries(last: 100, before: $before) { edges { cursor node { status { message } } } } } }";

/// Runs a random action of a random user.
async fn act(people: &[Actor], posted: &Mutex<Vec<(usize, String)>>, seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let (who, whom) = (dice.random_range(0..people.len()), dice.random_range(0..people.len()));
    match dice.random_range(0..10) {
        0..3 => drop(people[who].follow(&people[whom]).await),
        3..5 => drop(people[who].unfollow(&people[whom]).await),
        5..8 => {
            let id = people[who].post(&seed.to_string()).await;
            posted.lock().expect("no panic").push((who, id));
        }
        _ => {
            let chosen = {
                let posted = posted.lock().expect("no panic");
                (!posted.is_empty()).then(|| posted[dice.random_range(0..posted.len())].clone())
            };
            if let Some((author, id)) = chosen {
                people[author].delete(&id).await;
            }
        }
    }
}

/// The lists of a user as the API returns them, by id.
struct ListsOfUser {
    followers: BTreeSet<String>,
    following: BTreeSet<String>,
    profile: Vec<StatusId>,
    home: Vec<StatusId>,
}

/// Reads the lists of a user, and asserts that the counts match.
async fn read_lists(person: &Actor) -> ListsOfUser {
    let response = person.run("Profile", json!({ "login": person.login, "first": 100 })).await;
    let user = &response["data"]["user"];
    let home = person.run("Home", json!({ "first": 100 })).await;
    let ids = |entries: &Value| -> Vec<StatusId> {
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{entries}"));
        edges
            .iter()
            .map(|edge| StatusId::from_global(edge["node"]["status"]["id"].as_str().expect("an id")).expect("a status"))
            .collect()
    };
    let people = |connection: &Value| -> BTreeSet<String> {
        let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}"));
        edges.iter().map(|edge| edge["node"]["id"].as_str().expect("an id").to_owned()).collect()
    };
    let lists = ListsOfUser {
        followers: people(&user["followers"]),
        following: people(&user["following"]),
        profile: ids(&user["profileTimeline"]["entries"]),
        home: ids(&home["data"]["homeTimeline"]["entries"]),
    };
    assert_eq!(user["followersCount"], lists.followers.len());
    assert_eq!(user["followingCount"], lists.following.len());
    assert_eq!(user["statusesCount"], lists.profile.len());
    lists
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_concurrent_changes_homes_and_counts_are_correct() {
    let seed: u64 = std::env::var("WAXWING_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(rand::random);
    println!("WAXWING_SEED={seed}");
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("c", 6).await;
    let elsewhere: Vec<Actor> = people.iter().map(|person| person.at(&other)).collect();
    let posted = Mutex::new(Vec::new());
    let acts = (0..200).map(|step| act(if step % 2 == 0 { &people } else { &elsewhere }, &posted, seed.wrapping_add(step)));
    futures_util::stream::iter(acts).for_each_concurrent(24, |act| act).await;
    app.drain().await;
    other.drain().await;
    let mut all = Vec::new();
    for person in &people {
        all.push(read_lists(person).await);
    }
    for (at, one) in all.iter().enumerate() {
        let mut expected = one.profile.clone();
        for (whom, other) in all.iter().enumerate() {
            let follows = one.following.contains(&people[whom].id);
            assert_eq!(follows, other.followers.contains(&people[at].id), "c{at} follows c{whom}, on one side");
            expected.extend(other.profile.iter().filter(|_| follows));
        }
        expected.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(one.home, expected, "the home of c{at}");
    }
}

#[tokio::test]
async fn a_full_home_is_rebuilt_after_an_unfollow() {
    let config = Config { home_window: 100, ..Config::default() };
    let app = TestApp::with(config).await;
    let [reader, early, loud] = app.users(["reader", "early", "loud"]).await;
    let own = reader.post("own").await;
    for at in 0..5 {
        app.clock.advance(1_000);
        early.post(&format!("early {at}")).await;
    }
    for at in 0..100 {
        app.clock.advance(1_000);
        loud.post(&format!("loud {at}")).await;
    }
    reader.follow(&early).await;
    reader.follow(&loud).await;
    assert_eq!(reader.home().await.len(), 100);
    assert!(reader.home().await.iter().all(|message| message.starts_with("loud")));
    reader.unfollow(&loud).await;
    assert_eq!(reader.home().await, ["early 4", "early 3", "early 2", "early 1", "early 0", "own"]);
    // A rebuilt home contains neither deleted statuses nor those of accounts that are not followed.
    reader.follow(&loud).await;
    reader.delete(&own).await;
    reader.unfollow(&early).await;
    reader.unfollow(&loud).await;
    assert_eq!(reader.home().await, Vec::<String>::new());
}
