//! Reserves spans of time for the id generator, which makes ids unique across processes.

use super::script::{Call, Script};
use super::{Db, decode, keys};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::source::{IMPORT_WORKER, IdReservation, RESERVATION, ReserveIds, WORKERS};

static RESERVE_SPAN: Script = Script::allow_oom(include_str!("lua/reserve_span.lua"));

impl ReserveIds for Db {
    /// One round trip while the process keeps its worker number; a few more at start, to find a free number.
    async fn reserve(&self, now: Millis, held: Option<IdReservation>) -> Result<IdReservation, Error> {
        let first = held.map_or_else(|| rand::random_range(0..IMPORT_WORKER), |held| held.worker);
        for step in 0..IMPORT_WORKER {
            let worker = (first + step) % IMPORT_WORKER;
            let held_until = held.filter(|held| held.worker == worker).map_or(0, |held| held.until);
            if let Some(span) = self.reserve_for(worker, now, now + RESERVATION, held_until).await? {
                return Ok(span);
            }
        }
        tracing::error!(workers = WORKERS, "all worker numbers are in use: too many processes generate ids");
        Err(Error::StorageUnavailable)
    }
}

impl Db {
    /// Reserves `from..=until` for an import, whose ids are in the past. `None` if an import has already reserved `from` or a later time.
    ///
    /// # Errors
    /// As [`Db::call`].
    pub async fn reserve_import(&self, from: Millis, until: Millis) -> Result<Option<IdReservation>, Error> {
        self.reserve_for(IMPORT_WORKER, from, until, 0).await
    }

    async fn reserve_for(
        &self,
        worker: u64,
        now: Millis,
        until: Millis,
        held_until: Millis,
    ) -> Result<Option<IdReservation>, Error> {
        let call = Call::new(&RESERVE_SPAN, [keys::worker(worker)]).arg(now).arg(until).arg(held_until);
        let reply = self.call_untracked(vec![call]).await?.pop().unwrap_or_default();
        let from: Millis = decode::value(reply)?;
        Ok((from > 0).then(|| IdReservation { worker, from, until: until.max(from) }))
    }
}
