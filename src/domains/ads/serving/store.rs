//! The first read of an ad decision.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{CampaignId, UserId, WebsiteId};
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::Visitor;
use crate::domains::ads::targeting::store::frequency_caps::{capped_command, decode_capped};
use crate::domains::ads::targeting::store::offers::{OfferRange, Offers};
use crate::domains::ads::targeting::store::offers::{decode_offers, offers_command};
use crate::domains::ads::tracking::store::traffic::{
    HourlyTraffic, VOLUME, address_impression_count_command, decode_address_impression_count,
};
use redis::cmd;
use std::collections::HashMap;

/// The state of a publisher, as far as a decision needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::domains::ads) enum PublisherStatus {
    Active {
        owner: UserId,
        /// The version of the server key that the website requires; 0 if it requires none.
        server_key: u64,
        volume: HourlyTraffic,
    },
    /// An operator has suspended the owner.
    Suspended,
    NotFound,
}

/// The data that a decision reads first.
pub(in crate::domains::ads) struct DecisionData {
    pub(in crate::domains::ads) publisher: PublisherStatus,
    /// The impressions of the address in its current window of an hour.
    pub(in crate::domains::ads) address_impression_count: u64,
    /// Campaigns whose cap the visitor has reached, with the end of the cap period.
    pub(in crate::domains::ads) capped: HashMap<CampaignId, Millis>,
    pub(in crate::domains::ads) offers: Vec<Offers>,
}

/// Reads the first data of a decision. One pipeline.
pub(in crate::domains::ads) async fn read_decision_data(
    db: &Db,
    now: Millis,
    website: WebsiteId,
    visitor: Option<Visitor>,
    address: Option<Visitor>,
    ranges: &[OfferRange],
) -> Result<DecisionData, Error> {
    let mut commands = vec![cmd("HMGET").arg(keys::website(website)).arg(&["uid", "off", "key"]).arg(&VOLUME).take()];
    commands.extend(ranges.iter().map(offers_command));
    commands.extend(address.map(address_impression_count_command));
    commands.extend(visitor.map(|visitor| capped_command(visitor, now)));
    let mut replies = db.read_many(commands).await?.into_iter();
    let publisher = decode_publisher(&decode::value::<Vec<Option<String>>>(replies.next().unwrap_or_default())?);
    let offers = ranges.iter().map(|_| decode_offers(replies.next().unwrap_or_default())).collect::<Result<_, _>>()?;
    let address_impression_count = match address {
        Some(_) => decode_address_impression_count(replies.next().unwrap_or_default(), now)?,
        None => 0,
    };
    let capped = replies.next().map(decode_capped).transpose()?.unwrap_or_default();
    Ok(DecisionData { publisher, address_impression_count, capped, offers })
}

fn decode_publisher(values: &[Option<String>]) -> PublisherStatus {
    let value = |at: usize| values.get(at).and_then(Option::as_deref);
    match (value(0), value(1)) {
        (None, _) => PublisherStatus::NotFound,
        (_, Some("1")) => PublisherStatus::Suspended,
        (Some(owner), _) => {
            let owner = UserId(owner.parse().unwrap_or(0));
            let server_key = value(2).and_then(|version| version.parse().ok()).unwrap_or(0);
            PublisherStatus::Active { owner, server_key, volume: HourlyTraffic::decode(values.get(3..).unwrap_or_default()) }
        }
    }
}
