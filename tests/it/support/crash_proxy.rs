//! A TCP proxy in front of a test's Redis that forwards a number of writing commands and then closes every connection permanently: for Redis
//! the process has died at that point, even between two commands of a pipeline.

use super::RedisServer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_util::sync::CancellationToken;

pub struct CrashProxy {
    pub port: u16,
    is_cut: Arc<AtomicBool>,
    _running: tokio_util::sync::DropGuard,
}

struct State {
    left: AtomicUsize,
    is_cut: Arc<AtomicBool>,
    cut: CancellationToken,
}

/// Commands that write.
const WRITES: [&[u8]; 7] = [b"EVALSHA", b"ZREM", b"UNLINK", b"SET", b"HSET", b"ZADD", b"HDEL"];

/// The numbers of writes after which a run cuts the process off, without end: every `step`th, from a random one of the first `step`, so that the runs together
/// try all of them. With the variable `WAXWING_EVERY_CUT_OFF` one run does.
pub fn cut_offs(step: usize) -> impl Iterator<Item = usize> {
    let step = if std::env::var_os("WAXWING_EVERY_CUT_OFF").is_some() { 1 } else { step };
    let first = rand::random_range(0..step);
    println!("cut off after every {step} writes, from write {first} on");
    (first..).step_by(step)
}

impl CrashProxy {
    /// Forwards this many `writes`.
    pub async fn start(redis: &RedisServer, writes: usize) -> Self {
        let path = redis.operator_url().trim_start_matches("unix:").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (is_cut, stop) = (Arc::new(AtomicBool::new(false)), CancellationToken::new());
        let state = Arc::new(State { left: AtomicUsize::new(writes), is_cut: is_cut.clone(), cut: stop.child_token() });
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !state.is_cut.load(Ordering::SeqCst) {
                    tokio::spawn(forward(client, UnixStream::connect(path.clone()).await.expect("a Redis"), state.clone()));
                }
            }
        }));
        Self { port, is_cut, _running: stop.drop_guard() }
    }

    /// Whether the connections were closed: the process sent more writes.
    pub fn has_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }
}

async fn forward(client: TcpStream, redis: UnixStream, state: Arc<State>) {
    let ((mut from_client, mut to_client), (mut from_redis, mut to_redis)) = (client.into_split(), redis.into_split());
    let down = async { drop(tokio::io::copy(&mut from_redis, &mut to_client).await) };
    let up = async {
        let (mut held, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
        while let Ok(length @ 1..) = from_client.read(&mut piece).await {
            held.extend_from_slice(&piece[..length]);
            while let Some((command, is_write)) = next(&held) {
                if is_write && state.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err() {
                    state.is_cut.store(true, Ordering::SeqCst);
                    state.cut.cancel();
                    return;
                }
                let rest = held.split_off(command);
                if to_redis.write_all(&std::mem::replace(&mut held, rest)).await.is_err() {
                    return;
                }
            }
        }
    };
    tokio::select! {
        () = state.cut.cancelled() => {}
        () = down => {}
        () = up => {}
    }
}

/// The length of the first command in the protocol's form, and whether it writes; `None` if it is incomplete.
fn next(bytes: &[u8]) -> Option<(usize, bool)> {
    let (count, mut at) = number(bytes, 0, b'*')?;
    let mut name = &bytes[..0];
    for part in 0..count {
        let (length, begin) = number(bytes, at, b'$')?;
        at = begin + length + 2;
        if at > bytes.len() {
            return None;
        }
        if part == 0 {
            name = &bytes[begin..begin + length];
        }
    }
    Some((at, WRITES.iter().any(|write| write.eq_ignore_ascii_case(name))))
}

/// A number after its mark, and the start of the next line.
fn number(bytes: &[u8], at: usize, mark: u8) -> Option<(usize, usize)> {
    let line = bytes.get(at..)?;
    let end = line.windows(2).position(|pair| pair == b"\r\n")?;
    assert_eq!(line[0], mark, "the protocol of Redis");
    Some((std::str::from_utf8(&line[1..end]).ok()?.parse().expect("a number"), at + end + 2))
}
