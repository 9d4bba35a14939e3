//! `waxwing config example`: a file with every option, generated from clap's definitions.

use super::SERVE;
use super::options::{OptionSet, is_list, is_number, is_switch};
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsStr;
use std::fmt::Write;

const HEAD: &str = "\
# The configuration of Waxwing: every option and its default. Remove the # before a line to set it.
#
# Use it with `waxwing serve --config FILE`, or name it in WAXWING_CONFIG; `waxwing config check FILE` prints the resulting configuration.
# The environment variable of an option overrides this file, and the option on the command line overrides both. If a switch is on here,
# its environment variable can switch it off: WAXWING_ALLOW_VOLATILE=false.
";

/// The text of the example file.
pub(super) fn text(command: &Command) -> String {
    let options = OptionSet::of(command);
    let mut text = HEAD.to_owned();
    let mut heading = None;
    for option in options.of_command(SERVE) {
        let option_heading = option.get_help_heading().unwrap_or("General");
        if heading != Some(option_heading) {
            let _ = write!(text, "\n# ==== {option_heading} ====\n");
            heading = Some(option_heading);
        }
        describe(&mut text, option);
    }
    text
}

fn describe(text: &mut String, option: &Arg) {
    let help = option.get_long_help().or_else(|| option.get_help()).map(ToString::to_string).unwrap_or_default();
    text.push('\n');
    let end = if help.ends_with(['.', '`']) { "" } else { "." }; // clap removes the full stop.
    for line in wrap(&format!("{help}{end}"), 110) {
        let _ = writeln!(text, "# {line}");
    }
    if let Some(variable) = option.get_env() {
        let _ = writeln!(text, "# Environment variable: {}.", variable.to_string_lossy());
    }
    let possible: Vec<String> = option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !possible.is_empty() && !is_switch(option) {
        let _ = writeln!(text, "# One of: {}.", possible.join(", "));
    }
    let name = option.get_long().unwrap_or_default();
    let value = match option.get_default_values() {
        [] if is_switch(option) => "false".to_owned(),
        [] => {
            text.push_str("# Not set by default.\n");
            let form = option.get_value_names().and_then(|names| names.first()).map_or("VALUE", |name| name.as_str());
            let form = if is_number(option) { form.to_owned() } else { format!("\"{form}\"") };
            if is_list(option) { format!("[{form}]") } else { form }
        }
        defaults => format_values(option, defaults.iter().map(|value| value.as_os_str())),
    };
    let _ = writeln!(text, "#{name} = {value}");
}

/// The value of an option as TOML; `None` if the option is not set.
pub(super) fn values(option: &Arg, matches: &ArgMatches) -> Option<String> {
    let id = option.get_id().as_str();
    if is_switch(option) {
        return matches.try_get_one::<bool>(id).ok().flatten().map(ToString::to_string);
    }
    let raw = matches.try_get_raw(id).ok().flatten()?;
    Some(format_values(option, raw))
}

fn format_values<'a>(option: &Arg, values: impl Iterator<Item = &'a OsStr>) -> String {
    let format_value = |value: &OsStr| match (value.to_string_lossy(), is_number(option) || is_switch(option)) {
        (value, true) => value.into_owned(),
        (value, false) => quote(&value),
    };
    let values: Vec<String> = values.map(format_value).collect();
    if is_list(option) { format!("[{}]", values.join(", ")) } else { values.join(", ") }
}

/// A TOML string on one line.
fn quote(text: &str) -> String {
    let escape = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        control if control.is_control() => format!("\\u{:04X}", u32::from(control)),
        other => other.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// Breaks a text into lines at its spaces.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
