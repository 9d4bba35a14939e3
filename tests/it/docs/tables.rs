//! Tables that must be complete and true: error codes, names of limits, rate limits, options, metrics; the places of CONTRIBUTING.md.
//!
//! `cli::config::reference` compares the table of options with the command line, `base::metrics` that of metrics with the registry.

use super::{Page, pages, root, spans};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use waxwing::base::rate_limits::Limit;

/// Texts in capital letters that are no error codes.
const OTHER: [&str; 16] = [
    // Variables of the build and of the environment.
    "CARGO_PKG_VERSION",
    "OTEL_SERVICE_NAME",
    // Locations of directives, as error messages name them.
    "QUERY",
    "MUTATION",
    "SUBSCRIPTION",
    "FIELD",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "VARIABLE_DEFINITION",
    // The outcome of a request whose client disconnected: in metrics and in the log only.
    "CANCELLED",
    // A method of HTTP, signals, words of the text format of metrics.
    "POST",
    "SIGTERM",
    "SIGINT",
    "HELP",
    "TYPE",
];

/// Options of other programs that the documents mention.
const OTHER_OPTIONS: [&str; 9] =
    ["--now", "--system", "--home-dir", "--shell", "--fix", "--help", "--version", "--bench", "--soak"];

/// The Rust files below a folder of the repository.
fn rust_files(folder: &str) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The lines of code below a folder of `src`, without comments and tests.
fn code(folder: &str) -> Vec<String> {
    rust_files(&format!("src/{folder}")).iter().flat_map(|path| code_of(path)).collect()
}

fn code_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a source");
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect()
}

/// The string literals of a line.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

fn is_code(text: &&str) -> bool {
    text.len() > 2
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Fails with what one of two sets lacks.
fn assert_same<'a>(table: &str, found: impl IntoIterator<Item = &'a str>, expected: impl IntoIterator<Item = &'a str>) {
    let (found, expected) = (found.into_iter().collect::<BTreeSet<_>>(), expected.into_iter().collect::<BTreeSet<_>>());
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{table}: missing {missing:?}, not in the sources {extra:?}");
}

#[test]
fn every_error_code_is_in_the_table() {
    let page = Page::read("docs/api.md");
    let sources: Vec<String> = ["base", "schema", "server"].into_iter().flat_map(code).collect();
    // The values of an enum of names, such as the codes of `userErrors`, are no error codes.
    let is_value = |line: &&String| line.contains(" = \"") && line.ends_with("\",") && !line.contains('(');
    let codes = sources
        .iter()
        .filter(|line| !is_value(line))
        .flat_map(|line| literals(line))
        .filter(is_code)
        .filter(|text| !OTHER.contains(text));
    assert_same("docs/api.md, error codes", page.table("### Error codes"), codes);
}

/// schema.graphql is the running schema: a test of `schema` holds it.
#[test]
fn every_code_of_user_errors_is_in_the_table() {
    let page = Page::read("docs/api.md");
    let schema = include_str!("../../../schema.graphql");
    let values = schema.split("enum UserErrorCode {").nth(1).and_then(|rest| rest.split('}').next()).expect("the codes");
    let codes = values.lines().map(str::trim).filter(is_code);
    assert_same("docs/api.md, codes of userErrors", page.table("### Codes of userErrors"), codes);
}

#[test]
fn every_name_of_a_limit_is_in_the_table() {
    let page = Page::read("docs/api.md");
    let sources: Vec<String> = ["schema", "server"].into_iter().flat_map(code).collect();
    let of_server = sources.iter().filter_map(|line| line.split(".with_limit(\"").nth(1)?.split('"').next());
    let of_document = |line: &String| ["check_limit(\"QUERY", "limit_exceeded(\"QUERY"].iter().any(|call| line.contains(call));
    let of_documents = sources.iter().filter(|line| of_document(line)).filter_map(|line| literals(line).nth(1));
    let names = of_server.chain(of_documents).chain(["responseBytes"]);
    assert_same("docs/api.md, limits in errors", page.table("### Limits in errors"), names);
}

#[test]
fn every_rate_limit_is_in_the_table_with_its_default() {
    let page = Page::read("docs/limits.md");
    assert_same("docs/limits.md, rate limits", page.table("## Rate limits"), Limit::ALL.map(Limit::name));
    for limit in Limit::ALL {
        let row = page.section("## Rate limits").into_iter().find(|line| line.starts_with(&format!("| `{}` |", limit.name())));
        let expected = [format!("--rate-{}", limit.name()), limit.default_quota().to_string()];
        assert_eq!(spans(row.unwrap_or_default()).skip(1).collect::<Vec<_>>(), expected, "{}", limit.name());
    }
}

#[test]
fn every_option_and_metric_that_a_document_names_exists() {
    let operating = Page::read("docs/operating.md");
    let (options, metrics) = (operating.table("## Options"), operating.table("### Metrics"));
    assert!(options.len() > 60 && metrics.len() > 25, "{options:?} {metrics:?}");
    let mut unknown = Vec::new();
    for page in pages().into_iter().filter(|page| !page.path.ends_with("CHANGELOG.md")) {
        let words = page.text.split(|end: char| !(end.is_ascii_alphanumeric() || "-_".contains(end)));
        for word in words {
            let is_option =
                word.strip_prefix("--").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()));
            let is_known = options.contains(&word) || metrics.contains(&word) || OTHER_OPTIONS.contains(&word);
            if (is_option || word.starts_with("waxwing_")) && !is_known {
                unknown.push(format!("{}: {word}", page.path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn everything_that_contributing_names_exists() {
    let files: Vec<PathBuf> = ["src", "tests/it"].into_iter().flat_map(rust_files).collect();
    let sources: Vec<String> = files.iter().map(|path| fs::read_to_string(path).expect("a source")).collect();
    let is_word = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_' || letter == b':';
    let page = Page::read("CONTRIBUTING.md");
    let (mut tests, mut missing) = (0, Vec::new());
    for span in page.prose().flat_map(spans) {
        if let Some((_, name)) = span.rsplit_once("::").filter(|_| span.bytes().all(is_word)) {
            tests += 1;
            if !sources.iter().any(|source| source.contains(&format!("fn {name}("))) {
                missing.push(span);
            }
        } else if span.contains('_') && !span.ends_with('_') && span.bytes().all(is_word) {
            if !sources.iter().any(|source| source.contains(&format!("fn {span}(")) || source.contains(&format!("mod {span};"))) {
                missing.push(span);
            }
        } else if span.len() > 1 && span.bytes().all(|letter| letter.is_ascii_uppercase() || letter == b'_') {
            if !sources.iter().any(|source| source.contains(&format!("const {span}:"))) {
                missing.push(span);
            }
        } else if span.contains('/') && !span.contains("DOMAIN") && span.starts_with(|first: char| first.is_ascii_lowercase()) {
            let exists = |folder: &str| root().join(folder).join(span).exists();
            if !exists("") && !exists("src") {
                missing.push(span);
            }
        }
    }
    assert!(tests > 20, "the names of tests were not found");
    assert!(missing.is_empty(), "CONTRIBUTING.md names what does not exist: {missing:?}");
}
