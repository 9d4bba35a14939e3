//! Checks of a document before execution, so that no document can harm the server: first its bytes ([`mod@scan`]), then, once it is parsed, its
//! selections ([`mod@measure`]), then [`super::validation`]. The first two are linear in the size of the document; a document that passes them is small
//! enough for validation.

mod filter;
mod parsed;
mod scan;
mod subscription;
mod measure;
mod weight;

pub(super) use scan::end_of_token;

use super::execute::{set_code, shorten};
use super::validation::{ValidationResult, coerce, position, separate, validate};
use crate::base::config::{Config, DocumentLimits};
use async_graphql::parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition, OperationType};
use async_graphql::parser::{self, parse_query};
use async_graphql::{ErrorExtensionValues, Name, Pos, Positioned, Request, Response, ServerError, Value, Variables};
use measure::{CostError, DocumentMeasure, MAX_LEVELS, Measure, measure_document};
use parsed::ParsedDocument;
use scan::scan;

/// The response to a rejected request.
pub(super) type ErrorResponse = Box<Response>;

/// The result of the checks of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Kind of the operation to run.
    pub kind: OperationType,
    /// Cost: the number of fields that the response can have, with every page as long as requested.
    pub cost: usize,
    /// Entries of the filter, for a subscription that has one.
    pub filter_entries: usize,
}

/// Maximum nesting of introspection lists that [`mod@measure`] counts: the fields of a type, and the fields of the types of these fields.
const MAX_INTROSPECTION_LISTS: usize = 2;

/// The reason why a request is not executed.
#[derive(Debug)]
pub enum CheckError {
    /// The document cannot be parsed, exceeds a limit, has a fragment that spreads itself, uses introspection although it is switched off, or does
    /// not determine the operation to run: its cost is unknown.
    Rejected(Box<Response>),
    /// The document or its variables are invalid. The cost is known and is charged.
    Invalid(CheckResult, Box<Response>),
}

impl From<ErrorResponse> for CheckError {
    fn from(refused: ErrorResponse) -> Self {
        Self::Rejected(refused)
    }
}

impl CheckError {
    /// The response.
    pub fn into_response(self) -> Box<Response> {
        match self {
            Self::Rejected(response) | Self::Invalid(_, response) => response,
        }
    }
}

/// Parses the document of a request, checks its limits, validates it, coerces its variables and measures its cost. The library can then execute the
/// request without validating it again. No round trip to Redis.
///
/// # Errors
/// The response: a request error with its code. For a limit, `extensions` has the name, the maximum and the count.
pub fn check(request: &mut Request, config: &Config) -> Result<CheckResult, CheckError> {
    check_bytes(&request.query, &config.documents)?;
    let operation_name = request.operation_name.clone();
    let (mut document, cached) = match parsed::get_cached(&request.query) {
        Some(ParsedDocument { document, never_null }) => (document, Some(never_null)),
        None => (parse_query(&request.query).map_err(parse_error)?, None),
    };
    let variables = with_defaults(&document, &request.variables);
    let mut checked = check_selections(&document, &variables, operation_name.as_deref(), config)?;
    let never_null = match cached {
        Some(never_null) => never_null,
        None => {
            let valid = match validate_and_cache(&request.query, document, config.suggestions) {
                Ok(valid) => valid,
                Err(invalid) => {
                    let (document, refused) = *invalid;
                    // The request is not executed, but the name of its operation is still needed for metrics and logs.
                    request.set_parsed_query(document);
                    return Err(CheckError::Invalid(checked, refused));
                }
            };
            document = valid.document;
            if checked.kind == OperationType::Subscription {
                // Measured again with the merged root field, as for a document from the cache.
                checked = check_selections(&document, &variables, operation_name.as_deref(), config)?;
            }
            valid.never_null
        }
    };
    if let Some((name, operation)) = operation(&document, operation_name.as_deref()) {
        let sent = std::mem::take(&mut request.variables);
        let definitions = &operation.node.variable_definitions;
        let coerced = match coerce(name, definitions, sent, &never_null, config.suggestions) {
            Ok(coerced) => coerced,
            Err(errors) => {
                request.set_parsed_query(document);
                return Err(CheckError::Invalid(checked, Box::new(Response::from_errors(errors))));
            }
        };
        if coerced.iter().any(|(name, value)| variables.get(name) != Some(value)) {
            checked = check_selections(&document, &with_defaults(&document, &coerced), operation_name.as_deref(), config)?;
        }
        request.variables = coerced;
    }
    request.set_parsed_query(document);
    Ok(checked)
}

/// Parses the document of a request that has passed [`check`] before.
///
/// # Errors
/// As [`check`], for a document that has not passed it.
pub fn parse(request: &mut Request) -> Result<(), ErrorResponse> {
    let parsed = match parsed::get_cached(&request.query) {
        Some(parsed) => parsed,
        None => {
            let document = parse_query(&request.query).map_err(parse_error)?;
            validate_and_cache(&request.query, document, true).map_err(|invalid| invalid.1)?
        }
    };
    request.set_parsed_query(parsed.document);
    Ok(())
}

/// Validates a measured document, rewrites it into the form that the library executes, and caches it for this thread. An invalid document is
/// returned together with the response.
fn validate_and_cache(
    text: &str,
    mut document: ExecutableDocument,
    reveals_schema: bool,
) -> Result<ParsedDocument, Box<(ExecutableDocument, ErrorResponse)>> {
    let ValidationResult { never_null, defaulted } = match validate(text, &document, reveals_schema) {
        Ok(valid) => valid,
        Err(errors) => return Err(Box::new((document, Box::new(Response::from_errors(errors))))),
    };
    separate(&mut document, &defaulted);
    if let Err((broken, at)) = subscription::inline_root_fields(&mut document) {
        let refused = refusal("GRAPHQL_VALIDATION_FAILED", broken.into(), vec![at]);
        return Err(Box::new((document, refused)));
    }
    let parsed = ParsedDocument { document, never_null: never_null.into() };
    parsed::cache(text, &parsed);
    Ok(parsed)
}

/// The operation to run, with its name.
fn operation<'a>(
    document: &'a ExecutableDocument,
    operation_name: Option<&str>,
) -> Option<(Option<&'a Name>, &'a Positioned<OperationDefinition>)> {
    match &document.operations {
        DocumentOperations::Single(only) => Some((None, only)),
        DocumentOperations::Multiple(operations) => {
            let mut all = operations.iter();
            all.find(|(name, _)| operation_name.is_none_or(|wanted| name.as_str() == wanted))
                .map(|(name, operation)| (Some(name), operation))
        }
    }
}

/// The response to a text that cannot be parsed. The parser's message spans several lines; only its last line is kept.
fn parse_error(error: parser::Error) -> ErrorResponse {
    let at: Vec<Pos> = error.positions().collect();
    let message = match &error {
        parser::Error::Syntax { message, .. } => {
            let expected = message.lines().last().unwrap_or_default().trim_start_matches([' ', '=']).replace('_', " ");
            format!("Syntax error: {expected}.")
        }
        other => format!("Syntax error: {other}."),
    };
    let at = if at.is_empty() { vec![Pos { line: 1, column: 1 }] } else { at };
    refusal("GRAPHQL_PARSE_FAILED", message, at)
}

/// Validates a document and checks its limits, without a request: for registered documents. Any of its operations may run.
///
/// # Errors
/// Returns the reason of a refusal as text.
pub fn check_document(text: &str, config: &Config) -> Result<(), String> {
    let joined = |errors: Vec<ServerError>| errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join(" ");
    let reason_of = |refused: ErrorResponse| joined(refused.errors);
    check_bytes(text, &config.documents).map_err(reason_of)?;
    let mut document = parse_query(text).map_err(|error| reason_of(parse_error(error)))?;
    let first = document.operations.iter().next().and_then(|(name, _)| name.map(ToString::to_string));
    check_selections(&document, &with_defaults(&document, &Variables::default()), first.as_deref(), config).map_err(reason_of)?;
    // Messages go to the operator of the server, and may reveal the schema.
    validate(text, &document, true).map(drop).map_err(joined)?;
    subscription::inline_root_fields(&mut document).map_err(|(broken, _)| broken.to_owned())
}

/// Checks the bytes of a document, before the parser reads it.
fn check_bytes(query: &str, limits: &DocumentLimits) -> Result<(), ErrorResponse> {
    check_limit("QUERY_TOO_LARGE", "documentBytes", limits.bytes, query.len())?;
    let counted = scan(query.as_bytes());
    if let Some(at) = counted.unterminated {
        let at = position(query, at);
        return refuse_at("GRAPHQL_PARSE_FAILED", "Syntax error: unterminated block string.".into(), vec![at]);
    }
    check_limit("QUERY_TOO_DEEP", "nesting", limits.nesting, counted.nesting)?;
    check_limit("QUERY_TOO_LARGE", "tokens", limits.tokens, counted.tokens)?;
    check_limit("QUERY_TOO_COMPLEX", "aliases", limits.aliases, counted.aliases)?;
    check_limit("QUERY_TOO_COMPLEX", "directives", limits.directives, counted.directives)
}

/// Measures the selections of a document, checks their limits, and returns the measure of the operation to run.
fn check_selections(
    document: &ExecutableDocument,
    variables: &Variables,
    operation_name: Option<&str>,
    config: &Config,
) -> Result<CheckResult, ErrorResponse> {
    let limits = &config.documents;
    let DocumentMeasure { operations, fragment } = match measure_document(document, variables) {
        Ok(measured) => measured,
        Err(CostError::Cycle(at)) => {
            return refuse_at("GRAPHQL_VALIDATION_FAILED", "A fragment spreads itself. Remove the cycle.".into(), vec![at]);
        }
        Err(CostError::TooManyLevels) => return limit_exceeded("QUERY_TOO_DEEP", "levels", MAX_LEVELS, MAX_LEVELS + 1),
    };
    check_limit("QUERY_TOO_COMPLEX", "operations", limits.operations, operations.len())?;
    let all = operations.iter().fold(fragment, |largest, (_, measure)| largest.max(*measure));
    let fields = operations.iter().fold(0_usize, |sum, (_, measure)| sum.saturating_add(measure.fields));
    if all.introspection > 0 && !config.introspection {
        return refuse("GRAPHQL_VALIDATION_FAILED", "Introspection is switched off on this server.".into());
    }
    check_limit("QUERY_TOO_DEEP", "depth", limits.depth, all.depth)?;
    check_limit("QUERY_TOO_DEEP", "introspectionLists", MAX_INTROSPECTION_LISTS, all.lists)?;
    check_limit("QUERY_TOO_COMPLEX", "rootFields", limits.root_fields, max_root_fields(&operations))?;
    check_limit("QUERY_TOO_COMPLEX", "fields", limits.fields, fields.max(fragment.fields))?;
    check_limit("QUERY_TOO_COMPLEX", "cost", limits.cost, all.cost)?;
    let measure = chosen_measure(&operations, operation_name)?;
    let kind =
        document.operations.iter().find(|(name, _)| operation_name.is_none() || name.map(|name| name.as_str()) == operation_name);
    let kind = kind.map_or(OperationType::Query, |(_, operation)| operation.node.ty);
    Ok(CheckResult { kind, cost: measure.cost, filter_entries: measure.filter_entries })
}

/// The largest number of root fields of any operation.
fn max_root_fields(operations: &[(Option<&str>, Measure)]) -> usize {
    operations.iter().map(|(_, measure)| measure.roots).max().unwrap_or_default()
}

/// The measure of the operation to run.
fn chosen_measure(operations: &[(Option<&str>, Measure)], operation_name: Option<&str>) -> Result<Measure, ErrorResponse> {
    match (operations, operation_name) {
        ([(_, only)], None) => Ok(*only),
        (_, None) => {
            refuse("GRAPHQL_VALIDATION_FAILED", "The document has several operations: select one by `operationName`.".into())
        }
        (all, Some(operation_name)) => match all.iter().find(|(name, _)| *name == Some(operation_name)) {
            Some((_, measure)) => Ok(*measure),
            None => {
                let name: String = operation_name.chars().take(64).collect();
                refuse("GRAPHQL_VALIDATION_FAILED", format!("The document has no operation `{name}`."))
            }
        },
    }
}

/// The variables that were sent, with the document's defaults for omitted variables. If operations have different defaults for a variable, the larger
/// default is used.
fn with_defaults(document: &ExecutableDocument, sent: &Variables) -> Variables {
    let mut all = sent.clone();
    let definitions = document.operations.iter().flat_map(|(_, operation)| &operation.node.variable_definitions);
    for definition in definitions.map(|definition| &definition.node) {
        let (name, Some(default)) = (&definition.name.node, &definition.default_value) else { continue };
        if !sent.contains_key(name) && all.get(name).is_none_or(|largest| is_larger(&default.node, largest)) {
            all.insert(name.clone(), default.node.clone());
        }
    }
    all
}

fn is_larger(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Number(value), Value::Number(other)) => value.as_u64() > other.as_u64(),
        (Value::List(value), Value::List(other)) => value.len() > other.len(),
        (_, other) => *other == Value::Null,
    }
}

/// Rejects a count that exceeds its limit.
fn check_limit(code: &str, limit: &str, max: usize, counted: usize) -> Result<(), ErrorResponse> {
    if counted > max { limit_exceeded(code, limit, max, counted) } else { Ok(()) }
}

/// The response to a document that exceeds a limit, with `limit`, `max` and `counted` in `extensions`. A saturated count is reported as the maximum
/// of GraphQL's Int.
fn limit_exceeded<T>(code: &str, limit: &str, max: usize, counted: usize) -> Result<T, ErrorResponse> {
    let counted = counted.min(i32::MAX as usize);
    let message = format!("The document exceeds the limit `{limit}`: {counted} counted, at most {max} allowed.");
    let mut extensions = ErrorExtensionValues::default();
    extensions.set("code", code);
    extensions.set("limit", limit);
    extensions.set("max", max);
    extensions.set("counted", counted);
    let error = ServerError { extensions: Some(extensions), ..ServerError::new(message, None) };
    Err(Box::new(Response::from_errors(vec![error])))
}

fn refuse<T>(code: &str, message: String) -> Result<T, ErrorResponse> {
    refuse_at(code, message, Vec::new())
}

fn refuse_at<T>(code: &str, message: String, at: Vec<Pos>) -> Result<T, ErrorResponse> {
    Err(refusal(code, message, at))
}

fn refusal(code: &str, message: String, at: Vec<Pos>) -> ErrorResponse {
    let mut error = ServerError::new(message, None);
    error.locations = at;
    shorten(&mut error.message);
    set_code(&mut error, code);
    Box::new(Response::from_errors(vec![error]))
}
