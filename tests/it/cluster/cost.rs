//! The cost of requests on three nodes: as many round trips as on one server, one more for a sync cursor, and one pipeline per node in each.

use super::db_on;
use crate::support::{Cluster, LONG_TIMEOUTS, START, TestServer};
use redis::{Cmd, Value, cmd};
use serde_json::json;
use std::collections::BTreeSet;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

#[tokio::test]
async fn a_home_page_costs_one_pipeline_per_node() {
    let (cluster, clock) = (Cluster::start(), Clock::manual(START));
    let db = db_on(&cluster, LONG_TIMEOUTS).await;
    let app = TestServer::start(App::new(db, clock.clone(), Config::default()), clock).await;
    let reader = app.user("reader").await;
    let mut authors = Vec::new();
    for number in 0..12 {
        let author = app.user(&format!("author{number}")).await;
        reader.follow(&author).await;
        authors.push(author);
    }
    for number in 0..60 {
        app.clock.advance(1_000);
        authors[number % 12].post(&number.to_string()).await;
    }
    app.drain().await;
    reader.run("Home", json!({ "first": 1 })).await;
    app.drain().await;
    let (trips, pipelines) = (app.app.db().round_trips(), app.app.db().meters().pipelines());
    let reply = reader.run("Home", json!({ "first": 30 })).await;
    let (trips, pipelines) = (app.app.db().round_trips() - trips, app.app.db().meters().pipelines() - pipelines);
    assert_eq!(reply["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len), Some(30), "{reply}");
    let places: BTreeSet<usize> =
        authors.iter().map(|author| cluster.node_of(&format!("user:{{{}}}", author.user_id().0))).collect();
    // The session, the viewer, the position in the event log (a part on every node), the rows; thirty statuses, on every node; and the authors.
    assert_eq!((trips, pipelines), (6, 1 + 1 + 3 + 1 + 3 + places.len() as u64));
}

#[tokio::test]
async fn replies_are_returned_in_the_order_of_the_commands() {
    let cluster = Cluster::start();
    let db = db_on(&cluster, LONG_TIMEOUTS).await;
    let key = |number: usize| format!("user:{{{number}}}");
    let sets: Vec<Cmd> = (0..5_000).map(|number| cmd("HSET").arg(key(number)).arg("a").arg(number).take()).collect();
    assert_eq!(db.write_many(sets).await.expect("written"), vec![Value::Int(1); 5_000]);
    let gets: Vec<Cmd> = (0..5_000).rev().map(|number| cmd("HGET").arg(key(number)).arg("a").take()).collect();
    let before = (db.round_trips(), db.meters().pipelines());
    let replies = db.read_many(gets).await.expect("read");
    let replies: Vec<usize> = replies.into_iter().map(|reply| redis::from_redis_value(reply).expect("a number")).collect();
    assert_eq!(replies, (0..5_000).rev().collect::<Vec<_>>());
    assert_eq!(
        (db.round_trips() - before.0, db.meters().pipelines() - before.1),
        (3, 9),
        "pipelines of at most two thousand commands"
    );
    assert_eq!(db.size().await.expect("a number"), 5_000);
    // An error is returned at the position of its command.
    let mixed = [0, 1, 2].map(|number| cmd(if number == 1 { "GET" } else { "HLEN" }).arg(key(number)).take());
    let replies = db.read_lenient(mixed.to_vec()).await.expect("read");
    assert!(matches!(&replies[..], [Value::Int(1), Value::ServerError(error), Value::Int(1)] if error.code() == "WRONGTYPE"));
}
