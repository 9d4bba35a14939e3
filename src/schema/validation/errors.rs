//! The errors of validation.

use crate::schema::execute::{MAX_ERRORS, set_code, shorten};
use async_graphql::{Pos, ServerError};

/// The message of an invalid document if the schema is not disclosed.
const INVALID_DOCUMENT_MESSAGE: &str = "The document does not fit the schema.";
/// Maximum length of a name for which suggestions are made, in bytes.
const MAX_NAME: usize = 64;
/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 5;

/// The first errors of a document. Messages of further errors are not formatted.
pub(super) struct Errors {
    all: Vec<ServerError>,
    /// Whether messages may disclose names of the schema.
    pub(super) reveals_schema: bool,
}

impl Errors {
    pub(super) const fn new(reveals_schema: bool) -> Self {
        Self { all: Vec::new(), reveals_schema }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) const fn is_full(&self) -> bool {
        self.all.len() >= MAX_ERRORS
    }

    /// Adds an error with its positions in the document.
    pub(super) fn push(&mut self, at: &[Pos], message: impl FnOnce() -> String) {
        if self.is_full() {
            return;
        }
        // If the schema is not disclosed, `into_list` replaces all errors by one, and no message is needed.
        let mut error = ServerError::new(if self.reveals_schema { message() } else { String::new() }, None);
        error.locations = at.to_vec();
        shorten(&mut error.message);
        self.all.push(error);
    }

    /// The errors in the order of the document, or one error if the schema is not disclosed.
    pub(super) fn into_list(mut self) -> Vec<ServerError> {
        if !self.reveals_schema && !self.all.is_empty() {
            self.all = vec![ServerError::new(INVALID_DOCUMENT_MESSAGE, None)];
        }
        self.all.sort_by_key(|error| error.locations.first().copied());
        for error in &mut self.all {
            set_code(error, "GRAPHQL_VALIDATION_FAILED");
        }
        self.all
    }
}

/// ` Did you mean …?` with similar names; empty if no candidate is similar.
pub(super) fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    if name.len() > MAX_NAME {
        return String::new();
    }
    let (name, max) = (name.to_ascii_lowercase(), name.len() * 2 / 5 + 1);
    let distance = |other: &'a str| (strsim::damerau_levenshtein(&name, &other.to_ascii_lowercase()), other);
    let candidates = candidates.filter(|other| other.len().abs_diff(name.len()) <= max);
    let mut similar: Vec<(usize, &str)> = candidates.map(distance).filter(|(distance, _)| *distance <= max).collect();
    similar.sort_unstable();
    let quoted: Vec<String> = similar.iter().take(MAX_SUGGESTIONS).map(|(_, name)| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" Did you mean {only}?"),
        Some((last, others)) => format!(" Did you mean {} or {last}?", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let candidates = ["login", "logout", "name", "viewer"];
        let suggest = |name| did_you_mean(name, candidates.into_iter());
        assert_eq!(suggest("lgoin"), " Did you mean \"login\" or \"logout\"?");
        assert_eq!(suggest("LOGIN"), " Did you mean \"login\" or \"logout\"?");
        assert_eq!(suggest("logi"), " Did you mean \"login\"?");
        assert_eq!(suggest("log"), " Did you mean \"login\"?");
        assert_eq!((suggest("zzz"), suggest(&"login".repeat(20))), (String::new(), String::new()));
    }

    #[test]
    fn the_first_errors_are_reported_in_the_order_of_the_document() {
        let at = |line| Pos { line, column: 1 };
        let mut errors = Errors::new(true);
        for line in (0..100).rev() {
            errors.push(&[at(line)], || {
                assert!(line >= 100 - MAX_ERRORS, "the message of a dropped error is formatted");
                String::new()
            });
        }
        let lines: Vec<_> = errors.into_list().iter().map(|error| error.locations[0].line).collect();
        assert_eq!(lines, (90..100).collect::<Vec<_>>());
        let mut errors = Errors::new(false);
        errors.push(&[at(1)], || "secret".into());
        let reported = errors.into_list();
        assert!(
            reported.len() == 1 && reported[0].message == INVALID_DOCUMENT_MESSAGE && reported[0].locations.is_empty(),
            "{reported:?}"
        );
    }
}
