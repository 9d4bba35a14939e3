//! The cost of relations: homes of viewers who block and mute, changes of relations, a public event for subscribers of whom some hide its author,
//! and bytes in Redis.

use super::bed::{Bed, Past};
use super::cases::{HOME, operation};
use super::edge::Edge;
use super::inside::is_whole;
use super::live::Subscriptions;
use super::meter::{Cost, measure};
use super::world::{self, Reader, Size};
use axum::body::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use waxwing::app::App;
use waxwing::base::audience::AudienceKind;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::UserId;
use waxwing::cli::workers;
use waxwing::db::Target;
use waxwing::domains::relations::service as relations;
use waxwing::domains::sessions;
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::User;
use waxwing::domains::users::service::{self as users, ProfileChange};
use waxwing::platform::journal::{Feed, Queue, service as journal};

/// The relations of a viewer who has any.
const RELATIONS: usize = 500;
/// Every viewer has two thousand statuses of a hundred authors in the home.
const WORLD: Size = Size { users: 2_000, readers: 40, follows: 100, statuses: 20 };
/// The share of entries that a mute drops in percent, or none for a viewer without relations; and the entries of a page.
const HOMES: [(Option<usize>, usize); 8] =
    [(None, 50), (Some(0), 50), (Some(30), 50), (None, 10), (Some(0), 10), (Some(30), 10), (Some(90), 10), (Some(99), 10)];
const PAGES: usize = 400;
const POSTS: usize = 50;
const SUBSCRIBERS: usize = 1_000;
const EVENTS: usize = 100;
const REQUESTS: usize = 10_000;

/// A line of the table of requests.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) cost: Cost,
}

#[derive(Default)]
pub(crate) struct Privacy {
    pub(crate) rows: Vec<Row>,
    /// Kinds of relations, and the bytes that one takes in Redis.
    pub(crate) bytes: Vec<(&'static str, f64)>,
}

impl Privacy {
    fn add(&mut self, name: &str, cost: Cost) {
        println!("  {name:<52} {:>9.0} {:>9.0} {:>7.1} {:>10.1}", cost.own, cost.redis, cost.trips, cost.commands);
        self.rows.push(Row { name: name.to_owned(), cost });
    }
}

pub(crate) fn run() -> Privacy {
    println!("Relations, a request:                                       CPU us: own   Redis   trips   commands");
    super::runtime().block_on(async {
        let mut all = Privacy::default();
        homes(&mut all).await;
        posts(&mut all).await;
        changes(&mut all).await;
        events(&mut all).await;
        bytes(&mut all).await;
        println!();
        all
    })
}

async fn edge(bed: &Bed) -> Edge {
    Edge::over(&Target::socket(&bed.socket()), true, Clock::System).await
}

/// Reads homes with a part of the followed accounts muted, beside other mutes and blocks.
async fn homes(all: &mut Privacy) {
    for (dropped, first) in HOMES {
        let bed = Bed::with(&[], Config::default()).await;
        let readers = world::load(&bed, WORLD).await;
        for reader in &readers {
            if let Some(dropped) = dropped {
                relate(&bed, reader, dropped).await;
            }
        }
        let relations = dropped.map_or("no relations".to_owned(), |dropped| format!("{dropped} % of the entries dropped"));
        let cost = pages(&bed, &readers, first).await;
        all.add(&format!("home of {first}, {relations}"), cost);
    }
}

/// Mutes a part of the followed accounts, and mutes and blocks others up to [`RELATIONS`] of each.
async fn relate(bed: &Bed, reader: &Reader, dropped: usize) {
    let id = UserId(reader.id);
    let (followed, _) = timelines::sources_and_version(&bed.app, Feed::Home(id)).await.expect("sources");
    let followed: Vec<UserId> = followed.into_iter().filter(|it| *it != id).collect();
    // Spread over the followed accounts, who have posted in turns.
    let is_muted = |at: usize| at * 37 % 100 < dropped;
    let muted: Vec<UserId> = followed.into_iter().enumerate().filter(|(at, _)| is_muted(*at)).map(|(_, it)| it).collect();
    for other in &muted {
        relations::mute(&bed.app, id, *other, None).await.expect("a mute");
    }
    // Accounts that nobody reads: their relations are read with those of the others.
    let others = Past::people(&bed.app, 2 * RELATIONS);
    import(bed, id, &others[..RELATIONS - muted.len()], &others[RELATIONS..]).await;
}

/// Writes mutes and blocks of accounts that do not exist, as the scripts do.
async fn import(bed: &Bed, id: UserId, muted: &[UserId], blocked: &[UserId]) {
    let owner = id.0;
    let member =
        |kind: &str, other: &UserId| redis::cmd("ZADD").arg(format!("{kind}:{{{owner}}}")).arg(i64::MAX).arg(other.0).take();
    let count = |field: &str, count: usize| redis::cmd("HINCRBY").arg(format!("user:{{{owner}}}")).arg(field).arg(count).take();
    let counts = [count("mutes", muted.len()), count("blocks", blocked.len()), count("relations", 1)];
    let members = muted.iter().map(|it| member("mutes", it)).chain(blocked.iter().map(|it| member("blocks", it)));
    bed.write(members.chain(counts)).await;
}

async fn pages(bed: &Bed, readers: &[Reader], first: usize) -> Cost {
    let edge = edge(bed).await;
    let body = Bytes::from(json!({ "query": HOME.replace("first: 30", &format!("first: {first}")) }).to_string());
    let ask = async |number: usize| {
        let answer = edge.ask(Some(&readers[number % readers.len()].token), body.clone()).await;
        is_whole(&answer);
        let entries = String::from_utf8_lossy(&answer).matches("\"cursor\"").count();
        assert_eq!(entries, first, "the page is full");
        answer.len()
    };
    for number in 0..2 * readers.len() {
        ask(number).await;
    }
    let work = async {
        let mut answered = 0;
        for number in 0..PAGES {
            answered += ask(number).await;
        }
        (PAGES, answered)
    };
    measure(bed, &edge.app, work).await
}

/// Posts to a thousand followers, for all of them and for twenty friends among them.
async fn posts(all: &mut Privacy) {
    for (kind, name) in
        [(AudienceKind::Public, "post, 1,000 followers"), (AudienceKind::Friends, "post for 20 friends, 1,000 followers")]
    {
        let bed = Bed::with(&[], Config::default()).await;
        let people = Past::people(&bed.app, 1_000);
        bed.homes(&people, &[bed.app.config().home_window]).await;
        let author = bed.author("author", &people).await;
        let app = edge(&bed).await.app;
        for friend in &people[..20] {
            timelines::request_friend(&app, *friend, author).await.expect("a request");
            timelines::accept_friend_request(&app, author, *friend).await.expect("friends");
        }
        let post = async || {
            let audience = AudienceInput { kind: Some(kind), list: None };
            let draft = StatusDraft {
                message: "Good evening.".into(),
                location: None,
                audience,
                idempotency_key: None,
                ..StatusDraft::default()
            };
            timelines::post(&app, author, draft).await.ok().flatten().expect("a status");
        };
        post().await;
        app.drain().await;
        let work = async {
            for _ in 0..POSTS {
                post().await;
            }
            app.drain().await;
            (POSTS, 0)
        };
        let cost = measure(&bed, &app, work).await;
        all.add(name, cost);
    }
}

/// Measures one change, with all of its work after the response.
async fn change<T>(bed: &Bed, app: &App, change: impl Future<Output = T>) -> Cost {
    let work = async {
        change.await;
        app.drain().await;
        for queue in [Queue::Short, Queue::Long] {
            while journal::queue_length(app, queue).await.expect("a count") > 0 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        (1, 0)
    };
    measure(bed, app, work).await
}

async fn changes(all: &mut Privacy) {
    let bed = Bed::with(&[], Config::default()).await;
    // Two accounts that follow each other, with a thousand statuses each in both homes.
    let size = Size { users: 2, readers: 2, follows: 1, statuses: 500 };
    let readers = world::load(&bed, size).await;
    let [ada, bea] = [0, 1].map(|at| UserId(readers[at].id));
    let app = edge(&bed).await.app;
    all.add(
        "befriend two accounts",
        change(&bed, &app, async {
            timelines::request_friend(&app, ada, bea).await.expect("a request");
            timelines::accept_friend_request(&app, bea, ada).await.expect("friends");
        })
        .await,
    );
    all.add(
        "block a friend with 500 entries in each home",
        change(&bed, &app, async {
            timelines::block(&app, ada, bea).await.expect("a block");
        })
        .await,
    );
    all.add("unblock", change(&bed, &app, async { timelines::unblock(&app, ada, bea).await.expect("no block") }).await);
    let privacy = |is_private| ProfileChange { is_private: Some(is_private), ..ProfileChange::default() };
    timelines::update_profile(&app, ada, privacy(true)).await.expect("a private account");
    assert_eq!(request_follows(&app, ada).await, REQUESTS);
    let stop = CancellationToken::new();
    let workers = tokio::spawn({
        let (app, stop) = (app.clone(), stop.clone());
        async move { workers::run(&app, &stop).await }
    });
    let cost =
        change(&bed, &app, async { timelines::update_profile(&app, ada, privacy(false)).await.expect("a public account") }).await;
    stop.cancel();
    workers.await.expect("they end");
    all.add("go public with 10,000 follow requests", cost);
}

/// Creates accounts that ask to follow `to`, and returns their number.
async fn request_follows(app: &App, to: UserId) -> usize {
    let ids = Past::people(app, REQUESTS);
    let accounts: Vec<User> = ids.iter().map(|id| User::new(*id, format!("r{}", id.0), "R".to_owned())).collect();
    for part in accounts.chunks(1_000) {
        users::import(app, part, world::PASSWORD).await.expect("accounts");
    }
    let requests = ids.iter().map(async |id| timelines::follow(app, *id, to).await);
    stream::iter(requests).buffer_unordered(32).try_collect::<Vec<()>>().await.expect("requests").len()
}

/// A status for subscribers to the public stream, without relations, and with every third hiding the author.
async fn events(all: &mut Privacy) {
    let document = operation(include_str!("../../it/contract/live.graphql"), &["subscription PublicStream", "fragment Event"]);
    for hiding in [0, 300] {
        let bed = Bed::with(&[], Config::default()).await;
        let readers = world::load(&bed, Size { users: SUBSCRIBERS, readers: SUBSCRIBERS, follows: 1, statuses: 1 }).await;
        let author = bed.author("author", &[]).await;
        let edge = edge(&bed).await;
        for (number, reader) in readers.iter().take(hiding).enumerate() {
            let viewer = UserId(reader.id);
            match number % 2 {
                0 => timelines::block(&edge.app, viewer, author).await.expect("a block"),
                _ => relations::mute(&edge.app, viewer, author, None).await.expect("a mute"),
            }
        }
        edge.app.drain().await;
        let tokens: Vec<&str> = readers.iter().map(|reader| reader.token.as_str()).collect();
        let filter = json!({ "filter": { "follow": ["author"] } });
        let subscriptions = Subscriptions::of_viewers(&edge, &document, &filter, &tokens, "").await;
        let token = sessions::service::create_many(&edge.app, &[author]).await.expect("a session").remove(0);
        let each = SUBSCRIBERS - hiding;
        let post = async |number: usize| {
            let query = "mutation($input: PostStatusInput!) { postStatus(input: $input) { status { id } userErrors { code } } }";
            let body = json!({ "query": query, "variables": { "input": { "message": format!("status {number}") } } });
            let answer = edge.ask(Some(&token), body.to_string().into()).await;
            is_whole(&answer);
            subscriptions.wait_for_responses((number + 1) * each).await;
            answer.len()
        };
        for number in 0..20 {
            post(number).await;
        }
        let work = async {
            let mut answered = 0;
            for number in 20..20 + EVENTS {
                answered += post(number).await;
            }
            edge.app.drain().await;
            (EVENTS, answered)
        };
        let cost = measure(&bed, &edge.app, work).await;
        all.add(&format!("a status for 1,000 subscribers, {hiding} of whom hide the author"), cost);
    }
}

/// The bytes of a thousand relations of one account, both sides included.
async fn bytes(all: &mut Privacy) {
    for kind in ["follow", "follow request", "friend request", "friendship", "block", "mute"] {
        let bed = Bed::with(&[], Config::default()).await;
        let readers = world::load(&bed, Size { users: 1_001, readers: 1_001, follows: 1, statuses: 0 }).await;
        let app = edge(&bed).await.app;
        let ids: Vec<UserId> = readers.iter().map(|reader| UserId(reader.id)).collect();
        let (owner, others) = (ids[0], &ids[2..]);
        if kind == "follow request" {
            let private = ProfileChange { is_private: Some(true), ..ProfileChange::default() };
            timelines::update_profile(&app, owner, private).await.expect("a private account");
        }
        // The first of them creates what all share.
        relation(&app, kind, owner, others[0]).await;
        let before = settled_memory(&app, &bed).await;
        for other in &others[1..] {
            relation(&app, kind, owner, *other).await;
        }
        let each = (settled_memory(&app, &bed).await as f64 - before as f64) / (others.len() - 1) as f64;
        println!("  {kind:<20} {each:>8.0} bytes");
        all.bytes.push((kind, each));
    }
}

async fn relation(app: &App, kind: &str, owner: UserId, other: UserId) {
    match kind {
        "follow" | "follow request" => timelines::follow(app, other, owner).await.expect("a follow"),
        "friend request" => timelines::request_friend(app, other, owner).await.expect("a request"),
        "friendship" => {
            timelines::request_friend(app, other, owner).await.expect("a request");
            timelines::accept_friend_request(app, owner, other).await.expect("friends");
        }
        "block" => timelines::block(app, owner, other).await.expect("a block"),
        _ => relations::mute(app, owner, other, None).await.expect("a mute"),
    }
}

async fn settled_memory(app: &App, bed: &Bed) -> u64 {
    app.drain().await;
    bed.used_memory().await
}
