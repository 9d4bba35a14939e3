//! Pages omit objects that the policy hides, and are empty if the viewer cannot read the profile. The tests write a block without ending any
//! relation, so that the pages themselves must filter.

use super::{block, unblock};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

pub(super) const COVERED: [&str; 18] = [
    "Query.homeTimeline",
    "Query.viewerBookmarks",
    "Query.viewerFollowRequests",
    "Query.viewerFriendRequests",
    "Query.viewerMutes",
    "Query.viewerSentFollowRequests",
    "Query.viewerSentFriendRequests",
    "Status.likers",
    "Status.reposters",
    "Timeline.entries",
    "User.followers",
    "User.following",
    "User.friends",
    "User.mutualFriends",
    "User.pinnedStatuses",
    "User.profileTimeline",
    "UserList.members",
    "UserList.timeline",
];

const NAMES: &str =
    "(first: 5) { totalCount edges { node { login } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";
const ENTRIES: &str = "{ syncCursor entries(first: 5) { edges { node { status { message } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }";

struct Scene {
    app: TestApp,
    viewer: Actor,
    bea: Actor,
    cyd: Actor,
    status: String,
    list: String,
}

impl Scene {
    /// The viewer and bea are connected in every way, through cyd also indirectly.
    async fn start() -> Self {
        let app = TestApp::start().await;
        let [viewer, bea, cyd] = app.users(["viewer", "bea", "cyd"]).await;
        for (from, to) in [(&viewer, &bea), (&bea, &viewer), (&viewer, &cyd), (&bea, &cyd), (&cyd, &bea), (&cyd, &viewer)] {
            from.follow(to).await;
        }
        let status = cyd.post("from cyd").await;
        bea.like(&status).await;
        viewer.like(&status).await;
        for by in [&bea, &viewer] {
            crate::reposts::repost(by, &status).await;
        }
        let made = viewer.run("CreateList", json!({ "input": { "name": "friends" } })).await;
        let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
        for member in [&bea, &cyd] {
            viewer.run("AddToList", json!({ "input": { "listId": list, "userId": member.id } })).await;
        }
        let of_bea = bea.post("from bea").await;
        for status in [&status, &of_bea] {
            viewer.mutate_ok("bookmarkStatus", json!({ "statusId": status }), "").await;
        }
        for (author, own) in [(&cyd, &status), (&bea, &of_bea)] {
            author.mutate_ok("pinStatus", json!({ "statusId": own }), "").await;
        }
        app.drain().await;
        Self { app, viewer, bea, cyd, status, list }
    }

    /// Everything that lists show to the viewer, as texts in their order.
    async fn read(&self) -> Value {
        let query = format!(
            "query($cyd: String!, $status: ID!, $list: ID!) {{
                homeTimeline {ENTRIES}
                viewerBookmarks(first: 5) {{ edges {{ node {{ message }} }} pageInfo {{ hasNextPage startCursor endCursor }} }}
                bea: user(login: \"bea\") {{ pinnedStatuses {{ message }} }}
                user(login: $cyd) {{ followers{NAMES} following{NAMES} profileTimeline {ENTRIES} }}
                viewer {{ followers{NAMES} following{NAMES} }}
                status: node(id: $status) {{ ... on Status {{ likers{NAMES} reposters{NAMES} }} }}
                list: node(id: $list) {{ ... on UserList {{ members{NAMES} timeline {ENTRIES} }} }}
            }}"
        );
        let variables = json!({ "cyd": self.cyd.login, "status": self.status, "list": self.list });
        let mut response = self.viewer.gql(&query, variables).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"].take()
    }
}

/// The logins or messages of a page.
fn texts(page: &Value) -> Vec<&str> {
    let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{page}"));
    edges
        .iter()
        .filter_map(|edge| {
            ["/node/login", "/node/status/message", "/node/message"].iter().find_map(|at| edge.pointer(at)?.as_str())
        })
        .collect()
}

#[tokio::test]
async fn hidden_accounts_and_their_statuses_are_left_out_of_every_page() {
    let scene = Scene::start().await;
    let shown = scene.read().await;
    for page in ["/homeTimeline/entries", "/list/timeline/entries"] {
        assert_eq!(texts(shown.pointer(page).expect("a page")), ["from bea", "from cyd"], "{page}");
    }
    assert_eq!(texts(&shown["viewerBookmarks"]), ["from bea", "from cyd"]);
    assert_eq!(shown["bea"]["pinnedStatuses"], json!([{ "message": "from bea" }]));
    let pages = [
        "/user/followers",
        "/user/following",
        "/viewer/followers",
        "/viewer/following",
        "/status/likers",
        "/status/reposters",
        "/list/members",
    ];
    for (from, to) in [(&scene.bea, &scene.viewer), (&scene.viewer, &scene.bea)] {
        block(&scene.app, from, to);
        let hidden = scene.read().await;
        for page in pages {
            let (before, after) = (shown.pointer(page).expect("a page"), hidden.pointer(page).expect("a page"));
            let expected: Vec<&str> = texts(before).into_iter().filter(|login| *login != "bea").collect();
            assert!(expected.len() < texts(before).len(), "{page} has bea before: {before}");
            assert_eq!(texts(after), expected, "{page}");
            assert_eq!(after["totalCount"], before["totalCount"], "{page}: the stored number");
            assert_eq!(after["pageInfo"]["hasNextPage"], false, "{page}");
        }
        assert_eq!(texts(&hidden["homeTimeline"]["entries"]), ["from cyd"]);
        assert_eq!(texts(&hidden["viewerBookmarks"]), ["from cyd"]);
        let pinned = hidden["bea"].get("pinnedStatuses");
        assert!(pinned.is_none_or(|pinned| *pinned == json!([])), "the account is hidden, or its profile is empty: {hidden}");
        assert_eq!(texts(&hidden["list"]["timeline"]["entries"]), ["from cyd"]);
        assert_eq!(texts(&hidden["user"]["profileTimeline"]["entries"]), ["from cyd"]);
        unblock(&scene.app, from, to);
        assert_eq!(scene.read().await, shown, "every page is as before, with its cursors");
    }
}

#[tokio::test]
async fn the_profile_of_a_blocked_account_is_empty() {
    let scene = Scene::start().await;
    let query = format!(
        "query($login: String!) {{ user(login: $login) {{ login followersCount followingCount statusesCount followers{NAMES} following{NAMES} profileTimeline {ENTRIES} }} }}"
    );
    let read = async |actor: &Actor| actor.gql(&query, json!({ "login": "bea" })).await["data"]["user"].take();
    let before = read(&scene.viewer).await;
    block(&scene.app, &scene.viewer, &scene.bea);
    let mut after = read(&scene.viewer).await;
    let nothing = json!({ "hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null });
    for (page, total) in [("followers", 2), ("following", 2)] {
        assert_eq!(after[page], json!({ "totalCount": total, "edges": [], "pageInfo": nothing }), "{page}");
    }
    assert_eq!(after["profileTimeline"]["entries"], json!({ "edges": [], "pageInfo": nothing }));
    assert_ne!(after["profileTimeline"]["syncCursor"], before["profileTimeline"]["syncCursor"], "it names no hidden status");
    for count in ["login", "followersCount", "followingCount", "statusesCount"] {
        assert_eq!(after[count].take(), before[count], "{count}");
    }
    assert_eq!(texts(&read(&scene.cyd).await["profileTimeline"]["entries"]), ["from bea"], "others see everything");
    let own = read(&scene.bea).await;
    assert_eq!(own["profileTimeline"], before["profileTimeline"], "the account sees its own statuses");
    assert_eq!(texts(&own["followers"]), ["cyd"], "an account that blocks the viewer is missing");
    unblock(&scene.app, &scene.viewer, &scene.bea);
    assert_eq!(read(&scene.viewer).await, before);
}

#[tokio::test]
async fn a_muted_account_that_blocks_the_viewer_is_not_listed() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        let mute = format!("mutation {{ muteUser(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", other.id);
        assert_eq!(ada.gql(&mute, json!({})).await["data"]["muteUser"]["userErrors"], json!([]));
    }
    let query = "{ viewerMutes { totalCount edges { node { login } } } }";
    let mutes = async || ada.gql(query, json!({})).await["data"]["viewerMutes"].take();
    block(&app, &ada, &cyd);
    let with_both = mutes().await;
    assert_eq!(
        (texts(&with_both), &with_both["totalCount"]),
        (vec!["cyd", "bea"], &json!(2)),
        "blocked accounts can be discovered"
    );
    block(&app, &bea, &ada);
    let without_bea = mutes().await;
    assert_eq!((texts(&without_bea), &without_bea["totalCount"]), (vec!["cyd"], &json!(1)), "as if bea was deleted");
    unblock(&app, &bea, &ada);
    assert_eq!(mutes().await, with_both);
}

/// The logins in the lists of friends and requests.
fn listed(data: &Value) -> [Vec<&str>; 5] {
    let (own, cyd) = (&data["viewer"]["friends"], &data["user"]);
    [own, &cyd["friends"], &cyd["mutualFriends"], &data["viewerFriendRequests"], &data["viewerSentFriendRequests"]].map(texts)
}

#[tokio::test]
async fn a_friend_who_blocks_the_viewer_is_not_listed() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dee, eve] = app.users(["ada", "bea", "cyd", "dee", "eve"]).await;
    for (from, to) in
        [(&ada, &bea), (&bea, &ada), (&ada, &cyd), (&cyd, &ada), (&bea, &cyd), (&cyd, &bea), (&dee, &ada), (&ada, &eve)]
    {
        let request = format!("mutation {{ requestFriend(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", to.id);
        assert_eq!(from.gql(&request, json!({})).await["data"]["requestFriend"]["userErrors"], json!([]));
    }
    let fields = format!(
        "{{ viewer {{ friends{NAMES} }} viewerFriendRequests{NAMES} viewerSentFriendRequests{NAMES}
            user(login: \"cyd\") {{ friends{NAMES} mutualFriends{NAMES} }} }}"
    );
    let read = async || ada.gql(&fields, json!({})).await["data"].take();
    let before = read().await;
    assert_eq!(listed(&before), [vec!["cyd", "bea"], vec!["bea", "ada"], vec!["bea"], vec!["dee"], vec!["eve"]]);
    for other in [&bea, &dee, &eve] {
        block(&app, other, &ada);
    }
    assert_eq!(listed(&read().await), [vec!["cyd"], vec!["ada"], vec![], vec![], vec![]]);
    for other in [&bea, &dee, &eve] {
        unblock(&app, other, &ada);
    }
    assert_eq!(read().await, before);
}

#[tokio::test]
async fn a_requester_who_blocks_the_viewer_is_not_listed() {
    let app = TestApp::start().await;
    let [ada, dee, eve] = app.users(["ada", "dee", "eve"]).await;
    for actor in [&ada, &eve] {
        let private = "mutation { updateProfile(input: { isPrivate: true }) { userErrors { code } } }";
        assert_eq!(actor.gql(private, json!({})).await["data"]["updateProfile"]["userErrors"], json!([]));
    }
    dee.follow(&ada).await;
    ada.follow(&eve).await;
    let fields = format!("{{ viewerFollowRequests{NAMES} viewerSentFollowRequests{NAMES} }}");
    let read = async || ada.gql(&fields, json!({})).await["data"].take();
    let names = |data: &Value| ["viewerFollowRequests", "viewerSentFollowRequests"].map(|list| json!(texts(&data[list])));
    let before = read().await;
    assert_eq!(names(&before), [json!(["dee"]), json!(["eve"])]);
    for other in [&dee, &eve] {
        block(&app, other, &ada);
    }
    assert_eq!(names(&read().await), [json!([]), json!([])]);
    for other in [&dee, &eve] {
        unblock(&app, other, &ada);
    }
    assert_eq!(read().await, before);
}
