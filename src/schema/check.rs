//! What is looked at before anything runs: the document's size and nesting, whether it parses, how much it asks for, and what
//! it would do.

use super::cost::cost;
use super::execute::set_code;
use async_graphql::parser::types::{DocumentOperations, OperationType};
use async_graphql::{Request, Response, ServerError};

/// The largest document, in bytes.
const MAX_BYTES: usize = 16 * 1024;
/// How deep brackets nest. The library's parser recurses over values and types without a bound of its own.
const MAX_NESTING: usize = 64;
/// The most fields that an answer may have, with every page as long as it was asked for: a first screen of a hundred entries has
/// some two thousand.
const MAX_FIELDS: usize = 20_000;

/// What is known of a request that may run.
pub struct Checked {
    /// What kind of operation it would run.
    pub kind: OperationType,
    /// What it costs: the fields that its answer may have.
    pub cost: usize,
}

/// Parses a request's document and tells what kind of operation it would run, and what that costs.
///
/// # Errors
/// The whole answer: a request error with its code.
pub fn check(request: &mut Request) -> Result<Checked, Box<Response>> {
    let refuse = |code: &str, message: String| {
        let mut error = ServerError::new(message, None);
        set_code(&mut error, code);
        Err(Box::new(Response::from_errors(vec![error])))
    };
    if request.query.len() > MAX_BYTES {
        return refuse(
            "QUERY_TOO_LARGE",
            format!("The document has {} bytes: at most {MAX_BYTES} are taken.", request.query.len()),
        );
    }
    let nesting = nesting(request.query.as_bytes());
    if nesting > MAX_NESTING {
        return refuse("QUERY_TOO_DEEP", format!("The document nests {nesting} levels: at most {MAX_NESTING} are taken."));
    }
    let wanted = request.operation_name.clone();
    let variables = request.variables.clone();
    let document = match request.parsed_query() {
        Ok(document) => document,
        Err(error) => return refuse("GRAPHQL_PARSE_FAILED", error.message.clone()),
    };
    let cost = match cost(document, &variables) {
        None => return refuse("GRAPHQL_VALIDATION_FAILED", "A fragment spreads itself.".into()),
        Some(fields) if fields > MAX_FIELDS => {
            let message = format!("The answer could have more than {MAX_FIELDS} fields: ask for smaller pages, or for less.");
            return refuse("QUERY_TOO_COMPLEX", message);
        }
        Some(cost) => cost,
    };
    let operations = &document.operations;
    let chosen = match (operations, &wanted) {
        (DocumentOperations::Single(operation), None) => Some(operation.node.ty),
        (DocumentOperations::Single(_), Some(_)) => None,
        (DocumentOperations::Multiple(all), Some(name)) => all.get(name.as_str()).map(|operation| operation.node.ty),
        (DocumentOperations::Multiple(all), None) if all.len() == 1 => all.values().next().map(|operation| operation.node.ty),
        (DocumentOperations::Multiple(_), None) => None,
    };
    match (chosen, wanted) {
        (Some(kind), _) => Ok(Checked { kind, cost }),
        (None, Some(name)) => {
            let name: String = name.chars().take(64).collect();
            refuse("GRAPHQL_VALIDATION_FAILED", format!("The document has no operation `{name}`."))
        }
        (None, None) => {
            refuse("GRAPHQL_VALIDATION_FAILED", "The document has several operations: say which in `operationName`.".into())
        }
    }
}

/// The deepest nesting of brackets outside of strings and comments. One pass, no memory.
fn nesting(document: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while at < document.len() {
        match document[at] {
            b'{' | b'[' | b'(' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'#' => at += document[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count(),
            b'"' => at = end_of_string(document, at),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// The place of the quote that ends the string or block string that begins at `start`; the end of the document without one.
fn end_of_string(document: &[u8], start: usize) -> usize {
    let block = document[start..].starts_with(b"\"\"\"");
    let mut at = start + if block { 3 } else { 1 };
    while at < document.len() {
        match document[at] {
            b'\\' if !block || document[at + 1..].starts_with(b"\"\"\"") => at += if block { 3 } else { 1 },
            b'"' if block && document[at..].starts_with(b"\"\"\"") => return at + 2,
            b'"' | b'\n' | b'\r' if !block => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_counts_brackets_outside_of_strings_and_comments() {
        for (document, expected) in [
            ("{ a }", 1),
            ("{ a(b: [[1]]) { c } }", 4),
            ("{ a(b: \"[[[[\\\"[[\") }", 2),
            ("{ a # [[[[\n b }", 1),
            ("{ a(b: \"\"\"[[ \" \\\"\"\" [[\"\"\") }", 2),
            ("{ a(b: \"\") { c } }", 2),
            ("}}}}{", 1),
            ("\"", 0),
        ] {
            assert_eq!(nesting(document.as_bytes()), expected, "{document}");
        }
        assert_eq!(nesting("[".repeat(100_000).as_bytes()), 100_000);
    }
}
