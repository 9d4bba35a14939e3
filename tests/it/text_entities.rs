//! Mentions, tags and links of statuses and comments: stored when the text is written, and shown as the viewer may see them.

use crate::comments::Commenter;
use crate::support::{Actor, TestApp, findings, references};
use serde_json::{Value, json};

const ENTITIES: &str =
    "entities(unit: $unit) { mentions { range { start end } user { login } } tags { range { start end } tag { id name } }
    links { range { start end } url } }";

/// The entities of a status or a comment: `@login`, `#name` or a URL, each with its range.
async fn entities(viewer: &Actor, id: &str, unit: Option<&str>) -> Vec<(String, u64, u64)> {
    let query = format!(
        "query($id: ID!, $unit: TextUnit) {{ node(id: $id) {{ ... on Status {{ {ENTITIES} }} ... on Comment {{ {ENTITIES} }} }} }}"
    );
    let reply = viewer.gql(&query, json!({ "id": id, "unit": unit })).await;
    let found = &reply["data"]["node"]["entities"];
    let mut all = Vec::new();
    for (list, name) in [
        ("mentions", (|it| format!("@{}", it["user"]["login"].as_str().expect("a login"))) as fn(&Value) -> String),
        ("tags", |it| format!("#{}", it["tag"]["name"].as_str().expect("a name"))),
        ("links", |it| it["url"].as_str().expect("a URL").to_owned()),
    ] {
        for it in found[list].as_array().unwrap_or_else(|| panic!("{list} in {reply}")) {
            let end = |end| it["range"][end].as_u64().expect("a number");
            all.push((name(it), end("start"), end("end")));
        }
    }
    all
}

fn of(name: &str, start: u64, end: u64) -> (String, u64, u64) {
    (name.to_owned(), start, end)
}

#[tokio::test]
async fn a_status_has_the_entities_of_its_text_in_both_units() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "Bea"]).await;
    let id = ada.post("😀 hi @BEA and @nobody #Straße＃東京タグ #東京 see example.com/a?b=c or https://B.de").await;
    let expected = [of("@Bea", 5, 9), of("#東京", 35, 38), of("https://example.com/a?b=c", 43, 60), of("https://B.de", 64, 76)];
    assert_eq!(entities(&ada, &id, None).await, expected);
    let shifted: Vec<_> = expected.iter().map(|(name, start, end)| of(name, start + 1, end + 1)).collect();
    assert_eq!(entities(&bea, &id, Some("UTF16")).await, shifted, "the emoji has two units");
    assert_eq!(entities(&app.anonymous(), &id, Some("CODE_POINTS")).await, expected);
    let plain = ada.post("no entities here: a@b, #1, e.g. this").await;
    assert_eq!(entities(&ada, &plain, None).await, []);
}

#[tokio::test]
async fn a_tag_is_a_node_whose_id_is_its_name() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let id = ada.post("#STRASSE #Straße #straße").await;
    let query = "query($id: ID!) { node(id: $id) { ... on Status { entities { tags { tag { id name } } } } } }";
    let tags = ada.gql(query, json!({ "id": id })).await;
    let tags = tags["data"]["node"]["entities"]["tags"].as_array().expect("tags").clone();
    assert_eq!(tags.len(), 3);
    assert!(tags.iter().all(|it| it == &tags[0]), "one tag: {tags:?}");
    let found = ada
        .gql("query($id: ID!) { node(id: $id) { __typename id ... on Tag { name } } }", json!({ "id": tags[0]["tag"]["id"] }))
        .await;
    assert_eq!(found["data"]["node"], json!({ "__typename": "Tag", "id": tags[0]["tag"]["id"], "name": "strasse" }));
    for name in ["Strasse", "a b", "1", ""] {
        let id = waxwing::base::ids::TagId::of_name(name.to_owned()).global();
        let found = ada.gql("query($id: ID!) { node(id: $id) { id } }", json!({ "id": id })).await;
        assert_eq!(found["data"], json!({ "node": null }), "{name:?} is not the name of a tag");
    }
}

#[tokio::test]
async fn a_mention_is_plain_text_for_viewers_who_cannot_discover_the_account() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let id = ada.post("@bea @cyd").await;
    bea.mutate_ok("blockUser", json!({ "userId": cyd.id }), "").await;
    assert_eq!(entities(&cyd, &id, None).await, [of("@cyd", 5, 9)]);
    assert_eq!(entities(&ada, &id, None).await, [of("@bea", 0, 4), of("@cyd", 5, 9)]);
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    assert_eq!(entities(&ada, &id, None).await, [of("@cyd", 5, 9)]);
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
}

#[tokio::test]
async fn a_comment_has_the_entities_of_its_text_of_today() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = ada.post("a status").await;
    let id = Commenter(&bea).comment_on(&status, "@ada #Tag").await;
    assert_eq!(entities(&ada, &id, None).await, [of("@ada", 0, 4), of("#tag", 5, 9)]);
    let edit = async |message: &str| {
        bea.mutate_ok("editComment", json!({ "commentId": id, "message": message }), "").await;
        entities(&ada, &id, None).await
    };
    assert_eq!(edit("see a.com, @ada").await, [of("@ada", 11, 15), of("https://a.com", 4, 9)]);
    assert_eq!(edit("plain").await, []);
    assert_eq!(edit("#again").await, [of("#again", 0, 6)]);
    let reply = "mutation($p: ID!) { addComment(input: { parentId: $p, message: \"below @bea\" }) { comment { id } } }";
    let reply = ada.gql(reply, json!({ "p": id })).await;
    assert!(reply["data"]["addComment"]["comment"]["id"].is_string(), "{reply}");
    bea.mutate_ok("deleteComment", json!({ "commentId": id }), "").await;
    assert_eq!(entities(&ada, &id, None).await, [], "only its place is left");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_text_of_entities_alone_is_shown_within_the_limits() {
    let app = TestApp::start().await;
    let users: Vec<String> = (0..60).map(|at| format!("u{at:02}")).collect();
    let mut people = Vec::new();
    for login in &users {
        people.push(app.user(login).await);
    }
    let text: String = users.iter().map(|login| format!("@{login} ")).collect::<String>() + "@u00 #a";
    let id = people[0].post(&text).await;
    let found = entities(&people[0], &id, None).await;
    assert_eq!(found.len(), 52, "fifty accounts, the first of them twice, and a tag");
    assert_eq!((found[49].0.as_str(), found[50].0.as_str(), found[51].0.as_str()), ("@u49", "@u00", "#a"));
}
