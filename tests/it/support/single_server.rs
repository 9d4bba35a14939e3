//! The reasons why a test runs on a single server when the suite runs on a cluster. There are no others.
//!
//! Such a test runs there as well, with the same assertions. Tests of a given server (`inspect`) and of the embedded Redis (`embedded`)
//! start their own server, which is never a cluster.

/// Why a test needs a single server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleServerReason {
    /// It closes, holds or slows down the only connection, or counts its commands in order. `cluster` and `faults` have tests with connections
    /// to the nodes of a cluster.
    ConnectionControl,
    /// It counts reads of the client-side cache, which only a single server has.
    ClientCache,
    /// It reads the MONITOR output of a Redis, in order.
    MonitorOutput,
    /// It truncates the append-only file of one server; another test truncates those of a cluster.
    AppendOnlyFile,
    /// It makes the server a replica by a command that a cluster refuses: a replica there redirects writers to its primary.
    Replica,
    /// It sets users and passwords of Redis by a URL of its own. A test of `db::target` parses the URL of a cluster, and the suite logs in to
    /// clusters by name and password.
    AclUsers,
}
