//! A configuration file: keys, their lines and their values, without their meaning.

use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// A parsed TOML file.
pub(super) struct File {
    pub(super) path: PathBuf,
    /// The settings, in the order of their lines.
    pub(super) settings: Vec<Setting>,
    /// Whether every user of the machine can read it.
    pub(super) is_world_readable: bool,
}

/// A key with its value.
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Value,
}

/// A TOML value, which is not yet checked against the type of its option.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    /// An integer, in decimal.
    Integer(String),
    Float(String),
    Boolean(bool),
    List(Vec<Value>),
    /// A table or a date: no option takes these.
    Other(&'static str),
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// The error of reading the file, or all syntax errors, a sentence each with its line. They never repeat the text, which may contain a password.
    pub(super) fn read(path: &Path) -> Result<Self, Vec<String>> {
        let file_error = |error| vec![format!("{}: {error}", path.display())];
        let text = std::fs::read_to_string(path).map_err(file_error)?;
        let mode = std::fs::metadata(path).map_err(file_error)?.permissions().mode();
        let settings = parse(&text).map_err(|errors| {
            let describe = |(line, problem)| format!("{}:{line}: {problem}", path.display());
            errors.into_iter().map(describe).collect::<Vec<_>>()
        })?;
        Ok(Self { path: path.to_owned(), settings, is_world_readable: mode & 0o004 != 0 })
    }
}

/// Parses a text; fails with the lines that are not TOML.
fn parse(text: &str) -> Result<Vec<Setting>, Vec<(usize, String)>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let describe = |error: toml::de::Error| (line(text, error.span()), error.message().replace('\n', ", "));
        return Err(errors.into_iter().map(describe).collect());
    }
    let setting = |(key, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| Setting {
        line: line(text, Some(key.span())),
        key: current_name(std::borrow::Cow::into_owned(key.into_inner())),
        value: Value::of(value.into_inner()),
    };
    let mut settings: Vec<Setting> = table.into_inner().into_iter().map(setting).collect();
    settings.sort_by_key(|setting| setting.line);
    Ok(settings)
}

/// The current name of an option; `key` may be its former name.
fn current_name(key: String) -> String {
    let renamed = super::RENAMED.into_iter().find(|(former, _)| *former == key);
    renamed.map_or(key, |(_, name)| name.to_owned())
}

/// The line on which a span begins, from 1.
fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let before = span.and_then(|span| text.as_bytes().get(..span.start)).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

impl Value {
    fn of(value: DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.into_owned()),
            DeValue::Integer(number) => {
                let decimal = i128::from_str_radix(number.as_str(), number.radix());
                Self::Integer(decimal.map_or_else(|_| number.to_string(), |number| number.to_string()))
            }
            DeValue::Float(number) => Self::Float(number.as_str().to_owned()),
            DeValue::Boolean(value) => Self::Boolean(value),
            DeValue::Array(items) => Self::List(items.into_iter().map(|item| Self::of(item.into_inner())).collect()),
            DeValue::Datetime(_) => Self::Other("a date"),
            DeValue::Table(_) => Self::Other("a table"),
        }
    }

    /// The kind of value, for error messages.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::List(_) => "a list",
            Self::Other(kind) => kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<(usize, String, Value)> {
        let settings = parse(text).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        settings.into_iter().map(|setting| (setting.line, setting.key, setting.value)).collect()
    }

    #[test]
    fn values_and_their_lines_are_read() {
        let text = "# a comment\na = \"x\"\n\nb = 1_000\nc = 0x10\nd = [\"y\",\n 2]\ne = false\nf = 1.5\n[g]\nh = 1\n";
        let list = Value::List(vec![Value::Text("y".into()), Value::Integer("2".into())]);
        let expected = [
            (2, "a", Value::Text("x".into())),
            (4, "b", Value::Integer("1000".into())),
            (5, "c", Value::Integer("16".into())),
            (6, "d", list),
            (8, "e", Value::Boolean(false)),
            (9, "f", Value::Float("1.5".into())),
            (10, "g", Value::Other("a table")),
        ];
        assert_eq!(keys(text), expected.map(|(line, key, value)| (line, key.to_owned(), value)));
        assert!(keys("").is_empty());
    }

    #[test]
    fn syntax_errors_have_the_line_and_not_the_text() {
        for (text, lines) in [
            ("a = 1\nredis = \"redis://:hunter2@h", &[2][..]),
            ("redis = redis://:hunter2@h\nb = 2\nb = 3", &[1, 3]),
            ("hunter2", &[1]),
        ] {
            let Err(wrong) = parse(text) else { panic!("{text} was read") };
            let reported: Vec<usize> = wrong.iter().map(|(line, _)| *line).collect();
            assert!(lines.iter().all(|line| reported.contains(line)), "{wrong:?}");
            assert!(wrong.iter().all(|(_, problem)| !problem.contains("hunter2") && !problem.is_empty()), "{wrong:?}");
        }
    }
}
