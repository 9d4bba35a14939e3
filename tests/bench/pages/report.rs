//! The report in docs/performance.md: tables between markers, and a plot.

use super::chats::Chats;
use super::growth::Line;
use super::inside;
use super::plot;
use super::privacy::{Privacy, Row};
use super::socket::Socket;
use super::talk::Talk;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// All results.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) inside: Vec<inside::Row>,
    pub(crate) jwt: Vec<Row>,
    pub(crate) socket: Option<Socket>,
    pub(crate) growth: Vec<Line>,
    pub(crate) privacy: Privacy,
    pub(crate) talk: Talk,
    pub(crate) chats: Chats,
}

impl Report {
    /// Writes the report. Text outside the markers stays.
    pub(crate) fn write(&self) {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let page = docs.join("performance.md");
        let mut text = std::fs::read_to_string(&page).expect("docs/performance.md");
        for (name, table) in [
            ("machine", machine()),
            ("inside", self.inside()),
            ("jwt", rows(&self.jwt)),
            ("socket", self.socket()),
            ("start", self.start()),
            ("growth", self.growth()),
            ("privacy", rows(&self.privacy.rows)),
            ("relations", bytes("relation", &self.privacy.bytes)),
            ("talk", rows(&self.talk.rows)),
            ("talk bytes", bytes("data", &self.talk.bytes)),
            ("entities", self.entities()),
            ("chats", rows(&self.chats.rows)),
            ("chats bytes", bytes("data", &self.chats.bytes)),
        ] {
            text = replace(&text, name, &table);
        }
        std::fs::write(page, text).expect("it is written");
        plot::draw(&docs.join("performance.svg"), &self.growth);
        println!("docs/performance.md and docs/performance.svg are written.");
    }

    fn inside(&self) -> String {
        let mut text = "| request | CPU µs, server | CPU µs, Redis | round trips | commands | bytes to Redis | bytes from Redis | response bytes | allocations | bytes allocated |\n\
            |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
        for inside::Row { name, cost } in &self.inside {
            let _ = writeln!(
                text,
                "| {name} | {:.0} | {:.0} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
                cost.own,
                cost.redis,
                cost.trips,
                cost.commands,
                cost.bytes_in,
                cost.bytes_out,
                cost.answer,
                cost.allocations,
                cost.allocated
            );
        }
        text
    }

    fn socket(&self) -> String {
        let mut text = "| request | CPU µs, server | CPU µs, Redis | requests/s | full load: p50 ms | p99 ms | half load: p50 ms | p99 ms |\n\
            |---|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
        for row in self.socket.iter().flat_map(|socket| &socket.rows) {
            let ([half, most], [half_p50, half_p99]) = (row.full, row.half);
            let _ = writeln!(
                text,
                "| {} | {:.0} | {:.0} | {:.0} | {half:.2} | {most:.2} | {half_p50:.2} | {half_p99:.2} |",
                row.name, row.server, row.redis, row.rate
            );
        }
        text
    }

    fn start(&self) -> String {
        let socket = self.socket.as_ref().expect("it was measured");
        format!(
            "From the start of a server with a loaded store to its first complete home page: {:.0} ms. Resident memory after that, an idle second and one more home page: {:.1} MiB.\n",
            socket.start_ms, socket.idle_mib
        )
    }

    fn entities(&self) -> String {
        let mut text = "| text | characters | CPU µs |\n|---|--:|--:|\n".to_owned();
        for (name, characters, each) in &self.talk.entities {
            let _ = writeln!(text, "| {name} | {characters} | {each:.1} |");
        }
        text
    }

    fn growth(&self) -> String {
        let mut text = "| variable | value | request | CPU µs, server | CPU µs, Redis | round trips | commands |\n|---|--:|---|--:|--:|--:|--:|\n".to_owned();
        for line in &self.growth {
            for (many, cost) in &line.points {
                let _ = writeln!(
                    text,
                    "| {} | {many} | {} | {:.0} | {:.0} | {:.1} | {:.1} |",
                    line.of, line.what, cost.own, cost.redis, cost.trips, cost.commands
                );
            }
        }
        text
    }
}

/// A table of requests.
fn rows(rows: &[Row]) -> String {
    let mut text = "| request | CPU µs, server | CPU µs, Redis | round trips | commands |\n|---|--:|--:|--:|--:|\n".to_owned();
    for Row { name, cost } in rows {
        let _ = writeln!(text, "| {name} | {:.0} | {:.0} | {:.1} | {:.1} |", cost.own, cost.redis, cost.trips, cost.commands);
    }
    text
}

/// A table of bytes in Redis.
fn bytes(what: &str, rows: &[(&'static str, f64)]) -> String {
    let mut text = format!("| {what} | bytes in Redis |\n|---|--:|\n");
    for (kind, bytes) in rows {
        let _ = writeln!(text, "| {kind} | {bytes:.0} |");
    }
    text
}

/// Describes the machine.
fn machine() -> String {
    let bytes_out = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map_or("", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let redis = bytes_out("redis-server", "--version");
    let redis = redis.split(' ').find_map(|word| word.strip_prefix("v=")).unwrap_or_default();
    format!("{cores} cores of {model}, Redis {redis}, {}.\n", bytes_out("rustc", "--version"))
}

/// Replaces the text between two markers.
fn replace(text: &str, name: &str, by: &str) -> String {
    let (begin, end) = (format!("<!-- measured: {name} -->\n"), "<!-- end -->");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("there is no mark for {name}"));
    let (_, after) = rest.split_once(end).expect("each mark has its end");
    format!("{before}{begin}{by}{end}{after}")
}
