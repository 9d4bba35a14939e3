//! Logs: one line per event on stderr, without secrets of clients.

use crate::server::SPAN;
use clap::Args;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, registry};

#[derive(Args)]
#[command(next_help_heading = "Logs")]
pub(super) struct LogOptions {
    /// The format of logs: text, or a JSON object per line.
    #[arg(long, global = true, env = "WAXWING_LOG_FORMAT", default_value = "text")]
    log_format: Format,
    /// The level of logs: `error`, `warn`, `info`, `debug` or `trace`, also by module: `info,waxwing::db=debug`, or
    /// `info,waxwing::server::logging=warn` to omit the line of each request. Passwords, tokens, cookies and messages are not logged at any level.
    #[arg(long, global = true, value_name = "FILTER", env = "WAXWING_LOG", default_value = "info", value_parser = filter)]
    log_filter: String,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Whether stderr gets JSON lines.
static IS_JSON: OnceLock<bool> = OnceLock::new();

/// Whether stderr gets JSON lines. Before the command line is parsed, reads `--log-format` and its variable directly.
pub(super) fn is_json() -> bool {
    IS_JSON.get().copied().unwrap_or_else(|| {
        let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let from_command_line =
            words.iter().enumerate().rev().find_map(|(index, word)| match word.strip_prefix("--log-format")? {
                "" => words.get(index + 1).cloned(),
                value => value.strip_prefix('=').map(str::to_owned),
            });
        from_command_line.or_else(|| std::env::var("WAXWING_LOG_FORMAT").ok()).is_some_and(|format| format == "json")
    })
}

/// A line in the format of the JSON log, which `--log-filter` does not suppress.
pub(super) fn json_line(level: &str, message: &str, members: serde_json::Value) -> String {
    let mut line = serde_json::json!({ "timestamp": jiff::Timestamp::now().to_string(), "level": level, "message": message });
    if let (Some(line), serde_json::Value::Object(members)) = (line.as_object_mut(), members) {
        line.extend(members);
    }
    format!("{line}\n")
}

/// Prints the progress or result of a long command on stderr.
pub(super) fn print(message: &str) {
    let line = if is_json() { json_line("INFO", message, serde_json::Value::Null) } else { format!("{message}\n") };
    // stderr may be closed.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Prints on stderr why a command failed.
pub(super) fn print_failure(error: &anyhow::Error) {
    let message = format!("{error:#}");
    let line = if is_json() { json_line("ERROR", &message, serde_json::Value::Null) } else { format!("waxwing: {message}\n") };
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Exits because the command line is wrong, or after printing a help text.
pub(super) fn exit(error: clap::Error) -> ! {
    if error.use_stderr() && is_json() {
        let line = json_line("ERROR", error.render().to_string().trim_end(), serde_json::Value::Null);
        let _ = std::io::stderr().write_all(line.as_bytes());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

fn filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Starts the log, also of panics.
pub(super) fn start(options: &LogOptions) {
    IS_JSON.get_or_init(|| matches!(options.log_format, Format::Json));
    subscriber(options, std::io::stderr, std::io::stderr().is_terminal()).init();
    std::panic::set_hook(Box::new(log_panic));
}

fn subscriber<W>(options: &LogOptions, writer: W, colours: bool) -> impl Subscriber + Send + Sync + use<W>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    registry().with(library_level_filter()).with(env_filter(&options.log_filter)).with(lines(options.log_format, writer, colours))
}

/// The filter of the operator. The span of a request is always enabled, so that each line has the request's id.
fn env_filter(text: &str) -> EnvFilter {
    let span = format!("{SPAN}=error").parse();
    let filter = EnvFilter::try_new(text).unwrap_or_default();
    span.map(|span| filter.clone().add_directive(span)).unwrap_or(filter)
}

/// Limits libraries to `debug`, whatever the operator's filter is: at `trace` they log bytes of connections.
fn library_level_filter<S: Subscriber>() -> impl Layer<S> {
    let is_waxwing = |target: &str| target == "waxwing" || target.starts_with("waxwing::");
    FilterFn::new(move |event| *event.level() <= LevelFilter::DEBUG || is_waxwing(event.target()))
}

fn lines<S, W>(format: Format, writer: W, colours: bool) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colours);
    match format {
        Format::Text => lines.with_target(false).boxed(),
        Format::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    }
}

/// Logs the location of a panic, and its text only if it is a literal of the source: a formatted text can contain what a client has sent, such as
/// the text of a string that is cut in the middle of a character.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let text =
        panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("(text omitted: it may contain data of a client)");
    let place = panic.location().map(ToString::to_string);
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    tracing::error!(place, backtrace, "a panic: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Lines {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("no panic while held").clone()).expect("text")
        }
    }

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no panic while held").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn log_of(filter: &str, work: impl FnOnce()) -> String {
        let lines = Lines::default();
        let (options, writer) = (LogOptions { log_format: Format::Text, log_filter: filter.to_owned() }, lines.clone());
        tracing::subscriber::with_default(subscriber(&options, move || writer.clone(), false), work);
        lines.text()
    }

    #[test]
    fn libraries_are_never_logged_at_trace() {
        for filter in ["trace", "h2=trace", "trace,h2::codec=trace"] {
            let log = log_of(filter, || {
                tracing::trace!(target: "h2::codec", "on the wire");
                tracing::debug!(target: "h2::codec", "in short");
                tracing::trace!(target: "waxwingish", "on the wire");
            });
            assert!(log.contains("in short") && !log.contains("on the wire"), "{filter}: {log}");
        }
        assert!(log_of("trace", || tracing::trace!("our own")).contains("our own"));
    }

    #[test]
    fn every_line_of_a_request_has_its_id() {
        for filter in ["error", "waxwing::cli=warn", "off,waxwing::cli=error", "waxwing::request=off,error"] {
            let log = log_of(filter, || {
                let span = tracing::error_span!(target: SPAN, "request", request_id = "abc");
                span.in_scope(|| tracing::error!("something"));
            });
            assert!(log.contains("request_id=\"abc\"") && log.contains("something"), "{filter}: {log}");
        }
    }

    #[test]
    fn a_panic_is_logged_without_the_text_of_a_client() {
        let log = log_of("info", || {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(log_panic));
            let text = std::hint::black_box("schöner Geheimtext").to_owned();
            assert!(std::panic::catch_unwind(|| text[..4].len()).is_err());
            assert!(std::panic::catch_unwind(|| panic!("as it stands in the source")).is_err());
            std::panic::set_hook(before);
        });
        assert_eq!(log.lines().filter(|line| line.contains("a panic") && line.contains("logs.rs:")).count(), 2, "{log}");
        assert!(log.contains("as it stands in the source") && !log.contains("Geheimtext"), "{log}");
    }
}
