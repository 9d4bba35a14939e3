//! Finds links: URLs with and without a scheme.

use super::chars::{can_precede_link, ends_path, ends_query, is_path, is_query};
use super::domains::{self, Dot};
use std::ops::Range;

/// A URL in a text, before it is known whether it is a link.
struct Url {
    start: usize,
    has_scheme: bool,
    domain: Range<usize>,
    has_path: bool,
    end: usize,
}

/// The ranges of the links in a text, in its order.
pub(super) fn find(text: &[char]) -> Vec<Range<usize>> {
    let (mut links, mut previous_end) = (Vec::new(), 0);
    for dot in domains::dots(text) {
        if dot.at < previous_end || !dot.is_in_domain() {
            continue;
        }
        if let Some(url) = find_url(text, &dot, previous_end) {
            previous_end = url.end;
            add_links(text, url, &mut links);
        }
    }
    links
}

/// Returns the first URL whose domain has `dot` as its first dot and that begins after `previous_end`, the end of the previous URL.
fn find_url(text: &[char], dot: &Dot, previous_end: usize) -> Option<Url> {
    let can_begin = |start: usize| start == 0 || start > previous_end && can_precede_link(text[start - 1]);
    let scheme = scheme_before(text, dot.from).filter(|start| can_begin(*start));
    let starts = scheme.map(|start| (start, dot.from)).into_iter().chain((dot.from..dot.at).map(|start| (start, start)));
    let (start, domain) = starts
        .filter(|(start, _)| can_begin(*start))
        .find_map(|(start, domain)| Some((start, domain..dot.domain_end(text, domain)?)))?;
    let port_end = end_of_port(text, domain.end);
    let has_path = text.get(port_end) == Some(&'/');
    let path_end = if has_path { end_of_path(text, port_end) } else { port_end };
    let end = end_of_query(text, path_end);
    Some(Url { start, has_scheme: start < domain.start, domain, has_path, end })
}

/// Returns the start of the scheme (`http://` or `https://`) that ends at `end`.
fn scheme_before(text: &[char], end: usize) -> Option<usize> {
    ["https://", "http://"].into_iter().find_map(|scheme| {
        let start = end.checked_sub(scheme.len())?;
        let is_equal = text[start..end].iter().copied().zip(scheme.chars()).all(|(c, other)| c.eq_ignore_ascii_case(&other));
        is_equal.then_some(start)
    })
}

/// Adds the links in a URL. A URL with a scheme is one link. Without a scheme, each domain in Latin letters is a link, and the last one includes
/// the path.
fn add_links(text: &[char], url: Url, links: &mut Vec<Range<usize>>) {
    if !domains::is_valid(&text[url.domain.clone()]) {
        return;
    }
    if url.has_scheme {
        return links.push(url.start..url.end);
    }
    if url.start > 0 && matches!(text[url.start - 1], '-' | '_' | '.' | '/') {
        return;
    }
    links.extend(domains::latin_domains(text, url.domain.clone()));
    if let Some(last) = links.last_mut().filter(|last| url.has_path && last.end == url.domain.end) {
        last.end = url.end;
    }
}

fn end_of_port(text: &[char], at: usize) -> usize {
    let digits = text.get(at + 1..).unwrap_or_default().iter().take_while(|c| c.is_ascii_digit()).count();
    if text.get(at) == Some(&':') && digits > 0 { at + 1 + digits } else { at }
}

/// The end of the path that begins with this slash: the position after its last pair of parentheses or character that may end a path.
fn end_of_path(text: &[char], slash: usize) -> usize {
    let (mut at, mut end) = (slash, slash);
    loop {
        let next = match text.get(at) {
            Some('(') => end_of_parentheses(text, at),
            Some(c) if is_path(*c) => Some(at + 1),
            _ => None,
        };
        let Some(next) = next else { return end };
        if next > at + 1 || ends_path(text[at]) {
            end = next;
        }
        at = next;
    }
}

/// The end of a pair of parentheses in a path, with at most one pair inside.
fn end_of_parentheses(text: &[char], open: usize) -> Option<usize> {
    let past_path = |at: usize| at + text[at..].iter().take_while(|c| is_path(**c)).count();
    let inner = past_path(open + 1);
    match text.get(inner)? {
        ')' if inner > open + 1 => Some(inner + 1),
        '(' => {
            let close = past_path(inner + 1);
            if close == inner + 1 || text.get(close) != Some(&')') {
                return None;
            }
            let end = past_path(close + 1);
            (text.get(end) == Some(&')')).then_some(end + 1)
        }
        _ => None,
    }
}

fn end_of_query(text: &[char], at: usize) -> usize {
    if text.get(at) != Some(&'?') {
        return at;
    }
    let query = text[at + 1..].iter().take_while(|c| is_query(**c));
    let last = query.enumerate().filter(|(_, c)| ends_query(**c)).last();
    last.map_or(at, |(last, _)| at + last + 2)
}
