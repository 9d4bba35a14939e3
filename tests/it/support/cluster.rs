//! A Redis Cluster of three primaries on loopback, with or without replicas, on free ports, removed with the test.
//!
//! A primary waits two seconds after its start before it serves, in case it was replaced. A replica does not. So each node starts as the replica of
//! a primary that never existed and takes over its slots, and the cluster is up in a tenth of that time.

use super::proxy::Proxy;
use super::redis_server::{acl_file, credentials, spawn};
use redis::cluster_routing::Slot;
use redis::{FromRedisValue, RedisResult};
use std::collections::HashMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The timeout for every change of a cluster's state.
const STATE_TIMEOUT: Duration = Duration::from_secs(60);
/// Slots of a cluster.
const SLOTS: usize = 16_384;
const PRIMARIES: usize = 3;

/// One server of a cluster.
pub struct Node {
    pub port: u16,
    bus: u16,
    id: String,
    arguments: Vec<String>,
    child: Mutex<Option<Child>>,
}

pub struct Cluster {
    /// The primaries, in the order of their slots, then their replicas.
    nodes: Vec<Node>,
    /// Last, so that it outlives the servers.
    _folder: TempDir,
}

impl Cluster {
    pub fn start() -> Self {
        // Nodes that are frozen or starved for a while must not be declared dead.
        Self::launch(&["--appendonly", "no", "--cluster-node-timeout", "60000"], 0)
    }

    /// With a replica for each, which takes over when its primary has been down for about two seconds.
    pub fn with_replicas() -> Self {
        let options = ["--appendonly", "no", "--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0"];
        Self::launch(&options, PRIMARIES)
    }

    /// With options of the test's choice.
    pub fn with_options(options: &[&str]) -> Self {
        Self::launch(&[options, &["--cluster-node-timeout", "60000"]].concat(), 0)
    }

    fn launch(options: &[&str], replicas: usize) -> Self {
        // A node blocks while it syncs its configuration to disk, so it is stored in memory if possible.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory } else { Path::new("/tmp") };
        let folder = tempfile::Builder::new().prefix("wxc").tempdir_in(place).expect("a folder");
        let ports = free_ports(2 * (PRIMARIES + replicas));
        let node = |(at, ports): (usize, &[u16])| Node::new(at, ports, options, folder.path());
        let nodes: Vec<Node> = ports.chunks_exact(2).enumerate().map(node).collect();
        let cluster = Self { nodes, _folder: folder };
        cluster.bootstrap();
        cluster.start_replicas();
        cluster
    }

    fn primaries(&self) -> &[Node] {
        &self.nodes[..PRIMARIES]
    }

    /// The URL for `--redis`; one seed is enough to find the others, unless it is down.
    pub fn url(&self) -> String {
        format!("{}?node={}:{}", self.url_through(self.nodes[0].port), host(), self.nodes[1].port)
    }

    /// The URL for the operator, who may do everything.
    pub fn operator_url(&self) -> String {
        format!("redis-cluster://{}:{}?node={}:{}", host(), self.nodes[0].port, host(), self.nodes[1].port)
    }

    /// [`Self::url`] through a proxy on this port.
    pub fn url_through(&self, port: u16) -> String {
        format!("redis-cluster://{}@{}:{port}", credentials(), host())
    }

    /// Puts a proxy before every node; clients are redirected to the proxies.
    pub async fn behind_proxies(&self) -> Vec<Proxy> {
        let mut proxies = Vec::new();
        for node in &self.nodes {
            let proxy = Proxy::in_front_of_port(host(), node.port).await;
            node.run::<()>(&["CONFIG", "SET", "cluster-announce-port", &proxy.port.to_string()]);
            proxies.push(proxy);
        }
        let known = |text: String| proxies.iter().all(|proxy| text.contains(&format!("{}:{}@", host(), proxy.port)));
        for node in &self.nodes {
            eventually("the nodes know the proxies", || known(node.run(&["CLUSTER", "NODES"])));
        }
        proxies
    }

    /// Sends a command to every primary; returns all replies.
    pub fn each<T: FromRedisValue>(&self, command: &[&str]) -> Vec<T> {
        self.primaries().iter().map(|node| node.run(command)).collect()
    }

    /// Sends a command to the node of its key, or to every primary and returns the first reply.
    pub fn run<T: FromRedisValue>(&self, command: &[&[u8]]) -> T {
        let Some(key) = key_of(command) else {
            let mut responses: Vec<T> = self.primaries().iter().map(|node| node.try_run(command).expect("a response")).collect();
            return responses.swap_remove(0);
        };
        // The key is on its original node, or where that node redirects, or on its replica.
        let first = &self.nodes[initial_node(key)];
        match first.try_run(command) {
            Err(error) if error.redirect_node().is_some() || error.is_io_error() => {
                self.owner(Slot::for_key(key)).try_run(command).expect("a response")
            }
            response => response.expect("a response"),
        }
    }

    /// A connection to every primary.
    pub fn connect(&self) -> Vec<redis::Connection> {
        self.primaries().iter().map(|node| node.connection().expect("it listens")).collect()
    }

    /// The owner of this slot, as reported by the first live node.
    fn owner(&self, slot: Slot) -> &Node {
        let mut slots_of_nodes = self.nodes.iter().filter(|node| node.is_running()).filter_map(|node| node.slots().ok());
        let ranges = slots_of_nodes.next().expect("a node that lives");
        let port = owner_by(&ranges, slot).expect("every slot has an owner");
        self.nodes.iter().find(|node| node.port == port).expect("one of these")
    }

    /// The index of the node with this key.
    pub fn node_of(&self, key: &str) -> usize {
        let port = self.owner(Slot::for_key(key)).port;
        self.nodes.iter().position(|node| node.port == port).expect("one of these")
    }

    /// The data folders of the primaries.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.primaries().iter().map(|node| node.folder().into()).collect()
    }

    /// Kills a node (-9).
    pub fn kill(&self, at: usize) {
        self.nodes[at].kill();
    }

    /// The primaries all at once.
    pub fn kill_all(&self) {
        self.primaries().iter().for_each(Node::kill);
    }

    /// Restarts them with their data, and waits until they serve.
    pub fn restart(&self) {
        self.primaries().iter().for_each(Node::start);
        self.wait_until_available();
    }

    /// Sends all of them a signal.
    pub fn signal(&self, name: &str) {
        self.primaries().iter().for_each(|node| node.signal(name));
    }

    /// Waits until every slot is served, in the view of every live node.
    pub fn wait_until_available(&self) {
        for node in self.nodes.iter().filter(|node| node.is_running()) {
            let info = || node.try_run::<String>(&[b"CLUSTER", b"INFO"]).unwrap_or_default();
            eventually("every slot is served", || info().contains("cluster_state:ok"));
        }
    }

    /// Waits until this node has taken over from its primary. If the election fails (nodes founded this way may disagree on their epochs), the
    /// failover is forced, as an operator would do: the test is about the clients.
    pub fn wait_until_primary(&self, at: usize) {
        let role = || self.nodes[at].try_run::<String>(&[b"INFO", b"replication"]).unwrap_or_default();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) && !role().contains("role:master") {
            std::thread::sleep(Duration::from_millis(4));
        }
        if !role().contains("role:master") {
            let _ = self.nodes[at].try_run::<String>(&[b"CLUSTER", b"FAILOVER", b"TAKEOVER"]);
        }
        eventually("a replica takes over", || role().contains("role:master"));
        self.wait_until_available();
    }

    /// Migrates a slot as operators do: key by key, then the assignment. `between` is called after every step.
    pub fn move_slot(&self, slot: u16, to: usize, mut between: impl FnMut()) {
        let (from, to) = (self.owner(Slot::new(slot).expect("a slot")), &self.nodes[to]);
        if from.port == to.port {
            return;
        }
        self.raise_epoch(to);
        let number = slot.to_string();
        to.run::<()>(&["CLUSTER", "SETSLOT", &number, "IMPORTING", &from.id]);
        from.run::<()>(&["CLUSTER", "SETSLOT", &number, "MIGRATING", &to.id]);
        between();
        loop {
            let keys: Vec<String> = from.run(&["CLUSTER", "GETKEYSINSLOT", &number, "1"]);
            let Some(key) = keys.first() else { break };
            from.run::<()>(&["MIGRATE", &host().to_string(), &to.port.to_string(), key, "0", "10000"]);
            between();
        }
        // The target first: otherwise the slot would have no owner in between.
        for node in
            [to, from].into_iter().chain(self.primaries().iter().filter(|node| ![to.port, from.port].contains(&node.port)))
        {
            node.run::<()>(&["CLUSTER", "SETSLOT", &number, "NODE", &to.id]);
            between();
        }
        // A node may still accept old gossip: the command is repeated there, as `redis-cli --cluster fix` does.
        for node in self.primaries() {
            let agrees = || owner_by(&node.slots().unwrap_or_default(), Slot::new(slot).expect("a slot")) == Some(to.port);
            let again = || node.try_run::<()>(&[b"CLUSTER", b"SETSLOT", number.as_bytes(), b"NODE", to.id.as_bytes()]);
            eventually("the nodes agree on the owner of the slot", || agrees() || (again().is_ok() && agrees()));
        }
    }

    /// Gives a node the greatest configuration epoch. Two nodes that took over at once may have the same epoch at first; one of them then raises
    /// its own, and its older claim of the slot wins: the new owner drops all keys of the slot.
    fn raise_epoch(&self, node: &Node) {
        eventually("all see the node with the greatest epoch", || {
            let is_seen = self.primaries().iter().all(|viewer| {
                let epochs = viewer.epochs();
                let own = epochs.get(&node.id).copied().unwrap_or_default();
                epochs.iter().all(|(id, epoch)| *id == node.id || *epoch < own)
            });
            if !is_seen {
                // Does nothing if the node already has the greatest known epoch.
                let _ = node.try_run::<String>(&[b"CLUSTER", b"BUMPEPOCH"]);
            }
            is_seen
        });
    }

    /// Starts each primary as the replica of a placeholder node, whose slots it then takes over.
    fn bootstrap(&self) {
        for (at, node) in self.primaries().iter().enumerate() {
            let mut lines = String::new();
            for (other, known) in self.nodes.iter().enumerate() {
                let role = if other < PRIMARIES { format!("slave {}", placeholder(other)) } else { "master -".to_owned() };
                let myself = if other == at { "myself," } else { "" };
                known.describe(&mut lines, &format!("{myself}{role}"), 0, "");
                if other < PRIMARIES {
                    let _ = writeln!(
                        lines,
                        "{} {}:1@2 master - 0 0 {} connected {}",
                        placeholder(other),
                        host(),
                        other + 1,
                        slots(other)
                    );
                }
            }
            node.configure(&lines, 20 + 10 * at);
            node.start();
        }
        for node in self.primaries() {
            let _: String = eventually_some("a node takes its place", || {
                node.try_run::<String>(&[b"CLUSTER", b"FAILOVER", b"TAKEOVER"]).ok()
            });
        }
        let mut ports: Vec<u16> = self.primaries().iter().map(|node| node.port).collect();
        ports.sort_unstable();
        let known = |node: &Node| {
            let mut seen: Vec<u16> = node.slots().unwrap_or_default().iter().map(|range| range.2).collect();
            seen.sort_unstable();
            seen == ports
        };
        for node in self.primaries() {
            eventually("the nodes know each other", || known(node));
        }
        for node in self.primaries() {
            for at in 0..PRIMARIES {
                node.run::<()>(&["CLUSTER", "FORGET", &placeholder(at)]);
            }
        }
        self.wait_until_available();
    }

    /// Starts the replicas and waits until they are in sync.
    fn start_replicas(&self) {
        for (at, node) in self.nodes.iter().enumerate().skip(PRIMARIES) {
            let mut lines = String::new();
            for (other, known) in self.nodes.iter().enumerate() {
                let myself = if other == at { "myself," } else { "" };
                if other < PRIMARIES {
                    known.describe(&mut lines, "master -", other + 10, &slots(other));
                } else {
                    known.describe(&mut lines, &format!("{myself}slave {}", self.nodes[other - PRIMARIES].id), 0, "");
                }
            }
            node.configure(&lines, 20);
            node.start();
        }
        for node in &self.nodes[PRIMARIES..] {
            let role = || node.try_run::<String>(&[b"INFO", b"replication"]).unwrap_or_default();
            eventually("a replica follows", || role().contains("master_link_status:up"));
        }
        // A new replica receives nothing until it has acknowledged its sync, which may take a second. If the primary fails before that, writes after
        // the synchronization are lost.
        for (primary, replica) in self.nodes.iter().zip(&self.nodes[PRIMARIES..]) {
            primary.run::<()>(&["FLUSHALL"]);
            let offset = |node: &Node| node.run::<redis::InfoDict>(&["INFO", "replication"]).get::<u64>("master_repl_offset");
            let offset_of_primary = offset(primary);
            eventually("a replica receives the writes of its primary", || {
                offset_of_primary > Some(0) && offset(replica) >= offset_of_primary
            });
        }
        // All nodes must know the replicas before a replica can be elected.
        for node in self.primaries() {
            let seen = |at: usize| {
                node.run::<Vec<String>>(&["CLUSTER", "REPLICAS", &self.nodes[at - PRIMARIES].id])
                    .concat()
                    .contains(&self.nodes[at].id)
            };
            eventually("its replica is known", || (PRIMARIES..self.nodes.len()).all(seen));
        }
    }
}

impl Node {
    fn new(at: usize, ports: &[u16], options: &[&str], folder: &Path) -> Self {
        let [port, bus] = [ports[0], ports[1]];
        let folder = folder.join(port.to_string());
        std::fs::create_dir(&folder).expect("a folder");
        let (path, host) = (folder.display().to_string(), host().to_string());
        let numbers = [port.to_string(), bus.to_string()];
        let own = [
            "--port",
            &numbers[0],
            "--cluster-port",
            &numbers[1],
            "--bind",
            &host,
            "--cluster-announce-ip",
            &host,
            "--dir",
            &path,
        ];
        let fixed = ["--save", "", "--cluster-enabled", "yes", "--cluster-replica-validity-factor", "0"];
        let mut arguments: Vec<String> = own.iter().chain(&fixed).chain(options).map(|option| (*option).to_owned()).collect();
        let file = folder.join("users.acl");
        std::fs::write(&file, acl_file()).expect("it is written");
        arguments.extend(["--aclfile".to_owned(), file.display().to_string()]);
        Self { port, bus, id: format!("{:040x}", at + 1), arguments, child: Mutex::default() }
    }

    /// Appends the line of `nodes.conf` that describes this node.
    fn describe(&self, lines: &mut String, role: &str, epoch: usize, slots: &str) {
        let _ = writeln!(lines, "{} {}:{}@{} {role} 0 0 {epoch} connected {slots}", self.id, host(), self.port, self.bus);
    }

    /// Writes `nodes.conf`. Each primary begins with an epoch of its own: with equal epochs, a migrating slot may lose its owner.
    fn configure(&self, lines: &str, epoch: usize) {
        let text = format!("{lines}vars currentEpoch {epoch} lastVoteEpoch 0\n");
        std::fs::write(Path::new(self.folder()).join("nodes.conf"), text).expect("it is written");
    }

    fn folder(&self) -> &str {
        self.arguments.iter().skip_while(|argument| *argument != "--dir").nth(1).expect("a folder")
    }

    fn start(&self) {
        *self.child.lock().expect("no panic while held") = Some(spawn(&self.arguments));
    }

    fn kill(&self) {
        if let Some(mut child) = self.child.lock().expect("no panic while held").take() {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
    }

    fn is_running(&self) -> bool {
        self.child.lock().expect("no panic while held").is_some()
    }

    fn signal(&self, name: &str) {
        let child = self.child.lock().expect("no panic while held");
        super::redis_server::signal(child.as_ref().expect("it runs"), name);
    }

    pub fn run<T: FromRedisValue>(&self, command: &[&str]) -> T {
        let command: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
        self.try_run(&command).expect("a response")
    }

    /// The configuration epochs of all primaries as this node knows them, by their ids.
    fn epochs(&self) -> HashMap<String, u64> {
        let text: String = self.run(&["CLUSTER", "NODES"]);
        let epoch = |line: &str| {
            let mut fields = line.split(' ');
            Some((fields.next()?.to_owned(), fields.nth(5)?.parse().ok()?))
        };
        text.lines().filter(|line| line.contains("master")).filter_map(epoch).collect()
    }

    fn try_run<T: FromRedisValue>(&self, command: &[&[u8]]) -> RedisResult<T> {
        let mut packed = redis::Cmd::new();
        for word in command {
            packed.arg(*word);
        }
        packed.query(&mut self.connection()?)
    }

    fn connection(&self) -> RedisResult<redis::Connection> {
        redis::Client::open((host().to_string(), self.port))?.get_connection()
    }

    /// The slots of all nodes in the view of this node: first, last, port.
    fn slots(&self) -> RedisResult<Vec<(u16, u16, u16)>> {
        let rows: Vec<Vec<redis::Value>> = self.try_run(&[b"CLUSTER", b"SLOTS"])?;
        let range = |row: Vec<redis::Value>| {
            let primary: Vec<redis::Value> = redis::from_redis_value(row[2].clone())?;
            let number = |value: &redis::Value| redis::from_redis_value::<u16>(value.clone());
            Ok((number(&row[0])?, number(&row[1])?, number(&primary[1])?))
        };
        rows.into_iter().map(range).collect()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = self.child.get_mut().ok().and_then(Option::as_mut) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The original owner of this key.
fn initial_node(key: &[u8]) -> usize {
    static INITIAL_NODES: LazyLock<HashMap<Slot, usize>> = LazyLock::new(|| {
        let ranges =
            (0..PRIMARIES).flat_map(|at| (at * SLOTS / PRIMARIES..(at + 1) * SLOTS / PRIMARIES).map(move |slot| (slot, at)));
        ranges.filter_map(|(slot, at)| Some((Slot::new(slot as u16)?, at))).collect()
    });
    INITIAL_NODES[&Slot::for_key(key)]
}

fn placeholder(at: usize) -> String {
    format!("{:040x}", at + 0xf00)
}

/// The port of the owner of this slot, by the ranges that a node reports.
fn owner_by(ranges: &[(u16, u16, u16)], slot: Slot) -> Option<u16> {
    let holds = |(first, last, _): &&(u16, u16, u16)| (*first..=*last).filter_map(Slot::new).any(|one| one == slot);
    Some(ranges.iter().find(holds)?.2)
}

fn slots(at: usize) -> String {
    format!("{}-{}", at * SLOTS / PRIMARIES, (at + 1) * SLOTS / PRIMARIES - 1)
}

/// The first key of a command; `None` for commands for every node.
fn key_of<'a>(command: &[&'a [u8]]) -> Option<&'a [u8]> {
    match command[0] {
        b"EVAL" | b"EVALSHA" if command[2] == b"0" => None,
        b"EVAL" | b"EVALSHA" => Some(command[3]),
        b"CLIENT" | b"CONFIG" | b"DBSIZE" | b"ECHO" | b"FLUSHALL" | b"FLUSHDB" | b"INFO" | b"KEYS" | b"PING" | b"SCRIPT" => None,
        _ => Some(command[1]),
    }
}

fn eventually(what: &str, so: impl Fn() -> bool) {
    eventually_some(what, || so().then_some(()))
}

fn eventually_some<T>(what: &str, some: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(it) = some() {
            return it;
        }
        assert!(began.elapsed() < STATE_TIMEOUT, "timeout: {what}");
        std::thread::sleep(Duration::from_millis(4));
    }
}

/// The address of this process's nodes. If all of 127.0.0.0/8 is local, every test has its own address, so that free ports stay free until its
/// nodes listen there.
fn host() -> IpAddr {
    let [_, a, b, c] = std::process::id().to_be_bytes();
    IpAddr::V4(if cfg!(target_os = "linux") { Ipv4Addr::new(127, 64 + a % 64, b, c) } else { Ipv4Addr::LOCALHOST })
}

/// Free ports, all held until all are known.
fn free_ports(count: usize) -> Vec<u16> {
    let held: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind((host(), 0)).expect("a port")).collect();
    held.iter().map(|it| it.local_addr().expect("an address").port()).collect()
}
