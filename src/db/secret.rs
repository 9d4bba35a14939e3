//! Secrets that all processes of one store share.

use super::{Db, keys};
use crate::base::error::Error;

impl Db {
    /// The secret that signs cursors: created by the first process, then constant.
    ///
    /// # Errors
    /// As [`Db::read`]; if the secret must be created, as [`Db::write_many`].
    pub async fn cursor_secret(&self) -> Result<[u8; 16], Error> {
        // Read first: pages must work while Redis refuses writes.
        let mut get = redis::cmd("GET");
        get.arg(keys::CURSOR_SECRET);
        let mut secret: Option<Vec<u8>> = self.read(get.clone()).await?;
        if secret.is_none() {
            let mut offer = redis::cmd("SET");
            offer.arg(keys::CURSOR_SECRET).arg(&rand::random::<[u8; 16]>()[..]).arg("NX");
            self.pipeline(vec![offer], super::timing::Access::Write).await.map_err(|failed| failed.error)?;
            secret = self.read(get).await?;
        }
        let secret = secret.unwrap_or_default();
        secret.try_into().map_err(|_| Error::corrupt("the cursor secret is not 16 bytes"))
    }
}
