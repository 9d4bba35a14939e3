//! What is logged, and how: one line an event on stderr.

use clap::Args;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

#[derive(Args)]
#[command(next_help_heading = "Logs")]
pub(super) struct Options {
    /// How logs are written: for people, or as JSON lines for machines.
    #[arg(long, global = true, env = "WAXWING_LOG_FORMAT", default_value = "text")]
    log_format: Format,
    /// What is logged: `error`, `warn`, `info`, `debug` or `trace`, also by module, as in `info,waxwing::db=debug`.
    #[arg(long, global = true, value_name = "FILTER", env = "WAXWING_LOG", default_value = "info", value_parser = filter)]
    log_filter: String,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

fn filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Logs from now on.
pub(super) fn start(options: &Options) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&options.log_filter))
        .with_writer(std::io::stderr)
        .with_target(false);
    let builder = builder.with_ansi(std::io::stderr().is_terminal());
    match options.log_format {
        Format::Text => builder.init(),
        Format::Json => builder.json().init(),
    }
}
