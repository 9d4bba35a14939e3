//! A separate server with many sockets: the memory of an idle socket, and the time from the call that posts a status until each client
//! receives the event. The clients and the poster run in this process; on two cores they compete with the server.

use crate::LIVE;
use crate::bed::{Bed, of_threads, percentile};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{WebSocketStream, client_async};
use waxwing::base::config::Config;
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;

/// The number of idle sockets, and of those that receive events.
const WAITING: usize = 10_000;
const SUBSCRIBERS: usize = 2_000;
/// The number of statuses that are delivered.
const STATUSES: usize = 100;

/// A server, until it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(bed: &Bed) -> Self {
        let redis = format!("unix:{}", bed.socket().display());
        let mut child = Command::new(env!("CARGO_BIN_EXE_waxwing"))
            .args(["serve", "--listen", "127.0.0.1:0", "--address-sockets", "20000"])
            .args(["--max-connections", "20000", "--address-connections", "20000"])
            .args(["--redis", &redis, "--rate-limits", "off"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let address = lines.filter_map(|line| {
            let (_, address) = line.split_once("http://")?;
            address.split(|it: char| it == '/' || it.is_whitespace()).next().map(str::to_owned)
        });
        let address = { address }.next().expect("an address");
        Self { child, address }
    }

    /// Returns its resident memory, in bytes.
    fn resident(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).expect("it runs");
        text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).expect("a number") * 4096.0
    }

    /// Opens a socket that subscribes to statuses with a word.
    async fn follow(&self, word: String) -> WebSocketStream<TcpStream> {
        let mut request = format!("ws://{}/graphql", self.address).into_client_request().expect("a request");
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("graphql-transport-ws"));
        let stream = TcpStream::connect(&self.address).await.expect("a connection");
        let (mut socket, _) = client_async(request, stream).await.expect("a socket");
        let payload = json!({ "query": LIVE, "operationName": "PublicStream", "variables": { "filter": { "track": [word] } } });
        for message in [json!({ "type": "connection_init" }), json!({ "id": "1", "type": "subscribe", "payload": payload })] {
            socket.send(Message::text(message.to_string())).await.expect("it is sent");
        }
        socket.next().await.expect("an acknowledgement").expect("it is whole");
        socket
    }

    async fn follow_many(
        self: &Arc<Self>,
        numbers: std::ops::Range<usize>,
        word: fn(usize) -> String,
    ) -> Vec<WebSocketStream<TcpStream>> {
        let mut all = Vec::new();
        for number in numbers {
            all.push(self.follow(word(number)).await);
        }
        // The subscriptions of the last sockets have begun by then.
        tokio::time::sleep(Duration::from_secs(2)).await;
        all
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures the memory of idle sockets, each with a subscription to its own word.
pub(crate) async fn memory() {
    let bed = Bed::with(&[], Config::default()).await;
    let server = Arc::new(Server::start(&bed));
    let word = |number| format!("tea word{number}");
    let mut all = server.follow_many(0..500, word).await;
    let before = server.resident();
    all.extend(server.follow_many(500..WAITING + 500, word).await);
    let each = (server.resident() - before) / WAITING as f64 / 1024.0;
    println!(
        "{WAITING} more sockets with a subscription that waits: {each:.1} KiB each of them, all that the server has for it."
    );
}

/// Measures the time from a post to every socket.
pub(crate) async fn delivery() {
    let bed = Bed::with(&[], Config::default()).await;
    let author = bed.author("author", &[]).await;
    let server = Arc::new(Server::start(&bed));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut clients = JoinSet::new();
    for mut socket in server.follow_many(0..SUBSCRIBERS, |_| "tea".into()).await {
        let sender = sender.clone();
        clients.spawn(async move {
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Text(text) = message {
                    assert!(text.contains("\"StatusPosted\""), "{text}");
                    let _ = sender.send(Instant::now());
                }
            }
        });
    }
    let (mut times, mut posts) = (Vec::new(), Vec::new());
    let before = of_threads(server.child.id());
    for number in 0..STATUSES {
        let draft = StatusDraft {
            message: format!("The tea is ready, {number}."),
            location: None,
            audience: AudienceInput::default(),
            idempotency_key: None,
            ..StatusDraft::default()
        };
        let began = Instant::now();
        timelines::post(&bed.app, author, draft).await.expect("it is posted");
        posts.push(began.elapsed());
        for _ in 0..SUBSCRIBERS {
            let at = tokio::time::timeout(Duration::from_secs(10), receiver.recv())
                .await
                .expect("every client receives it")
                .expect("a time");
            times.push(at.duration_since(began));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let cpu = (of_threads(server.child.id()) - before) / (STATUSES * SUBSCRIBERS) as f64;
    let [half, most, post] = [percentile(&mut times, 50), percentile(&mut times, 99), percentile(&mut posts, 50)];
    println!(
        "{STATUSES} statuses to {SUBSCRIBERS} sockets with the same selection: from the call that posts to the client's end of each socket"
    );
    println!(
        "  p50 {half:.1} ms, p99 {most:.1} ms; of that the call itself p50 {post:.1} ms; CPU us a delivery {cpu:.1}, server alone"
    );
}
