//! The options that can be configured, from clap's definitions, and the check of values.

use super::file::Value;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use std::any::TypeId;
use std::error::Error;

/// Every option of the command line.
pub(super) struct OptionSet {
    command: Command,
    /// Each option with its command; `None` for options of all commands.
    all: Vec<(Option<String>, Arg)>,
}

impl OptionSet {
    /// The options of a command line and all its commands.
    pub(super) fn of(command: &Command) -> Self {
        // `build` completes the definitions, and adds the global options to every command.
        let mut built = command.clone();
        built.build();
        let mut all: Vec<_> = settable(&built).map(|option| (None, option.clone())).collect();
        for part in built.get_subcommands() {
            let own = settable(part).filter(|option| !option.is_global_set());
            all.extend(own.map(|option| (Some(part.get_name().to_owned()), option.clone())));
        }
        Self { command: command.clone().mut_args(without_variable), all }
    }

    /// All options with their commands.
    pub(super) fn all(&self) -> impl Iterator<Item = (Option<&str>, &Arg)> {
        self.all.iter().map(|(command, option)| (command.as_deref(), option))
    }

    /// The options of a command, in the order of its help text.
    pub(super) fn of_command(&self, name: &str) -> impl Iterator<Item = &Arg> {
        let own = self.all.iter().filter(move |(command, _)| command.as_deref() == Some(name));
        own.chain(self.all.iter().filter(|(command, _)| command.is_none())).map(|(_, option)| option)
    }

    /// Converts a value of the file to the words of a command line.
    ///
    /// # Errors
    /// A sentence with the mistake and the valid values.
    pub(super) fn words(&self, key: &str, value: &Value, command_name: &str) -> Result<Vec<String>, String> {
        if matches!(value, Value::Other("a table")) {
            return Err(format!("`{key}` is a table: options are set at the top level of the file"));
        }
        let (command, option) = self.definition(key, command_name).ok_or_else(|| self.unknown(key))?;
        let words = words(option, value)
            .map_err(|expected| format!("`{key}` is {}, where {expected} is expected{}", value.kind(), default_suffix(option)))?;
        if !is_switch(option) {
            self.probe(command.unwrap_or(command_name), option, &words)
                .map_err(|why| format!("`{key}`: {why}{}", default_suffix(option)))?;
        }
        Ok(words)
    }

    /// The option of this name, preferably of the command in use.
    pub(super) fn definition(&self, key: &str, command_name: &str) -> Option<(Option<&str>, &Arg)> {
        let candidates = || self.all().filter(|(_, option)| option.get_long() == Some(key));
        candidates().find(|(command, _)| command.is_none_or(|name| name == command_name)).or_else(|| candidates().next())
    }

    fn unknown(&self, key: &str) -> String {
        if key == super::OPTION {
            return format!("`{key}` cannot be set in a file");
        }
        // clap suggests the most similar option of a command. This command has the options of all commands.
        let mut all = Command::new("all").no_binary_name(true).disable_help_flag(true);
        for (_, option) in &self.all {
            let name = option.get_long().unwrap_or_default().to_owned();
            if !all.get_arguments().any(|other| other.get_long() == Some(&name)) {
                all = all.arg(Arg::new(name.clone()).long(name));
            }
        }
        let error = all.try_get_matches_from([format!("--{key}")]).err();
        match error.as_ref().and_then(|error| error.get(ContextKind::SuggestedArg)) {
            Some(ContextValue::String(name)) => {
                format!("`{key}` is not an option. Did you mean `{}`?", name.trim_start_matches('-'))
            }
            _ => format!("`{key}` is not an option"),
        }
    }

    /// Parses the words with clap, without other options.
    fn probe(&self, command: &str, option: &Arg, words: &[String]) -> Result<(), String> {
        let parser = self.command.find_subcommand(command).cloned().unwrap_or_default().mut_args(without_variable);
        let has_option = parser.get_arguments().any(|other| other.get_long() == option.get_long());
        let parser = if has_option { parser } else { parser.arg(option.clone()) }; // A global option.
        let parser = super::with_default(parser, option.get_long().unwrap_or_default(), words);
        match parser.no_binary_name(true).try_get_matches_from(std::iter::empty::<String>()) {
            Err(error) if !matches!(error.kind(), ErrorKind::MissingRequiredArgument) => Err(describe_error(&error, option)),
            _ => Ok(()),
        }
    }
}

/// Clap's error about a value. A secret value is not repeated.
pub(super) fn describe_error(error: &clap::Error, option: &Arg) -> String {
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    let subject = if is_secret(option) || value.is_empty() { "the value".to_owned() } else { format!("`{value}`") };
    match error.source().map(ToString::to_string) {
        Some(why) if is_secret(option) && why.contains(value) => return format!("{subject} is not valid"),
        // Errors of numbers begin with the value.
        Some(why) if why.starts_with(value) && !value.is_empty() => return why,
        Some(why) => return format!("{subject}: {why}"),
        None => {}
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) if !valid.is_empty() => {
            let suggestion = match error.get(ContextKind::SuggestedValue) {
                Some(ContextValue::String(value)) => format!(". Did you mean `{value}`?"),
                _ => String::new(),
            };
            format!("{subject} is not one of: {}{suggestion}", valid.join(", "))
        }
        _ => format!("{subject} is not valid"),
    }
}

/// Whether the value of the option is not printed.
pub(super) fn is_secret(option: &Arg) -> bool {
    option.is_hide_env_values_set()
}

/// Whether the option is a switch, without a value.
pub(super) fn is_switch(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// Whether the option takes several values.
pub(super) fn is_list(option: &Arg) -> bool {
    let many = option.get_num_args().is_some_and(|count| count.max_values() > 1);
    many || option.get_value_delimiter().is_some() || matches!(option.get_action(), ArgAction::Append)
}

/// Whether the value of the option is a number, without quotes.
pub(super) fn is_number(option: &Arg) -> bool {
    is_integer(option) || is_any(option, &[TypeId::of::<f32>(), TypeId::of::<f64>()])
}

fn is_integer(option: &Arg) -> bool {
    let signed = [TypeId::of::<i8>(), TypeId::of::<i16>(), TypeId::of::<i32>(), TypeId::of::<i64>(), TypeId::of::<isize>()];
    let unsigned = [TypeId::of::<u8>(), TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()];
    is_any(option, &signed) || is_any(option, &unsigned)
}

fn is_text(option: &Arg) -> bool {
    is_any(option, &[TypeId::of::<String>(), TypeId::of::<std::path::PathBuf>(), TypeId::of::<std::ffi::OsString>()])
}

fn is_any(option: &Arg, types: &[TypeId]) -> bool {
    types.iter().any(|kind| option.get_value_parser().type_id() == *kind)
}

/// The options of a command that a file can set.
fn settable(command: &Command) -> impl Iterator<Item = &Arg> {
    let excluded = ["help", "version", super::OPTION];
    command.get_arguments().filter(move |option| option.get_long().is_some_and(|name| !excluded.contains(&name)))
}

/// Converts a value to words; fails with the expected kind of value.
fn words(option: &Arg, value: &Value) -> Result<Vec<String>, &'static str> {
    match value {
        Value::List(items) if is_list(option) => items.iter().map(|item| word(option, item)).collect(),
        value => word(option, value).map(|word| vec![word]),
    }
}

fn word(option: &Arg, value: &Value) -> Result<String, &'static str> {
    match value {
        Value::Boolean(value) if is_switch(option) => Ok(value.to_string()),
        _ if is_switch(option) => Err("true or false"),
        Value::Text(text) if !is_number(option) => Ok(text.clone()),
        Value::Integer(number) if !is_text(option) => Ok(number.clone()),
        Value::Float(number) if !is_text(option) && !is_integer(option) => Ok(number.clone()),
        _ if is_integer(option) => Err("a whole number without quotes"),
        _ if is_number(option) => Err("a number without quotes"),
        _ if is_list(option) => Err("a list of texts in quotes"),
        _ => Err("a text in quotes"),
    }
}

/// Returns ` (the default is …)` to append to an error message; empty for a switch and for an option without one default.
fn default_suffix(option: &Arg) -> String {
    let defaults: Vec<&str> = option.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    match &defaults[..] {
        [one] if !is_switch(option) => format!(" (the default is {one})"),
        _ => String::new(),
    }
}

fn without_variable(option: Arg) -> Arg {
    option.env(None::<&'static str>)
}
