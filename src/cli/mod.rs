//! The command line. Options are also environment variables, usually `WAXWING_` and the name of the option, and keys of the configuration file.

mod acl;
mod admin;
mod backup;
mod config;
mod demo;
mod http;
pub mod fsck;
mod health;
mod logs;
mod jwt;
mod mail;
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

/// A GraphQL API server for social applications: users, statuses, timelines, comments and ads, in one binary beside one Redis.
#[derive(Parser)]
#[command(name = "waxwing", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "To try it: `waxwing serve --demo`, then open the address that it prints.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    config: config::FileOption,
    #[command(flatten)]
    logs: logs::LogOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API, the playground, /healthz, /readyz and /metrics.
    Serve(Box<serve::ServeOptions>),
    /// Load demo data into an empty store: accounts, follows, statuses.
    Demo(demo::DemoOptions),
    /// Check the store for inconsistencies, and repair it with --repair. Servers may run meanwhile.
    Fsck(fsck::command::FsckOptions),
    /// Show the background tasks and the dead letters, and retry or drop these.
    Tasks(tasks::TaskOptions),
    /// Delete an account, suspend an advertiser or a publisher, manage the server keys of backends, rotate the signing key of impression
    /// tokens.
    Admin(admin::AdminOptions),
    /// Run the background tasks, beside the servers or on another machine. Servers run them, too.
    Worker(worker::WorkerOptions),
    /// Copy a store into a folder, while servers run.
    Backup(backup::BackupOptions),
    /// Make a store of a backup, in an empty folder or Redis, and check it.
    Restore(backup::RestoreOptions),
    /// Migrate a store of an earlier version to this version. Servers do migrations of less than a second by themselves.
    Migrate(migrate::MigrateOptions),
    /// Check a configuration, or print an example.
    Config(config::ConfigOptions),
    /// Check whether a server is up: the health check of a container. The exit code is 1 if it does not respond.
    Health(health::HealthOptions),
    /// Print the line of an ACL file for a Redis user with no more permissions than the server needs.
    Acl(acl::AclOptions),
    /// Print the GraphQL schema in the schema definition language.
    Schema,
}

/// The stack of a worker thread, in bytes.
const STACK: usize = 8 << 20;

/// Runs the command line, and returns the exit code.
pub fn main() -> ExitCode {
    match start() {
        Ok(code) => code,
        Err(error) => {
            logs::print_failure(&error);
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
    // Operators may allow deep documents. Stack that is not used costs nothing.
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
    /// Problems of options that are well-formed, but with which the command cannot start. Reads files that the options name; opens no connection.
    fn problems(&self) -> Vec<String> {
        match &self.command {
            Command::Serve(options) => options.problems(),
            _ => Vec::new(),
        }
    }
}
