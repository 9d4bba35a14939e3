//! The audience of a status: who sees it on every surface, by a model; changes of the audience, audience lists, and their reversal.

use crate::support::{Actor, TestApp, findings, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::StatusId;

/// How a viewer is connected to the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Viewer {
    Nobody,
    Stranger,
    Follower,
    /// Follows the author and mutes it.
    Muter,
    /// A friend who no longer follows the author.
    Friend,
    /// A member of the audience list who does not follow the author.
    Member,
    /// Was a follower, and unfollowed.
    Former,
    /// Was a follower, and was removed by the author.
    Removed,
    /// Has requested to follow the author.
    Requester,
    Blocked,
    Blocker,
    Author,
}

const VIEWERS: [Viewer; 12] = {
    use Viewer::{Author, Blocked, Blocker, Follower, Former, Friend, Member, Muter, Nobody, Removed, Requester, Stranger};
    [Nobody, Stranger, Follower, Muter, Friend, Member, Former, Removed, Requester, Blocked, Blocker, Author]
};
const AUDIENCES: [&str; 4] = ["PUBLIC", "FOLLOWERS", "FRIENDS", "LIST"];

/// The model: whether a viewer may see a status.
fn can_view(viewer: Viewer, is_private: bool, audience: &str) -> bool {
    let is_connected = matches!(viewer, Viewer::Follower | Viewer::Muter | Viewer::Friend);
    match (viewer, audience) {
        (Viewer::Author, _) => true,
        (Viewer::Blocked | Viewer::Blocker, _) => false,
        (_, "PUBLIC") => is_connected || !is_private,
        (_, "FOLLOWERS") => is_connected,
        (_, "FRIENDS") => viewer == Viewer::Friend,
        _ => viewer == Viewer::Member,
    }
}

struct Scene {
    app: TestApp,
    viewers: Vec<Actor>,
    /// A list of each viewer with the author, if it could be created.
    lists: Vec<Option<String>>,
    audience_list: String,
    /// One status for each audience, the oldest first.
    statuses: Vec<String>,
}

/// Runs a mutation with an input, and returns its payload.
async fn change(actor: &Actor, field: &str, input: Value, result: &str) -> Value {
    let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
    let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ {result} userErrors {{ code path }} }} }}");
    let mut response = actor.gql(&query, json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"][field].take()
}

async fn set_private(actor: &Actor, is_private: bool) {
    let changed = change(actor, "updateProfile", json!({ "isPrivate": is_private }), "").await;
    assert_eq!(changed["userErrors"], json!([]));
}

async fn list_of(owner: &Actor, member: Option<&Actor>) -> Option<String> {
    let made = owner.run("CreateList", json!({ "input": { "name": "birds" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str()?.to_owned();
    if let Some(member) = member {
        owner.run("AddToList", json!({ "input": { "listId": list, "userId": member.id } })).await;
    }
    Some(list)
}

/// Posts a status for an audience, and returns its id.
async fn post_to(author: &Actor, message: &str, audience: &str, list: Option<&str>) -> String {
    let input = json!({ "message": message, "audience": audience, "audienceListId": list });
    let posted = change(author, "postStatus", input, "status { id audience audienceList { id } }").await;
    assert_eq!(posted["userErrors"], json!([]));
    assert_eq!(posted["status"]["audience"], audience);
    assert_eq!(posted["status"]["audienceList"]["id"].as_str(), list);
    posted["status"]["id"].as_str().expect("an id").to_owned()
}

async fn set_audience(author: &Actor, status: &str, audience: &str, list: Option<&str>) -> Value {
    let input = json!({ "statusId": status, "audience": audience, "audienceListId": list });
    change(author, "setStatusAudience", input, "status { id audience audienceList { id } }").await
}

impl Scene {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let logins: Vec<String> = VIEWERS.iter().map(|viewer| format!("{viewer:?}").to_lowercase()).collect();
        let mut viewers = Vec::new();
        for (viewer, login) in VIEWERS.iter().zip(&logins) {
            viewers.push(if *viewer == Viewer::Nobody { app.anonymous() } else { app.user(login).await });
        }
        let of = |viewer: Viewer| &viewers[VIEWERS.iter().position(|it| *it == viewer).expect("a viewer")];
        let author = of(Viewer::Author);
        for viewer in [Viewer::Follower, Viewer::Muter, Viewer::Former, Viewer::Removed, Viewer::Blocked, Viewer::Blocker] {
            of(viewer).follow(author).await;
        }
        of(Viewer::Former).unfollow(author).await;
        let named = |actor: &Actor| json!({ "userId": actor.id });
        change(author, "removeFollower", named(of(Viewer::Removed)), "").await;
        change(of(Viewer::Muter), "muteUser", named(author), "").await;
        for (from, to) in [(author, of(Viewer::Friend)), (of(Viewer::Friend), author)] {
            change(from, "requestFriend", named(to), "").await;
        }
        of(Viewer::Friend).unfollow(author).await;
        let audience_list = list_of(author, Some(of(Viewer::Member))).await.expect("a list");
        let mut lists = Vec::new();
        for viewer in &viewers {
            lists.push(list_of(viewer, Some(author)).await);
        }
        change(author, "blockUser", named(of(Viewer::Blocked)), "").await;
        change(of(Viewer::Blocker), "blockUser", named(author), "").await;
        let mut statuses = Vec::new();
        for audience in AUDIENCES {
            app.clock.advance(1_000);
            statuses.push(post_to(author, audience, audience, (audience == "LIST").then_some(&*audience_list)).await);
        }
        app.drain().await;
        Self { app, viewers, lists, audience_list, statuses }
    }

    fn of(&self, viewer: Viewer) -> &Actor {
        &self.viewers[VIEWERS.iter().position(|it| *it == viewer).expect("a viewer")]
    }

    fn author(&self) -> &Actor {
        self.of(Viewer::Author)
    }

    /// The audiences of the statuses that a viewer is shown, by surface.
    async fn read(&self, viewer: Viewer) -> Vec<(&'static str, Vec<String>)> {
        const ENTRIES: &str = "{ entries(first: 20) { edges { node { status { message } } } } }";
        let at = VIEWERS.iter().position(|it| *it == viewer).expect("a viewer");
        let actor = &self.viewers[at];
        let home = if viewer == Viewer::Nobody { String::new() } else { format!("homeTimeline {ENTRIES}") };
        let list = match &self.lists[at] {
            Some(list) => format!("list: node(id: {list:?}) {{ ... on UserList {{ timeline {ENTRIES} }} }}"),
            None => String::new(),
        };
        let node = |(at, id): (usize, &String)| format!("s{at}: node(id: {id:?}) {{ ... on Status {{ message }} }}");
        let nodes: Vec<String> = self.statuses.iter().enumerate().map(node).collect();
        let query = format!(
            "query($ids: [ID!]!) {{ {} nodes(ids: $ids) {{ ... on Status {{ message }} }}
             user(login: \"author\") {{ profileTimeline {ENTRIES} }} {home} {list} }}",
            nodes.join(" ")
        );
        let response = actor.gql(&query, json!({ "ids": self.statuses })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        let data = &response["data"];
        let texts = |found: Vec<&Value>| -> Vec<String> {
            let mut all: Vec<String> = found.iter().filter_map(|it| it["message"].as_str()).map(str::to_owned).collect();
            all.sort_by_key(|text| AUDIENCES.iter().position(|audience| audience == text));
            all
        };
        let entries = |timeline: &Value| {
            let edges = timeline["entries"]["edges"].as_array().cloned().unwrap_or_default();
            texts(edges.iter().map(|edge| &edge["node"]["status"]).collect())
        };
        vec![
            ("node", texts((0..4).map(|at| &data[format!("s{at}")]).collect())),
            ("nodes", texts(data["nodes"].as_array().expect("nodes").iter().collect())),
            ("profileTimeline", entries(&data["user"]["profileTimeline"])),
            ("homeTimeline", entries(&data["homeTimeline"])),
            ("UserList.timeline", entries(&data["list"]["timeline"])),
        ]
    }

    /// Compares every surface with the model.
    async fn check(&self, is_private: bool) {
        for (at, viewer) in VIEWERS.into_iter().enumerate() {
            let visible: Vec<&str> = AUDIENCES.into_iter().filter(|audience| can_view(viewer, is_private, audience)).collect();
            let none = Vec::new();
            for (surface, shown) in self.read(viewer).await {
                let expected = match surface {
                    "homeTimeline" if !matches!(viewer, Viewer::Follower | Viewer::Author) => &none,
                    "UserList.timeline" if self.lists[at].is_none() || viewer == Viewer::Muter => &none,
                    _ => &visible,
                };
                assert_eq!(&shown, expected, "{surface} of {viewer:?}, private: {is_private}");
            }
            self.check_changes(viewer, is_private).await;
        }
    }

    /// Likes and comments are possible for those who see the status; for others it does not exist.
    async fn check_changes(&self, viewer: Viewer, is_private: bool) {
        if viewer == Viewer::Nobody {
            return;
        }
        let actor = self.of(viewer);
        for (audience, status) in AUDIENCES.into_iter().zip(&self.statuses) {
            let expected = if can_view(viewer, is_private, audience) {
                json!([])
            } else {
                json!([{ "code": "NOT_FOUND", "path": ["statusId"] }])
            };
            for (field, input) in [
                ("likeStatus", json!({ "statusId": status })),
                ("unlikeStatus", json!({ "statusId": status })),
                ("addComment", json!({ "statusId": status, "message": "x" })),
            ] {
                let changed = change(actor, field, input, "").await;
                assert_eq!(changed["userErrors"], expected, "{field} by {viewer:?} of {audience}, private: {is_private}");
            }
        }
    }
}

#[tokio::test]
async fn a_status_is_shown_to_its_audience_on_every_surface() {
    let scene = Scene::start().await;
    scene.check(false).await;
    set_private(scene.author(), true).await;
    change(scene.of(Viewer::Requester), "followUser", json!({ "userId": scene.author().id }), "").await;
    scene.check(true).await;
    set_private(scene.author(), false).await;
    scene.of(Viewer::Requester).unfollow(scene.author()).await;
    scene.check(false).await;
    scene.app.drain_journal().await;
    assert_eq!(findings(&scene.app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_changed_audience_applies_on_every_surface_and_can_be_reversed() {
    let scene = Scene::start().await;
    let mut before = Vec::new();
    for viewer in VIEWERS {
        before.push(scene.read(viewer).await);
    }
    let list_of = |audience: &str| (audience == "LIST").then_some(&*scene.audience_list);
    for (from, status) in AUDIENCES.into_iter().zip(&scene.statuses) {
        for to in AUDIENCES {
            let changed = set_audience(scene.author(), status, to, list_of(to)).await;
            let list = list_of(to).map(|id| json!({ "id": id }));
            let expected = json!({ "id": status, "audience": to, "audienceList": list });
            assert_eq!((&changed["status"], &changed["userErrors"]), (&expected, &json!([])));
            for viewer in VIEWERS {
                let (shown, sees) = (scene.read(viewer).await, can_view(viewer, false, to));
                assert_eq!(shown[0].1.contains(&from.to_owned()), sees, "{viewer:?}: {from} as {to}");
                assert_eq!(shown[2].1.contains(&from.to_owned()), sees, "profile of {viewer:?}: {from} as {to}");
                let is_in_home = sees && matches!(viewer, Viewer::Follower | Viewer::Author);
                assert_eq!(shown[3].1.contains(&from.to_owned()), is_in_home, "home of {viewer:?}: {from} as {to}");
            }
        }
        set_audience(scene.author(), status, from, list_of(from)).await;
    }
    for is_private in [true, false] {
        set_private(scene.author(), is_private).await;
    }
    for (viewer, before) in VIEWERS.into_iter().zip(before) {
        assert_eq!(scene.read(viewer).await, before, "{viewer:?}");
    }
    scene.app.drain_journal().await;
    assert_eq!(findings(&scene.app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_wider_audience_has_the_status_at_its_position_with_the_same_cursors() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    bea.follow(&ada).await;
    let mut statuses = Vec::new();
    for number in 0..5 {
        app.clock.advance(1_000);
        statuses.push(ada.post(&number.to_string()).await);
    }
    let query = "{ homeTimeline { syncCursor entries(first: 10) { edges { cursor node { status { message } } } pageInfo { hasNextPage endCursor } } }
        user(login: \"ada\") { profileTimeline { syncCursor entries(first: 2) { edges { cursor node { status { message } } } } } } }";
    let read = async || {
        let mut data = bea.gql(query, json!({})).await["data"].take();
        // The position in the event log is part of this cursor, and the change is an event.
        data["homeTimeline"]["syncCursor"].take();
        data
    };
    let before = read().await;
    for status in [&statuses[4], &statuses[2]] {
        set_audience(&ada, status, "FRIENDS", None).await;
    }
    let narrowed = read().await;
    let messages: Vec<&str> = narrowed["homeTimeline"]["entries"]["edges"]
        .as_array()
        .expect("edges")
        .iter()
        .filter_map(|edge| edge["node"]["status"]["message"].as_str())
        .collect();
    assert_eq!(messages, ["3", "1", "0"]);
    assert_ne!(
        narrowed["user"]["profileTimeline"]["syncCursor"], before["user"]["profileTimeline"]["syncCursor"],
        "it names no hidden status"
    );
    for status in [&statuses[4], &statuses[2]] {
        set_audience(&ada, status, "PUBLIC", None).await;
    }
    assert_eq!(read().await, before);
}

#[tokio::test]
async fn an_audience_list_has_its_current_members() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let audience_list = list_of(&ada, None).await.expect("a list");
    let status = post_to(&ada, "for the list", "LIST", Some(&audience_list)).await;
    let query = "query($id: ID!) { node(id: $id) { ... on Status { message audience audienceList { name } } }
        user(login: \"ada\") { profileTimeline { entries { edges { node { status { id } } } } } } }";
    let read = async |actor: &Actor| {
        let response = actor.gql(query, json!({ "id": status })).await;
        let entries = response["data"]["user"]["profileTimeline"]["entries"]["edges"].as_array().map_or(0, Vec::len);
        (response["data"]["node"].clone(), entries)
    };
    let shown = |list: Value| json!({ "message": "for the list", "audience": "LIST", "audienceList": list });
    for is_private in [false, true] {
        set_private(&ada, is_private).await;
        assert_eq!(read(&bea).await, (Value::Null, 0));
        ada.run("AddToList", json!({ "input": { "listId": audience_list, "userId": bea.id } })).await;
        assert_eq!(read(&bea).await, (shown(Value::Null), 1), "what was said before, without the list");
        ada.run("RemoveFromList", json!({ "input": { "listId": audience_list, "userId": bea.id } })).await;
        assert_eq!(read(&bea).await, (Value::Null, 0));
    }
    ada.run("AddToList", json!({ "input": { "listId": audience_list, "userId": bea.id } })).await;
    assert_eq!(read(&ada).await, (shown(json!({ "name": "birds" })), 1));
    ada.run("DeleteList", json!({ "input": { "listId": audience_list } })).await;
    assert_eq!((read(&bea).await, read(&ada).await), ((Value::Null, 0), (shown(Value::Null), 1)), "only the author is left");
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn invalid_audiences_are_refused_and_change_nothing() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (own, foreign) = (list_of(&ada, None).await.expect("a list"), list_of(&bea, None).await.expect("a list"));
    let gone = list_of(&ada, None).await.expect("a list");
    ada.run("DeleteList", json!({ "input": { "listId": gone } })).await;
    let status = ada.post("for everyone").await;
    let refused = |code: &str| json!([{ "code": code, "path": ["audienceListId"] }]);
    for (audience, list, expected) in [
        ("LIST", None, refused("INVALID_INPUT")),
        ("PUBLIC", Some(&own), refused("INVALID_INPUT")),
        ("FRIENDS", Some(&own), refused("INVALID_INPUT")),
        ("LIST", Some(&foreign), refused("NOT_FOUND")),
        ("LIST", Some(&gone), refused("NOT_FOUND")),
        ("LIST", Some(&bea.id), refused("NOT_FOUND")),
    ] {
        let changed = set_audience(&ada, &status, audience, list.map(String::as_str)).await;
        assert_eq!((&changed["userErrors"], &changed["status"]), (&expected, &Value::Null), "{audience} {list:?}");
        let input = json!({ "message": "x", "audience": audience, "audienceListId": list });
        assert_eq!(change(&ada, "postStatus", input, "").await["userErrors"], expected, "{audience} {list:?}");
    }
    for status in [&status, &own, &"?".to_owned()] {
        let changed = set_audience(&bea, status, "FRIENDS", None).await;
        assert_eq!(changed["userErrors"], json!([{ "code": "NOT_FOUND", "path": ["statusId"] }]));
    }
    assert_eq!(bea.gql("{ user(login: \"ada\") { statusesCount } }", json!({})).await["data"]["user"]["statusesCount"], 1);
    let once = |audience: &str| json!({ "message": "once", "audience": audience, "idempotencyKey": "k" });
    let first = change(&ada, "postStatus", once("FRIENDS"), "status { id }").await;
    assert_eq!(change(&ada, "postStatus", once("FRIENDS"), "status { id }").await, first);
    assert_eq!(user_error_codes(&change(&ada, "postStatus", once("PUBLIC"), "status { id }").await), ["IDEMPOTENCY_MISMATCH"]);
}

#[tokio::test]
async fn only_public_statuses_can_be_promoted() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = post_to(&ada, "for followers", "FOLLOWERS", None).await;
    let campaign = ada.run("CreateCampaign", json!({ "input": { "name": "Tea", "budget": "10" } })).await;
    let campaign = campaign["data"]["createCampaign"]["campaign"]["id"].clone();
    let input = json!({ "campaignId": campaign, "statusId": status, "slot": "IN_FEED", "pricing": "CPM", "bid": "2" });
    let refused = change(&ada, "createAd", input.clone(), "").await;
    assert_eq!(refused["userErrors"], json!([{ "code": "INVALID_INPUT", "path": ["statusId"] }]));
    set_audience(&ada, &status, "PUBLIC", None).await;
    assert_eq!(change(&ada, "createAd", input, "").await["userErrors"], json!([]));
    let explain = "query($id: ID!) { explainAd(campaignId: $id, slot: IN_FEED) { reasons } }";
    for (audience, reasons) in [("PUBLIC", json!([])), ("FRIENDS", json!(["NO_ADS"])), ("PUBLIC", json!([]))] {
        set_audience(&ada, &status, audience, None).await;
        let response = ada.gql(explain, json!({ "id": campaign })).await;
        assert_eq!(response["data"]["explainAd"]["reasons"], reasons, "{audience}: {response}");
    }
}

#[tokio::test]
async fn a_status_with_an_unreadable_audience_is_seen_by_its_author_alone_and_can_be_repaired() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    bea.follow(&ada).await;
    let (status, _other) = (ada.post("damaged").await, ada.post("whole").await);
    let key = format!("status:{{{}}}", StatusId::from_global(&status).expect("an id").0);
    for (kind, audience_list) in [("some", ""), ("list", ""), ("friends", "7"), ("list", "x")] {
        app.redis.run::<u64>(&["HSET", &key, "audience", kind, "circle", audience_list]);
        assert_eq!(
            (bea.home().await, ada.home().await),
            (vec!["whole".to_owned()], vec!["whole".to_owned(), "damaged".to_owned()])
        );
        assert_eq!(set_audience(&ada, &status, "PUBLIC", None).await["userErrors"], json!([]));
        assert_eq!(bea.home().await, ["whole", "damaged"]);
    }
}

#[tokio::test]
async fn a_sync_cursor_names_no_hidden_status() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    bea.follow(&ada).await;
    let list = list_of(&cyd, Some(&ada)).await.expect("a list");
    ada.post("for everyone").await;
    let query =
        "query($list: ID!) { homeTimeline { syncCursor } node(id: $list) { ... on UserList { timeline { syncCursor } } } }";
    // The part after the dot is the position in the event log of all accounts.
    let position = |cursor: &Value| cursor.as_str().and_then(|text| text.split('.').next()).expect("a cursor").to_owned();
    let of_home = async |entries: &str| {
        let response = bea.gql(&format!("{{ homeTimeline {{ syncCursor {entries} }} }}"), json!({})).await;
        position(&response["data"]["homeTimeline"]["syncCursor"])
    };
    let of_list = async || position(&cyd.gql(query, json!({ "list": list })).await["data"]["node"]["timeline"]["syncCursor"]);
    let (home, page, in_list) = (of_home("").await, of_home("entries(first: 2) { edges { cursor } }").await, of_list().await);
    assert_eq!(home, page);
    app.clock.advance(1_000);
    post_to(&ada, "for friends", "FRIENDS", None).await;
    assert_eq!((of_home("").await, of_list().await), (home.clone(), in_list.clone()));
    assert_eq!(of_home("entries(first: 2) { edges { cursor } }").await, home);
    let status = post_to(&ada, "for followers", "FOLLOWERS", None).await;
    assert_ne!(of_home("").await, home, "a visible one moves it");
    assert_eq!(of_list().await, in_list);
    set_audience(&ada, &status, "PUBLIC", None).await;
    assert_ne!(of_list().await, in_list);
}

#[tokio::test]
async fn a_repeated_post_to_a_list_returns_the_status_after_the_list_was_deleted() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let audience_list = list_of(&ada, None).await.expect("a list");
    let input = json!({ "message": "once", "audience": "LIST", "audienceListId": audience_list, "idempotencyKey": "k" });
    let first = change(&ada, "postStatus", input.clone(), "status { id }").await;
    assert!(first["status"]["id"].is_string(), "{first}");
    ada.run("DeleteList", json!({ "input": { "listId": audience_list } })).await;
    assert_eq!(change(&ada, "postStatus", input, "status { id }").await, first);
    let other = json!({ "message": "other", "audience": "LIST", "audienceListId": audience_list, "idempotencyKey": "l" });
    for _ in 0..2 {
        let refused = change(&ada, "postStatus", other.clone(), "").await;
        assert_eq!(refused["userErrors"], json!([{ "code": "NOT_FOUND", "path": ["audienceListId"] }]));
    }
}
