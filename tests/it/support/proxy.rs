//! A TCP proxy in front of a test's Redis, or of a node of its cluster, that can fail as networks do: it drops or delays bytes in one direction or
//! in both while the connection stays open. New connections pass.

use super::RedisServer;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// The treatment of forwarded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Pass,
    /// As many pieces pass as are permitted; then they wait.
    PassOnly(usize),
    /// They wait until they may pass.
    Hold,
    /// They are dropped.
    Drop,
}

/// Both directions of a connection.
#[derive(Clone)]
struct Pipe {
    to_redis: watch::Sender<Flow>,
    to_server: watch::Sender<Flow>,
}

/// The state that the replies get when these bytes pass to Redis.
type ReplyTrigger = Option<(&'static [u8], Flow)>;

/// The bytes before which the rest of a piece waits on its way to Redis.
type Cut = Option<&'static [u8]>;

#[derive(Default)]
struct State {
    pipes: Mutex<Vec<Pipe>>,
    trigger: Mutex<ReplyTrigger>,
    cut: Mutex<Cut>,
    accepted: AtomicUsize,
    open: AtomicUsize,
}

pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
    _running: tokio_util::sync::DropGuard,
}

impl Proxy {
    pub async fn in_front_of(redis: &RedisServer) -> Self {
        let path = redis.operator_url().trim_start_matches("unix:").to_owned();
        Self::start(Ipv4Addr::LOCALHOST.into(), move || UnixStream::connect(path.clone())).await
    }

    pub async fn in_front_of_port(host: IpAddr, port: u16) -> Self {
        Self::start(host, move || TcpStream::connect((host, port))).await
    }

    async fn start<S, F>(host: IpAddr, connect: impl Fn() -> F + Send + 'static) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
        F: Future<Output = std::io::Result<S>> + Send + 'static,
    {
        let listener = TcpListener::bind((host, 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State::default());
        let stop = tokio_util::sync::CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(listen(listener, connect, state.clone())));
        Self { port, state, _running: stop.drop_guard() }
    }

    /// Sets the state of the current connections.
    pub fn set(&self, to_redis: Flow, to_server: Flow) {
        for pipe in self.state.pipes.lock().expect("no panic while held").iter() {
            pipe.to_redis.send_replace(to_redis);
            pipe.to_server.send_replace(to_server);
        }
    }

    /// Sets the state of the replies on a connection once `bytes` have passed to Redis; once.
    pub fn set_after(&self, bytes: &'static [u8], to_server: Flow) {
        *self.state.trigger.lock().expect("no panic while held") = Some((bytes, to_server));
    }

    /// Whether [`Self::set_after`] has not taken effect yet.
    pub fn is_armed(&self) -> bool {
        self.state.trigger.lock().expect("no panic while held").is_some()
    }

    /// Passes a piece up to the last occurrence of `bytes`; the rest waits, with everything after it. Once.
    pub fn cut_before(&self, bytes: &'static [u8]) {
        *self.state.cut.lock().expect("no panic while held") = Some(bytes);
    }

    /// Whether requests are held.
    pub fn holds_requests(&self) -> bool {
        self.state.pipes.lock().expect("no panic while held").iter().any(|pipe| *pipe.to_redis.borrow() == Flow::Hold)
    }

    /// Whether the permitted number of replies has passed.
    pub fn holds_replies(&self) -> bool {
        self.state.pipes.lock().expect("no panic while held").iter().all(|pipe| *pipe.to_server.borrow() == Flow::PassOnly(0))
    }

    /// The number of connections so far.
    pub fn accepted(&self) -> usize {
        self.state.accepted.load(Ordering::SeqCst)
    }

    /// The number of open connections.
    pub fn open(&self) -> usize {
        self.state.open.load(Ordering::SeqCst)
    }
}

async fn listen<S, F>(listener: TcpListener, connect: impl Fn() -> F, state: Arc<State>)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
    F: Future<Output = std::io::Result<S>> + Send + 'static,
{
    while let Ok((server, _)) = listener.accept().await {
        state.accepted.fetch_add(1, Ordering::SeqCst);
        let pipe = Pipe { to_redis: watch::Sender::new(Flow::Pass), to_server: watch::Sender::new(Flow::Pass) };
        state.pipes.lock().expect("no panic while held").push(pipe.clone());
        let (connecting, state) = (connect(), state.clone());
        tokio::spawn(async move {
            if let Ok(redis) = connecting.await {
                forward(server, redis, pipe, state).await;
            }
        });
    }
}

/// Forwards until either side closes; then closes both.
async fn forward(server: TcpStream, redis: impl AsyncRead + AsyncWrite, pipe: Pipe, state: Arc<State>) {
    state.open.fetch_add(1, Ordering::SeqCst);
    let ((from_server, to_server), (from_redis, to_redis)) = (server.into_split(), tokio::io::split(redis));
    let trigger = |bytes: &[u8]| {
        let mut trigger = state.trigger.lock().expect("no panic while held");
        if let Some((_, flow)) = trigger.take_if(|(wanted, _)| bytes.windows(wanted.len()).any(|window| window == *wanted)) {
            pipe.to_server.send_replace(flow);
        }
    };
    let cut = |bytes: &[u8]| {
        let mut cut = state.cut.lock().expect("no panic while held");
        let at = bytes.windows((*cut)?.len()).rposition(|window| Some(window) == *cut)?;
        *cut = None;
        Some(at)
    };
    tokio::select! {
        () = one_way(from_server, to_redis, &pipe.to_redis, trigger, cut) => {}
        () = one_way(from_redis, to_server, &pipe.to_server, |_| (), |_| None) => {}
    }
    state.open.fetch_sub(1, Ordering::SeqCst);
}

async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    flow: &watch::Sender<Flow>,
    before_it_passes: impl Fn(&[u8]),
    cut: impl Fn(&[u8]) -> Option<usize>,
) {
    let (mut buffer, mut changes) = (vec![0; 64 * 1024], flow.subscribe());
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let Ok(now) = changes.wait_for(|flow| !matches!(flow, Flow::Hold | Flow::PassOnly(0))).await.map(|flow| *flow) else {
            return;
        };
        if now == Flow::Drop {
            continue;
        }
        let mut piece = &buffer[..length];
        before_it_passes(piece);
        if let Some(at) = cut(piece) {
            let (first, rest) = piece.split_at(at);
            if to.write_all(first).await.is_err() {
                return;
            }
            flow.send_replace(Flow::Hold);
            if changes.wait_for(|flow| *flow == Flow::Pass).await.is_err() {
                return;
            }
            piece = rest;
        }
        if to.write_all(piece).await.is_err() {
            return;
        }
        flow.send_if_modified(|flow| match flow {
            Flow::PassOnly(left) => {
                *left -= 1;
                true
            }
            _ => false,
        });
    }
}
