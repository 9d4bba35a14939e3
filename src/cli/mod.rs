//! The command line. Every option is also an environment variable, `WAXWING_` and its name.

mod acl;
mod demo;
mod fsck;
mod options;
mod serve;
mod storage;

use clap::{Parser, Subcommand};
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// A social feed as one GraphQL API: users, statuses, follows and timelines, in one binary beside one Redis.
#[derive(Parser)]
#[command(name = "waxwing", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "A first look: `waxwing serve --demo`, then open the address that it prints.\n\
    Logs go to stderr; WAXWING_LOG sets what is logged (such as `info` or `waxwing=debug`).")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// How logs are written: for people, or as JSON lines for machines.
    #[arg(long, global = true, env = "WAXWING_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API, the playground, /healthz and /readyz.
    Serve(serve::Options),
    /// Fill an empty store with people who follow each other and have something to say.
    Demo(demo::Options),
    /// Check that nothing in the store is broken. Reads only; servers may go on working.
    Fsck(fsck::Options),
    /// Print the line of an ACL file for a Redis user with no more rights than the server needs.
    Acl(acl::Options),
    /// Print the GraphQL schema in the schema definition language.
    Schema,
}

/// Runs the command line; the exit code says how it went.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    log(cli.log_format);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&anyhow::Error::new(error)),
    };
    match runtime.block_on(run(cli.command)) {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("waxwing: {error:#}");
    ExitCode::FAILURE
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(options) => serve::run(options).await?,
        Command::Demo(options) => demo::run(options).await?,
        Command::Fsck(options) => return fsck::run(options).await,
        Command::Acl(options) => acl::run(&options)?,
        Command::Schema => print!("{}", crate::schema::sdl()),
    }
    Ok(ExitCode::SUCCESS)
}

fn log(format: LogFormat) {
    let filter = EnvFilter::try_from_env("WAXWING_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let builder = builder.with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
}
