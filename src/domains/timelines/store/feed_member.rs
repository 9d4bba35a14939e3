//! The members of the sorted sets of feeds, as replies of Redis.

use super::super::feed_row::FeedRow;
use crate::base::ids::{StatusId, UserId};
use redis::{FromRedisValue, ParsingError, Value};

/// A member of the sorted set of a feed, without its position.
#[derive(Clone, Copy)]
pub(super) struct FeedMember {
    status: StatusId,
    reposter: Option<UserId>,
}

impl FeedMember {
    /// The entry with this score.
    pub(super) const fn at(self, score: f64) -> FeedRow {
        FeedRow { position: score as u64, status: self.status, reposter: self.reposter }
    }
}

impl FromRedisValue for FeedMember {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let Value::BulkString(bytes) = value else { return Err("no member of a feed".to_owned().into()) };
        let row = std::str::from_utf8(&bytes).ok().and_then(|text| FeedRow::parse(text, 0));
        match row {
            Some(FeedRow { status, reposter, .. }) => Ok(Self { status, reposter }),
            None => Err("no member of a feed".to_owned().into()),
        }
    }
}
