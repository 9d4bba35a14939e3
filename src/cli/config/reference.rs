//! The table of all options in docs/operating.md, generated from clap's definitions.
//!
//! `make docs` rewrites the table; without it, the test fails if the table differs from clap's definitions.

use super::options::is_switch;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- generated: options -->\n";
const END: &str = "<!-- end -->";

/// An option with the commands that take it.
struct OptionRow {
    option: Arg,
    commands: Vec<String>,
}

/// All options by the heading of the help text, those of `serve` first.
fn rows(command: &Command) -> Vec<OptionRow> {
    let mut rows = Vec::new();
    let (serve, others): (Vec<_>, Vec<_>) = command.get_subcommands().partition(|part| part.get_name() == super::SERVE);
    for part in serve.into_iter().chain(others) {
        collect(part, part.get_name(), &mut rows);
    }
    // A stable sort: options with the same heading come together, and headings come in the order of their first options.
    let headings: Vec<String> = rows.iter().map(|row| heading(&row.option)).collect();
    rows.sort_by_key(|row| headings.iter().position(|other| *other == heading(&row.option)));
    rows
}

fn collect(command: &Command, name: &str, rows: &mut Vec<OptionRow>) {
    for option in command.get_arguments().filter(|option| !matches!(option.get_long(), None | Some("help" | "version"))) {
        let name = if option.is_global_set() { "all" } else { name };
        match rows.iter_mut().find(|row| row.option.get_long() == option.get_long()) {
            Some(row) if row.commands.iter().any(|other| other == name) => {}
            Some(row) => row.commands.push(name.to_owned()),
            None => rows.push(OptionRow { option: option.clone(), commands: vec![name.to_owned()] }),
        }
    }
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        collect(part, name, rows);
    }
}

fn heading(option: &Arg) -> String {
    let heading = option.get_help_heading().unwrap_or("General");
    heading.split(" (").next().unwrap_or_default().to_owned()
}

/// The table in Markdown.
fn table(command: &Command) -> String {
    let mut table = "| option | variable | default | commands | description |\n|---|---|---|---|---|\n".to_owned();
    let mut last = String::new();
    for row in rows(command) {
        let heading = heading(&row.option);
        if heading != last {
            let _ = writeln!(table, "| **{heading}** | | | | |");
            last = heading;
        }
        let name = row.option.get_long().unwrap_or_default();
        let variable = row.option.get_env().map(|name| format!("`{}`", name.to_string_lossy())).unwrap_or_default();
        let (default, description) = (default(&row.option), description(&row.option));
        let _ = writeln!(table, "| `--{name}` | {variable} | {default} | {} | {description} |", row.commands.join(", "));
    }
    table
}

fn default(option: &Arg) -> String {
    let values: Vec<_> = option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    match &values[..] {
        _ if is_switch(option) => "off".to_owned(),
        [] => String::new(),
        values => format!("`{}`", values.join(",")),
    }
}

fn description(option: &Arg) -> String {
    let help = option.get_long_help().or_else(|| option.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    if !text.ends_with(['.', '`']) {
        text.push('.'); // clap removes the full stop.
    }
    let values: Vec<_> = option.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if values.len() > 1 && !is_switch(option) {
        let _ = write!(text, " One of {}.", values.join(", "));
    }
    text
}

#[test]
fn the_table_of_options_is_what_clap_says() {
    let mut command = crate::cli::Cli::command();
    command.build();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operating.md");
    let page = std::fs::read_to_string(&path).expect("docs/operating.md");
    let (before, rest) = page.split_once(BEGIN).expect("the mark before the table");
    let (found, after) = rest.split_once(END).expect("the mark after the table");
    let table = table(&command);
    assert!(table.contains("| `--listen` | `WAXWING_LISTEN` | `127.0.0.1:4000` | serve, health |"), "{table}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, [before, BEGIN, &table, END, after].concat()).expect("docs/operating.md is written");
    } else {
        assert!(found == table, "the table of options in docs/operating.md is not what clap says: run `make docs`\n{table}");
    }
}
