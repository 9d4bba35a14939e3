//! A redis-server of one test: on a unix socket in a temporary folder, gone with the test.
//!
//! The application may be given a user of least privilege: always, by [`RedisServer::restricted`], or throughout the suite, by the
//! variable `WAXWING_TEST_ACL`. The test itself is the operator, and stays the user `default` who may do everything.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use waxwing::db::Target;
use waxwing::db::inspect::acl;

/// The application's user under least privilege, its password, and the digest of that.
const USER: [&str; 3] = ["waxwing", "secret", "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"];

/// The lines of an ACL file by which the suite gives the application no more rights than it needs.
pub(super) fn acl_file() -> String {
    format!("user default on nopass ~* &* +@all\n{}\n", acl::line(USER[0], Some(USER[2]), &waxwing::fsck::key_kinds()))
}

/// Whether the whole suite runs so.
pub(super) fn suite_is_restricted() -> bool {
    std::env::var_os("WAXWING_TEST_ACL").is_some_and(|value| !value.is_empty())
}

/// What a URL says of the application's user.
pub(super) fn credentials() -> String {
    format!("{}:{}", USER[0], USER[1])
}

pub struct RedisServer {
    child: Mutex<Child>,
    arguments: Vec<String>,
    restricted: bool,
    /// Last, so that the folder outlives the server.
    folder: TempDir,
}

impl RedisServer {
    pub fn start() -> Self {
        Self::with(&["--appendonly", "no"])
    }

    /// With options of the test's choice.
    pub fn with(options: &[&str]) -> Self {
        Self::spawn(options, suite_is_restricted())
    }

    /// One that gives the application no more rights than it needs.
    pub fn restricted() -> Self {
        Self::spawn(&["--appendonly", "no"], true)
    }

    /// One whose only user is the operator, for tests of their own passwords.
    pub fn with_one_user() -> Self {
        Self::spawn(&["--appendonly", "no"], false)
    }

    /// With users of the test's choice.
    pub fn with_acl_file(file: &Path) -> Self {
        Self::spawn(&["--appendonly", "no", "--aclfile", &file.display().to_string()], false)
    }

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

    pub fn target(&self) -> Target {
        self.url().parse().expect("an address")
    }

    /// As the application is given it.
    pub fn url(&self) -> String {
        let user = if self.restricted { format!("?user={}&pass={}", USER[0], USER[1]) } else { String::new() };
        format!("{}{user}", self.operator_url())
    }

    /// The same by way of a port on loopback.
    pub fn tcp_url(&self, port: u16) -> String {
        let user = if self.restricted { format!("{}@", credentials()) } else { String::new() };
        format!("redis://{user}127.0.0.1:{port}")
    }

    /// As the operator uses it.
    pub fn operator_url(&self) -> String {
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

    /// Runs a command on a connection of the test's own.
    pub fn run<T: redis::FromRedisValue>(&self, command: &[&str]) -> T {
        let mut connection = self.client().get_connection().expect("a connection");
        redis::cmd(command[0]).arg(&command[1..]).query(&mut connection).expect("an answer")
    }

    /// The same with arguments that are no text.
    pub fn run_bytes(&self, command: &[&[u8]]) {
        let mut connection = self.client().get_connection().expect("a connection");
        let mut packed = redis::Cmd::new();
        for argument in command {
            packed.arg(*argument);
        }
        packed.exec(&mut connection).expect("an answer");
    }

    /// The same where a password is asked for.
    pub fn run_as<T: redis::FromRedisValue>(&self, password: &str, command: &[&str]) -> T {
        let client = redis::Client::open(format!("{}?pass={password}", self.url())).expect("an address");
        redis::cmd(command[0]).arg(&command[1..]).query(&mut client.get_connection().expect("a connection")).expect("an answer")
    }

    /// Every key there is. For small stores.
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.run(&["KEYS", "*"]);
        keys.sort();
        keys
    }

    /// How often each command was called since the last [`Self::reset_calls`].
    pub fn calls(&self) -> HashMap<String, u64> {
        let info: String = self.run(&["INFO", "commandstats"]);
        let call = |line: &str| {
            let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            Some((name.to_owned(), rest.split(',').next()?.parse().ok()?))
        };
        let own = ["info", "config|resetstat", "client|setinfo", "hello"];
        info.lines().filter_map(call).filter(|(name, _)| !own.contains(&name.as_str())).collect()
    }

    pub fn reset_calls(&self) {
        self.run::<()>(&["CONFIG", "RESETSTAT"]);
    }

    /// Everything in the store as text: keys, fields, members and values. For small stores.
    pub fn dump(&self) -> String {
        let mut texts = Vec::new();
        for key in self.keys() {
            let kind: String = self.run(&["TYPE", &key]);
            let values: Vec<Vec<u8>> = match kind.as_str() {
                "string" => vec![self.run(&["GET", &key])],
                "hash" => self.run(&["HGETALL", &key]),
                "zset" => self.run(&["ZRANGE", &key, "0", "-1"]),
                other => panic!("{key} is a {other}"),
            };
            texts.push(key);
            texts.extend(values.iter().map(|value| String::from_utf8_lossy(value).into_owned()));
        }
        texts.join("\n")
    }

    /// Sends a signal, such as `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.lock().expect("no panic while held").id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.expect("kill is everywhere").success());
    }

    pub fn kill(&self) {
        let mut child = self.child.lock().expect("no panic while held");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }

    /// Starts again after [`Self::kill`], with the same options.
    pub fn start_again(&self) {
        *self.child.lock().expect("no panic while held") = spawn(&self.arguments);
        self.wait();
    }
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

impl Drop for RedisServer {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
