//! Ads: campaigns, decisions, caps and budgets that hold.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `campaigns:{uid}`, `websites:{uid}` | ZSET | what an account has → itself | 1,000 and 100, then `LIMIT_REACHED` |
//! | `standing:{uid}` | HASH | `advertiser publisher`: as what an operator holds it back | 2 fields |
//! | `campaign:{C}` | HASH | the definition, and the *pool*: money that no share holds | some 20 fields, and four a share |
//! | `keywords:{C}`, `ads:{C}` | ZSET | keyword → its adding; ad → itself | 250 and 100, then `LIMIT_REACHED` |
//! | `ad:{C}:A` | HASH | what an ad is: it never changes | 25 h once it was removed; 1,000 in a campaign's life |
//! | `listed:{C}` | ZSET | listings where it may stand → when that was written | a slot and keyword each, and for a minute those before |
//! | `share:{C.n}` | HASH | a copy of what a decision must know, the share's money, its counts | some 30 fields |
//! | `rank:{C.n}:slot` | ZSET | ad → its eCPM in millionths | 100 |
//! | `offered:{C.n}` | HASH | of each ad its pricing and bid, impressions, clicks, spend, and what was invalid | 14 fields an ad there ever was |
//! | `holds:{C.n}` | ZSET | `impression.ad.price.day` → when what waits for its click comes back | an hour's impressions |
//! | `seen:{C.n}:V` | STRING | how often a visitor has seen it | the cap's time |
//! | `impression:{C.n}:I` | STRING | what a reservation came to, should it be sent twice | 15 s |
//! | `clicked:{C.n}:hour`, `recorded:{C.n}:T` | SET | impressions that were clicked, promotions that were recorded | 2 h, 25 min |
//! | `tally:{C.n}:day` | HASH | impressions, clicks, spend, and what was invalid, in all and of each ad | 400 days |
//! | `reach:{C.n}`, `reached:{C.n}:day` | HyperLogLog | visitors, ever and of a day | 12 KiB; a day's 400 days |
//! | `offers:{L}` | ZSET | campaign → the eCPM of the best ad that it can pay for | every campaign that may be shown there |
//! | `capped:{V}`, `clicker:{V}` | ZSET, STRING | campaigns that a visitor has seen enough of; their clicks in a minute | 1,000; a minute |
//! | `traffic:{V}`, `shown:{C.n}:V` | STRING | clicks or impressions of an address; those of a campaign at an address | an hour |
//! | `schedule:{0..8}` | ZSET | campaign → when to look at it again, ms | every campaign that is not over |
//! | `website:{W}` | HASH | `id uid name origin off key`, and its traffic | 11 fields |
//! | `signing:{ads}` | HASH | what impressions are signed with | the newest key and the one before |
//!
//! "Redis Applied Design Patterns", chapter 10, orders the ads of a slot in one sorted set and takes money from a campaign after it was shown. Here a
//! campaign's money is taken with the decision, in one script, or the decision is another.
//!
//! **Money** is whole billionths ([`Money`]): a thousandth of a CPM bid of six decimals is exact, and so is every sum in a script, since no budget is
//! over 9,000,000. What ads are ordered by, eCPM, is whole millionths too. An ad that pays for clicks begins at a click-through rate of 1 % with the weight
//! of a hundred impressions, a Beta(1, 99) prior, and learns from its own ([`ecpm`]).
//!
//! **Pool and shares.** One hash tag for a campaign would be a hot key where it is shown all over the internet. Its money is spent from *shares*, each
//! on a tag of its own: one on a single server, four on a cluster. A visitor belongs to one of them, so that caps, reach and
//! reservations are exact within one script. A share that is dry *draws* a grant, a quarter of its part of what the pool has left; where the pool is dry,
//! the others give back what they have free. What is granted (`g`) and given back (`r`) only ever grows, and both sides tell all of it: a step that is
//! lost or repeated loses no money and makes none. The bound: what one campaign reserves in a share is done on one core of Redis, which spends some 50 µs on a
//! decision with all that is read for it (`cargo bench --bench ads`): 20,000 a second a share, 80,000 on a cluster, seven billion a day.
//!
//! **Invariants.** Of a share: `spent + held <= g - r`; `g` is at most what the pool has granted it, `r` at least what the pool knows of. Of the pool: `out`
//! is the sum of `g - r` and at most the budget, what was granted today at most the daily budget. `spent` is what its ads have cost
//! and what its days come to, `held` what waits for clicks. So there is never an impression or a unit of money too many, whoever dies when.
//!
//! **Days** are UTC. With a new one a share gives back what it has free: that was granted for the day before. At an even pace the pool grants as much of a
//! day's budget as of the day is over, and a minute's worth ahead ([`Campaign::allowed`]). What a click may cost is held for an hour from the impression
//! on and counts to that day; the schedule gives back what was not clicked, also when the process that held it is gone.
//!
//! **Invalid traffic** ([`InvalidClick`]) is shown and led on, and costs nothing: what one address or one website brings beyond what is plausible. It is decided in
//! the same step as everything else, so that no number which bids and budgets follow knows of it. docs/limits.md says how the bounds were chosen.
//!
//! **Listings** hold who may be shown *now*; the schedule says when that is to be looked at again: when it begins or ends, when a day or a pace
//! allows for more, when money comes back, and every half hour while it pays for clicks. Every process does that once a second. [`service::settle`] makes
//! shares, listings and schedule agree with a campaign: it notes where it will write before it does, writes, and reads again, so it may be done
//! twice, late, or by several at once. Each change is a journal entry, a commit on the campaign's tag that counts its `version`, and a settling; a share
//! takes no older copy than it has. Every change takes hold with the very next decision.
//!
//! **Truth.** A campaign is there when `campaign:{C}` is, a website when `website:{W}` is; the owner's side follows. Both are seen by their owner
//! alone. Whether somebody is held back stands in `standing:{uid}`, and each campaign and website has a copy that settling keeps.
//!
//! **Costs.** A decision: two round trips ([`service::serve`]). A change: a charge, two looks, the journal, the commit, and settling, which waits for nine
//! (two looks of three, and three writes) in some sixteen pipelines. Any number of
//! campaigns with what they have spent: two pipelines; with their states three more. Reports of any number of campaigns and ads: a pipeline
//! of their days, of one command a day and share, and one of their reach.

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

pub use budget::model::{ShareBalance, Taken};
pub use campaigns::load::{FetchAdPages, FetchAds, FetchAdsOf, FetchCampaigns};
pub use campaigns::model::*;
pub use campaigns::store::{Kept, KeptAd};
pub use graphql::{AdMutation, AdObject, AdQuery, CampaignObject, WebsiteMutation, WebsiteObject};
pub use graphql::{ExplainQuery, Promotion, RecordMutation, ServeMutation};
pub use model::*;
pub use publishers::load::FetchWebsites;
pub use publishers::model::{NewWebsite, Website, server_key, version_of_server_key, website_key, website_of_key};
pub use reporting::load::{FetchReach, FetchTallies};
pub use reporting::model::{Counted, Span, Visitors};
pub use service::FetchAuctions;
pub use serving::model::second_price;
pub use targeting::model::{Asked, Reason, judge};
