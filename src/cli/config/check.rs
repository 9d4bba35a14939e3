//! `waxwing config check`: the configuration that `serve` would start with, and its errors.

use super::file::File;
use super::options::{self, OptionSet};
use super::{RENAMED, SERVE, apply_file, former_variable, variable_of, with_former_variables};
use crate::cli::http::profile_default;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use std::path::Path;
use std::process::ExitCode;

/// Prints every option of `serve` with its value, or all errors.
pub(super) fn run(command: &Command, path: Option<&Path>) -> anyhow::Result<ExitCode> {
    let (file, mut errors) = match path.map(File::read).transpose() {
        Ok(file) => (file, Vec::new()),
        Err(errors) => (None, errors),
    };
    let (configured_command, warnings) = match &file {
        Some(file) => apply_file(command.clone(), file, SERVE).unwrap_or_else(|more| {
            errors.extend(more);
            (command.clone(), Vec::new())
        }),
        None => (command.clone(), Vec::new()),
    };
    let known = OptionSet::of(command);
    errors.extend(known.of_command(SERVE).filter_map(|option| variable_error(command, option)));
    if errors.is_empty() {
        // Each value is valid. Now all of them together, as `serve` parses them.
        match with_former_variables(configured_command).try_get_matches_from(["waxwing", SERVE]) {
            Ok(matches) => {
                errors.extend(startup_problems(&matches));
                if errors.is_empty() {
                    print(&known, file.as_ref(), &matches);
                }
            }
            Err(error) => errors.push(error.to_string().trim().to_owned()),
        }
    }
    for warning in warnings.into_iter().chain(unknown_variables(&known)) {
        eprintln!("warning: {warning}");
    }
    for error in &errors {
        eprintln!("error: {error}");
    }
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Clap's error about the variable of an option, without other options.
fn variable_error(command: &Command, option: &Arg) -> Option<String> {
    let variable = option.get_env().filter(|name| std::env::var_os(name).is_some())?.to_owned();
    let (id, name) = (option.get_id().clone(), variable.to_string_lossy().into_owned());
    let keep = |other: Arg| if *other.get_id() == id { other } else { other.env(None::<&'static str>) };
    let alone = command.clone().mut_args(keep).mut_subcommands(|part| part.mut_args(keep));
    let error = alone.try_get_matches_from(["waxwing", SERVE]).err()?;
    Some(format!("{name}: {}", options::describe_error(&error, option)))
}

/// Problems of options that are well-formed, but with which `serve` cannot start.
fn startup_problems(matches: &ArgMatches) -> Vec<String> {
    match crate::cli::Cli::from_arg_matches(matches) {
        Ok(cli) => cli.problems(),
        Err(error) => vec![error.to_string()],
    }
}

/// Warnings about variables with the prefix `WAXWING_` that no option reads. They are no errors: container runtimes derive such names from names of
/// services.
fn unknown_variables(known: &OptionSet) -> Vec<String> {
    let is_former = |name: &str| RENAMED.iter().any(|(former, _)| variable_of(former) == name);
    let has_option = |name: &str| known.all().any(|(_, option)| option.get_env().is_some_and(|variable| variable == name));
    let is_known = |name: &str| has_option(name) || is_former(name);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown = names.filter(|name| name.starts_with("WAXWING_") && name != "WAXWING_CONFIG" && !is_known(name));
    let mut warnings: Vec<String> = unknown.map(|name| format!("no option reads the variable {name}")).collect();
    warnings.sort();
    warnings
}

/// Prints a line for each option, as in a file, with its source as a comment.
fn print(known: &OptionSet, file: Option<&File>, matches: &ArgMatches) {
    let Some((_, matches)) = matches.subcommand() else { return };
    let lines: Vec<(String, String)> = known.of_command(SERVE).map(|option| line(option, file, matches)).collect();
    let width = lines.iter().map(|(setting, _)| setting.chars().count()).filter(|width| *width < 60).max().unwrap_or_default();
    for (setting, source) in lines {
        println!("{setting:width$}  # {source}");
    }
}

fn line(option: &Arg, file: Option<&File>, matches: &ArgMatches) -> (String, String) {
    let name = option.get_long().unwrap_or_default();
    let values = super::example::values(option, matches);
    let in_file =
        file.and_then(|file| file.settings.iter().find(|setting| setting.key == name).map(|setting| (file, setting.line)));
    let source = match (matches.value_source(option.get_id().as_str()), in_file) {
        (Some(ValueSource::EnvVariable), _) => option.get_env().unwrap_or_default().to_string_lossy().into_owned(),
        _ if former_variable(name).is_some() => former_variable(name).unwrap_or_default().0,
        (Some(_), Some((file, line))) => format!("{}:{line}", file.path.display()),
        _ => "default".to_owned(),
    };
    if let (None, Some((value, profile))) = (&values, profile_default(matches, name)) {
        return (format!("{name} = \"{value}\""), format!("the profile, {profile}"));
    }
    let setting = match values {
        None => format!("# {name} is not set"),
        Some(_) if options::is_secret(option) => format!("{name} = \"(hidden)\""),
        Some(values) => format!("{name} = {values}"),
    };
    (setting, source)
}
