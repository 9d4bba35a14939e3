//! Configuration: a TOML file, the environment and the command line, of which the later one wins.
//!
//! clap's definitions are all there is to know of an option. What a file sets becomes the *default* of the option of that name before the
//! command line is parsed, so that variables and flags win by themselves, values are checked by the same parsers, and an option
//! that is added tomorrow can be set in a file without a word about it here.

mod check;
mod example;
mod file;
mod options;

use crate::cli::logs;
use clap::{ArgMatches, Args, Command, Subcommand};
use file::File;
use options::Options as Known;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The option that names the file. It cannot stand in one.
const OPTION: &str = "config";
/// The command of this file. It reads the file in its own way.
const COMMAND: &str = "config";
/// Whose settings a file is checked for when the command at hand is none that uses it.
const SERVE: &str = "serve";

#[derive(Args)]
pub(super) struct FileOption {
    /// Read options from this TOML file: `home-window = 2000` is `--home-window 2000`. Variables win over it, and options of
    /// the command line over both. `waxwing config example` prints one.
    #[arg(long, global = true, value_name = "FILE", env = "WAXWING_CONFIG")]
    config: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Check the configuration that `serve` would start with, and print every option with its value and where it comes from.
    #[command(
        after_help = "It looks at the file and at the environment, as `serve` does; run it with the environment that the server gets. Secrets \
        are not printed. Everything that is wrong is told on stderr, and the exit code is 1 then. Nothing is opened: whether \
        Redis answers and the address is free is seen at the start alone."
    )]
    Check {
        /// The file. Without it, that of --config or WAXWING_CONFIG; without any, the environment alone is checked.
        file: Option<PathBuf>,
    },
    /// Print a configuration file with every option, what it does and its default, all commented out.
    Example,
}

/// What a command line says, over its variables, over its file.
pub(super) struct Configured {
    pub(super) matches: ArgMatches,
    /// For the log, which is not there yet.
    pub(super) warnings: Vec<String>,
}

/// Reads the command line, and the configuration file that it or the environment names. Ends the process where clap does: after a help
/// text, and when the command line is wrong.
///
/// # Errors
/// Everything that is wrong with the file.
pub(super) fn read(command: Command, line: Vec<OsString>) -> anyhow::Result<Configured> {
    // A wrong command line is told when it is parsed for good; a help text shows the defaults that are built in.
    let early = command.clone().ignore_errors(true).try_get_matches_from(&line).ok();
    let get_cached = early.as_ref().and_then(ArgMatches::subcommand).map_or(SERVE, |(name, _)| name).to_owned();
    let path = early.as_ref().and_then(named).filter(|_| get_cached != COMMAND);
    let Some(path) = path else { return Ok(Configured { matches: matches_of(command, line), warnings: Vec::new() }) };
    let (command, warnings) = File::read(&path)
        .and_then(|file| layered(command, &file, &get_cached))
        .map_err(|wrong| anyhow::anyhow!(wrong.join("\n  ")))?;
    Ok(Configured { matches: matches_of(command, line), warnings })
}

/// Reads a command line, or ends the process where it is wrong or asks for help.
fn matches_of(command: Command, line: Vec<OsString>) -> ArgMatches {
    command.try_get_matches_from(line).unwrap_or_else(|error| logs::exit(error))
}

/// The file that a command line names, before its command or after it.
fn named(matches: &ArgMatches) -> Option<PathBuf> {
    let at_command = matches.subcommand().and_then(|(_, matches)| matches.try_get_one::<PathBuf>(OPTION).ok().flatten());
    at_command.or_else(|| matches.try_get_one(OPTION).ok().flatten()).cloned()
}

/// The same command line over what a file sets, and what to warn of.
fn layered(command: Command, file: &File, get_cached: &str) -> Result<(Command, Vec<String>), Vec<String>> {
    let known = Known::of(&command);
    let (mut command, mut wrong, mut warnings) = (command, Vec::new(), Vec::new());
    for setting in &file.settings {
        let place = format!("{}:{}", file.path.display(), setting.line);
        match known.words(&setting.key, &setting.value, get_cached) {
            Ok(words) => {
                if file.open_to_others && holds_secret(&known, &setting.key, &words, get_cached) {
                    warnings.push(format!("{place}: `{}` is secret, and every user may read this file", setting.key));
                }
                command = with_default(command, &setting.key, &words);
            }
            Err(why) => wrong.push(format!("{place}: {why}")),
        }
    }
    if wrong.is_empty() { Ok((command, warnings)) } else { Err(wrong) }
}

/// Gives the option of this name another default, in every command that has it.
fn with_default(command: Command, key: &str, words: &[String]) -> Command {
    let command = command.mut_args(|option| match option.get_long() == Some(key) {
        true => option.default_values(words.to_vec()).required(false),
        false => option,
    });
    command.mut_subcommands(|part| with_default(part, key, words))
}

/// A URL without credentials is an address and no secret.
fn holds_secret(known: &Known, key: &str, words: &[String], get_cached: &str) -> bool {
    let hidden = known.definition(key, get_cached).is_some_and(|(_, option)| options::is_secret(option));
    hidden && words.iter().any(|word| word.contains('@') || !word.contains(':'))
}

pub(super) fn run(options: Options, file: FileOption, command: &Command) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Check { file: path } => check::run(command, path.or(file.config).as_deref()),
        Action::Example => {
            print!("{}", example::text(command));
            Ok(ExitCode::SUCCESS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::file::{Setting, Value};
    use super::*;
    use clap::{Arg, ArgAction, value_parser};

    /// A command line with options of the kinds that ours may have.
    fn command() -> Command {
        let serve = Command::new("serve")
            .arg(Arg::new("origins").long("origins").action(ArgAction::Append).value_delimiter(',').default_value("self"))
            .arg(Arg::new("ports").long("ports").num_args(1..).value_parser(value_parser!(u16)))
            .arg(Arg::new("rate").long("rate").value_parser(value_parser!(f64)).conflicts_with("ports"))
            .arg(Arg::new("key").long("key").hide_env_values(true).value_parser(value_parser!(u8)))
            .arg(Arg::new("needed").long("needed").required(true));
        Command::new("waxwing").subcommand(serve)
    }

    fn text(words: &[&str]) -> Value {
        Value::List(words.iter().map(|word| Value::Text((*word).to_owned())).collect())
    }

    /// What the options come to with this file and this command line.
    fn parsed(settings: &[(&str, Value)], line: &[&str]) -> Result<ArgMatches, Vec<String>> {
        let setting = |(key, value): &(&str, Value)| Setting { key: (*key).to_owned(), line: 1, value: value.clone() };
        let file = File { path: "f".into(), settings: settings.iter().map(setting).collect(), open_to_others: false };
        let (command, _) = layered(command(), &file, SERVE)?;
        let matches =
            command.try_get_matches_from([&["waxwing", "serve"], line].concat()).map_err(|error| vec![error.to_string()])?;
        matches.subcommand().map(|(_, matches)| matches.clone()).ok_or_else(Vec::new)
    }

    fn origins(matches: &ArgMatches) -> Vec<&str> {
        matches.get_many::<String>("origins").into_iter().flatten().map(String::as_str).collect()
    }

    #[test]
    fn lists_are_arrays_and_a_single_text_is_split_as_on_the_command_line() {
        let needed = ("needed", Value::Text("x".into()));
        for (value, expected) in [
            (text(&["a", "b"]), &["a", "b"][..]),
            (text(&["a,b", "c"]), &["a", "b", "c"]),
            (Value::Text("a,b".into()), &["a", "b"]),
            (text(&[]), &[]),
        ] {
            let matches = parsed(&[needed.clone(), ("origins", value.clone())], &[]).expect("it fits");
            assert_eq!(origins(&matches), expected, "{value:?}");
        }
        let numbers = Value::List(vec![Value::Integer("1".into()), Value::Integer("2".into())]);
        let matches = parsed(&[needed.clone(), ("ports", numbers)], &["--origins", "z"]).expect("it fits");
        assert_eq!((origins(&matches), matches.get_many::<u16>("ports").map(|ports| ports.sum())), (vec!["z"], Some(3_u16)));
        assert_eq!(origins(&parsed(&[needed], &[]).expect("it fits")), ["self"]);
    }

    #[test]
    fn values_are_judged_one_by_one() {
        let wrong = |key, value| parsed(&[(key, value)], &["--needed", "x"]).expect_err("it does not fit").join(" ");
        assert_eq!(
            wrong("origins", Value::Integer("1".into())),
            "f:1: `origins` is a whole number, where a list of texts in quotes is expected (the default is self)"
        );
        assert_eq!(wrong("ports", text(&["1"])), "f:1: `ports` is a list, where a whole number without quotes is expected");
        assert!(wrong("ports", Value::Integer("70000".into())).contains("70000 is not in 0..=65535"));
        assert_eq!(wrong("key", Value::Integer("999".into())), "f:1: `key`: the value does not fit", "a secret is not repeated");
        // A whole number is a number, and what is required elsewhere is no reason to refuse it.
        assert!(parsed(&[("rate", Value::Integer("2".into()))], &["--needed", "x"]).is_ok());
        assert!(parsed(&[("needed", Value::Text("x".into()))], &[]).is_ok(), "a file may bring what is required");
    }
}
