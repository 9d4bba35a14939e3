//! `waxwing admin create-key`, `list-keys` and `revoke-key`: the keys of backends.

use super::super::options::StorageOptions;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::server_key::Scope;
use crate::domains::server_keys::{CreateResult, KeyRecord, MAX_KEYS, service};
use crate::schema::DateTime;
use anyhow::bail;
use clap::{Args, ValueEnum};

#[derive(Args)]
#[command(
    after_help = "The key is shown once, and only its hash is stored. It goes in `Authorization: Bearer KEY` of requests by HTTP POST. Keep it on your \
    backend: requests from web pages (with an `Origin` header) are refused.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
pub(super) struct CreateKey {
    /// The name of the key: 1 to 64 letters A-Z, digits, dots, hyphens and underscores.
    name: String,
    /// Scopes of the key, comma-separated.
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "users")]
    scope: Vec<ScopeArgument>,
    #[command(flatten)]
    pub(super) storage: StorageOptions,
}

#[derive(Args)]
pub(super) struct ListKeys {
    #[command(flatten)]
    pub(super) storage: StorageOptions,
}

#[derive(Args)]
pub(super) struct RevokeKey {
    /// The name of the key.
    name: String,
    #[command(flatten)]
    pub(super) storage: StorageOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScopeArgument {
    /// Provision and remove users, and end their sessions.
    Users,
    /// Begin sessions for these users, and send requests for them.
    Act,
    /// Reserved: gives nothing yet.
    Moderate,
}

impl From<ScopeArgument> for Scope {
    fn from(scope: ScopeArgument) -> Self {
        match scope {
            ScopeArgument::Users => Self::Users,
            ScopeArgument::Act => Self::Act,
            ScopeArgument::Moderate => Self::Moderate,
        }
    }
}

pub(super) async fn create(app: &App, options: &CreateKey) -> anyhow::Result<()> {
    let scopes: Vec<Scope> = options.scope.iter().copied().map(Scope::from).collect();
    match service::create(app, &options.name, &scopes).await? {
        CreateResult::Created(key) => {
            println!("{key}");
            eprintln!("The server key {} is created, and is not shown again.", options.name);
            Ok(())
        }
        CreateResult::NameTaken => bail!("there is a server key {} already", options.name),
        CreateResult::TooMany => bail!("there are {MAX_KEYS} server keys: revoke one first"),
    }
}

pub(super) async fn list(app: &App) -> anyhow::Result<()> {
    let keys = service::list(app).await?;
    if keys.is_empty() {
        eprintln!("There are no server keys.");
    }
    for key in &keys {
        println!("{}", line(key));
    }
    Ok(())
}

fn line(record: &KeyRecord) -> String {
    let scopes: Vec<&str> = record.key.scopes.iter().map(|scope| scope.name()).collect();
    let time = |time: Millis| DateTime(time).to_string();
    let used = record.last_used_at.map_or_else(|| "never".to_owned(), time);
    format!("{}  {}  created {}  last used {used}", record.key.name, scopes.join(","), time(record.created_at))
}

pub(super) async fn revoke(app: &App, options: &RevokeKey) -> anyhow::Result<()> {
    if !service::revoke(app, &options.name).await? {
        bail!("there is no server key {}", options.name);
    }
    eprintln!("The server key {} is revoked.", options.name);
    Ok(())
}
