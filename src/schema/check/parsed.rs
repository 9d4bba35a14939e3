//! Documents that were parsed and validated before: clients send the same few again and again. Each thread keeps its own, since one that threads
//! share costs more in locks than parsing does.

use crate::schema::validation::NeverNull;
use async_graphql::parser::types::ExecutableDocument;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::cell::RefCell;
use std::sync::Arc;

/// What a thread keeps, in bytes of text; the trees that they were parsed to take some twenty times as much.
const KEPT_BYTES: u64 = 256 << 10;
/// About as many documents as that is.
const KEPT: usize = 256;

/// A valid document, in the form that the library runs.
#[derive(Clone)]
pub(super) struct Parsed {
    pub(super) document: ExecutableDocument,
    /// The variables that may not be null although their types allow it.
    pub(super) never_null: Arc<[NeverNull]>,
}

/// A document weighs what its text does.
#[derive(Clone)]
struct Length;

impl Weighter<Box<str>, Parsed> for Length {
    fn weight(&self, text: &Box<str>, _: &Parsed) -> u64 {
        text.len() as u64 + 1
    }
}

thread_local! {
    /// What is asked for once goes before what is asked for often, so that a flood of new ones does not push out those in use.
    static PARSED: RefCell<Cache<Box<str>, Parsed, Length>> =
        RefCell::new(Cache::with_weighter(KEPT, KEPT_BYTES, Length));
}

/// The parsed form of a document that passed the checks before, on this thread.
pub(super) fn known(text: &str) -> Option<Parsed> {
    PARSED.with_borrow_mut(|parsed| parsed.get(text).cloned())
}

/// Keeps a document that has passed the checks.
pub(super) fn keep(text: &str, document: &Parsed) {
    PARSED.with_borrow_mut(|parsed| parsed.insert(text.into(), document.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::parser::parse_query;

    #[test]
    fn what_is_kept_has_a_bound_and_what_is_in_use_stays() {
        let of = |number: usize| format!("{{ field{number} }} #{}", "x".repeat(2_000));
        let parse = |text: &str| {
            let never_null = Arc::from([]);
            Parsed { document: parse_query(text).expect("a document"), never_null }
        };
        keep("{ used }", &parse("{ used }"));
        for number in 0..1_000 {
            assert!(known("{ used }").is_some(), "after {number}");
            keep(&of(number), &parse(&of(number)));
        }
        let weight = PARSED.with_borrow(Cache::weight);
        assert!((KEPT_BYTES / 2..=KEPT_BYTES).contains(&weight), "{weight}");
        let kept = (0..1_000).filter(|number| known(&of(*number)).is_some()).count();
        assert!((KEPT / 4..KEPT).contains(&kept) && known("{ never }").is_none(), "{kept}");
    }

    #[test]
    fn what_is_refused_is_not_kept() {
        let (deep, fits) = (format!("{{ {}a{} }}", "a { ".repeat(20), " }".repeat(20)), "{ viewer { id } }".to_owned());
        for (document, is_kept) in [(deep, false), (fits, true)] {
            let checked = super::super::check(&mut document.as_str().into(), &crate::base::config::Config::default());
            assert_eq!((checked.is_ok(), known(&document).is_some()), (is_kept, is_kept), "{document}");
        }
    }
}
