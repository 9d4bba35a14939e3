//! Reading campaigns and ads.

use crate::app::App;
use crate::base::clock::DAY;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{AdId, CampaignId, UserId};
use crate::base::page::{self, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::ads::accounts;
use crate::domains::ads::budget::model::ShareBalance;
use crate::domains::ads::campaigns::model::CampaignState;
use crate::domains::ads::campaigns::store;
use crate::domains::ads::campaigns::store::ads::AdDetails;
use crate::domains::ads::campaigns::store::campaigns::CampaignDetails;
use crate::domains::ads::model::no_campaign;
use std::sync::Arc;

/// Returns a campaign of `owner`. Two pipelines.
pub(in crate::domains::ads) async fn owned(app: &App, owner: UserId, id: CampaignId) -> Outcome<CampaignDetails> {
    let kept = store::load(app.db(), &[id]).await?.pop().flatten();
    kept.filter(|it| it.campaign.owner == owner).ok_or_else(|| no_campaign().into())
}

/// Returns the state of a campaign with these ads.
pub fn state(app: &App, kept: &CampaignDetails, ads: &[AdDetails]) -> CampaignState {
    let now = app.now();
    let remaining_budget = kept.campaign.budget.saturating_sub(ShareBalance::committed_budget(&kept.balances, now / DAY).whole);
    let can_pay = ads.is_empty() || ads.iter().any(|it| it.ad.price() <= remaining_budget);
    kept.campaign.state(now, can_pay)
}

/// Returns the number of campaigns of an account. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count(app: &App, owner: UserId) -> Result<u64, Error> {
    accounts::store::count(app.db(), owner).await
}

/// Returns a page of an account's campaigns, newest first. Only the owner can see them.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn campaigns(
    app: &App,
    loaders: &Loaders,
    owner: UserId,
    args: &PageArgs,
) -> Result<Page<Arc<CampaignDetails>>, Error> {
    let request = args.check(&app.cursors().await?, campaigns_scope(owner))?;
    page::read_page(&CampaignPages { app, loaders, owner }, request).await
}

/// The scope of the cursors of [`campaigns`].
pub const fn campaigns_scope(owner: UserId) -> page::CursorScope {
    page::CursorScope { kind: b'k', owner: owner.0 }
}

struct CampaignPages<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    owner: UserId,
}

impl PageSource for CampaignPages<'_> {
    type Item = Arc<CampaignDetails>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        accounts::store::campaigns_page(self.app.db(), self.owner, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<CampaignDetails>>>, Error> {
        self.loaders.campaigns.load_many(rows.iter().map(|row| CampaignId(row.member))).await
    }
}

/// Returns a page of a campaign's ads, newest first.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn ads(app: &App, loaders: &Loaders, campaign: CampaignId, args: &PageArgs) -> Result<Page<Arc<AdDetails>>, Error> {
    let request = args.check(&app.cursors().await?, ads_scope(campaign))?;
    page::read_page(&AdPages { loaders, campaign }, request).await
}

/// The scope of the cursors of [`ads`].
pub const fn ads_scope(campaign: CampaignId) -> page::CursorScope {
    page::CursorScope { kind: b'a', owner: campaign.0 }
}

struct AdPages<'a> {
    loaders: &'a Loaders,
    campaign: CampaignId,
}

impl PageSource for AdPages<'_> {
    type Item = Arc<AdDetails>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let pages = self.loaders.ad_pages.load_many(windows.iter().map(|window| (self.campaign, *window))).await?;
        Ok(pages.iter().map(|rows| rows.to_vec()).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<AdDetails>>>, Error> {
        self.loaders.ads.load_many(rows.iter().map(|row| AdId { campaign: self.campaign, number: row.member })).await
    }
}
