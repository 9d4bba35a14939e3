//! Validation of a page's ad request.

use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::WebsiteId;
use crate::domains::ads::model::{MAX_ADS_PER_REQUEST, Slot, Visitor};
use crate::domains::ads::publishers::model::{version_of_server_key, website_of_key};
use std::net::IpAddr;

/// Maximum number of keywords of a page.
const MAX_PAGE_KEYWORDS: usize = 250;
/// Maximum length of a publisher's name for a visitor, in bytes.
const MAX_VISITOR: usize = 200;

/// An ad request of a page.
#[derive(Clone, Debug)]
pub struct AdRequest {
    /// The key of the website.
    pub website_key: String,
    /// The slot.
    pub slot: Slot,
    /// The keywords of the page.
    pub keywords: Vec<String>,
    /// The publisher's name for the visitor.
    pub visitor: Option<String>,
    /// The number of ads.
    pub count: i64,
    /// The server key, for a website that requires one.
    pub server_key: Option<String>,
    /// The visitor's IP address, as the publisher's server reports it. Requires a server key.
    pub visitor_address: Option<String>,
}

/// A validated ad request.
pub(in crate::domains::ads) struct CheckedAdRequest {
    pub(in crate::domains::ads) website: WebsiteId,
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) keywords: Vec<String>,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
    pub(in crate::domains::ads) count: usize,
    /// The version of the server key in the request; 0 without one.
    pub(in crate::domains::ads) server_key: u64,
    /// The visitor's IP address, if the publisher's server reports it.
    pub(in crate::domains::ads) address: Option<IpAddr>,
}

/// Validates an ad request. Fails with every mistake in it, or only with an unknown website key or a forged server key.
pub(in crate::domains::ads) fn check(secret: [u8; 16], request: AdRequest) -> Result<CheckedAdRequest, Vec<UserError>> {
    let website = website_of_key(secret, &request.website_key).ok_or_else(|| vec![unknown_website()])?;
    let mut errors = Vec::new();
    if request.slot == Slot::InFeed {
        errors.push(invalid("Promoted statuses are shown in home timelines only.", "slot"));
    }
    errors.extend(check_keywords(&request.keywords).err());
    let visitor = visitor_of(secret, request.visitor.as_deref()).map_err(|error| errors.push(error)).unwrap_or_default();
    let count = usize::try_from(request.count).ok().filter(|count| (1..=MAX_ADS_PER_REQUEST).contains(count));
    if count.is_none() {
        errors.push(invalid("Request 1 to 10 ads.", "count"));
    }
    let server_key = match request.server_key.as_deref().map(|key| version_of_server_key(secret, website, key)) {
        Some(None) => Err(vec![no_server_key()])?,
        version => version.flatten().unwrap_or(0),
    };
    let address = address_of(&request, server_key).map_err(|error| errors.push(error)).unwrap_or_default();
    match count {
        Some(count) if errors.is_empty() => {
            let (slot, keywords) = (request.slot, request.keywords);
            Ok(CheckedAdRequest { website, slot, keywords, visitor, count, server_key, address })
        }
        _ => Err(errors),
    }
}

/// Returns the visitor's IP address that the publisher's server reports.
fn address_of(request: &AdRequest, server_key: u64) -> Result<Option<IpAddr>, UserError> {
    let Some(text) = request.visitor_address.as_deref() else { return Ok(None) };
    if server_key == 0 {
        return Err(invalid("`visitorAddress` requires the website's `serverKey`.", "visitorAddress"));
    }
    text.parse()
        .map(Some)
        .map_err(|_| invalid("`visitorAddress` must be an IPv4 or IPv6 address, such as 203.0.113.7.", "visitorAddress"))
}

/// Fails if a page has more keywords than the maximum.
pub(in crate::domains::ads) fn check_keywords(keywords: &[String]) -> Result<(), UserError> {
    let is_valid = keywords.len() <= MAX_PAGE_KEYWORDS;
    is_valid.then_some(()).ok_or_else(|| invalid("A page has at most 250 keywords.", "keywords"))
}

/// Returns the visitor for a publisher's visitor name.
pub(in crate::domains::ads) fn visitor_of(secret: [u8; 16], name: Option<&str>) -> Result<Option<Visitor>, UserError> {
    let Some(name) = name else { return Ok(None) };
    if name.is_empty() || name.len() > MAX_VISITOR || name.chars().any(char::is_control) {
        let message =
            "The visitor's id must be 1 to 200 bytes without control characters. Omit it for a visitor whom you cannot identify.";
        return Err(invalid(message, "visitorId"));
    }
    Ok(Some(Visitor::new(secret, name)))
}

fn invalid(message: &str, field: &'static str) -> UserError {
    UserError::new(UserErrorCode::InvalidInput, message, &[field])
}

/// The error for a website that does not exist.
pub(in crate::domains::ads) fn unknown_website() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no website with this key.", &["websiteKey"])
}

/// The error for a request without the current server key of a website that requires one.
pub(in crate::domains::ads) fn no_server_key() -> UserError {
    let message = "This website requires its server key. Request ads from your server with its current key.";
    UserError::new(UserErrorCode::Forbidden, message, &["serverKey"])
}
