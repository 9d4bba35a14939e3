//! `waxwing admin`: what an operator does in an account's stead.

use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::accounts::service as accounts;
use crate::app::App;
use crate::clock::Clock;
use crate::db::Timing;
use crate::request::Request;
use crate::users::service as users;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};

#[derive(Args)]
pub(super) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Delete an account and every trace of it, without asking again. Ends when nothing is left.
    DeleteAccount(DeleteAccount),
}

#[derive(Args)]
#[command(
    after_help = "Servers may go on working. Nobody sees the account from the first moment on; should this be stopped, servers and workers do the \
    rest. The login can be claimed again after 30 days. Give this the same limits as the servers.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
struct DeleteAccount {
    /// The account's login, in any case.
    login: String,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(super) async fn run(options: Options) -> anyhow::Result<()> {
    let What::DeleteAccount(options) = options.what;
    let at = &options.storage;
    if at.redis.is_none() && !at.data_dir.is_dir() {
        bail!("there is no data folder {}: name it with --data-dir, or a Redis with --redis", at.data_dir.display());
    }
    let storage = Storage::open(at, Timing::patient()).await?;
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    let done = delete_account(&app, &options.login).await;
    drop(app);
    storage.close().await;
    done
}

async fn delete_account(app: &App, login: &str) -> anyhow::Result<()> {
    let request = Request::new(app.clone(), None, None, None);
    let user =
        users::by_login(app, &request.loaders(), login).await?.with_context(|| format!("nobody has the login {login:?}"))?;
    let mut last = "";
    let tell = |what| {
        if what != last {
            eprintln!("taking away: {what}");
            last = what;
        }
    };
    accounts::delete_wholly(app, user.id, &user.login, tell).await?;
    println!("{} ({}) is deleted.", user.login, user.id.global());
    Ok(())
}
