//! Documents that were parsed before: clients send the same few again and again. Each thread keeps its own, since one that threads
//! share costs more in locks than parsing does.

use async_graphql::parser::types::ExecutableDocument;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::cell::RefCell;

/// What a thread keeps, in bytes of text; the trees that they were parsed to take some twenty times as much.
const KEPT_BYTES: u64 = 256 << 10;
/// About as many documents as that is.
const KEPT: usize = 256;

/// A document weighs what its text does.
#[derive(Clone)]
struct Length;

impl Weighter<Box<str>, ExecutableDocument> for Length {
    fn weight(&self, text: &Box<str>, _: &ExecutableDocument) -> u64 {
        text.len() as u64 + 1
    }
}

thread_local! {
    /// What is asked for once goes before what is asked for often, so that a flood of new ones does not push out those in use.
    static PARSED: RefCell<Cache<Box<str>, ExecutableDocument, Length>> =
        RefCell::new(Cache::with_weighter(KEPT, KEPT_BYTES, Length));
}

/// The parsed form of a document that passed the checks before, on this thread.
pub(super) fn known(text: &str) -> Option<ExecutableDocument> {
    PARSED.with_borrow_mut(|parsed| parsed.get(text).cloned())
}

/// Keeps a document that has passed the checks.
pub(super) fn keep(text: &str, document: &ExecutableDocument) {
    PARSED.with_borrow_mut(|parsed| parsed.insert(text.into(), document.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::parser::parse_query;

    #[test]
    fn what_is_kept_has_a_bound_and_what_is_in_use_stays() {
        let of = |number: usize| format!("{{ field{number} }} #{}", "x".repeat(2_000));
        keep("{ used }", &parse_query("{ used }").expect("a document"));
        for number in 0..1_000 {
            assert!(known("{ used }").is_some(), "after {number}");
            keep(&of(number), &parse_query(of(number)).expect("a document"));
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
            let checked = super::super::check(&mut document.as_str().into(), &crate::config::Config::default());
            assert_eq!((checked.is_ok(), known(&document).is_some()), (is_kept, is_kept), "{document}");
        }
    }
}
