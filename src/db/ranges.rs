//! Reads windows of sorted sets whose scores are ids: most lists of objects are such sets.

use super::{Db, decode};
use crate::base::error::Error;
use crate::base::page::{Row, Window};
use redis::{Cmd, cmd};

/// The command that reads a window of `key`: members with scores.
pub fn command(key: &str, window: &Window) -> Cmd {
    ids_command(key, window).arg("WITHSCORES").take()
}

/// The command that reads a window of `key`: only members, for sets whose scores equal their members.
pub fn ids_command(key: &str, window: &Window) -> Cmd {
    let mut range = cmd("ZRANGE");
    let above = format!("({}", window.above);
    let below = if window.below == u64::MAX { "+inf".to_owned() } else { format!("({}", window.below) };
    range.arg(key);
    if window.newest_first {
        range.arg(below).arg(above).arg("BYSCORE").arg("REV");
    } else {
        range.arg(above).arg(below).arg("BYSCORE");
    }
    range.arg("LIMIT").arg(0).arg(window.limit);
    range
}

/// Reads windows of one sorted set, each in its own order. One pipeline.
///
/// # Errors
/// As [`Db::read`].
pub async fn read(db: &Db, key: &str, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    let commands = windows.iter().map(|window| command(key, window)).collect();
    db.read_many(commands).await?.into_iter().map(decode::rows).collect()
}
