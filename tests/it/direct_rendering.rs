//! Direct rendering gives the same response as the resolvers: for every field, and for every shape of a selection.

use crate::support::{Actor, HttpResponse, TestApp};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Introspection of all types with their fields.
const TYPES: &str = "{ __schema { types { name fields { name args { name } type { name kind ofType { name kind } } } } } }";

/// Returns the fields without arguments of every object type: the name, and the type if it is an object.
async fn fields(actor: &Actor) -> HashMap<String, Vec<(String, Option<String>)>> {
    let response = actor.gql(TYPES, json!({})).await;
    let field = |field: &Value| {
        let own = &field["type"];
        let inner = if own["kind"] == "NON_NULL" { &own["ofType"] } else { own };
        let object = (inner["kind"] == "OBJECT").then(|| inner["name"].as_str().unwrap_or_default().to_owned());
        let is_plain = matches!(inner["kind"].as_str(), Some("SCALAR" | "OBJECT" | "ENUM"));
        let without_arguments = field["args"].as_array().is_some_and(Vec::is_empty);
        (is_plain && without_arguments).then(|| (field["name"].as_str().unwrap_or_default().to_owned(), object))
    };
    let all = response["data"]["__schema"]["types"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
    let of = |it: &Value| Some((it["name"].as_str()?.to_owned(), it["fields"].as_array()?.iter().filter_map(field).collect()));
    all.iter().filter_map(of).collect()
}

/// Returns every selection of a single field of an object, down to this many levels.
fn selections(all: &HashMap<String, Vec<(String, Option<String>)>>, on: &str, levels: usize) -> Vec<String> {
    let mut found = vec!["__typename".to_owned()];
    for (name, inner) in &all[on] {
        match inner {
            None => found.push(name.clone()),
            Some(inner) if levels > 0 => {
                found.extend(selections(all, inner, levels - 1).iter().map(|below| format!("{name} {{ {below} }}")));
            }
            Some(_) => {}
        }
    }
    found
}

/// Creates a home with different statuses: with or without a location, with likes of the reader and of others. Returns the reader.
async fn create_home(app: &TestApp) -> Actor {
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    ada.run("UpdateProfile", json!({ "input": { "name": "A \"d\" \\ a\n", "bio": "é 😀 \u{7f}" } })).await;
    let liked = ada.post("liked").await;
    ada.post("quotes \" and \\ and\nlines, \u{2028} 👩‍👩‍👧 </script>").await;
    let place = json!({ "message": "here", "location": { "latitude": -33.5, "longitude": 151.25 } });
    ada.run("PostStatus", json!({ "input": place })).await;
    bob.like(&liked).await;
    app.drain().await;
    bob
}

/// Creates a liked status with edited, deleted and voted comments, and a list with a member. Returns the id of the status.
async fn create_thread(reader: &Actor) -> String {
    let run = async |operation: &str, input: Value| {
        let response = reader.run(operation, json!({ "input": input })).await;
        assert!(response["errors"].is_null() && !response.to_string().contains("\"code\""), "{response}");
        response["data"].as_object().and_then(|data| data.values().next()).expect("a payload").clone()
    };
    let status = reader.post("discussed").await;
    reader.like(&status).await;
    let add = async |input: Value| run("AddComment", input).await["comment"]["id"].as_str().expect("a comment").to_owned();
    let first = add(json!({ "statusId": status, "message": "a \"first\" \n one" })).await;
    let reply = add(json!({ "parentId": first, "message": "a reply" })).await;
    run("EditComment", json!({ "commentId": reply, "message": "another reply" })).await;
    run("Vote", json!({ "commentId": reply, "vote": "DOWN" })).await;
    run("DeleteComment", json!({ "commentId": first, "withReplies": false })).await;
    let list = run("CreateList", json!({ "name": "Birds" })).await["userList"]["id"].clone();
    run("AddToList", json!({ "listId": list, "userId": reader.id })).await;
    status
}

/// Returns the text of a response: the order of its members is significant.
async fn text(app: &TestApp, reader: &Actor, query: &str) -> String {
    let token = reader.token.as_deref().expect("a session");
    let response = HttpResponse::fetch(app.post().bearer_auth(token).json(&json!({ "query": query }))).await;
    assert_eq!(response.status, 200, "{query}: {}", response.text);
    response.text
}

/// A query around a connection; `#` is replaced by the selection of the connection.
const HOME: &str = "homeTimeline { entries(first: 5) { # } }";

/// Returns a connection rendered directly, and rendered by the library, which renders every field that is selected twice.
async fn render_both(app: &TestApp, reader: &Actor, place: &str, selection: &str) -> [String; 2] {
    let query = |edges: &str| format!("query {{ {} }}", place.replace('#', edges));
    let edges = format!("edges {{ {selection} }}");
    [text(app, reader, &query(&edges)).await, text(app, reader, &query(&format!("{edges} {edges}"))).await]
}

#[tokio::test]
async fn direct_rendering_matches_the_library_for_every_field() {
    let app = TestApp::start().await;
    let reader = create_home(&app).await;
    let all = fields(&reader).await;
    let status = create_thread(&reader).await;
    for (place, edge, levels, field) in [
        (HOME, "TimelineEntryEdge", 3, "followersCount"),
        ("user(login: \"ada\") { followers { # } }", "FollowEdge", 1, "followedAt"),
        ("viewerLists { edges { node { members { # } } } }", "UserListMemberEdge", 1, "addedAt"),
        (&format!("node(id: \"{status}\") {{ ... on Status {{ likers {{ # }} }} }}"), "LikerEdge", 1, "likedAt"),
        (
            &format!("node(id: \"{status}\") {{ ... on Status {{ commentThread {{ tree {{ # }} }} }} }}"),
            "CommentEdge",
            2,
            "viewerVote",
        ),
    ] {
        let all = selections(&all, edge, levels);
        assert!(all.iter().any(|it| it.contains(field)), "{all:?}");
        for selection in all {
            let [direct, by_library] = render_both(&app, &reader, place, &selection).await;
            assert_eq!(direct, by_library, "{selection}");
            assert!(direct.contains("\"edges\":[{"), "{selection}: {direct}");
        }
    }
}

#[tokio::test]
async fn direct_rendering_matches_the_library_for_every_shape() {
    let app = TestApp::start().await;
    let reader = create_home(&app).await;
    for selection in [
        "a: cursor b: cursor node { z: id id }",
        "node { status { author { login } id author { id login } } status { message } }",
        "... { cursor } ... on TimelineEntryEdge { node { ... on TimelineEntry { id } } }",
        "node { status { ... on Node { id } ... on Status { message ... on Status { message likeCount } } } }",
        "node { status { location { latitude } location { longitude } } promotion { campaignName } }",
        "node { status { author { viewerIsFollowing login } message } }",
        "node { status { likers(first: 1) { totalCount } id } id }",
    ] {
        let [direct, by_library] = render_both(&app, &reader, HOME, selection).await;
        assert_eq!(direct, by_library, "{selection}");
    }
    let named = "query { homeTimeline { entries { edges { ...Edge } pageInfo { hasNextPage } } } } \
        fragment Card on Status { id author { ...Who } } fragment Who on User { login } \
        fragment Edge on TimelineEntryEdge { node { status { ...Card message } } cursor }";
    let plain = "query { homeTimeline { entries { edges { node { status { id author { login } message } } cursor } pageInfo { hasNextPage } } } }";
    assert_eq!(text(&app, &reader, named).await, text(&app, &reader, plain).await);
}

/// Selections of one field in several places are merged into one result.
#[tokio::test]
async fn repeated_selections_are_merged() {
    let app = TestApp::start().await;
    let reader = create_home(&app).await;
    let once = "query { homeTimeline { entries { edges { cursor node { id status { message } } } } } }";
    let expected = text(&app, &reader, once).await;
    let page = "fragment A on TimelineEntryConnection { edges { cursor } } fragment B on TimelineEntryConnection { edges { node { id status { message } } } }";
    for twice in [
        "query { homeTimeline { entries { edges { cursor } edges { node { id status { message } } } } } }".to_owned(),
        "query { homeTimeline { entries { edges { cursor } } entries { edges { node { id status { message } } } } } }".to_owned(),
        "query { homeTimeline { entries { edges { cursor } } } homeTimeline { entries { edges { node { id status { message } } } } } }".to_owned(),
        "query { homeTimeline { entries { edges { cursor } ... { edges { node { id } } } edges { node { status { message } } } } } }".to_owned(),
        "query { homeTimeline { entries { edges { cursor } edges { node { id @skip(if: false) status { message } } } } } }".to_owned(),
        format!("query {{ homeTimeline {{ entries {{ ...A ...B }} }} }} {page}"),
        format!("query {{ ...C homeTimeline {{ entries {{ ...B }} }} }} fragment C on Query {{ homeTimeline {{ entries {{ ...A }} }} }} {page}"),
    ] {
        assert_eq!(text(&app, &reader, &twice).await, expected, "{twice}");
    }
}

#[tokio::test]
async fn empty_pages_and_skipped_fields_match_the_library() {
    let app = TestApp::start().await;
    let reader = create_home(&app).await;
    let nobody = app.user("cyd").await;
    let query = "query($no: Boolean!) { homeTimeline { entries { edges { cursor @skip(if: $no) node { status { message @include(if: $no) likeCount } } } } } }";
    assert_eq!(nobody.gql(query, json!({ "no": true })).await["data"]["homeTimeline"]["entries"]["edges"], json!([]));
    let empty = nobody.gql("{ homeTimeline { entries { edges { cursor } } } }", json!({})).await;
    assert_eq!(empty["data"]["homeTimeline"]["entries"]["edges"], json!([]));
    for no in [true, false] {
        let response = reader.gql(query, json!({ "no": no })).await;
        let edge = &response["data"]["homeTimeline"]["entries"]["edges"][0];
        assert_eq!((edge.get("cursor").is_some(), edge["node"]["status"].get("message").is_some()), (!no, no), "{response}");
    }
}

/// Resolvers of an `object!` are rendered by the library, so each must need the request or arguments. A field that needs neither must be a line of the
/// block above them: otherwise every page that selects it costs twice as much.
#[test]
fn every_field_without_io_is_rendered_directly() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/domains");
    let (mut objects, mut left) = (0, Vec::new());
    for file in ["users/graphql.rs", "statuses/graphql.rs", "comments/graphql.rs", "timelines/graphql.rs"] {
        let text = std::fs::read_to_string(root.join(file)).expect("a source");
        for object in text.split("\nobject! {\n").skip(1) {
            objects += 1;
            let (object, _) = object.split_once("\n}\n").expect("the end of an object");
            let resolvers = object.lines().filter_map(|line| line.split_once("async fn ")?.1.split_once("(&self) -> "));
            left.extend(resolvers.filter(|(_, kind)| *kind != "Timeline {").map(|(name, _)| format!("{file}: {name}")));
        }
    }
    assert!(objects >= 5, "{objects}");
    assert_eq!(left, [""; 0], "these fields need neither the request nor arguments");
}
