//! Secrets that all processes of one store share.

use super::{Db, keys};
use crate::base::error::Error;

impl Db {
    /// The key that cursors are tagged with: made by the first process that asks, the same for all ever after.
    ///
    /// # Errors
    /// As [`Db::read`].
    pub async fn cursor_secret(&self) -> Result<[u8; 16], Error> {
        // Looked for first: pages are read while Redis refuses writes too.
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
