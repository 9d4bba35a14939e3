//! What an operator may set, with its defaults. Each is an option of the command line (`cli`) and a `WAXWING_…` variable.

use crate::clock::{DAY, Millis};
use crate::quota::Rates;
use ipnet::IpNet;

/// The settings of the domains.
#[derive(Clone, Debug)]
pub struct Config {
    /// Entries that a home keeps ready: 100 to 10,000.
    pub home_window: usize,
    /// How long a session lives without being used.
    pub session_idle: Millis,
    /// How long a session lives at most.
    pub session_absolute: Millis,
    /// Password hashes computed at once. Each takes 19 MiB and a core for some 30 ms.
    pub hashes_at_once: usize,
    /// How much one may ask; `None` for as much as one likes. That is the default here, since whoever links this library acts for the
    /// operator (tests, loaders, audits); `waxwing serve`, which faces strangers, has limits unless they are switched off.
    pub rates: Option<Rates>,
    /// Whose word about a client's address is taken: that of proxies at these addresses.
    pub trusted_proxies: Vec<IpNet>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            home_window: 1_000,
            session_idle: 30 * DAY,
            session_absolute: 90 * DAY,
            hashes_at_once: 2,
            rates: None,
            trusted_proxies: Vec::new(),
        }
    }
}
