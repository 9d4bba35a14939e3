//! A small load generator: kept-alive connections of plain HTTP, one thread each. Its own cost is not measured.

use super::bed::percentile;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The number of concurrent connections.
pub(crate) const CONNECTIONS: usize = 32;

/// The measurements of the clients.
pub(crate) struct LoadMeasurement {
    pub(crate) requests: usize,
    pub(crate) rate: f64,
    /// In milliseconds.
    pub(crate) half: f64,
    pub(crate) most: f64,
}

/// A connection that sends one request after the other.
pub(crate) struct Wire {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Wire {
    pub(crate) fn to(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        // While nothing listens on the port, a connection can connect to itself.
        if stream.local_addr()? == stream.peer_addr()? {
            return Err(Error::from(ErrorKind::ConnectionRefused));
        }
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self { stream, answer: Vec::new() })
    }

    /// Returns the body of the answer. Fails if the request failed.
    pub(crate) fn ask(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).expect("it is sent");
        self.answer.clear();
        let mut part = [0; 64 << 10];
        loop {
            let read = match self.stream.read(&mut part) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.expect("an answer"),
            };
            assert!(read > 0, "the server hung up");
            self.answer.extend_from_slice(&part[..read]);
            let Some((body, length)) = head(&self.answer) else { continue };
            if self.answer.len() >= body + length {
                return &self.answer[body..body + length];
            }
        }
    }
}

/// Returns the start and the length of the body, once the head is complete.
fn head(answer: &[u8]) -> Option<(usize, usize)> {
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&answer[..end]).expect("a head is text");
    // With the part of the body that has arrived: it has the code of the error.
    assert!(text.starts_with("HTTP/1.1 200 "), "{}", String::from_utf8_lossy(answer));
    let length = text.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    Some((end + 4, length.expect("a length")))
}

/// Returns the bytes of a request on the wire.
pub(crate) fn wire_form(token: Option<&str>, body: &[u8]) -> Vec<u8> {
    let session = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    let mut text = format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{session}content-length: {length}\r\n\r\n"
    )
    .into_bytes();
    text.extend_from_slice(body);
    text
}

/// Runs the load. Without a rate, every connection sends its next request as soon as the previous one is answered. With a rate, requests
/// are due at equal intervals, and the latency of a request that had to wait for a connection counts from the time when it was due.
pub(crate) fn run(address: &str, requests: &[Vec<u8>], rate: Option<f64>, length: Duration) -> LoadMeasurement {
    // All connections are open before the time begins: the first requests must not wait for them.
    let wires: Vec<Wire> = (0..CONNECTIONS).map(|_| Wire::to(address).expect("a connection")).collect();
    let (next, over, began) = (AtomicUsize::new(0), AtomicBool::new(false), Instant::now());
    let client = |mut wire: Wire| {
        let mut times = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let mut sent_at = Instant::now();
            if let Some(rate) = rate {
                let due = began + Duration::from_secs_f64(number as f64 / rate);
                if due > began + length {
                    break;
                }
                if due > sent_at {
                    thread::sleep(due - sent_at);
                    sent_at = Instant::now();
                } else {
                    sent_at = due;
                }
            }
            wire.ask(&requests[number % requests.len()]);
            times.push(sent_at.elapsed());
        }
        times
    };
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let clients: Vec<_> = wires.into_iter().map(|wire| scope.spawn(|| client(wire))).collect();
        thread::sleep(length);
        over.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().expect("it ends")).collect()
    });
    let took = began.elapsed().as_secs_f64();
    let (half, most) = (percentile(&mut times, 50), percentile(&mut times, 99));
    LoadMeasurement { requests: times.len(), rate: times.len() as f64 / took, half, most }
}
