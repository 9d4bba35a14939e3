//! The price of an impression.

use crate::app::App;
use crate::base::config::Auction;
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::model::{Ecpm, Money};
use crate::domains::ads::serving::model::second_price;

/// Returns the price of an impression of an ad with the eCPM `own`. `next` is the eCPM of the next ad in the order.
pub(in crate::domains::ads) fn price_of(app: &App, ad: &Ad, own: Ecpm, next: Option<Ecpm>) -> Money {
    match app.config().auction {
        Auction::FirstPrice => ad.price(),
        Auction::SecondPrice => second_price(ad.pricing, ad.bid, own, next),
    }
}
