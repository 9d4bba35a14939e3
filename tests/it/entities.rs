//! Entities of texts: the conformance texts of twitter-text, and the differences from them.

use serde_json::{Value, json};
use waxwing::domains::entities::{self, EntityKind, tag_name};

/// Cases about the shortened links of one website, which are links like all others here.
const OTHER_RULES: [&str; 4] = [
    "Extract a t.co URL with a trailing apostrophe",
    "Extract a t.co URL with a trailing hyphen",
    "DO NOT extract URLs with > 40 characters in a t.co slug",
    "Extract t.co URLs skipping trailing characters and adjusting indices correctly",
];

/// The entities of a kind: their texts, without a sign, and their ranges.
fn find(text: &str, kind: EntityKind) -> Vec<(String, [usize; 2])> {
    let sign = usize::from(kind != EntityKind::Link);
    let written = |start: usize, end: usize| text.chars().skip(start + sign).take(end - start - sign).collect();
    let found = entities::find(text).into_iter().filter(|entity| entity.kind == kind).map(|entity| entity.range);
    found.map(|range| (written(range.start, range.end), [range.start, range.end])).collect()
}

/// An expected entity: its text, and its range if the case has one, without the name of a list.
fn expected(entity: &Value) -> (String, Option<[usize; 2]>) {
    let Some(text) = entity.as_str() else {
        let text = ["url", "hashtag", "screen_name"].iter().find_map(|key| entity[key].as_str()).expect("a text");
        let index = |at: usize| entity["indices"][at].as_u64().expect("an index") as usize;
        let list = entity["list_slug"].as_str().unwrap_or_default();
        return (text.to_owned(), Some([index(0), index(1) - list.len()]));
    };
    (text.to_owned(), None)
}

fn check(file: &str) -> usize {
    let cases: Value = serde_json::from_str(file).expect("JSON");
    let mut checked = 0;
    for (name, cases) in cases.as_object().expect("groups") {
        let kind = match name.split('_').next() {
            Some("mentions") => EntityKind::Mention,
            Some("hashtags") => EntityKind::Tag,
            _ => EntityKind::Link,
        };
        for case in cases.as_array().expect("cases") {
            let (description, text) = (case["description"].as_str().expect("a text"), case["text"].as_str().expect("a text"));
            let expected: Vec<_> = case["expected"].as_array().expect("entities").iter().map(expected).collect();
            let found = find(text, kind);
            let is_same = found.len() == expected.len()
                && found
                    .iter()
                    .zip(&expected)
                    .all(|(found, expected)| found.0 == expected.0 && expected.1.is_none_or(|range| range == found.1));
            assert_eq!(is_same, !OTHER_RULES.contains(&description), "{name}: {description}: {text:?}: {found:?}");
            checked += usize::from(is_same);
        }
    }
    checked
}

#[test]
fn the_conformance_texts_of_twitter_text_pass() {
    assert_eq!(check(include_str!("fixtures/twitter-text/extract.json")), 206);
    assert_eq!(check(include_str!("fixtures/twitter-text/tlds.json")), 1_596);
}

#[test]
fn a_login_has_up_to_thirty_characters_and_a_list_is_not_part_of_it() {
    let of = |text: &str| find(text, EntityKind::Mention).into_iter().map(|(login, _)| login).collect::<Vec<_>>();
    let (longest, longer) = ("a".repeat(30), "a".repeat(31));
    assert_eq!(of(&format!("@{longest} @{longer} @{longer}.")), [longest]);
    assert_eq!(of("@ada/list RT@bea rt@cyd: mail@dan.example &@eve @fay@example.org @gus://"), ["ada", "bea", "cyd"]);
    assert_eq!(of("@RT@ada"), [""; 0], "both are refused");
}

#[test]
fn of_overlapping_entities_the_first_is_found() {
    let kinds = |text: &str| {
        entities::find(text).into_iter().map(|entity| json!([format!("{:?}", entity.kind), entity.range])).collect::<Value>()
    };
    let range = |start: usize, end: usize| json!({ "start": start, "end": end });
    assert_eq!(kinds("http://x.co/@ada/#tag @bea"), json!([["Link", range(0, 21)], ["Mention", range(22, 26)]]));
    assert_eq!(kinds("#tag.com"), json!([["Tag", range(0, 4)]]));
    assert_eq!(kinds("👩‍👩‍👧 ＃タグ"), json!([["Tag", range(6, 9)]]), "ranges count code points");
}

#[test]
fn spellings_of_one_tag_have_one_name() {
    for (written, name) in
        [("#Straße", "strasse"), ("STRASSE", "strasse"), ("＃ﾀｸﾞ", "タグ"), ("#１２a", "12a"), ("e\u{301}", "é"), ("É", "é")]
    {
        assert_eq!(tag_name(written).as_deref(), Some(name), "{written}");
        assert_eq!(tag_name(name).as_deref(), Some(name), "{written}");
    }
    for nothing in ["", "#", "##a", "123", "a b", "a-b", "a}b", "a\0", "\u{fe0f}a", "ﷺ", &"a".repeat(101), &"ß".repeat(51)] {
        assert_eq!(tag_name(nothing), None, "{nothing:?}");
    }
    assert_eq!(tag_name(&"a".repeat(100)).map(|name| name.len()), Some(100));
}
