//! Comments, votes, chats, a campaign and a website of the sample data set, so that no part of the playground is empty.
//!
//! They are created through the services, as by clients, after the data set is loaded. Idempotency keys make a repeated load harmless. The website is
//! created last: if it exists, everything exists.

use super::chats;
use super::dataset::Dataset;
use super::sample::LOGIN;
use super::text::{RandomNumbers, reply};
use crate::app::App;
use crate::base::error::{Outcome, Refusal};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::request::{Loaders, Request};
use crate::base::viewer::Viewer;
use crate::domains::ads::{NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads};
use crate::domains::comments::{CommentDraft, ParentRef, Vote, service as comments};
use anyhow::{Context, anyhow};
use rust_decimal::Decimal;
use std::sync::Arc;

/// The number of latest statuses that get comments.
const COMMENTED_STATUSES: usize = 15;
/// Keywords of the campaign: only pages with one of these keywords show its ads.
const KEYWORDS: [&str; 2] = ["birds", "berries"];

/// Creates the activity, unless the website exists.
pub(super) async fn create(app: &App, data: &Dataset) -> anyhow::Result<()> {
    let ada = account(data, LOGIN)?;
    if ads::count_websites(app, ada).await? > 0 {
        return Ok(());
    }
    let mut random = RandomNumbers::new(7);
    let latest = data.statuses.iter().rev().take(COMMENTED_STATUSES);
    for (index, (_, status)) in latest.enumerate() {
        add_comments(app, data, &mut random, index, status.id).await?;
    }
    chats::create(app, data).await?;
    create_campaign(app, ada).await?;
    let website = NewWebsite {
        name: "Birds today".into(),
        origin: "https://birds.example".into(),
        require_server_key: false,
        idempotency_key: key("website"),
    };
    unwrap_outcome(ads::register(app, ada, website).await).map(drop)
}

/// Adds two to five comments to a status, with votes. Some comments reply to the previous comment.
async fn add_comments(
    app: &App,
    data: &Dataset,
    random: &mut RandomNumbers,
    index: usize,
    status: StatusId,
) -> anyhow::Result<()> {
    let mut parent = ParentRef::Status(status);
    for number in 0..2 + random.below(4) {
        let author = random_account(data, random);
        let draft = CommentDraft { parent, message: reply(random), idempotency_key: key(&format!("comment-{index}-{number}")) };
        let Some(id) = unwrap_outcome(comments::add(app, &loaders(app, author), author, draft).await)? else { continue };
        add_votes(app, data, random, id).await?;
        parent = if random.below(2) == 0 { ParentRef::Comment(id) } else { ParentRef::Status(status) };
    }
    Ok(())
}

async fn add_votes(app: &App, data: &Dataset, random: &mut RandomNumbers, comment: CommentId) -> anyhow::Result<()> {
    for _ in 0..random.below(4) {
        let voter = random_account(data, random);
        let vote = if random.below(5) == 0 { Vote::Down } else { Vote::Up };
        unwrap_outcome(comments::vote(app, &loaders(app, voter), voter, comment, vote).await)?;
    }
    Ok(())
}

/// Creates a campaign with two ads for pages about birds.
async fn create_campaign(app: &App, owner: UserId) -> anyhow::Result<()> {
    let campaign = NewCampaign {
        name: "Berries for every bird".into(),
        budget: Decimal::from(1_000),
        daily: Some(Decimal::from(50)),
        starts: None,
        ends: None,
        keywords: KEYWORDS.map(str::to_owned).to_vec(),
        cap: None,
        pacing: Pacing::Asap,
        idempotency_key: key("campaign"),
    };
    let campaign = unwrap_outcome(ads::create(app, owner, campaign).await)?;
    for (slot, pricing, cents, snippet) in [
        (Slot::Banner, Pricing::Cpm, 225, "Berries for every bird: fresh from the hedge, delivered by noon."),
        (Slot::Square, Pricing::Cpc, 40, "A feeder that waxwings come back to."),
    ] {
        let ad = NewAd {
            campaign: Some(campaign),
            slot,
            snippet: Some(snippet.into()),
            target: Some("https://berries.example/".into()),
            status: None,
            pricing,
            bid: Decimal::new(cents, 2),
            idempotency_key: key(&format!("ad-{}", pricing.name())),
        };
        unwrap_outcome(ads::create_ad(app, &loaders(app, owner), owner, ad).await)?;
    }
    Ok(())
}

fn random_account(data: &Dataset, random: &mut RandomNumbers) -> UserId {
    data.users[random.below(data.users.len())].id
}

/// The account with a login.
pub(super) fn account(data: &Dataset, login: &str) -> anyhow::Result<UserId> {
    data.users.iter().find(|user| user.login == login).map(|user| user.id).with_context(|| format!("no account {login}"))
}

/// Empty loaders of an account, for one change.
pub(super) fn loaders(app: &App, viewer: UserId) -> Arc<Loaders> {
    Request::new(app.clone(), Some(Viewer::of_server_key(viewer)), None, None).loaders()
}

#[allow(clippy::unnecessary_wraps, reason = "the type of idempotency keys in every input")]
pub(super) fn key(name: &str) -> Option<String> {
    Some(format!("demo-{name}"))
}

pub(super) fn unwrap_outcome<T>(outcome: Outcome<T>) -> anyhow::Result<T> {
    outcome.map_err(|refusal| match refusal {
        Refusal::User(errors) => anyhow!("the demo: {errors:?}"),
        Refusal::Error(error) => error.into(),
    })
}
