//! What happens in the small world beside posts: comments, votes, a running campaign and a website, so that no part of the playground is empty.
//!
//! Made by the services as clients would make them, once the world is loaded. Idempotency keys make a second try harmless; the website comes last
//! and says that all of it is there.

use super::people::LOGIN;
use super::plan::World;
use super::text::{Dice, reply};
use crate::app::App;
use crate::base::error::{Outcome, Refusal};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::request::{Loaders, Request};
use crate::domains::ads::{NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads};
use crate::domains::comments::{Draft, ParentRef, Vote, service as comments};
use anyhow::{Context, anyhow};
use rust_decimal::Decimal;
use std::sync::Arc;

/// How many of the latest statuses are commented on.
const TALKED_ABOUT: usize = 15;
/// Keywords of the campaign: pages about anything else do not show it.
const KEYWORDS: [&str; 2] = ["birds", "berries"];

/// Makes it where it is not there.
pub(super) async fn begin(app: &App, world: &World) -> anyhow::Result<()> {
    let ada = world.users.iter().find(|user| user.login == LOGIN).context("the demo's user")?.id;
    if ads::count_websites(app, ada).await? > 0 {
        return Ok(());
    }
    let mut dice = Dice::new(7);
    let latest = world.statuses.iter().rev().take(TALKED_ABOUT);
    for (place, (_, status)) in latest.enumerate() {
        talk(app, world, &mut dice, place, status.id).await?;
    }
    advertise(app, ada).await?;
    let website = NewWebsite {
        name: "Birds today".into(),
        origin: "https://birds.example".into(),
        require_server_key: false,
        idempotency_key: key("website"),
    };
    done(ads::register(app, ada, website).await).map(drop)
}

/// Adds two to five comments to a status, some of them replies to another, with votes.
async fn talk(app: &App, world: &World, dice: &mut Dice, place: usize, status: StatusId) -> anyhow::Result<()> {
    let mut parent = ParentRef::Status(status);
    for number in 0..2 + dice.roll(4) {
        let author = someone(world, dice);
        let draft = Draft { parent, message: reply(dice), idempotency_key: key(&format!("comment-{place}-{number}")) };
        let Some(id) = done(comments::add(app, &loaders(app), author, draft).await)? else { continue };
        vote(app, world, dice, id).await?;
        parent = if dice.roll(2) == 0 { ParentRef::Comment(id) } else { ParentRef::Status(status) };
    }
    Ok(())
}

async fn vote(app: &App, world: &World, dice: &mut Dice, comment: CommentId) -> anyhow::Result<()> {
    for _ in 0..dice.roll(4) {
        let voter = someone(world, dice);
        let vote = if dice.roll(5) == 0 { Vote::Down } else { Vote::Up };
        done(comments::vote(app, &loaders(app), voter, comment, vote).await)?;
    }
    Ok(())
}

/// A campaign with two ads, which pages about birds show.
async fn advertise(app: &App, owner: UserId) -> anyhow::Result<()> {
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
    let campaign = done(ads::create(app, owner, campaign).await)?;
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
        done(ads::create_ad(app, &loaders(app), owner, ad).await)?;
    }
    Ok(())
}

fn someone(world: &World, dice: &mut Dice) -> UserId {
    world.users[dice.roll(world.users.len())].id
}

/// Loaders of a request of nobody: each change begins with nothing loaded.
fn loaders(app: &App) -> Arc<Loaders> {
    Request::new(app.clone(), None, None, None).loaders()
}

#[allow(clippy::unnecessary_wraps, reason = "what every input takes")]
fn key(name: &str) -> Option<String> {
    Some(format!("demo-{name}"))
}

fn done<T>(outcome: Outcome<T>) -> anyhow::Result<T> {
    outcome.map_err(|refusal| match refusal {
        Refusal::User(rows) => anyhow!("the demo: {rows:?}"),
        Refusal::Fatal(error) => error.into(),
    })
}
