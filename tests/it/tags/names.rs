//! Names that could break a key, a hash tag or a comparison.

use super::{assert_no_findings, count, tagged};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

/// Names that are no tags.
fn no_tags() -> Vec<String> {
    let texts = [
        "",
        "#",
        "＃",
        "##birds",
        "a}b",
        "{birds}",
        "}",
        "tag:{YmlyZHM}",
        "birds:1",
        "a\nb",
        "a\r\nb",
        "a b",
        "a\tb",
        "123",
        "*",
        "a*",
        "\0",
        "a\0b",
        "a'b",
        "a\"b",
        "a/b",
        "a\u{200b}b",
        "🐦",
        "birds🐦",
        "@birds",
        "#birds!",
    ];
    let long = ["x".repeat(101), "ß".repeat(51), "\u{20000}".repeat(101), "ﷺ".repeat(8)];
    texts.map(str::to_owned).into_iter().chain(long).collect()
}

/// Tags, and the names that they have.
fn tags() -> Vec<(String, String)> {
    let pairs = [
        ("Birds", "birds"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ＢＩＲＤＳ1", "birds1"),
        ("ﬁsh", "fish"),
        ("a_1", "a_1"),
        ("日本語", "日本語"),
        ("\u{20000}\u{20001}", "\u{20000}\u{20001}"),
        ("𝒜lpha", "alpha"),
        ("e\u{301}t\u{e9}", "\u{e9}t\u{e9}"),
        ("ΣΟΦΟΣ", "σοφοσ"),
        ("ς", "σ"),
        ("Ǆ", "dž"),
        ("__proto__", "__proto__"),
    ];
    let long = [
        ("X".repeat(100), "x".repeat(100)),
        ("ß".repeat(50), "s".repeat(100)),
        ("\u{20000}".repeat(100), "\u{20000}".repeat(100)),
    ];
    pairs.map(|(text, name)| (text.to_owned(), name.to_owned())).into_iter().chain(long).collect()
}

async fn name(viewer: &Actor, text: &str) -> Value {
    let answer = viewer.gql("query($name: String!) { tag(name: $name) { id name } }", json!({ "name": text })).await;
    assert_eq!(answer.get("errors"), None, "{text:?}: {answer}");
    answer["data"]["tag"].clone()
}

/// No name is in the name of a key as it was written.
fn assert_safe_keys(app: &TestApp) {
    for key in app.redis.keys().iter().filter(|key| key.starts_with("tag:")) {
        let inner = key.strip_prefix("tag:{").and_then(|rest| rest.strip_suffix('}')).unwrap_or_else(|| panic!("{key}"));
        assert!(inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')), "{key}");
    }
}

#[tokio::test]
async fn a_text_that_is_no_whole_tag_is_a_tag_nowhere() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let list = ada.mutate_ok("createUserList", json!({ "name": "L" }), "userList { id }").await["userList"]["id"].clone();
    for text in no_tags() {
        assert_eq!(name(&ada, &text).await, Value::Null, "{text:?}");
        for (field, input) in [("followTag", json!({ "name": text })), ("addTagToList", json!({ "listId": list, "name": text }))]
        {
            let answer = ada.mutate(field, input, "").await;
            assert_eq!(answer["userErrors"][0]["code"], "INVALID_INPUT", "{field} {text:?}: {answer}");
        }
        // Part of the text may be a tag; a text with control characters is refused.
        ada.mutate("postStatus", json!({ "message": format!("a #{text}.") }), "").await;
    }
    assert_safe_keys(&app);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_tag_has_one_name_in_posts_follows_lists_and_queries() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut lists = Vec::new();
    for (text, expected) in tags() {
        let found = name(&ada, &text).await;
        assert_eq!(found["name"], expected.as_str(), "{text}");
        assert_eq!(name(&ada, &expected).await, found, "the name of {text} is its own name");
        assert_eq!(name(&ada, &format!("#{text}")).await, found, "{text}");
        let before = count(&ada, &text).await;
        let message = format!("with #{text}");
        let status = bea.post(&message).await;
        assert_eq!(count(&ada, &expected).await, before + 1, "{text}");
        assert_eq!(tagged(&ada, &expected).await.1.first(), tagged(&ada, &text).await.1.first(), "{text}");
        let read = "query($id: ID!) { node(id: $id) { ... on Status { entities { tags { tag { id } } } } } }";
        let answer = ada.gql(read, json!({ "id": status })).await;
        assert_eq!(answer["data"]["node"]["entities"]["tags"], json!([{ "tag": { "id": found["id"] } }]), "{text}: {answer}");
        let followed = ada.mutate_ok("followTag", json!({ "name": text }), "tag { id }").await;
        assert_eq!(followed["tag"]["id"], found["id"], "{text}");
        let list = ada.mutate_ok("createUserList", json!({ "name": "L" }), "userList { id }").await["userList"]["id"].clone();
        let added = json!({ "listId": list, "name": text });
        let added = ada.mutate_ok("addTagToList", added, "userList { tags { id } }").await;
        assert_eq!(added["userList"]["tags"], json!([{ "id": found["id"] }]), "{text}");
        assert_eq!(ada.home().await.len(), lists.len() + 1, "{text}");
        lists.push(list);
    }
    assert_safe_keys(&app);
    assert_no_findings(&app).await;
}
