//! A cache of parsed and validated documents, since clients repeat the same few documents. Each thread has its own: the locks of a shared cache cost
//! more than parsing.

use crate::schema::validation::NonNullPosition;
use async_graphql::parser::types::ExecutableDocument;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::cell::RefCell;
use std::sync::Arc;

/// Capacity of a thread's cache, in bytes of text. The parsed trees take about twenty times as much.
const KEPT_BYTES: u64 = 256 << 10;
/// Estimated number of cached documents.
const ESTIMATED_DOCUMENTS: usize = 256;

/// A valid document, in the form that the library executes.
#[derive(Clone)]
pub(super) struct ParsedDocument {
    pub(super) document: ExecutableDocument,
    /// The variables that must not be null, although their types allow it.
    pub(super) never_null: Arc<[NonNullPosition]>,
}

/// Weighs a document by the length of its text.
#[derive(Clone)]
struct DocumentWeighter;

impl Weighter<Box<str>, ParsedDocument> for DocumentWeighter {
    fn weight(&self, text: &Box<str>, _: &ParsedDocument) -> u64 {
        text.len() as u64 + 1
    }
}

thread_local! {
    /// Documents that are used once are evicted before documents that are used often, so that a flood of new ones does not evict those in use.
    static PARSED: RefCell<Cache<Box<str>, ParsedDocument, DocumentWeighter>> =
        RefCell::new(Cache::with_weighter(ESTIMATED_DOCUMENTS, KEPT_BYTES, DocumentWeighter));
}

/// The parsed form of a document that has passed the checks on this thread; `None` if it is not cached.
pub(super) fn get_cached(text: &str) -> Option<ParsedDocument> {
    PARSED.with_borrow_mut(|parsed| parsed.get(text).cloned())
}

/// Caches a document that has passed the checks.
pub(super) fn cache(text: &str, document: &ParsedDocument) {
    PARSED.with_borrow_mut(|parsed| parsed.insert(text.into(), document.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::parser::parse_query;

    #[test]
    fn the_document_cache_is_bounded_and_keeps_used_documents() {
        let document = |number: usize| format!("{{ field{number} }} #{}", "x".repeat(2_000));
        let parse = |text: &str| {
            let never_null = Arc::from([]);
            ParsedDocument { document: parse_query(text).expect("a document"), never_null }
        };
        cache("{ used }", &parse("{ used }"));
        for number in 0..1_000 {
            assert!(get_cached("{ used }").is_some(), "after {number}");
            cache(&document(number), &parse(&document(number)));
        }
        let weight = PARSED.with_borrow(Cache::weight);
        assert!((KEPT_BYTES / 2..=KEPT_BYTES).contains(&weight), "{weight}");
        let kept = (0..1_000).filter(|number| get_cached(&document(*number)).is_some()).count();
        assert!((ESTIMATED_DOCUMENTS / 4..ESTIMATED_DOCUMENTS).contains(&kept) && get_cached("{ never }").is_none(), "{kept}");
    }

    #[test]
    fn refused_documents_are_not_cached() {
        let (deep, fits) = (format!("{{ {}a{} }}", "a { ".repeat(20), " }".repeat(20)), "{ viewer { id } }".to_owned());
        for (document, is_kept) in [(deep, false), (fits, true)] {
            let checked = super::super::check(&mut document.as_str().into(), &crate::base::config::Config::default());
            assert_eq!((checked.is_ok(), get_cached(&document).is_some()), (is_kept, is_kept), "{document}");
        }
    }
}
