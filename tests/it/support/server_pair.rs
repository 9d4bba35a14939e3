//! Two servers on one Redis that can be killed and restarted.

use super::{Process, RedisServer, waxwing};
use std::sync::{Arc, Mutex};

/// The real binary, twice.
pub struct ServerPair {
    pub redis: Arc<RedisServer>,
    running: [Mutex<Option<Process>>; 2],
    urls: Mutex<[Option<String>; 2]>,
}

impl ServerPair {
    /// Both, started.
    pub fn start(redis: Arc<RedisServer>) -> Self {
        let servers = Self { redis, running: Default::default(), urls: Mutex::default() };
        (0..2).for_each(|which| servers.restart(which));
        servers
    }

    /// Restarts one that was killed.
    pub fn restart(&self, which: usize) {
        let redis = self.redis.url();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--redis", &redis, "--rate-limits", "off", "--allow-volatile"];
        let process = Process::start(&mut waxwing(&arguments));
        self.urls.lock().expect("no panic while held")[which] = Some(process.url.clone());
        *self.running[which].lock().expect("no panic while held") = Some(process);
    }

    /// Kills one (-9).
    pub fn kill(&self, which: usize) {
        self.urls.lock().expect("no panic while held")[which] = None;
        if let Some(process) = self.running[which].lock().expect("no panic while held").take() {
            process.kill();
        }
    }

    /// The address of the server with this number, or of the other one; `None` if neither is up.
    pub fn url(&self, which: usize) -> Option<String> {
        let urls = self.urls.lock().expect("no panic while held");
        urls[which % 2].clone().or_else(|| urls[(which + 1) % 2].clone())
    }
}
