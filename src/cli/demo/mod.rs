//! `waxwing demo`: loads demo data through the services, in bulk.
//!
//! The data are a function of the input and of a start time, which is kept in the store. So a load that was killed can be repeated: it writes the
//! same data.

mod activity;
mod chats;
mod dataset;
mod follows;
mod load;
mod sample;
mod text;

pub(super) use load::load_sample;
pub(super) use sample::{LOGIN, PASSWORD};

use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::db::Timing;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct DemoOptions {
    /// A file of follows: lines of "A B" (A follows B); `#` begins a comment. The accounts get the logins user1, user2, … in the order of their
    /// first line. Default: twenty accounts.
    #[arg(long, value_name = "FILE", env = "WAXWING_FOLLOWS")]
    follows: Option<PathBuf>,
    /// The number of statuses that each account of the file posts.
    #[arg(long, value_name = "N", env = "WAXWING_STATUSES_PER_USER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    statuses_per_user: u32,
    /// Write a line "login token" for each account into this file. Only its owner can read the file.
    #[arg(long, value_name = "FILE", env = "WAXWING_TOKENS")]
    tokens: Option<PathBuf>,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(super) async fn run(options: DemoOptions) -> anyhow::Result<()> {
    let follows = match &options.follows {
        Some(file) => Some(follows::read(file).with_context(|| file.display().to_string())?),
        None => None,
    };
    let storage = Storage::open(&options.storage, Timing::for_bulk_work()).await?;
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    let loaded = load::load_demo(&app, follows, options.statuses_per_user, options.tokens.as_deref()).await;
    // Journal entries are acknowledged in the background.
    app.drain().await;
    drop(app);
    storage.close().await;
    loaded
}
