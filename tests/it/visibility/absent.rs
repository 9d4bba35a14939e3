//! Requests for a hidden object and for one that does not exist have the same response, cost and number of round trips.

use super::block;
use crate::comments::Commenter;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

/// A request whose response must not reveal whether an object is hidden or does not exist.
pub(super) struct Case {
    /// The fields that it covers.
    pub(super) covers: &'static [&'static str],
    /// Its document.
    document: &'static str,
    /// Whether an account is hidden, which only a block by the account does. A block in either direction hides statuses and comments.
    is_of_account: bool,
}

const fn account(covers: &'static [&'static str], document: &'static str) -> Case {
    Case { covers, document, is_of_account: true }
}

const fn content(covers: &'static [&'static str], document: &'static str) -> Case {
    Case { covers, document, is_of_account: false }
}

pub(super) const CASES: [Case; 38] = [
    account(&["Query.user"], "query($login: String!) { user(login: $login) { id login followersCount } }"),
    account(&["Query.node"], "query($user: ID!) { node(id: $user) { id ... on User { name } } }"),
    account(&["Query.nodes"], "query($user: ID!) { nodes(ids: [$user]) { id ... on User { followers { totalCount } } } }"),
    account(
        &["Mutation.followUser"],
        "mutation($user: ID!) { followUser(input: { userId: $user }) { user { id } viewer { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.setRepostsShown"],
        "mutation($user: ID!) { setRepostsShown(input: { userId: $user, shown: false }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.unfollowUser"],
        "mutation($user: ID!) { unfollowUser(input: { userId: $user }) { user { id } viewer { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.blockUser"],
        "mutation($user: ID!) { blockUser(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.unblockUser"],
        "mutation($user: ID!) { unblockUser(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.acceptFollowRequest"],
        "mutation($user: ID!) { acceptFollowRequest(input: { userId: $user }) { user { id } viewer { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.rejectFollowRequest"],
        "mutation($user: ID!) { rejectFollowRequest(input: { userId: $user }) { user { id } viewer { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.removeFollower"],
        "mutation($user: ID!) { removeFollower(input: { userId: $user }) { user { id } viewer { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.muteUser"],
        "mutation($user: ID!) { muteUser(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.unmuteUser"],
        "mutation($user: ID!) { unmuteUser(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.requestFriend"],
        "mutation($user: ID!) { requestFriend(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.acceptFriendRequest"],
        "mutation($user: ID!) { acceptFriendRequest(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.rejectFriendRequest"],
        "mutation($user: ID!) { rejectFriendRequest(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.removeFriend"],
        "mutation($user: ID!) { removeFriend(input: { userId: $user }) { user { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.addUserToList"],
        "mutation($list: ID!, $user: ID!) { addUserToList(input: { listId: $list, userId: $user }) { userList { id } userErrors { code message path } } }",
    ),
    account(
        &["Mutation.removeUserFromList"],
        "mutation($list: ID!, $user: ID!) { removeUserFromList(input: { listId: $list, userId: $user }) { userList { id } userErrors { code message path } } }",
    ),
    content(&["Query.node"], "query($status: ID!) { node(id: $status) { id ... on Status { message author { login } } } }"),
    content(&["Query.nodes"], "query($status: ID!, $comment: ID!) { nodes(ids: [$status, $comment]) { id } }"),
    content(
        &["Query.node", "Comment.status"],
        "query($comment: ID!) { node(id: $comment) { id ... on Comment { message status { id } } } }",
    ),
    content(
        &["Mutation.likeStatus"],
        "mutation($status: ID!) { likeStatus(input: { statusId: $status }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.unlikeStatus"],
        "mutation($status: ID!) { unlikeStatus(input: { statusId: $status }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.bookmarkStatus"],
        "mutation($status: ID!) { bookmarkStatus(input: { statusId: $status }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.repostStatus"],
        "mutation($status: ID!) { repostStatus(input: { statusId: $status }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.undoRepost"],
        "mutation($status: ID!) { undoRepost(input: { statusId: $status }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.removeBookmark"],
        "mutation($status: ID!) { removeBookmark(input: { statusId: $status }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.pinStatus"],
        "mutation($status: ID!) { pinStatus(input: { statusId: $status }) { user { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.postStatus"],
        "mutation($status: ID!) { postStatus(input: { replyToId: $status, message: \"x\" }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.postStatus"],
        "mutation($status: ID!) { postStatus(input: { quotedStatusId: $status, message: \"x\" }) { status { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.addComment"],
        "mutation($status: ID!) { addComment(input: { statusId: $status, message: \"x\" }) { comment { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.addComment"],
        "mutation($comment: ID!) { addComment(input: { parentId: $comment, message: \"x\" }) { comment { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.editComment"],
        "mutation($comment: ID!) { editComment(input: { commentId: $comment, message: \"x\" }) { comment { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.voteComment"],
        "mutation($comment: ID!) { voteComment(input: { commentId: $comment, vote: UP }) { comment { id } userErrors { code message path } } }",
    ),
    content(
        &["Mutation.deleteComment"],
        "mutation($comment: ID!) { deleteComment(input: { commentId: $comment, withReplies: true }) { deletedCommentId userErrors { code message path } } }",
    ),
    content(
        &["Mutation.createAd"],
        "mutation($campaign: ID!, $status: ID!) { createAd(input: { campaignId: $campaign, slot: IN_FEED, statusId: $status, pricing: CPM, bid: 2 }) { ad { id } userErrors { code message path } } }",
    ),
    content(&["Subscription.commentEvents"], "subscription($status: ID!) { commentEvents(statusId: $status) { __typename } }"),
];

/// An account with a status, and a comment of the viewer on it.
struct Other {
    actor: Actor,
    status: String,
    comment: String,
}

struct Scene {
    app: TestApp,
    viewer: Actor,
    /// Exists.
    hidden: Other,
    /// Was deleted.
    absent: Other,
    list: String,
    campaign: String,
}

impl Scene {
    async fn start(app: TestApp) -> Self {
        let [viewer, hidden, absent] = app.users(["viewer", "hidden", "absent"]).await;
        let (hidden, absent) = (Self::other(&viewer, hidden).await, Self::other(&viewer, absent).await);
        let made = viewer.run("CreateList", json!({ "input": { "name": "friends" } })).await;
        let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
        let campaign = crate::ads::make(&viewer, json!({})).await;
        let delete = "mutation { deleteAccount(input: { password: \"correct horse\" }) { userErrors { code } } }";
        absent.actor.gql(delete, json!({})).await;
        app.drain().await;
        Self { app, viewer, hidden, absent, list, campaign }
    }

    async fn other(viewer: &Actor, actor: Actor) -> Other {
        let status = actor.post("a status").await;
        let comment = Commenter(viewer).comment_on(&status, "a comment").await;
        Other { actor, status, comment }
    }

    /// Sends a case about an account. Returns the response's text and the number of round trips.
    async fn send(&self, case: &Case, about: &Other, with_cost: bool) -> (String, u64) {
        let all = json!({
            "login": about.actor.login, "user": about.actor.id, "status": about.status, "comment": about.comment, "list": self.list,
            "campaign": self.campaign,
        });
        let is_used = |name: &str| case.document.contains(&format!("${name}:"));
        let variables: serde_json::Map<String, Value> = all
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| is_used(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let mut request = self.app.post().json(&json!({ "query": case.document, "variables": variables }));
        request = request.bearer_auth(self.viewer.token.as_deref().expect("a session"));
        if case.document.starts_with("subscription") {
            request = request.header("accept", "text/event-stream");
        }
        if with_cost {
            request = request.header("waxwing-cost", "1");
        }
        self.app.drain().await;
        let before = self.app.app.db().round_trips();
        let text = request.send().await.expect("a response").text().await.expect("a text");
        (text, self.app.app.db().round_trips() - before)
    }

    async fn hide(&self, reason: Reason) {
        let (viewer, author) = (&self.viewer, &self.hidden.actor);
        let narrow = async |audience: &str, list: Option<&str>| {
            let input = json!({ "statusId": self.hidden.status, "audience": audience, "audienceListId": list });
            author.mutate_ok("setStatusAudience", input, "").await;
        };
        match reason {
            Reason::BlockedByOther => block(&self.app, author, viewer),
            Reason::BlockedByViewer => block(&self.app, viewer, author),
            Reason::Private => drop(author.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await),
            Reason::ForFollowers => narrow("FOLLOWERS", None).await,
            Reason::ForFriends => narrow("FRIENDS", None).await,
            Reason::ForList => {
                let made = author.mutate_ok("createUserList", json!({ "name": "circle" }), "userList { id }").await;
                narrow("LIST", made["userList"]["id"].as_str()).await;
            }
        }
        self.app.drain().await;
    }
}

/// Why an account's status is hidden from the viewer. Only the first hides the account, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    BlockedByOther,
    BlockedByViewer,
    Private,
    ForFollowers,
    ForFriends,
    ForList,
}

const REASONS: [Reason; 6] =
    [Reason::BlockedByOther, Reason::BlockedByViewer, Reason::Private, Reason::ForFollowers, Reason::ForFriends, Reason::ForList];

impl Reason {
    fn cases(self) -> impl Iterator<Item = &'static Case> {
        CASES.iter().filter(move |case| self == Self::BlockedByOther || !case.is_of_account)
    }
}

#[tokio::test]
async fn a_hidden_object_costs_the_bytes_and_round_trips_of_a_missing_one() {
    for reason in REASONS {
        let scene = Scene::start(TestApp::without_client_cache(Config::default()).await).await;
        let mut shown = Vec::new();
        for case in reason.cases().filter(|case| case.document.starts_with("query")) {
            shown.push(scene.send(case, &scene.hidden, false).await.0);
        }
        scene.hide(reason).await;
        let mut shown = shown.into_iter();
        for case in reason.cases() {
            // Loads the scripts.
            scene.send(case, &scene.absent, false).await;
            let (absent, trips_of_absent) = scene.send(case, &scene.absent, false).await;
            let (hidden, trips_of_hidden) = scene.send(case, &scene.hidden, false).await;
            assert_eq!(hidden, absent, "{reason:?}: {}", case.document);
            // With a session and a stream, the process reads changes in the background.
            if !case.document.starts_with("subscription") {
                assert_eq!(trips_of_hidden, trips_of_absent, "{reason:?}: {}", case.document);
            }
            if case.document.starts_with("query") {
                assert_ne!(shown.next().as_ref(), Some(&hidden), "it was shown before: {}", case.document);
            }
        }
    }
}

#[tokio::test]
async fn a_hidden_object_costs_as_much_as_a_missing_one() {
    for reason in REASONS {
        // On a cluster nothing is cached: a hidden object is read each time, and the reported work includes the read.
        let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
        let scene = Scene::start(TestApp::on_redis(redis, Clock::manual(START), Config::default()).await).await;
        scene.hide(reason).await;
        for case in reason.cases().filter(|case| case.document.starts_with("query")) {
            // Accounts are cached from the second request on.
            scene.send(case, &scene.hidden, true).await;
            let (hidden, absent) = (scene.send(case, &scene.hidden, true).await.0, scene.send(case, &scene.absent, true).await.0);
            assert!(hidden.contains("\"worked\":"), "{hidden}");
            assert_eq!(hidden, absent, "{reason:?}: {}", case.document);
        }
    }
}

#[tokio::test]
async fn without_a_session_everything_public_is_shown() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = bea.post("from bea").await;
    let query = "query($id: ID!) { user(login: \"bea\") { login followers { edges { node { login } } }
        profileTimeline { entries { edges { node { status { message } } } } } } node(id: $id) { ... on Status { message } } }";
    let read = async || app.anonymous().gql(query, json!({ "id": status })).await;
    let before = read().await;
    assert_eq!(before["data"]["node"]["message"], "from bea", "{before}");
    block(&app, &bea, &ada);
    assert_eq!(read().await, before);
}
