//! `waxwing demo`: loads a world through the services, in bulk.
//!
//! A world is a plan that is the same each time it is made from the same input and the same moment; the moment is kept in the store. So a load
//! that was killed is simply done again, and writes the same things once more.

mod follows;
mod load;
mod people;
mod plan;
mod text;

pub(super) use load::people;
pub(super) use people::{LOGIN as PEOPLE_LOGIN, PASSWORD as PEOPLE_PASSWORD};

use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::db::Timing;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Options {
    /// Who follows whom: lines of "A B" (A follows B), `#` begins a comment. Users are named user1, user2, … in the order in
    /// which they first appear. Without it: a small world of twenty people.
    #[arg(long, value_name = "FILE", env = "WAXWING_FOLLOWS")]
    follows: Option<PathBuf>,
    /// How many statuses each user of the file posts, in turns.
    #[arg(long, value_name = "N", env = "WAXWING_STATUSES_PER_USER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    statuses_per_user: u32,
    /// Write a line "login token" for each user into this file, readable by its owner alone.
    #[arg(long, value_name = "FILE", env = "WAXWING_TOKENS")]
    tokens: Option<PathBuf>,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(super) async fn run(options: Options) -> anyhow::Result<()> {
    let follows = match &options.follows {
        Some(file) => Some(follows::read(file).with_context(|| file.display().to_string())?),
        None => None,
    };
    let storage = Storage::open(&options.storage, Timing::patient()).await?;
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    let loaded = load::world(&app, follows, options.statuses_per_user, options.tokens.as_deref()).await;
    drop(app);
    storage.close().await;
    loaded
}
