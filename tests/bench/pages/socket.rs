//! The same requests over a socket: a server and a Redis in separate processes, and this process as the clients. Then the time from the
//! start of a server to its first answer, and the memory of an idle server.

use super::bed::{Bed, of_threads};
use super::cases::{self, Case};
use super::inside::is_whole;
use super::load::{self, CONNECTIONS, Wire, wire_form};
use super::stage::{self, Stage};
use serde::Serialize;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The duration of each case at full load, and at half of it.
const LENGTH: Duration = Duration::from_secs(4);
const WARM: Duration = Duration::from_millis(1_500);
/// The maximum ratio of the 99th percentile and the median of the home page, at half load.
const SPREAD: f64 = 3.0;
/// The maximum time from the start of a server to its first whole home page, in milliseconds.
const START_MS: f64 = 100.0;
const STARTS: usize = 5;
/// The maximum memory of an idle server, in MiB. More than half of it are pages of the binary's file, which the system shares and takes back.
const IDLE_MIB: f64 = 34.0;
/// The time without requests before the memory is measured. The allocator returns freed pages to the system after that, with the next request.
const IDLE: Duration = Duration::from_secs(1);

/// The measurements of a case from outside.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// CPU time of a request at full load, in microseconds.
    pub(crate) server: f64,
    pub(crate) redis: f64,
    pub(crate) rate: f64,
    /// Median and 99th percentile in milliseconds, at full load and at half of it.
    pub(crate) full: [f64; 2],
    pub(crate) half: [f64; 2],
}

/// All measurements.
#[derive(Serialize)]
pub(crate) struct Socket {
    pub(crate) rows: Vec<Row>,
    pub(crate) start_ms: f64,
    pub(crate) idle_mib: f64,
}

impl Socket {
    /// Returns whether the measurements are within the maxima.
    pub(crate) fn is_good(&self) -> bool {
        let home = &self.rows[0];
        let spread = home.half[1] / home.half[0];
        for (what, is, most) in [
            ("p99 over p50 of the home page at half load", spread, SPREAD),
            ("cold start, ms", self.start_ms, START_MS),
            ("idle memory, MiB", self.idle_mib, IDLE_MIB),
        ] {
            println!("{what}: {is:.1}, at most {most:.0}: {}", if is <= most { "good" } else { "TOO MUCH" });
        }
        spread <= SPREAD && self.start_ms <= START_MS && self.idle_mib <= IDLE_MIB
    }
}

/// A server, until it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts a server on a free port, and waits until the server has printed its address.
    fn start(bed: &Bed, uses_cache: bool) -> Self {
        let mut child = Self::spawn(bed, "127.0.0.1:0", uses_cache);
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let address = { lines }.find_map(|line| Some(line.split_once("http://")?.1.split('/').next()?.to_owned()));
        Self { child, address: address.expect("an address") }
    }

    fn spawn(bed: &Bed, address: &str, uses_cache: bool) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waxwing"));
        command.args(["serve", "--rate-limits", "off", "--listen", address]);
        command.arg("--redis").arg(format!("unix:{}", bed.socket().display()));
        if !uses_cache {
            command.args(["--near-cache-mib", "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server")
    }

    fn resident_mib(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run() -> Socket {
    let runtime = super::runtime();
    let (bed, stage) = runtime.block_on(stage::set(stage::FULL));
    let (start_ms, idle_mib) = cold(&bed, &stage);
    println!("Over the socket, {CONNECTIONS} connections, full load and half of it:");
    println!("  case                      CPU us: server  Redis    req/s   full: p50 ms   p99 ms   half: p50 ms   p99 ms");
    let mut rows = Vec::new();
    for case in cases::all().iter().filter(|case| !case.publishes) {
        let row = one(&bed, &stage, case);
        println!(
            "  {:<24} {:>15.0} {:>6.0} {:>8.0} {:>14.2} {:>8.2} {:>14.2} {:>8.2}",
            row.name, row.server, row.redis, row.rate, row.full[0], row.full[1], row.half[0], row.half[1]
        );
        rows.push(row);
    }
    println!(
        "From the start of a server to its first whole home page: {start_ms:.0} ms; resident when idle after that: {idle_mib:.1} MiB.\n"
    );
    Socket { rows, start_ms, idle_mib }
}

fn one(bed: &Bed, stage: &Stage, case: &Case) -> Row {
    let server = Server::start(bed, case.uses_cache);
    let requests: Vec<Vec<u8>> =
        case.many(stage, 0..stage.readers.len()).iter().map(|(token, body)| wire_form(*token, body)).collect();
    is_whole(Wire::to(&server.address).expect("a connection").ask(&requests[0]));
    load::run(&server.address, &requests, None, WARM);
    let cpu = || (of_threads(server.child.id()), bed.cpu().redis);
    let before = cpu();
    let full = load::run(&server.address, &requests, None, LENGTH);
    let after = cpu();
    let half = load::run(&server.address, &requests, Some(full.rate / 2.0), LENGTH);
    let each = |many: f64| many / full.requests as f64;
    Row {
        name: case.name,
        server: each(after.0 - before.0),
        redis: each(after.1 - before.1),
        rate: full.rate,
        full: [full.half, full.most],
        half: [half.half, half.most],
    }
}

/// Returns the time from the start of a server to its first whole home page, as the median of some starts, and the server's memory after
/// that, an idle second and one more home page, as the maximum.
fn cold(bed: &Bed, stage: &Stage) -> (f64, f64) {
    let (token, body) = cases::all()[0].request(stage, 0);
    let request = wire_form(token, &body);
    let (mut times, mut memory) = (Vec::new(), 0.0_f64);
    for _ in 0..STARTS {
        let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").to_string();
        let began = Instant::now();
        let server = Server { child: Server::spawn(bed, &address, true), address };
        let mut wire = loop {
            match Wire::to(&server.address) {
                Ok(wire) => break wire,
                Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "it does not start: {error}"),
            }
            thread::sleep(Duration::from_millis(1));
        };
        is_whole(wire.ask(&request));
        times.push(began.elapsed().as_secs_f64() * 1e3);
        thread::sleep(IDLE);
        is_whole(wire.ask(&request));
        memory = memory.max(server.resident_mib());
    }
    times.sort_by(f64::total_cmp);
    (times[STARTS / 2], memory)
}
