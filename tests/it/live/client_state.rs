//! Folding: a client that applies the events of a home, of a tag and of its mentions to what it has read shows what a read shows, while servers and Redis are
//! killed, and statuses are posted, edited, reposted and deleted.
//!
//! `WAXWING_FOLDING_SECONDS` sets the duration, `WAXWING_FOLDING_SEED` the seed.

use crate::support::{Actor, RedisServer, ServerPair, SingleServerReason, TestApp};
use futures_util::{SinkExt, StreamExt};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

const EVENTS: &str = "fragment E on StatusEvent { __typename cursor
    ... on StatusPosted { status { id message } } ... on StatusEdited { status { id message } } ... on StatusDeleted { statusId }
    ... on StatusReposted { repostedBy { id } status { id message } } ... on RepostUndone { statusId repostedById } }";
/// The most statuses at one time, so that one page has all of them.
const MOST: usize = 40;

/// The fewest changes.
const CHANGES: usize = 100;

/// A timeline with its subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    Home,
    Tag,
    Mentions,
}

impl Followed {
    const ALL: [Self; 3] = [Self::Home, Self::Tag, Self::Mentions];

    const fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Tag => "tag",
            Self::Mentions => "mentions",
        }
    }

    fn query(self) -> String {
        let page = "{ syncCursor entries(first: 100) { edges { node { repostedBy { id } status { id message } } } } }";
        match self {
            Self::Home => format!("{{ timeline: homeTimeline {page} }}"),
            Self::Tag => format!("{{ tag(name: \"birds\") {{ timeline {page} }} }}"),
            Self::Mentions => format!("{{ timeline: viewerMentions {page} }}"),
        }
    }

    fn subscription(self) -> String {
        let field = match self {
            Self::Home => "homeTimelineEvents(after: $after)",
            Self::Tag => "tagTimelineEvents(name: \"birds\", after: $after)",
            Self::Mentions => "viewerMentionEvents(after: $after)",
        };
        format!("subscription($after: String) {{ event: {field} {{ ...E }} }} {EVENTS}")
    }

    /// Whether an edited status belongs to the timeline; `None` if an edit changes nothing of that.
    fn has(self, message: &str, login: &str) -> Option<bool> {
        let has = |name: String| message.split(' ').any(|word| word == name);
        match self {
            Self::Home => None,
            Self::Tag => Some(has("#birds".to_owned())),
            Self::Mentions => Some(has(format!("@{login}"))),
        }
    }
}

/// A status, and the account whose repost it is; empty if the entry is no repost.
type Entry = (String, String);

/// The entries that a client shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown(BTreeMap<Entry, String>);

impl Shown {
    fn of_page(timeline: &Value) -> Self {
        let edges = timeline["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{timeline}"));
        let entry = |edge: &Value| {
            let (status, by) = (&edge["node"]["status"], &edge["node"]["repostedBy"]["id"]);
            ((text(&status["id"]), by.as_str().unwrap_or_default().to_owned()), text(&status["message"]))
        };
        Self(edges.iter().map(entry).collect())
    }

    fn apply(&mut self, of: Followed, login: &str, event: &Value) {
        let status = || (text(&event["status"]["id"]), text(&event["status"]["message"]));
        match event["__typename"].as_str() {
            Some("StatusPosted") => {
                let (id, message) = status();
                self.0.insert((id, String::new()), message);
            }
            Some("StatusReposted") => {
                let (id, message) = status();
                self.0.insert((id, text(&event["repostedBy"]["id"])), message);
            }
            Some("RepostUndone") => {
                self.0.remove(&(text(&event["statusId"]), text(&event["repostedById"])));
            }
            Some("StatusEdited") => {
                let (id, message) = status();
                match of.has(&message, login) {
                    Some(true) => drop(self.0.insert((id, String::new()), message)),
                    Some(false) => drop(self.0.remove(&(id, String::new()))),
                    None => self.0.iter_mut().filter(|(entry, _)| entry.0 == id).for_each(|(_, text)| text.clone_from(&message)),
                }
            }
            Some("StatusDeleted") => {
                let id = text(&event["statusId"]);
                self.0.retain(|entry, _| entry.0 != id);
            }
            other => panic!("{other:?}: {event}"),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

struct FoldingTest {
    servers: ServerPair,
    /// Whether the faults and the changes are over.
    over: AtomicBool,
    /// Streams that show what a read shows.
    finished: AtomicUsize,
    /// How the streams that are not finished differ from what a read shows.
    differences: Mutex<BTreeMap<(String, &'static str), String>>,
}

impl FoldingTest {
    async fn url(&self, attempt: usize) -> String {
        loop {
            match self.servers.url(attempt) {
                Some(url) => return url,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// Sends a document until a server responds without an error.
    async fn ask(&self, actor: &Actor, query: &str, variables: Value) -> Value {
        for attempt in 0.. {
            let url = self.url(attempt).await;
            if let Ok(mut response) = actor.at_url(&url).try_gql(query, variables.clone()).await
                && response.get("errors").is_none()
            {
                return response["data"].take();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        unreachable!("it is sent again for ever")
    }

    async fn change(&self, actor: &Actor, field: &str, input: Value) -> Value {
        let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
        let selection = if field == "deleteStatus" { "deletedStatusId" } else { "status { id }" };
        let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ {selection} userErrors {{ code }} }} }}");
        self.ask(actor, &query, json!({ "input": input })).await[field].take()
    }

    /// Records how a stream differs from what a read shows, for the message of a failure.
    fn compare(&self, actor: &Actor, of: Followed, shown: &Shown, read: &Shown) {
        let only = |a: &Shown, b: &Shown| {
            a.0.iter().filter(|(entry, text)| b.0.get(*entry) != Some(*text)).map(|it| format!("{it:?}")).collect::<Vec<_>>()
        };
        let difference = format!("only shown: {:?}, only read: {:?}", only(shown, read), only(read, shown));
        self.differences.lock().expect("no panic").insert((actor.login.clone(), of.name()), difference);
    }

    /// The page of a timeline, and its sync cursor.
    async fn read(&self, actor: &Actor, of: Followed) -> (Shown, String) {
        let data = self.ask(actor, &of.query(), json!({})).await;
        let timeline = if of == Followed::Tag { &data["tag"]["timeline"] } else { &data["timeline"] };
        (Shown::of_page(timeline), text(&timeline["syncCursor"]))
    }
}

/// Reads a timeline and applies its events until it shows what a read shows after the changes are over. Returns the numbers of events and gaps.
async fn client(test: Arc<FoldingTest>, actor: Actor, of: Followed) -> (usize, usize) {
    let (mut shown, mut cursor) = test.read(&actor, of).await;
    let (mut events, mut gaps) = (0, 0);
    for attempt in 0.. {
        let url = test.url(attempt).await;
        // An error is that of a killed server, or of a storage that is unavailable: the client connects again.
        if let Ok(true) = follow(&test, &url, &actor, of, (&mut shown, &mut cursor), (&mut events, &mut gaps)).await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (events, gaps)
}

async fn follow(
    test: &FoldingTest,
    url: &str,
    actor: &Actor,
    of: Followed,
    (shown, cursor): (&mut Shown, &mut String),
    (events, gaps): (&mut usize, &mut usize),
) -> Result<bool, SocketError> {
    let mut request = format!("{}/graphql", url.replace("http:", "ws:")).into_client_request()?;
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().expect("a header"));
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let token = format!("Bearer {}", actor.token.as_deref().expect("a token"));
    socket.send(Message::text(json!({ "type": "connection_init", "payload": { "authorization": token } }).to_string())).await?;
    let payload = json!({ "query": of.subscription(), "variables": { "after": cursor } });
    loop {
        let message = match tokio::time::timeout(Duration::from_millis(200), socket.next()).await {
            Ok(Some(message)) => message?,
            Ok(None) => return Ok(false),
            Err(_) if test.over.load(Ordering::SeqCst) => {
                let read = test.read(actor, of).await.0;
                test.compare(actor, of, shown, &read);
                if read == *shown {
                    test.finished.fetch_add(1, Ordering::SeqCst);
                    return Ok(true);
                }
                continue;
            }
            Err(_) => continue,
        };
        let Message::Text(received) = message else { continue };
        let message: Value = serde_json::from_str(&received).expect("JSON");
        match message["type"].as_str() {
            Some("connection_ack") => {
                socket.send(Message::text(json!({ "type": "subscribe", "id": "1", "payload": payload }).to_string())).await?;
            }
            Some("next") => {
                let event = &message["payload"]["data"]["event"];
                assert!(message["payload"].get("errors").is_none() && event.is_object(), "{message}");
                if event["__typename"] == "StreamGap" {
                    *gaps += 1;
                    (*shown, *cursor) = test.read(actor, of).await;
                    return Ok(false);
                }
                *events += 1;
                shown.apply(of, &actor.login, event);
                *cursor = text(&event["cursor"]);
            }
            Some("ping") => socket.send(Message::text(json!({ "type": "pong" }).to_string())).await?,
            Some("error" | "complete") => return Ok(false),
            _ => {}
        }
    }
}

/// Changes statuses until the faults are over. `reposter` reposts those of `stranger`, whom the clients do not follow.
async fn changes(test: Arc<FoldingTest>, [author, stranger, reposter]: [Actor; 3], mentioned: Vec<String>, mut random: StdRng) {
    let (mut posted, mut reposted, mut number) = (Vec::<(usize, String)>::new(), BTreeSet::new(), 0);
    let authors = [&author, &stranger];
    // A slow machine makes few changes until then.
    while !test.over.load(Ordering::SeqCst) || number < CHANGES {
        number += 1;
        let mut message = format!("{number}");
        for name in
            ["#birds".to_owned(), "#trees".to_owned()].into_iter().chain(mentioned.iter().map(|login| format!("@{login}")))
        {
            if random.random_bool(0.4) {
                message = format!("{message} {name}");
            }
        }
        let picked = posted.choose(&mut random).cloned();
        match (random.random_range(0..10), picked) {
            (0..4, _) | (_, None) if posted.len() < MOST => {
                let by = random.random_range(0..2);
                let input = json!({ "message": message, "idempotencyKey": format!("post-{number}") });
                let response = test.change(authors[by], "postStatus", input).await;
                posted.push((by, text(&response["status"]["id"])));
            }
            (4 | 5, Some((by, id))) => {
                drop(test.change(authors[by], "editStatus", json!({ "statusId": id, "message": message })).await)
            }
            (6 | 7, Some((1, id))) => {
                let field = if reposted.insert(id.clone()) { "repostStatus" } else { "undoRepost" };
                if field == "undoRepost" {
                    reposted.remove(&id);
                }
                test.change(&reposter, field, json!({ "statusId": id })).await;
            }
            (8.., Some((by, id))) => {
                posted.retain(|(_, other)| *other != id);
                test.change(authors[by], "deleteStatus", json!({ "statusId": id })).await;
            }
            _ => {}
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..30))).await;
    }
}

fn inject_faults(test: &FoldingTest, random: &mut StdRng, duration: Duration) {
    let began = Instant::now();
    while began.elapsed() < duration {
        std::thread::sleep(Duration::from_millis(random.random_range(100..700)));
        match random.random_range(0..4) {
            0 | 1 => {
                let which = random.random_range(0..2);
                test.servers.kill(which);
                std::thread::sleep(Duration::from_millis(random.random_range(0..300)));
                test.servers.restart(which);
            }
            2 => {
                test.servers.redis.kill();
                std::thread::sleep(Duration::from_millis(random.random_range(0..500)));
                test.servers.redis.restart();
            }
            _ => drop(test.servers.redis.run::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"])),
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

#[tokio::test(flavor = "multi_thread")]
async fn applying_the_events_gives_the_result_of_a_read_under_faults() {
    let seed = number("WAXWING_FOLDING_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    let duration = Duration::from_secs(number("WAXWING_FOLDING_SECONDS").unwrap_or(8));
    println!("seed {seed}");
    let redis =
        RedisServer::single_with(SingleServerReason::ConnectionControl, &["--appendonly", "yes", "--appendfsync", "always"]);
    let redis = Arc::new(redis);
    let app = TestApp::on_redis(redis.clone(), Clock::System, Config::default()).await;
    let [author, stranger, reposter, one, two] = app.users(["author", "stranger", "reposter", "one", "two"]).await;
    for client in [&one, &two] {
        client.follow(&author).await;
        client.follow(&reposter).await;
        client.mutate_ok("followTag", json!({ "name": "trees" }), "tag { name }").await;
        client.mutate_ok("unfollowTag", json!({ "name": "trees" }), "tag { name }").await;
    }
    app.drain().await;
    drop(app);
    let test = FoldingTest {
        servers: ServerPair::start(redis),
        over: AtomicBool::new(false),
        finished: AtomicUsize::new(0),
        differences: Mutex::default(),
    };
    let test = Arc::new(test);
    let clients: Vec<_> = [&one, &two]
        .into_iter()
        .flat_map(|actor| Followed::ALL.map(|of| tokio::spawn(client(test.clone(), actor.clone(), of))))
        .collect();
    let mentioned = vec!["one".to_owned(), "two".to_owned()];
    let changing = tokio::spawn(changes(test.clone(), [author, stranger, reposter], mentioned, StdRng::seed_from_u64(seed)));
    let faulty = test.clone();
    tokio::task::spawn_blocking(move || inject_faults(&faulty, &mut StdRng::seed_from_u64(seed), duration))
        .await
        .expect("no panic");
    test.over.store(true, Ordering::SeqCst);
    changing.await.expect("every change gets its response");
    let (mut events, mut gaps) = (0, 0);
    for client in clients {
        let client = tokio::time::timeout(Duration::from_secs(30), client).await;
        let (received, missed) = client
            .unwrap_or_else(|_| panic!("seed {seed}: {:#?}", test.differences.lock().expect("no panic")))
            .expect("valid events");
        (events, gaps) = (events + received, gaps + missed);
    }
    println!("{events} events, {gaps} gaps");
    assert!(events > 50 && test.finished.load(Ordering::SeqCst) == 2 * Followed::ALL.len());
}
