//! Relay connections over lists that are ordered by position, newest first: arguments, cursors, and filling pages.
//!
//! Most lists are sorted sets whose scores are unique ids (of a status, a follow, a like); other lists have wider positions, which are unique too
//! ([`ListPosition`]). So a position names exactly one row, and paging neither repeats nor skips rows while other rows are written. A page is filled
//! in four steps: read rows (ids), hydrate them (loaders), drop the rows that the viewer may not see, and present the remaining rows. If rows were
//! dropped, the next window is read, so a page is shorter than requested only at the end of the list, or after 10,000 dropped rows: the next page
//! continues from the cursor at the end of such a page.
//! `pageInfo` is correct in both directions, as the Relay specification of cursor connections requires.

mod scan;

use crate::base::error::Error;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::FutureExt;
use scan::Scan;
use siphasher::sip::SipHasher24;
use std::future::Future;
use std::hash::Hasher;
use subtle::ConstantTimeEq;

/// The default size of a page.
pub const DEFAULT: usize = 20;
/// The maximum size of a page.
pub const MAX: usize = 100;
/// The number of dropped rows after which no further window is read: the page ends early, so that a request is bounded.
pub const MAX_DROPPED: usize = 10_000;
/// Maximum length of a text that [`Cursors::verify`] accepts, in bytes.
const MAX_SIGNED: usize = 4_096;

/// The position of a row in a list, larger first. Usually an id; wider if the list has another primary order.
pub trait ListPosition: Copy + Ord + Send + Sync {
    /// A bound above all positions.
    const TOP: Self;
    /// A bound below all positions.
    const BOTTOM: Self;
    /// The next position above; the top for the top.
    fn above(self) -> Self;
    /// The next position below; the bottom for the bottom.
    fn below(self) -> Self;
}

macro_rules! positions {
    ($($kind:ty),*) => {$(
        impl ListPosition for $kind {
            const TOP: Self = <$kind>::MAX;
            const BOTTOM: Self = 0;
            fn above(self) -> Self {
                self.saturating_add(1)
            }
            fn below(self) -> Self {
                self.saturating_sub(1)
            }
        }
    )*};
}

positions!(u64, u128);

/// A row of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row<P = u64> {
    /// The id of the member.
    pub member: u64,
    /// The position: larger is newer.
    pub position: P,
}

/// A window of a list: the positions between two exclusive bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window<P = u64> {
    /// The upper bound.
    pub below: P,
    /// The lower bound.
    pub above: P,
    /// Whether the newest row comes first.
    pub newest_first: bool,
    /// Maximum number of rows.
    pub limit: usize,
}

/// The connection that a cursor belongs to: its kind and its owner. A cursor of another connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorScope {
    /// The kind of connection, a letter that its domain has chosen.
    pub kind: u8,
    /// The owner of the connection.
    pub owner: u64,
}

/// Encodes and verifies cursors: `base64url(8 bytes of position, 7 bytes of signature)`. The signature is keyed and covers scope and position.
/// Signatures are compared in constant time.
#[derive(Clone, Copy)]
pub struct Cursors {
    secret: [u8; 16],
}

impl Cursors {
    /// Cursors that are signed with the deployment's secret.
    pub const fn new(secret: [u8; 16]) -> Self {
        Self { secret }
    }

    /// The deployment's secret, for other signatures.
    pub(crate) const fn secret(&self) -> [u8; 16] {
        self.secret
    }

    /// Signs bytes for `scope`.
    pub fn sign(&self, scope: CursorScope, bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode([&self.signature(scope, bytes), bytes].concat())
    }

    /// Verifies a signed text and returns its bytes; `None` if it is forged or of another scope.
    pub fn verify(&self, scope: CursorScope, text: &str) -> Option<Vec<u8>> {
        let bytes = (text.len() <= MAX_SIGNED).then(|| URL_SAFE_NO_PAD.decode(text))?.ok()?;
        let (signature, rest) = bytes.split_at_checked(7)?;
        bool::from(signature.ct_eq(&self.signature(scope, rest))).then(|| rest.to_vec())
    }

    fn signature(&self, scope: CursorScope, bytes: &[u8]) -> [u8; 7] {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write(b"sealed");
        hasher.write_u8(scope.kind);
        hasher.write_u64(scope.owner);
        hasher.write(bytes);
        first_seven(hasher.finish())
    }

    /// The cursor of a position: twenty characters.
    pub fn encode(&self, scope: CursorScope, position: u64) -> String {
        let mut bytes = [0; 15];
        bytes[..8].copy_from_slice(&position.to_be_bytes());
        bytes[8..].copy_from_slice(&self.position_signature(scope, position));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position of a cursor; `None` if it is forged or of another scope. A signed part after a full stop is ignored, but must be of this scope
    /// too.
    pub fn decode(&self, scope: CursorScope, cursor: &str) -> Option<u64> {
        if let Some((cursor, signed)) = cursor.split_once('.') {
            self.verify(scope, signed)?;
            return self.decode(scope, cursor);
        }
        let mut bytes = [0; 15];
        let length = (cursor.len() == 20).then(|| URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes))?.ok()?;
        let (position, signature) = bytes.split_at(8);
        let position = u64::from_be_bytes(position.try_into().ok()?);
        let is_authentic = signature.ct_eq(&self.position_signature(scope, position));
        (length == 15 && is_authentic.into()).then_some(position)
    }

    fn position_signature(&self, scope: CursorScope, position: u64) -> [u8; 7] {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write_u8(scope.kind);
        hasher.write_u64(scope.owner);
        hasher.write_u64(position);
        first_seven(hasher.finish())
    }
}

fn first_seven(hash: u64) -> [u8; 7] {
    let [first @ .., _] = hash.to_be_bytes();
    first
}

/// The arguments of a connection field.
#[derive(Clone, Debug, Default)]
pub struct PageArgs {
    /// The page size from the newest end.
    pub first: Option<i32>,
    /// Only rows older than this cursor.
    pub after: Option<String>,
    /// The page size from the oldest end.
    pub last: Option<i32>,
    /// Only rows newer than this cursor.
    pub before: Option<String>,
}

/// A validated request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest<P = u64> {
    /// The size: 1 to [`MAX`].
    pub size: usize,
    /// Whether the size was given as `last`.
    pub backward: bool,
    /// The position of `after`.
    pub after: Option<P>,
    /// The position of `before`.
    pub before: Option<P>,
}

impl PageArgs {
    /// Validates the arguments for `scope`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT` with the argument's name: a size outside 1 to 100, both sizes, a cursor that is not of this list.
    pub fn check(&self, cursors: &Cursors, scope: CursorScope) -> Result<PageRequest, Error> {
        self.check_with(|text| cursors.decode(scope, text))
    }

    /// Checks the arguments, with cursors in another format, which `decode` parses.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_with<P>(&self, decode: impl Fn(&str) -> Option<P>) -> Result<PageRequest<P>, Error> {
        if self.first.is_some() && self.last.is_some() {
            return Err(Error::BadUserInput("`first` and `last` cannot be combined.".into()));
        }
        let size = |name: &str, requested: i32| match usize::try_from(requested) {
            Ok(size @ 1..=MAX) => Ok(size),
            _ => Err(Error::BadUserInput(format!("`{name}` must be from 1 to {MAX}, not {requested}."))),
        };
        let cursor = |name: &str, argument: &Option<String>| match argument {
            None => Ok(None),
            Some(text) => {
                decode(text).map(Some).ok_or_else(|| Error::BadUserInput(format!("`{name}` is not a cursor of this list.")))
            }
        };
        let first = self.first.map(|requested| size("first", requested)).transpose()?;
        let last = self.last.map(|requested| size("last", requested)).transpose()?;
        Ok(PageRequest {
            size: first.or(last).unwrap_or(DEFAULT),
            backward: last.is_some(),
            after: cursor("after", &self.after)?,
            before: cursor("before", &self.before)?,
        })
    }
}

/// A list that pages are read from.
pub trait PageSource<P = u64>: Sync {
    /// The item of a visible row.
    type Item: Send;

    /// Reads the rows of each window, in the window's order. Usually one round trip for all windows.
    fn read_rows(&self, windows: &[Window<P>]) -> impl Future<Output = Result<Vec<Vec<Row<P>>>, Error>> + Send;

    /// The number of rows that the first window should have in addition to the `needed` rows of the page, so that a page whose source drops rows is full
    /// after one read. They are hydrated only if [`Self::drops_rows`].
    fn spare_rows(&self, _needed: usize) -> usize {
        0
    }

    /// Whether many rows may be dropped. Called after each read of windows.
    fn drops_rows(&self) -> bool {
        false
    }

    /// Hydrates rows, in order: `None` for a row whose object is deleted or hidden from the viewer.
    fn hydrate(&self, rows: &[Row<P>]) -> impl Future<Output = Result<Vec<Option<Self::Item>>, Error>> + Send;
}

/// A filled page, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, P = u64> {
    /// The items with their positions.
    pub items: Vec<(P, T)>,
    /// Whether there is a visible older item, or the search for one ended after 10,000 dropped rows.
    pub has_next: bool,
    /// Whether there is a visible newer item, or the search for one ended after 10,000 dropped rows.
    pub has_previous: bool,
    /// The position of the last row that was read, if a page of `last` ended after 10,000 dropped rows: the next page continues from there. `None`
    /// otherwise: the next page continues from the first item.
    pub start: Option<P>,
    /// The position of the last row that was read, if a page of `first` ended after 10,000 dropped rows. `None` otherwise: the next page continues from
    /// the last item.
    pub end: Option<P>,
}

impl<T, P> Page<T, P> {
    /// The page of an empty list.
    pub const fn empty() -> Self {
        Self { items: Vec::new(), has_next: false, has_previous: false, start: None, end: None }
    }
}

/// Reads a page. One read and one hydration; both are repeated while rows are dropped, up to 10,000 dropped rows. If a page ends at this limit,
/// it reports that more items follow in the direction of reading. If the search for an item beyond `after` or `before` ends at this limit, the page
/// reports that there is one.
///
/// # Errors
/// The errors of the source.
pub async fn read_page<P: ListPosition, L: PageSource<P>>(list: &L, request: PageRequest<P>) -> Result<Page<L::Item, P>, Error> {
    let mut scans = Scan::<L::Item, P>::plan(request, |needed| list.spare_rows(needed));
    let mut dropped = 0;
    while dropped < MAX_DROPPED && scans.iter().any(Scan::is_open) {
        let mut open: Vec<&mut Scan<L::Item, P>> = scans.iter_mut().filter(|scan| scan.is_open()).collect();
        let windows: Vec<Window<P>> = open.iter().map(|scan| scan.window).collect();
        // Trait objects, so that the compiler proves once, and not for every resolver, that the reads are `Send`.
        let mut found = list.read_rows(&windows).boxed().await?;
        let drops_rows = list.drops_rows();
        for (scan, rows) in open.iter_mut().zip(&mut found) {
            scan.receive(rows, drops_rows);
        }
        let rows: Vec<Row<P>> = found.iter().flatten().copied().collect();
        let mut items = list.hydrate(&rows).boxed().await?.into_iter();
        for (scan, rows) in open.into_iter().zip(found) {
            dropped += scan.take(&rows, &mut items);
        }
    }
    let [main, newer, older] = scans;
    Ok(main.into_page(request, newer.may_find(), older.may_find()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const SCOPE: CursorScope = CursorScope { kind: b'h', owner: 7 };

    /// Positions 1 to `len`; every multiple of `hidden` is hidden.
    struct Numbers {
        len: u64,
        hidden: u64,
    }

    impl PageSource for Numbers {
        type Item = u64;
        async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
            let rows = |window: &Window| {
                let mut all: Vec<u64> = (1..=self.len).filter(|at| *at > window.above && *at < window.below).collect();
                if window.newest_first {
                    all.reverse();
                }
                all.into_iter().take(window.limit).map(|at| Row { member: at, position: at }).collect()
            };
            Ok(windows.iter().map(rows).collect())
        }
        async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<u64>>, Error> {
            Ok(rows.iter().map(|row| (row.member % self.hidden != 0).then_some(row.member)).collect())
        }
    }

    async fn page(
        list: &Numbers,
        size: usize,
        backward: bool,
        after: Option<u64>,
        before: Option<u64>,
    ) -> (Vec<u64>, bool, bool) {
        let page = read_page(list, PageRequest { size, backward, after, before }).await.expect("a page");
        (page.items.into_iter().map(|(_, item)| item).collect(), page.has_previous, page.has_next)
    }

    #[tokio::test]
    async fn page_info_is_correct_in_both_directions() {
        let list = Numbers { len: 10, hidden: 99 };
        assert_eq!(page(&list, 3, false, None, None).await, (vec![10, 9, 8], false, true));
        assert_eq!(page(&list, 3, false, Some(8), None).await, (vec![7, 6, 5], true, true));
        assert_eq!(page(&list, 3, false, Some(4), None).await, (vec![3, 2, 1], true, false));
        assert_eq!(page(&list, 3, false, Some(1), None).await, (vec![], true, false));
        assert_eq!(page(&list, 3, true, None, None).await, (vec![3, 2, 1], true, false));
        assert_eq!(page(&list, 3, true, None, Some(3)).await, (vec![6, 5, 4], true, true));
        assert_eq!(page(&list, 3, true, None, Some(8)).await, (vec![10, 9], false, true));
        assert_eq!(page(&list, 3, false, None, Some(8)).await, (vec![10, 9], false, true));
        assert_eq!(page(&list, 3, true, Some(8), None).await, (vec![3, 2, 1], true, false));
        assert_eq!(page(&list, 9, false, Some(8), Some(4)).await, (vec![7, 6, 5], true, true));
        assert_eq!(page(&list, 9, false, Some(4), Some(8)).await, (vec![], true, true));
        assert_eq!(page(&Numbers { len: 0, hidden: 99 }, 3, false, None, None).await, (vec![], false, false));
    }

    #[tokio::test]
    async fn hidden_rows_neither_shorten_a_page_nor_show_in_page_info() {
        let list = Numbers { len: 1000, hidden: 2 };
        assert_eq!(page(&list, 100, false, Some(301), None).await.0.len(), 100);
        assert_eq!(page(&list, 100, true, None, Some(301)).await.0.len(), 100);
        // Only hidden rows are left beyond the page.
        assert_eq!(page(&Numbers { len: 4, hidden: 4 }, 3, false, None, None).await, (vec![3, 2, 1], false, false));
        assert_eq!(page(&Numbers { len: 300, hidden: 1 }, 3, false, Some(150), Some(20)).await, (vec![], false, false));
    }

    /// Numbers of which every third is dropped if `drops`, with spare rows in the first window.
    struct Spare {
        drops: bool,
        windows: AtomicUsize,
        hydrated: AtomicUsize,
    }

    impl PageSource for Spare {
        type Item = u64;
        async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
            self.windows.fetch_add(windows.len(), Ordering::Relaxed);
            Numbers { len: 25, hidden: 99 }.read_rows(windows).await
        }
        async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<u64>>, Error> {
            self.hydrated.fetch_add(rows.len(), Ordering::Relaxed);
            Numbers { len: 25, hidden: if self.drops { 3 } else { 99 } }.hydrate(rows).await
        }
        fn spare_rows(&self, needed: usize) -> usize {
            needed
        }
        fn drops_rows(&self) -> bool {
            self.drops
        }
    }

    #[tokio::test]
    async fn spare_rows_fill_a_page_in_one_read_and_are_hydrated_only_where_rows_are_dropped() {
        for (drops, expected, hydrated) in [(true, [25, 23, 22, 20, 19], 12), (false, [25, 24, 23, 22, 21], 6)] {
            let list = Spare { drops, windows: AtomicUsize::new(0), hydrated: AtomicUsize::new(0) };
            let read = |after| read_page(&list, PageRequest { size: 5, backward: false, after, before: None });
            let first = read(None).await.expect("a page");
            assert_eq!(first.items.iter().map(|(_, item)| *item).collect::<Vec<_>>(), expected);
            assert!(first.has_next && first.end.is_none());
            let cost = (list.windows.load(Ordering::Relaxed), list.hydrated.load(Ordering::Relaxed));
            assert_eq!(cost, (1, hydrated), "{drops}");
            // To the end of the list, without an item twice or left out.
            let (mut all, mut after) = (Vec::new(), None);
            loop {
                let page = read(after).await.expect("a page");
                all.extend(page.items.iter().map(|(_, item)| *item));
                after = page.items.last().map(|(position, _)| *position);
                if !page.has_next {
                    break;
                }
            }
            assert_eq!(all, (1..=25).rev().filter(|at| !drops || at % 3 != 0).collect::<Vec<u64>>());
        }
    }

    #[tokio::test]
    async fn a_page_ends_after_ten_thousand_dropped_rows_and_says_where_it_continues() {
        // Only the oldest and the newest row are visible.
        struct Ends;
        impl PageSource for Ends {
            type Item = u64;
            async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
                Numbers { len: 25_000, hidden: 1 }.read_rows(windows).await
            }
            async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<u64>>, Error> {
                Ok(rows.iter().map(|row| [1, 25_000].contains(&row.member).then_some(row.member)).collect())
            }
        }
        let read = |backward, after, before| read_page(&Ends, PageRequest { size: 5, backward, after, before });
        let (mut after, mut pages) = (None, Vec::new());
        loop {
            let page = read(false, after, None).await.expect("a page");
            assert_eq!(page.end.is_some(), page.has_next, "a page that ended early continues");
            pages.push((page.items.into_iter().map(|(_, item)| item).collect::<Vec<_>>(), page.has_previous));
            match page.end {
                Some(end) => after = Some(end),
                None => break,
            }
        }
        assert_eq!(pages.iter().flat_map(|(items, _)| items.clone()).collect::<Vec<_>>(), [25_000, 1], "{pages:?}");
        // The check for newer rows counts as well.
        assert_eq!(pages.len(), 4, "10,000 rows a page: {pages:?}");
        let page = read(true, None, None).await.expect("a page");
        assert!(page.has_previous && page.start.is_some() && page.end.is_none(), "{page:?}");
        assert_eq!(page.items, [(1, 1)]);
        // The rows beyond the cursor were not found within the bound.
        assert!(read(false, Some(20_000), None).await.expect("a page").has_previous);
    }

    #[test]
    fn a_cursor_fits_its_own_list_only() {
        let cursors = Cursors::new([1; 16]);
        let cursor = cursors.encode(SCOPE, 42);
        assert_eq!(cursors.decode(SCOPE, &cursor), Some(42));
        assert_eq!(cursors.decode(CursorScope { owner: 8, ..SCOPE }, &cursor), None);
        assert_eq!(cursors.decode(CursorScope { kind: b'p', ..SCOPE }, &cursor), None);
        assert_eq!(Cursors::new([2; 16]).decode(SCOPE, &cursor), None);
        for forged in ["", "42", "AAAAAAAAAAAAAAAAAAAA", &cursor[..19], "ééééé ééééé"] {
            assert_eq!(cursors.decode(SCOPE, forged), None, "{forged}");
        }
    }

    #[test]
    fn sizes_are_checked_and_named() {
        let cursors = Cursors::new([1; 16]);
        let check = |first, last| PageArgs { first, last, ..PageArgs::default() }.check(&cursors, SCOPE);
        assert_eq!(check(None, None).expect("the default").size, DEFAULT);
        assert!(check(Some(100), None).is_ok_and(|page| !page.backward));
        assert!(check(None, Some(1)).is_ok_and(|page| page.backward));
        for (first, last, name) in
            [(Some(0), None, "first"), (Some(101), None, "first"), (None, Some(-1), "last"), (Some(1), Some(1), "first")]
        {
            let error = check(first, last).expect_err("refused");
            assert!(error.code() == "BAD_USER_INPUT" && error.to_string().contains(name), "{error}");
        }
    }
}
