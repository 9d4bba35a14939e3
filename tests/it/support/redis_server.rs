//! The redis-server of one test: on a unix socket in a temporary folder, removed with the test. With `WAXWING_TEST_CLUSTER` it is a cluster of
//! three throughout the suite, with the exceptions of [`SingleServerReason`].
//!
//! The application logs in as a user of least privilege. The test itself is the operator: the user `default`, who may do everything.

use super::{Cluster, SingleServerReason};
use redis::FromRedisValue;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use waxwing::db::Target;
use waxwing::db::inspect::acl;

/// The application's user under least privilege, its password, and the password's digest.
const USER: [&str; 3] = ["waxwing", "secret", "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"];

/// The lines of an ACL file that give the application only the required permissions.
pub(super) fn acl_file() -> String {
    format!("user default on nopass ~* &* +@all\n{}\n", acl::line(USER[0], Some(USER[2]), &waxwing::cli::fsck::key_kinds()))
}

/// The credentials of the application's user in a URL.
pub(super) fn credentials() -> String {
    format!("{}:{}", USER[0], USER[1])
}

/// Whether the whole suite runs on clusters of three nodes, one per test.
fn suite_is_clustered() -> bool {
    std::env::var_os("WAXWING_TEST_CLUSTER").is_some_and(|value| !value.is_empty())
}

/// Whether the suite runs once more, over another configuration of Redis: randomized tests may be shorter then.
pub fn is_repeated_run() -> bool {
    suite_is_clustered()
}

/// The Redis of one test: a server, or a cluster.
pub struct RedisServer(Kind);

enum Kind {
    Single(Single),
    Cluster(Cluster),
}

impl RedisServer {
    pub fn start() -> Self {
        Self::with(&["--appendonly", "no"])
    }

    /// With options of the test's choice.
    pub fn with(options: &[&str]) -> Self {
        Self::of(options)
    }

    fn of(options: &[&str]) -> Self {
        Self(if suite_is_clustered() {
            Kind::Cluster(Cluster::with_options(options))
        } else {
            Kind::Single(Single::spawn(options, true))
        })
    }

    /// A single server, also when the suite runs on clusters.
    pub fn single(reason: SingleServerReason) -> Self {
        Self::single_with(reason, &["--appendonly", "no"])
    }

    /// The same with options of the test's choice.
    pub fn single_with(_reason: SingleServerReason, options: &[&str]) -> Self {
        Self(Kind::Single(Single::spawn(options, true)))
    }

    /// A cluster of three nodes, also when the suite runs on single servers, with options of the test's choice.
    pub fn clustered(options: &[&str]) -> Self {
        Self(Kind::Cluster(Cluster::with_options(options)))
    }

    /// The data folders of the servers.
    pub fn folders(&self) -> Vec<PathBuf> {
        match &self.0 {
            Kind::Single(server) => vec![server.folder.path().to_path_buf()],
            Kind::Cluster(cluster) => cluster.folders(),
        }
    }

    /// A single server whose only user is the operator, for tests of passwords.
    pub fn with_operator_only(_reason: SingleServerReason) -> Self {
        Self(Kind::Single(Single::spawn(&["--appendonly", "no"], false)))
    }

    /// A single server with users of the test's choice.
    pub fn with_acl_file(_reason: SingleServerReason, file: &Path) -> Self {
        Self(Kind::Single(Single::spawn(&["--appendonly", "no", "--aclfile", &file.display().to_string()], false)))
    }

    pub fn target(&self) -> Target {
        self.url().parse().expect("an address")
    }

    /// The URL for the application.
    pub fn url(&self) -> String {
        match &self.0 {
            Kind::Single(server) => server.url(),
            Kind::Cluster(cluster) => cluster.url(),
        }
    }

    fn expect_single(&self) -> &Single {
        match &self.0 {
            Kind::Single(server) => server,
            Kind::Cluster(_) => panic!("the test requires a single server"),
        }
    }

    /// A single server through a port on loopback.
    pub fn tcp_url(&self, port: u16) -> String {
        let user = if self.expect_single().restricted { format!("{}@", credentials()) } else { String::new() };
        format!("redis://{user}127.0.0.1:{port}")
    }

    /// The URL for the operator, who may do everything.
    pub fn operator_url(&self) -> String {
        match &self.0 {
            Kind::Single(server) => server.operator_url(),
            Kind::Cluster(cluster) => cluster.operator_url(),
        }
    }

    /// Runs a command on the node of its key; without a key on every node, returning the first reply.
    pub fn run<T: FromRedisValue>(&self, command: &[&str]) -> T {
        let command: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
        self.run_bytes(&command)
    }

    /// The same with binary arguments.
    pub fn run_bytes<T: FromRedisValue>(&self, command: &[&[u8]]) -> T {
        match &self.0 {
            Kind::Single(server) => server.run(command),
            Kind::Cluster(cluster) => cluster.run(command),
        }
    }

    /// Runs a command on every node; returns all replies.
    pub fn each<T: FromRedisValue>(&self, command: &[&str]) -> Vec<T> {
        match &self.0 {
            Kind::Single(_) => vec![self.run(command)],
            Kind::Cluster(cluster) => cluster.each(command),
        }
    }

    /// The contents of the store, for [`Self::restore`].
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Vec::new();
        for mut connection in self.connect() {
            let keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut connection).expect("a response");
            let mut read = redis::pipe();
            for key in &keys {
                read.cmd("PTTL").arg(key).cmd("DUMP").arg(key);
            }
            // A pipeline without commands is an error.
            let mut responses: Vec<redis::Value> =
                if keys.is_empty() { Vec::new() } else { read.query(&mut connection).expect("a response") };
            let pairs = responses.chunks_exact_mut(2).map(|pair| (std::mem::take(&mut pair[0]), std::mem::take(&mut pair[1])));
            let row = |(key, (ttl, dump)): (Vec<u8>, (redis::Value, redis::Value))| {
                let ttl: i64 = redis::from_redis_value(ttl).expect("a number");
                (key, ttl.max(0), redis::from_redis_value(dump).expect("bytes"))
            };
            snapshot.push(keys.into_iter().zip(pairs).map(row).collect());
        }
        Snapshot(snapshot)
    }

    /// Restores the contents of the store.
    pub fn restore(&self, snapshot: &Snapshot) {
        for (mut connection, rows) in self.connect().into_iter().zip(&snapshot.0) {
            let mut write = redis::pipe();
            write.cmd("FLUSHDB");
            for (key, ttl, dump) in rows {
                write.cmd("RESTORE").arg(key).arg(*ttl).arg(dump);
            }
            write.exec(&mut connection).expect("a response");
        }
    }

    /// A connection to every node.
    fn connect(&self) -> Vec<redis::Connection> {
        match &self.0 {
            Kind::Single(server) => vec![server.client().get_connection().expect("it listens")],
            Kind::Cluster(cluster) => cluster.connect(),
        }
    }

    /// A single server that requires a password.
    pub fn run_as<T: FromRedisValue>(&self, password: &str, command: &[&str]) -> T {
        let client = redis::Client::open(format!("{}?pass={password}", self.operator_url())).expect("an address");
        redis::cmd(command[0]).arg(&command[1..]).query(&mut client.get_connection().expect("a connection")).expect("a response")
    }

    /// Every key. For small stores.
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.each::<Vec<String>>(&["KEYS", "*"]).concat();
        keys.sort();
        keys
    }

    /// Copies the value of one key to another, which may have another slot.
    pub fn copy(&self, from: &[u8], to: &[u8]) {
        let (packed, left): (Vec<u8>, i64) = (self.run_bytes(&[b"DUMP", from]), self.run_bytes(&[b"PTTL", from]));
        self.run_bytes::<()>(&[b"RESTORE", to, left.max(0).to_string().as_bytes(), &packed]);
    }

    /// How often each command was called since the last [`Self::reset_calls`], on all nodes together. Queries about the cluster itself are not part
    /// of the cost of a request.
    pub fn calls(&self) -> HashMap<String, u64> {
        let call = |line: &str| {
            let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            Some((name.to_owned(), rest.split(',').next()?.parse::<u64>().ok()?))
        };
        let own = ["info", "config|resetstat", "client|setinfo", "hello", "cluster|slots", "cluster|info"];
        let mut calls = HashMap::new();
        for info in self.each::<String>(&["INFO", "commandstats"]) {
            for (name, count) in info.lines().filter_map(call).filter(|(name, _)| !own.contains(&name.as_str())) {
                *calls.entry(name).or_default() += count;
            }
        }
        calls
    }

    pub fn reset_calls(&self) {
        self.each::<()>(&["CONFIG", "RESETSTAT"]);
    }

    /// The number of connections so far, including the test's own.
    pub fn connections(&self) -> u64 {
        let stats = self.each::<redis::InfoDict>(&["INFO", "stats"]);
        stats.iter().map(|stats| stats.get::<u64>("total_connections_received").expect("a number")).sum()
    }

    /// Everything in the store as text: keys, fields, members and values. For small stores.
    pub fn dump(&self) -> String {
        self.dump_of(|_| true)
    }

    /// The same without the events, which name deleted objects for a while.
    pub fn dump_without_events(&self) -> String {
        self.dump_of(|key| !key.starts_with("stream:") && !key.starts_with("told:"))
    }

    fn dump_of(&self, wanted: impl Fn(&str) -> bool) -> String {
        let mut texts = Vec::new();
        for key in self.keys().into_iter().filter(|key| wanted(key)) {
            let kind: String = self.run(&["TYPE", &key]);
            let values: Vec<Vec<u8>> = match kind.as_str() {
                "string" => vec![self.run(&["GET", &key])],
                "hash" => self.run(&["HGETALL", &key]),
                "zset" => self.run(&["ZRANGE", &key, "0", "-1"]),
                "stream" => {
                    let entries: Vec<(Vec<u8>, Vec<Vec<u8>>)> = self.run(&["XRANGE", &key, "-", "+"]);
                    entries.into_iter().flat_map(|(id, fields)| [vec![id], fields].concat()).collect()
                }
                other => panic!("{key} is a {other}"),
            };
            texts.push(key);
            texts.extend(values.iter().map(|value| String::from_utf8_lossy(value).into_owned()));
        }
        texts.join("\n")
    }

    /// Sends a signal, such as `STOP` or `CONT`, to every node.
    pub fn signal(&self, name: &str) {
        match &self.0 {
            Kind::Single(server) => signal(&server.child.lock().expect("no panic while held"), name),
            Kind::Cluster(cluster) => cluster.signal(name),
        }
    }

    pub fn kill(&self) {
        match &self.0 {
            Kind::Single(server) => server.kill(),
            Kind::Cluster(cluster) => cluster.kill_all(),
        }
    }

    /// Restarts it after [`Self::kill`], with the same options.
    pub fn restart(&self) {
        match &self.0 {
            Kind::Single(server) => server.restart(),
            Kind::Cluster(cluster) => cluster.restart(),
        }
    }
}

/// The contents of a store: of every node, each key with its remaining time to live (0 for none) and its serialized value.
pub struct Snapshot(Vec<Vec<Dumped>>);

impl Snapshot {
    /// Whether another one has the same keys with the same serialized values.
    pub fn same_values(&self, other: &Self) -> bool {
        let values = |snapshot: &Self| -> Vec<(Vec<u8>, Vec<u8>)> {
            let mut rows: Vec<_> = snapshot.0.iter().flatten().map(|(key, _, dump)| (key.clone(), dump.clone())).collect();
            rows.sort();
            rows
        };
        values(self) == values(other)
    }
}

/// A key, its time to live, and its value.
type Dumped = (Vec<u8>, i64, Vec<u8>);

/// A server on a unix socket.
struct Single {
    child: Mutex<Child>,
    arguments: Vec<String>,
    restricted: bool,
    /// Last, so that the folder outlives the server.
    folder: TempDir,
}

impl Single {
    fn spawn(options: &[&str], restricted: bool) -> Self {
        let folder = tempfile::Builder::new().prefix("wx").tempdir_in("/tmp").expect("a folder");
        let path = folder.path().display();
        let socket = format!("{path}/redis.sock");
        let own = ["--port", "0", "--unixsocket", &socket, "--dir", &path.to_string(), "--save", "", "--daemonize", "no"];
        let mut arguments: Vec<String> = own.iter().chain(options).map(|option| (*option).to_owned()).collect();
        if restricted {
            let file = folder.path().join("users.acl");
            std::fs::write(&file, acl_file()).expect("it is written");
            arguments.extend(["--aclfile".to_owned(), file.display().to_string()]);
        }
        let server = Self { child: Mutex::new(spawn(&arguments)), arguments, restricted, folder };
        server.wait();
        server
    }

    fn url(&self) -> String {
        let user = if self.restricted { format!("?user={}&pass={}", USER[0], USER[1]) } else { String::new() };
        format!("{}{user}", self.operator_url())
    }

    fn operator_url(&self) -> String {
        format!("unix:{}/redis.sock", self.folder.path().display())
    }

    fn client(&self) -> redis::Client {
        redis::Client::open(self.operator_url()).expect("an address")
    }

    fn wait(&self) {
        let began = Instant::now();
        while self.client().get_connection().and_then(|mut it| redis::cmd("PING").query::<String>(&mut it)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(10), "redis-server does not start");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn run<T: FromRedisValue>(&self, command: &[&[u8]]) -> T {
        let mut connection = self.client().get_connection().expect("a connection");
        let mut packed = redis::Cmd::new();
        for argument in command {
            packed.arg(*argument);
        }
        packed.query(&mut connection).expect("a response")
    }

    fn kill(&self) {
        let mut child = self.child.lock().expect("no panic while held");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }

    fn restart(&self) {
        *self.child.lock().expect("no panic while held") = spawn(&self.arguments);
        self.wait();
    }
}

/// Sends a signal to a server.
pub(super) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("`kill` exists on every system").success());
}

pub(super) fn spawn(arguments: &[String]) -> Child {
    let program = std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".into());
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server")
}

impl Drop for Single {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
