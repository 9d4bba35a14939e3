//! A Redis Cluster of three primaries on loopback, on free ports, gone with the test.

use super::proxy::Proxy;
use super::redis_server::{acl_file, credentials, spawn, suite_is_restricted};
use std::net::TcpListener;
use std::process::Child;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub struct Cluster {
    nodes: Vec<Child>,
    ports: Vec<u16>,
    _folder: TempDir,
}

impl Cluster {
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("wxc").tempdir_in("/tmp").expect("a folder");
        let ports = free_ports(6);
        let (ports, buses) = ports.split_at(3);
        let mut nodes = Vec::new();
        for (port, bus) in ports.iter().zip(buses) {
            let dir = folder.path().join(port.to_string());
            std::fs::create_dir(&dir).expect("a folder");
            let mut options = format!(
                "--port {port} --cluster-port {bus} --bind 127.0.0.1 --dir {} --save  --appendonly no --cluster-enabled yes --cluster-node-timeout 5000",
                dir.display()
            );
            if suite_is_restricted() {
                let file = dir.join("users.acl");
                std::fs::write(&file, acl_file()).expect("it is written");
                options.push_str(&format!(" --aclfile {}", file.display()));
            }
            nodes.push(spawn(&options.split(' ').map(str::to_owned).collect::<Vec<_>>()));
        }
        let cluster = Self { nodes, ports: ports.to_vec(), _folder: folder };
        cluster.join(buses);
        cluster
    }

    /// The form that `--redis` takes; one seed is enough to find the others.
    pub fn url(&self) -> String {
        format!("{}?node=127.0.0.1:{}", self.url_through(self.ports[0]), self.ports[1])
    }

    /// The same by way of a proxy on this port.
    pub fn url_through(&self, port: u16) -> String {
        let user = if suite_is_restricted() { format!("{}@", credentials()) } else { String::new() };
        format!("redis-cluster://{user}127.0.0.1:{port}")
    }

    /// Puts a proxy before every node: clients are told of these.
    pub async fn behind_proxies(&self) -> Vec<Proxy> {
        let mut proxies = Vec::new();
        for port in &self.ports {
            let proxy = Proxy::before_port(*port).await;
            for (setting, value) in [("cluster-announce-ip", "127.0.0.1"), ("cluster-announce-port", &proxy.port.to_string())] {
                ask::<()>(*port, &["CONFIG", "SET", setting, value]).expect("an answer");
            }
            proxies.push(proxy);
        }
        let began = Instant::now();
        let told = |port: &u16| ask::<String>(*port, &["CLUSTER", "NODES"]).expect("an answer");
        let known = |port: &u16| proxies.iter().all(|proxy| told(port).contains(&format!("127.0.0.1:{}@", proxy.port)));
        while !self.ports.iter().all(known) {
            assert!(began.elapsed() < Duration::from_secs(30), "the nodes do not tell each other of the proxies");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        proxies
    }

    /// The same command to every node; an answer each.
    pub fn each<T: redis::FromRedisValue>(&self, command: &[&str]) -> Vec<T> {
        self.ports.iter().map(|port| ask(*port, command).expect("an answer")).collect()
    }

    fn join(&self, buses: &[u16]) {
        let began = Instant::now();
        let eventually = |port: u16, command: &[&str], wanted: &str| {
            while !ask::<String>(port, command).is_ok_and(|answer| answer.contains(wanted)) {
                assert!(began.elapsed() < Duration::from_secs(30), "the cluster does not come up");
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        for (at, port) in self.ports.iter().enumerate() {
            eventually(*port, &["PING"], "PONG");
            let (first, last) = ((at * 16_384 / 3).to_string(), ((at + 1) * 16_384 / 3 - 1).to_string());
            eventually(*port, &["CLUSTER", "ADDSLOTSRANGE", &first, &last], "OK");
        }
        for (port, bus) in self.ports.iter().zip(buses).skip(1) {
            eventually(self.ports[0], &["CLUSTER", "MEET", "127.0.0.1", &port.to_string(), &bus.to_string()], "OK");
        }
        for port in &self.ports {
            eventually(*port, &["CLUSTER", "INFO"], "cluster_state:ok");
            eventually(*port, &["CLUSTER", "INFO"], "cluster_known_nodes:3");
        }
    }
}

fn ask<T: redis::FromRedisValue>(port: u16, command: &[&str]) -> redis::RedisResult<T> {
    let mut connection = redis::Client::open(("127.0.0.1", port))?.get_connection()?;
    redis::cmd(command[0]).arg(&command[1..]).query(&mut connection)
}

/// Ports that are free now, all held until all are known.
fn free_ports(count: usize) -> Vec<u16> {
    let held: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    held.iter().map(|it| it.local_addr().expect("an address").port()).collect()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}
