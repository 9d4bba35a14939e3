//! Copies of a whole store, for backups: what each primary sends to a replica (an RDB file of one moment), and how it gets into a store again.
//!
//! A server has no part in it: these commands are the operator's, and a user of least privilege may not run them.

mod copy;
mod error;
mod data_folder;
mod replica;
mod stream;

pub use copy::copy_into;
pub use data_folder::{is_free_folder, write_data_folder};
pub use error::SnapshotError;
pub use replica::{Download, download};

use super::Db;
use crate::base::error::Error;

/// How a server is reached.
pub use redis::ConnectionInfo as Address;

impl Db {
    /// How each primary is reached, in the order of their addresses.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn primary_addresses(&self) -> Result<Vec<Address>, Error> {
        self.topology.primary_addresses().await
    }
}
