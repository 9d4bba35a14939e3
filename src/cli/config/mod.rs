//! Configuration: a TOML file, the environment and the command line. The environment overrides the file, and the command line overrides both.
//!
//! clap's definitions are the only description of options. The settings of a file become the *defaults* of the options of the same name before the
//! command line is parsed. So variables and flags override them, the same parsers check the values, and a new option can be set in a file
//! without a change here.

mod check;
mod example;
mod file;
mod options;
#[cfg(test)]
mod reference;

use crate::cli::logs;
use clap::{ArgMatches, Args, Command, Subcommand};
use file::File;
use options::OptionSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The option that names the file. It cannot be set in a file.
const OPTION: &str = "config";
/// The command of this module. It reads the file by itself.
const COMMAND: &str = "config";
/// The command for which `config check` checks a file.
const SERVE: &str = "serve";
/// Renamed options: the former name, which files and variables may still use, and the name. On the command line the former name is a hidden alias.
const RENAMED: [(&str, &str); 1] = [("near-cache-mib", "client-cache-mib")];

#[derive(Args)]
pub(super) struct FileOption {
    /// Read options from this TOML file: `home-window = 2000` is `--home-window 2000`. Variables override the file, and options of
    /// the command line override both. `waxwing config example` prints an example.
    #[arg(long, global = true, value_name = "FILE", env = "WAXWING_CONFIG")]
    config: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct ConfigOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Check the configuration that `serve` would start with, and print every option with its value and its source.
    #[command(
        after_help = "It reads the file and the environment, as `serve` does; run it with the environment of the server. Secrets \
        are not printed. Errors are printed on stderr, and the exit code is 1 then. Nothing is opened: whether \
        Redis responds and the address is free is checked at the start of the server only."
    )]
    Check {
        /// The file. Default: that of --config or WAXWING_CONFIG; without any, only the environment is checked.
        file: Option<PathBuf>,
    },
    /// Print a configuration file with every option, its description and its default, all commented out.
    Example,
}

/// The options of a command line, with its variables and its file.
pub(super) struct ParsedConfiguration {
    pub(super) matches: ArgMatches,
    /// Warnings for the log, which is not started yet.
    pub(super) warnings: Vec<String>,
}

/// Reads the command line, and the configuration file that the command line or the environment names. Exits where clap does: after a help
/// text, and when the command line is wrong.
///
/// # Errors
/// All errors of the file.
pub(super) fn read(command: Command, line: Vec<OsString>) -> anyhow::Result<ParsedConfiguration> {
    // Errors of the command line are reported by the second parsing. Help texts show the built-in defaults.
    let early = command.clone().ignore_errors(true).try_get_matches_from(&line).ok();
    let command_name = early.as_ref().and_then(ArgMatches::subcommand).map_or(SERVE, |(name, _)| name).to_owned();
    let path = early.as_ref().and_then(file_path).filter(|_| command_name != COMMAND);
    let Some(path) = path else { return Ok(ParsedConfiguration { matches: matches_of(command, line), warnings: Vec::new() }) };
    let (command, warnings) = File::read(&path)
        .and_then(|file| apply_file(command, &file, &command_name))
        .map_err(|wrong| anyhow::anyhow!(wrong.join("\n  ")))?;
    Ok(ParsedConfiguration { matches: matches_of(command, line), warnings })
}

/// Parses a command line. Exits if it is wrong, or after a help text.
fn matches_of(command: Command, line: Vec<OsString>) -> ArgMatches {
    with_former_variables(command).try_get_matches_from(line).unwrap_or_else(|error| logs::exit(error))
}

/// The variable of an option with this name.
fn variable_of(name: &str) -> String {
    format!("WAXWING_{}", name.to_uppercase().replace('-', "_"))
}

/// The variable with the former name of the option `name`, if the option was renamed and the variable is set.
fn former_variable(name: &str) -> Option<(String, OsString)> {
    let (former, _) = RENAMED.into_iter().find(|(_, current)| *current == name)?;
    let variable = variable_of(former);
    std::env::var_os(&variable).map(|value| (variable, value))
}

/// The command line with the values of variables with former names as defaults: they override the file, and variables with current names override them.
fn with_former_variables(command: Command) -> Command {
    RENAMED.into_iter().fold(command, |command, (_, name)| match former_variable(name) {
        Some((_, value)) => with_default(command, name, &[value.to_string_lossy().into_owned()]),
        None => command,
    })
}

/// The path of the configuration file that a command line names before or after its command.
fn file_path(matches: &ArgMatches) -> Option<PathBuf> {
    let at_command = matches.subcommand().and_then(|(_, matches)| matches.try_get_one::<PathBuf>(OPTION).ok().flatten());
    at_command.or_else(|| matches.try_get_one(OPTION).ok().flatten()).cloned()
}

/// The command line with the settings of a file as defaults, and the warnings about the file.
fn apply_file(command: Command, file: &File, command_name: &str) -> Result<(Command, Vec<String>), Vec<String>> {
    let options = OptionSet::of(&command);
    let (mut command, mut wrong, mut warnings) = (command, Vec::new(), Vec::new());
    for setting in &file.settings {
        let place = format!("{}:{}", file.path.display(), setting.line);
        match options.words(&setting.key, &setting.value, command_name) {
            Ok(words) => {
                if file.is_world_readable && contains_secret(&options, &setting.key, &words, command_name) {
                    warnings.push(format!("{place}: `{}` is secret, and every user may read this file", setting.key));
                }
                command = with_default(command, &setting.key, &words);
            }
            Err(why) => wrong.push(format!("{place}: {why}")),
        }
    }
    if wrong.is_empty() { Ok((command, warnings)) } else { Err(wrong) }
}

/// Changes the default of the option of this name, in every command that has it.
fn with_default(command: Command, key: &str, words: &[String]) -> Command {
    let command = command.mut_args(|option| match option.get_long() == Some(key) {
        true => option.default_values(words.to_vec()).required(false),
        false => option,
    });
    command.mut_subcommands(|part| with_default(part, key, words))
}

/// Whether a setting is secret. A URL without credentials is not.
fn contains_secret(options: &OptionSet, key: &str, words: &[String], command_name: &str) -> bool {
    let hidden = options.definition(key, command_name).is_some_and(|(_, option)| options::is_secret(option));
    hidden && words.iter().any(|word| word.contains('@') || !word.contains(':'))
}

pub(super) fn run(options: ConfigOptions, file: FileOption, command: &Command) -> anyhow::Result<ExitCode> {
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

    /// A command line with every kind of option.
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

    /// The options that result from this file and this command line.
    fn parsed(settings: &[(&str, Value)], line: &[&str]) -> Result<ArgMatches, Vec<String>> {
        let setting = |(key, value): &(&str, Value)| Setting { key: (*key).to_owned(), line: 1, value: value.clone() };
        let file = File { path: "f".into(), settings: settings.iter().map(setting).collect(), is_world_readable: false };
        let (command, _) = apply_file(command(), &file, SERVE)?;
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
    fn every_value_is_checked_separately() {
        let wrong = |key, value| parsed(&[(key, value)], &["--needed", "x"]).expect_err("the value is invalid").join(" ");
        assert_eq!(
            wrong("origins", Value::Integer("1".into())),
            "f:1: `origins` is a whole number, where a list of texts in quotes is expected (the default is self)"
        );
        assert_eq!(wrong("ports", text(&["1"])), "f:1: `ports` is a list, where a whole number without quotes is expected");
        assert!(wrong("ports", Value::Integer("70000".into())).contains("70000 is not in 0..=65535"));
        assert_eq!(wrong("key", Value::Integer("999".into())), "f:1: `key`: the value is not valid", "a secret is not repeated");
        // A whole number is a number. A missing required option does not invalidate the file.
        assert!(parsed(&[("rate", Value::Integer("2".into()))], &["--needed", "x"]).is_ok());
        assert!(parsed(&[("needed", Value::Text("x".into()))], &[]).is_ok(), "a file may set a required option");
    }
}
