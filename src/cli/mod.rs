//! The command line. Every option is also an environment variable, `WAXWING_` and its name, and a key of the configuration file.

mod acl;
mod admin;
mod backup;
mod config;
mod demo;
mod edge;
pub mod fsck;
mod health;
mod logs;
mod migrate;
pub mod migrations;
mod options;
mod rates;
mod serve;
mod storage;
mod tasks;
mod worker;
pub mod workers;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// A social feed as one GraphQL API: users, statuses, follows and timelines, in one binary beside one Redis.
#[derive(Parser)]
#[command(name = "waxwing", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "A first look: `waxwing serve --demo`, then open the address that it prints.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    config: config::FileOption,
    #[command(flatten)]
    logs: logs::Options,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API, the playground, /healthz, /readyz and /metrics.
    Serve(Box<serve::Options>),
    /// Fill an empty store with people who follow each other and have something to say.
    Demo(demo::Options),
    /// Check that nothing in the store is broken. Reads only; servers may go on working.
    Fsck(fsck::command::Options),
    /// Show what is being worked on in the background and what was given up, and try that again.
    Tasks(tasks::Options),
    /// What an operator does about accounts and ads: delete an account, hold an advertiser or a publisher back, change the key of ads.
    Admin(admin::Options),
    /// Work on what servers leave to the background, beside them or on a machine of its own. Servers do that too.
    Worker(worker::Options),
    /// Copy a store into a folder, while servers go on working.
    Backup(backup::Options),
    /// Make a store of a backup, in an empty place, and check it.
    Restore(backup::RestoreOptions),
    /// Bring a store that an earlier version has made to the version of this one. Servers do what takes less than a second by themselves.
    Migrate(migrate::Options),
    /// Check a configuration, or print one to start from.
    Config(config::Options),
    /// Ask a server whether it lives: the health check of a container. Ends with 1 where it does not answer.
    Health(health::Options),
    /// Print the line of an ACL file for a Redis user with no more rights than the server needs.
    Acl(acl::Options),
    /// Print the GraphQL schema in the schema definition language.
    Schema,
}

/// The stack of a worker thread, in bytes.
const STACK: usize = 8 << 20;

/// Runs the command line; the exit code says how it went.
pub fn main() -> ExitCode {
    match start() {
        Ok(code) => code,
        Err(error) => {
            logs::tell_failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn start() -> anyhow::Result<ExitCode> {
    let configured = config::read(Cli::command(), std::env::args_os().collect())?;
    let cli = Cli::from_arg_matches(&configured.matches).unwrap_or_else(|error| logs::exit(error));
    logs::start(&cli.logs);
    for warning in &configured.warnings {
        tracing::warn!("{warning}");
    }
    // A document may be as deep as an operator allows; what is not used costs nothing.
    tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build()?.block_on(run(cli))
}

async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Serve(options) => serve::run(*options).await?,
        Command::Demo(options) => demo::run(options).await?,
        Command::Fsck(options) => return fsck::command::run(options).await,
        Command::Config(options) => return config::run(options, cli.config, &Cli::command()),
        Command::Tasks(options) => return tasks::run(options).await,
        Command::Admin(options) => admin::run(options).await?,
        Command::Worker(options) => worker::run(options).await?,
        Command::Backup(options) => return backup::run(options).await,
        Command::Restore(options) => return backup::restore(options).await,
        Command::Migrate(options) => migrate::run(options).await?,
        Command::Health(options) => health::run(options).await?,
        Command::Acl(options) => acl::run(&options)?,
        Command::Schema => print!("{}", crate::schema::sdl()),
    }
    Ok(ExitCode::SUCCESS)
}

impl Cli {
    /// What cannot be started with although every option has the right form. Nothing is opened to find it out.
    fn problems(&self) -> Vec<String> {
        match &self.command {
            Command::Serve(options) => options.problems(),
            _ => Vec::new(),
        }
    }
}
