//! Snapshots of a whole store for backups: downloads an RDB file from each primary, and restores it.
//!
//! The server does not use this module: these commands belong to the operator, and a user of least privilege may not run them.

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

/// The address of a server.
pub use redis::ConnectionInfo as Address;

impl Db {
    /// The address of each primary, in order.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn primary_addresses(&self) -> Result<Vec<Address>, Error> {
        self.topology.primary_addresses().await
    }
}
