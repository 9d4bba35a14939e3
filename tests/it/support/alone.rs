//! What stays on a single server when the suite runs on a cluster, and why. Nothing else does.
//!
//! Such a test runs there as well, and asserts what it always asserts. Tests of the look at a given server (`inspect`) and of the server
//! that Waxwing runs itself (`embedded`) start their own, which is never a cluster.

/// Why a test wants one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// It breaks, holds, slows or cuts the one connection there is, and counts what passes in the order in which it does. Connections to the nodes of a cluster are broken by
    /// tests of their own, in `cluster` and `faults`.
    OneWire,
    /// It counts what is read of what is kept near: of a single server. A cluster is read each time.
    ClientCache,
    /// It reads the record (MONITOR) of everything that a Redis is told, in the order in which it was.
    Record,
    /// It cuts the append-only file of one server, as it cuts those of a cluster in a test of its own.
    OneFile,
    /// It makes the server a replica by a command that a cluster does not take: a replica there sends writers on to its primary.
    Replica,
    /// It sets who may log in to Redis, with which password, by a URL of its own. A cluster's URL is read by a test of `db::target`, and
    /// the suite logs in to clusters by name and password.
    Users,
}
