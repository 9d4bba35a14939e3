//! Media types of requests and responses.

use axum::http::{HeaderMap, header};

/// The two media types of GraphQL responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    /// `application/graphql-response+json`: the status expresses the outcome.
    GraphqlResponse,
    /// `application/json`: the response to a well-formed request has the status 200, as older clients expect.
    Json,
}

impl Media {
    /// Returns the media type that the client prefers: JSON without a preference, `None` where the client accepts neither.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<Self> {
        if !headers.contains_key(header::ACCEPT) {
            return Some(Self::Json);
        }
        let (modern, json) = (quality(headers, Self::GraphqlResponse.name()), quality(headers, Self::Json.name()));
        match (modern, json) {
            (Quality { weight: 0, .. }, Quality { weight: 0, .. }) => None,
            // A client that names both with equal weight supports the modern one; a client that accepts any type may support neither.
            (modern, json) if modern > json || modern == json && modern.is_named() => Some(Self::GraphqlResponse),
            _ => Some(Self::Json),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json",
            Self::Json => "application/json",
        }
    }

    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
        }
    }
}

/// The formats in which results are streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamFormat {
    /// `text/event-stream`, by the protocol of graphql-sse.
    Events,
    /// `multipart/mixed;subscriptionSpec="1.0"`, by the protocol of Apollo's clients.
    Multipart,
}

impl StreamFormat {
    /// Returns the format that the client prefers; `None` where it names neither. Server-sent events if both have the same weight.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let events = Some(quality(headers, "text/event-stream")).filter(|quality| quality.is_named());
        let events = events.map_or(0, |quality| quality.weight);
        match multipart_weight(headers) {
            0 if events == 0 => None,
            multipart if multipart > events => Some(Self::Multipart),
            _ => Some(Self::Events),
        }
    }
}

/// Returns the weight of multipart subscriptions in thousandths: `multipart/mixed` without the parameter is another protocol.
fn multipart_weight(headers: &HeaderMap) -> u16 {
    let weights = ranges(headers).filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_multipart = parts.next()?.eq_ignore_ascii_case("multipart/mixed");
        let names_protocol = parts.clone().any(|parameter| match parameter.split_once('=') {
            Some((name, version)) => {
                name.trim().eq_ignore_ascii_case("subscriptionSpec") && version.trim().trim_matches('"') == "1.0"
            }
            None => false,
        });
        (is_multipart && names_protocol).then(|| weight(parts))
    });
    weights.max().unwrap_or(0)
}

/// Returns whether a browser requests a page.
pub(super) fn wants_page(headers: &HeaderMap) -> bool {
    let page = quality(headers, "text/html");
    page.weight > 0 && page.is_named()
}

/// Returns whether a client prefers the Prometheus text format to OpenMetrics.
pub(super) fn wants_prometheus(headers: &HeaderMap) -> bool {
    quality(headers, "text/plain") > quality(headers, "application/openmetrics-text")
}

/// The preference of a client for a media type: the weight in thousandths, then how exactly the client names the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Quality {
    weight: u16,
    /// How specific the matching range is: 3 `type/subtype`, 2 `type/*`, 1 `*/*`, 0 no match.
    exactness: u8,
}

impl Quality {
    const fn is_named(self) -> bool {
        self.exactness == 3
    }
}

/// Returns the quality of `media` by RFC 9110, section 12.5.1: of the ranges that contain it, the most exact one counts.
fn quality(headers: &HeaderMap, media: &str) -> Quality {
    let matches = ranges(headers).filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let exactness = exactness(parts.next()?, media)?;
        Some((exactness, weight(parts)))
    });
    matches.max().map_or(Quality::default(), |(exactness, weight)| Quality { weight, exactness })
}

/// Returns the media ranges of `Accept`.
fn ranges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','))
}

fn exactness(range: &str, media: &str) -> Option<u8> {
    let kind = media.split('/').next().unwrap_or_default();
    match range.split_once('/') {
        _ if range.eq_ignore_ascii_case(media) => Some(3),
        Some((range_kind, "*")) if range_kind.eq_ignore_ascii_case(kind) => Some(2),
        Some(("*", "*")) => Some(1),
        _ => None,
    }
}

/// Returns the weight among a range's parameters, in thousandths. An invalid weight counts as a missing one.
fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> u16 {
    let parsed = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse::<f32>().ok()).flatten()
    });
    parsed.filter(|weight| (0.0..=1.0).contains(weight)).map_or(1_000, |weight| (weight * 1_000.0) as u16)
}

/// Returns whether the body is JSON in UTF-8, by the syntax of the media type.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = value.split(';').map(str::trim);
    let is_utf_8 = |parameter: &str| match parameter.split_once('=') {
        Some((name, charset)) if name.eq_ignore_ascii_case("charset") => charset.trim_matches('"').eq_ignore_ascii_case("utf-8"),
        _ => true,
    };
    parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json")) && parts.all(is_utf_8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn header_map(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn the_preferred_media_type_is_chosen() {
        let (modern, json) = (Some(Media::GraphqlResponse), Some(Media::Json));
        for (accept, expected) in [
            ("application/graphql-response+json", modern),
            ("application/json", json),
            ("application/graphql-response+json, application/json", modern),
            ("application/json, application/graphql-response+json", modern),
            ("application/graphql-response+json;q=0.5, application/json", json),
            ("application/graphql-response+json; q=0.5, application/json; Q=0.4", modern),
            ("application/graphql-response+json;charset=utf-8, application/json;q=0.9", modern),
            ("*/*", json),
            ("application/*", json),
            ("APPLICATION/JSON", json),
            ("text/html, */*;q=0.1", json),
            ("text/html, application/graphql-response+json;q=0.1", modern),
            ("application/json;q=0, */*", modern),
            ("application/graphql-response+json;q=0, */*", json),
            ("application/*;q=0.2, application/json;q=0.1", modern),
            ("application/json;q=7", json),
            ("text/html", None),
            ("application/json;q=0", None),
            ("*/*;q=0", None),
            ("", None),
        ] {
            assert_eq!(Media::accepted(&header_map(header::ACCEPT, accept)), expected, "{accept}");
        }
        assert_eq!(Media::accepted(&HeaderMap::new()), json);
        let mut two = header_map(header::ACCEPT, "text/html");
        two.append(header::ACCEPT, HeaderValue::from_static("application/graphql-response+json"));
        assert_eq!(Media::accepted(&two), modern);
    }

    #[test]
    fn a_stream_format_is_accepted_only_by_its_name() {
        let (events, multipart) = (Some(StreamFormat::Events), Some(StreamFormat::Multipart));
        for (accept, expected) in [
            // The header of Apollo Client, which the protocol's documentation shows.
            (
                "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9",
                multipart,
            ),
            ("multipart/mixed;subscriptionSpec=\"1.0\", application/json", multipart),
            ("application/json, Multipart/Mixed; boundary=\"graphql\"; SubscriptionSpec=1.0", multipart),
            ("multipart/mixed;subscriptionSpec=1.0;q=0.5, text/event-stream;q=0.4", multipart),
            ("multipart/mixed;subscriptionSpec=1.0;q=0.4, text/event-stream;q=0.5", events),
            ("multipart/mixed;subscriptionSpec=1.0, text/event-stream", events),
            // The header of urql, which means incremental delivery.
            ("application/json, text/event-stream, multipart/mixed", events),
            ("multipart/mixed", None),
            ("multipart/mixed;subscriptionSpec=2.0, */*", None),
            ("multipart/mixed;subscriptionSpec=1.0;q=0", None),
            ("multipart/mixed;deferSpec=20220824,application/json", None),
            ("multipart/*;subscriptionSpec=1.0", None),
            ("text/event-stream;q=0, application/json", None),
            ("*/*", None),
        ] {
            assert_eq!(StreamFormat::accepted(&header_map(header::ACCEPT, accept)), expected, "{accept}");
        }
        assert_eq!(StreamFormat::accepted(&HeaderMap::new()), None);
    }

    #[test]
    fn a_page_is_returned_only_if_html_is_accepted() {
        assert!(wants_page(&header_map(header::ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8")));
        assert!(!wants_page(&header_map(header::ACCEPT, "*/*")));
        assert!(!wants_page(&header_map(header::ACCEPT, "text/html;q=0, */*")));
        assert!(!wants_page(&HeaderMap::new()));
    }

    #[test]
    fn a_body_is_accepted_only_as_json_in_utf_8() {
        for content_type in ["application/json", "Application/JSON;charset=UTF-8", "application/json; charset=\"utf-8\"; x=y"] {
            assert!(is_json(&header_map(header::CONTENT_TYPE, content_type)), "{content_type}");
        }
        for content_type in
            ["application/json; charset=latin1", "text/json", "application/jsonp", "", "application/json, text/plain"]
        {
            assert!(!is_json(&header_map(header::CONTENT_TYPE, content_type)), "{content_type}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
