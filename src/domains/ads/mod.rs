//! Ads: campaigns, ad decisions, frequency caps, and budgets that are never exceeded.
//!
//! ## Modules
//!
//! A module depends only on itself and the modules above it in this table, by `crate::domains::ads::MODULE`; `tests/it/architecture.rs` checks this.
//! Like a domain, a module is divided into `model`, `store`, `load` and `service`, as far as it needs them.
//!
//! | module | content |
//! |---|---|
//! | `model` | values that all modules share: money, slots, listings, shares, visitors, tallies, limits |
//! | `keys`, `rate_limit` | every Redis key; rate limits of requests for ads and of changes |
//! | `budget` | a campaign's pool and shares, grants, reservations, holds for clicks |
//! | `accounts` | the campaigns and websites that an account owns; whether it is suspended |
//! | `campaigns` | definitions of campaigns and ads: creatives, bids, keywords, caps, pacing |
//! | `publishers` | websites, website keys, server keys |
//! | `targeting` | which campaigns are eligible: listings, the schedule, frequency caps, candidates in order |
//! | `tracking` | impression tokens, recorded impressions, clicks, invalid traffic |
//! | `serving` | ad decisions: request, auction, backfill, promoted statuses, explanations |
//! | `reporting` | impressions, clicks, spend and reach by day |
//! | `management` | creating and changing campaigns and ads, suspension, deletion with the account |
//!
//! `service` (all use cases for other domains), `graphql`, `audit` and `lua/` are outside of this order and may depend on every module.
//!
//! ## The flow of a decision
//!
//! 1. **Request.** `serving::service::request` checks the request of a page: website key, slot, keywords, visitor.
//! 2. **Candidates.** `serving::store` reads the website, the visitor's capped campaigns and the first offers in one pipeline.
//!    `targeting::service::candidates` merges the listings of the slot and keywords, the highest eCPM first.
//! 3. **Auction.** `serving::service::decide` takes the best candidates. In a second-price auction, and to replace candidates that failed, it
//!    evaluates candidates (`targeting::service::eligibility`) before it reserves. `serving::service::auction` sets the price: the bid, or the second
//!    price.
//! 4. **Reservation.** `budget::service::reserve()` runs one script for each campaign. The script checks the campaign and the visitor's cap, charges
//!    the impression or holds the price of its click, and counts it. A share without enough money gets a grant from the pool first.
//! 5. **Backfill.** If campaigns are fewer than the ads that were requested, `serving::service::backfill` adds more ads of the same campaigns.
//! 6. **Impression token.** `tracking::service::signing` signs and encrypts one token for each impression.
//! 7. **Record.** The impression of a promoted status (`serving::service::promote`) is reserved when the client reports that the status was seen
//!    (`tracking::service::record`).
//! 8. **Click.** `tracking::service::click` opens the token, counts the click once and charges it, unless it is invalid
//!    (`tracking::service::traffic`).
//! 9. **Report.** `reporting::service` sums the tallies of all shares by day.
//!
//! If a reservation fails for another reason than a frequency cap, the listing is usually stale: `targeting::service::reevaluate` settles the
//! campaign in the background.
//!
//! ## The flow of money
//!
//! ```text
//! budget ──> pool (campaign:{C}) ──grant──> share ({C.n}) ──┬─> spent           an impression that is paid for by CPM
//!                  ^                          │  ^           └─> held ──click──> spent
//!                  └────────returned──────────┘  └──────────────── no click within an hour
//! ```
//!
//! ## Keys
//!
//! `C` is a campaign, `n` the number of one of its shares, `A` an ad, `V` a visitor, an address or a traffic origin
//! (an address, or the account whose server requests the ads), `I` an impression, `T` a period of ten minutes, `L` a listing (a slot and a keyword),
//! `W` a website.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `campaigns:{uid}`, `websites:{uid}` | ZSET | campaigns or websites of an account → themselves | 1,000 and 100, then `LIMIT_REACHED` |
//! | `standing:{uid}` | HASH | `advertiser publisher`: the roles in which the account is suspended | 2 fields |
//! | `campaign:{C}` | HASH | the definition, and the *pool*: the money that no share holds | some 20 fields, and four a share |
//! | `frozen:{C}` | STRING | the token of a freeze: while the key exists, the pool grants nothing | 2 s |
//! | `keywords:{C}`, `ads:{C}` | ZSET | keyword → id of its addition; ad → itself | 250 and 100, then `LIMIT_REACHED` |
//! | `ad:{C}:A` | HASH | the definition of an ad, which never changes | 25 h after its removal; 1,000 in a campaign's life |
//! | `listed:{C}` | ZSET | listings that may contain the campaign → time of the write | one for each slot and keyword, and those of the minute before |
//! | `share:{C.n}` | HASH | a copy of the definition for decisions, the share's money and counts | 24 fields |
//! | `rank:{C.n}:slot` | ZSET | ad → its eCPM in millionths | 100 |
//! | `offered:{C.n}` | HASH | pricing, bid, impressions, clicks, spend and invalid traffic of each ad | 14 fields for each ad there ever was |
//! | `holds:{C.n}` | ZSET | `impression.ad.price.day` → time at which the hold expires | the impressions of an hour |
//! | `seen:{C.n}:V` | STRING | impressions of the campaign to a visitor | the cap's period |
//! | `impression:{C.n}:I` | STRING | the result of a reservation, for a retry | 15 s |
//! | `clicked:{C.n}:hour`, `recorded:{C.n}:T` | SET | clicked impressions; recorded promotions | 2 h, 25 min |
//! | `tally:{C.n}:day` | HASH | impressions, clicks, spend and invalid traffic of a day: in all, and of each ad | 400 days |
//! | `reach:{C.n}`, `reached:{C.n}:day` | HyperLogLog | visitors, ever and of a day | 12 KiB; a day's 400 days |
//! | `offers:{L}` | ZSET | campaign → the eCPM of the best ad that it can pay for | every campaign that may be shown there |
//! | `capped:{V}`, `clicker:{V}` | ZSET, STRING | campaigns whose cap a visitor has reached; the visitor's clicks in a minute | 1,000; a minute |
//! | `traffic:{V}`, `shown:{C.n}:V` | STRING | clicks or impressions of an address; impressions of the campaign by traffic origin | an hour |
//! | `schedule:{0..8}` | ZSET | campaign → time of its next evaluation, ms | every campaign, unless it has ended or was stopped and has no holds |
//! | `website:{W}` | HASH | `id uid name origin off key`, and its traffic | 11 fields |
//! | `signing:{ads}` | HASH | the keys that sign impression tokens | the newest and the one before |
//!
//! "Redis Applied Design Patterns", chapter 10, orders the ads of a slot in one sorted set and charges a campaign after its ad was shown. Here the
//! reservation charges the campaign in the script that decides, so no decision overspends.
//!
//! ## Money
//!
//! Amounts are whole billionths ([`Money`]). A thousandth of a CPM bid of six decimals is exact, and so is every sum in a script, since no budget is
//! over 9,000,000. Ads are ordered by eCPM in whole millionths. A CPC ad starts at a click-through rate of 1 % with the weight of a hundred
//! impressions, a Beta(1, 99) prior, which its own impressions and clicks update ([`ecpm`]).
//!
//! **Pool and shares.** With one hash tag, a campaign that is shown on many websites would be a hot key. Its money is spent from *shares*, each on
//! a hash tag of its own: one on a single server, four on a cluster. A visitor belongs to one share, so caps, reach and reservations are exact within one
//! script. A share without enough money requests a *grant*: a quarter of its part of the money left in the pool. If the pool is empty, the other
//! shares return their free money. The sums of granted (`g`) and returned (`r`) money only grow, and both sides report the whole sum: a lost or
//! repeated step neither loses nor creates money. The bound: one core of Redis does the reservations of a share, at some 50 µs for each decision with
//! its reads (`cargo bench --bench ads`): 20,000 a second for a share, 80,000 on a cluster, seven billion a day.
//!
//! **Invariants.** Of a share: `spent + held <= g - r`; `g` is at most the sum that the pool has granted to it, `r` at least the sum that the pool
//! has recorded. Of the pool: `out` is the sum of `g - r` and at most the budget; no grant raises `today`, the money granted and not returned on
//! `day`, above the daily budget. `spent` is the sum of the spend of the share's ads, and of its days; `held` is the sum of its holds. So the budget
//! is never exceeded, whichever process dies at whichever step.
//!
//! **Days** are UTC. On a new day a share returns its free money, which was granted for the day before. With even pacing the pool grants the part of
//! the daily budget that corresponds to the elapsed part of the day, and a minute more ([`Campaign::daily_allowance`]). The price of a click is held
//! for an hour after the impression and counts to the day of the impression. The schedule releases holds without a click, also those of a process
//! that has died.
//!
//! **Invalid traffic** ([`InvalidClick`]) is served and redirected like other traffic, and costs nothing: clicks and impressions of an address or a
//! website beyond a plausible number. The scripts that count impressions and clicks count the invalid ones in separate fields, so no counter that
//! drives bids and budgets includes them. docs/limits.md explains the bounds.
//!
//! ## Consistency
//!
//! **Listings** contain the campaigns that may be shown *now*. The schedule holds the time of each campaign's next evaluation: when it starts or ends,
//! when its day or pace allows more spend, when a hold expires, and every half hour while it pays for clicks. Every process evaluates due campaigns
//! once a second. [`service::settle`] makes shares, listings and schedule agree with a campaign. It records the listings that it will write, writes
//! them, and reads again, so it may run twice, late, or in several processes at once. Each change is a journal entry, a commit on the campaign's hash tag
//! that increments its `version`, and a settling; a share keeps the newest copy. A change applies from the next decision on; hints about reached caps
//! expire later (`HINT_TTL`, `CAP_HINT_TTL`).
//!
//! **Source of truth.** A campaign exists while `campaign:{C}` does, a website while `website:{W}` does; the lists of the owner are derived.
//! Only the owner can see either. `standing:{uid}` stores whether an account is suspended; settling keeps a copy in each campaign and website.
//!
//! ## Costs
//!
//! A first-price decision takes two round trips in most cases ([`service::serve`]). A change takes a charge, two reads, the journal, the commit, and
//! the settling, which waits for nine round trips (two evaluations of three, and three writes) in some sixteen pipelines. Any number of campaigns
//! with their spend take two pipelines, with their states three more. Reports of any number of campaigns and ads take one pipeline for their days,
//! with one command for each day and share, and one for their reach.

mod accounts;
pub mod audit;
mod budget;
mod campaigns;
mod graphql;
mod keys;
mod management;
mod model;
mod publishers;
mod rate_limit;
mod reporting;
pub mod service;
mod serving;
mod targeting;
mod tracking;

pub use budget::model::{CommittedBudget, ShareBalance};
pub use campaigns::load::{AdFetcher, AdPageFetcher, CampaignAdsFetcher, CampaignFetcher};
pub use campaigns::model::*;
pub use campaigns::store::{AdDetails, CampaignDetails};
pub use graphql::{AdMutation, AdObject, AdQuery, CampaignObject, WebsiteMutation, WebsiteObject};
pub use graphql::{ExplainQuery, Promotion, RecordMutation, ServeMutation};
pub use model::*;
pub use publishers::load::WebsiteFetcher;
pub use publishers::model::{NewWebsite, Website, server_key, version_of_server_key, website_key, website_of_key};
pub use reporting::load::{ReachFetcher, TallyFetcher};
pub use reporting::model::{ReachQuery, ReportDays, ReportSubject};
pub use service::AuctionFetcher;
pub use serving::model::second_price;
pub use targeting::model::{EligibilityContext, IneligibilityReason, reasons_against};
