//! `waxwing admin`: administration of accounts, ads and server keys.

mod keys;

use super::migrate;
use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::base::config::Config;
use crate::base::request::Request;
use crate::db::Timing;
use crate::domains::accounts::service as accounts;
use crate::domains::ads::service as ads;
use crate::domains::users::User;
use crate::domains::users::service as users;
use crate::platform::journal::{RETENTION, retention};
use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use std::sync::Arc;
use std::time::Duration;

#[derive(Args)]
pub(super) struct AdminOptions {
    #[command(subcommand)]
    action: AdminAction,
}

#[derive(Subcommand)]
enum AdminAction {
    /// Delete an account and every trace of it, without confirmation. Returns when nothing is left but journal entries for its groups, which the workers of
    /// a server complete.
    DeleteAccount(DeleteAccount),
    /// Suspend an account as an advertiser (its ads are not shown) or as a publisher (its websites get no ads).
    Suspend(SuspensionOptions),
    /// Revert a suspension.
    Restore(SuspensionOptions),
    /// Create a server key, with which a backend provisions its users and acts for them. The key alone is printed to stdout, once.
    CreateKey(keys::CreateKey),
    /// List the server keys with their scopes and times, never the keys themselves.
    ListKeys(keys::ListKeys),
    /// Revoke a server key. Every server refuses it at once.
    RevokeKey(keys::RevokeKey),
    /// Sign impression tokens with a new key. Tokens and click URLs of the previous key stay valid for at most two hours; those of older keys
    /// become invalid.
    RotateAdKeys(RotateAdKeys),
}

#[derive(Args)]
#[command(
    after_help = "Servers may run meanwhile. The account is invisible at once; if the command is interrupted, servers and workers complete the \
    deletion. The login can be used again after 30 days. Give the command the same limits as the servers.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
struct DeleteAccount {
    /// The account's login, ignoring case.
    login: String,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

#[derive(Args)]
#[command(
    after_help = "Servers may run meanwhile. When the command returns, every decision respects the suspension. Suspended campaigns keep their budgets, and \
    clicks on earlier impressions still count; requests of suspended websites are refused.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
struct SuspensionOptions {
    /// The role that is suspended or restored.
    role: RoleArgument,
    /// The account's login, ignoring case.
    login: String,
    #[command(flatten)]
    storage: StorageOptions,
}

#[derive(Args)]
struct RotateAdKeys {
    #[command(flatten)]
    storage: StorageOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum RoleArgument {
    /// Its campaigns.
    Advertiser,
    /// Its websites.
    Publisher,
}

pub(super) async fn run(options: AdminOptions) -> anyhow::Result<()> {
    let storage_options = match &options.action {
        AdminAction::DeleteAccount(options) => &options.storage,
        AdminAction::Suspend(options) | AdminAction::Restore(options) => &options.storage,
        AdminAction::CreateKey(options) => &options.storage,
        AdminAction::ListKeys(options) => &options.storage,
        AdminAction::RevokeKey(options) => &options.storage,
        AdminAction::RotateAdKeys(options) => &options.storage,
    };
    storage_options.require_store()?;
    let storage = Storage::open(storage_options, Timing::for_bulk_work()).await?;
    let config = match &options.action {
        AdminAction::DeleteAccount(options) => options.domains.config(),
        _ => Config::default(),
    };
    let app = App::new(storage.db.clone(), Clock::System, config);
    let result = run_action(&app, &options.action).await;
    app.drain().await;
    drop(app);
    storage.close().await;
    result
}

async fn run_action(app: &App, action: &AdminAction) -> anyhow::Result<()> {
    migrate::migrate_at_start(app).await?;
    match action {
        AdminAction::DeleteAccount(options) => delete_account(app, &options.login).await,
        AdminAction::Suspend(options) => suspend(app, options, true).await,
        AdminAction::Restore(options) => suspend(app, options, false).await,
        AdminAction::CreateKey(options) => keys::create(app, options).await,
        AdminAction::ListKeys(_) => keys::list(app).await,
        AdminAction::RevokeKey(options) => keys::revoke(app, options).await,
        AdminAction::RotateAdKeys(_) => rotate_ad_keys(app).await,
    }
}

async fn find(app: &App, login: &str) -> anyhow::Result<Arc<User>> {
    let request = Request::new(app.clone(), None, None, None);
    let found = match users::find_id_by_login(app, login).await? {
        Some(id) => request.loaders().users.load(id).await?,
        None => None,
    };
    found.with_context(|| format!("there is no account with the login {login:?}"))
}

async fn suspend(app: &App, options: &SuspensionOptions, suspended: bool) -> anyhow::Result<()> {
    let user = find(app, &options.login).await?;
    let (role, name) = match options.role {
        RoleArgument::Advertiser => (ads::Role::Advertiser, "an advertiser"),
        RoleArgument::Publisher => (ads::Role::Publisher, "a publisher"),
    };
    ads::suspend(app, user.id, role, suspended).await?;
    let state = if suspended { "suspended" } else { "no longer suspended" };
    println!("{} ({}) is {state} as {name}.", user.login, user.id.global());
    Ok(())
}

async fn rotate_ad_keys(app: &App) -> anyhow::Result<()> {
    ads::rotate_keys(app).await?;
    println!("Ads are signed with a new key.");
    Ok(())
}

async fn delete_account(app: &App, login: &str) -> anyhow::Result<()> {
    let user = find(app, login).await?;
    let mut last = "";
    let report = |part| {
        if part != last {
            eprintln!("deleting: {part}");
            last = part;
        }
    };
    accounts::purge(app, user.id, &user.login, report).await?;
    if app.db().is_cluster() {
        // The journal keeps settled entries for a while, and these have the account's id.
        eprintln!("deleting: entries of the journal");
        tokio::time::sleep(Duration::from_millis(RETENTION + 1)).await;
        retention::sweep(app).await?;
    }
    println!("{} ({}) is deleted.", user.login, user.id.global());
    Ok(())
}
