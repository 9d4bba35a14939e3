//! Queries and mutations.

use super::model::{Audience, Model, Viewer};
use super::world::{ACCOUNTS, AUDIENCES, Author, World};
use super::{Cell, Matrix};
use crate::support::Actor;
use serde_json::{Value, json};

const NAMES: &str = "(first: 50) { edges { node { login } } }";
const ENTRIES: &str = "{ entries(first: 100) { edges { node { repostedBy { login } status { id } } } } }";

/// The values at `pointer` of the nodes of a connection.
pub(super) fn texts<'a>(connection: &'a Value, pointer: &str) -> Vec<&'a str> {
    let edges = connection["edges"].as_array().into_iter().flatten();
    edges.filter_map(|edge| edge["node"].pointer(pointer).and_then(Value::as_str)).collect()
}

/// The ids of the statuses of a timeline that are there as themselves: the host has reposted all of them.
fn not_reposted(entries: &Value) -> Vec<&str> {
    let edges = entries["edges"].as_array().into_iter().flatten().filter(|edge| edge["node"]["repostedBy"].is_null());
    edges.filter_map(|edge| edge["node"]["status"]["id"].as_str()).collect()
}

pub(super) async fn data(actor: &Actor, query: &str, variables: Value) -> Value {
    let mut response = actor.gql(query, variables).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"].take()
}

struct Row<'a> {
    world: &'a World,
    viewer: Viewer,
    actor: Actor,
    list: Option<&'a str>,
    author: &'a Author,
    model: Model,
}

impl Row<'_> {
    fn cell(&self, surface: &'static str, audience: Option<Audience>) -> Cell {
        (surface, self.viewer, self.author.is_private, audience)
    }

    async fn check_account(&self, matrix: &mut Matrix) {
        let query = format!(
            "query($login: String!, $id: ID!, $hosted: ID!) {{
                user(login: $login) {{ id followers{NAMES} following{NAMES} friends{NAMES} mutualFriends{NAMES} }}
                node(id: $id) {{ id }}
                host: user(login: \"host\") {{ followers{NAMES} following{NAMES} friends{NAMES} }}
                hosted: node(id: $hosted) {{ ... on Status {{ likers{NAMES}
                    commentThread {{ tree(first: 50) {{ edges {{ node {{ message }} }} }} comments(first: 50) {{ edges {{ node {{ author {{ login }} }} }} }} }} }} }}
            }}"
        );
        let login = &self.author.actor.login;
        let variables = json!({ "login": login, "id": self.author.actor.id, "hosted": self.world.hosted });
        let data = data(&self.actor, &query, variables).await;
        let model = self.model;
        let is_friend_of_host = self.viewer != Viewer::Nobody;
        let mut check = |surface, is_shown, expected| matrix.check(self.cell(surface, None), is_shown, expected);
        check("user", !data["user"].is_null(), model.can_discover());
        check("node of an account", !data["node"].is_null(), model.can_discover());
        for (surface, expected) in [
            ("followers", model.can_read_profile()),
            ("following", model.can_read_profile()),
            ("friends", model.is_author() || model.is_friend()),
            ("mutualFriends", model.can_read_profile() && is_friend_of_host && !model.is_author()),
        ] {
            check(surface, texts(&data["user"][surface], "/login").contains(&"host"), expected);
        }
        let names_author = |connection: &Value, at: &str| texts(connection, at).contains(&login.as_str());
        for (surface, list) in [("followers of another", "followers"), ("following of another", "following")] {
            check(surface, names_author(&data["host"][list], "/login"), model.can_read_profile());
        }
        check(
            "friends of another",
            names_author(&data["host"]["friends"], "/login"),
            model.can_read_profile() && is_friend_of_host,
        );
        let hosted = &data["hosted"];
        check("likers", names_author(&hosted["likers"], "/login"), model.can_read_profile());
        check("tree", names_author(&hosted["commentThread"]["tree"], "/message"), !model.is_blocked_between());
        check("comments", names_author(&hosted["commentThread"]["comments"], "/author/login"), !model.is_blocked_between());
    }

    async fn check_statuses(&self, matrix: &mut Matrix) {
        let query = format!(
            "query($login: String!, $statuses: [ID!]!, $comments: [ID!]!) {{
                user(login: $login) {{ profileTimeline {ENTRIES} }}
                statuses: nodes(ids: $statuses) {{ ... on Status {{ commentThread {{ tree {{ edges {{ node {{ id }} }} }} }} }} }}
                comments: nodes(ids: $comments) {{ ... on Comment {{ status {{ id }} }} }}
            }}"
        );
        let (statuses, comments): (Vec<_>, Vec<_>) = self.author.statuses.iter().cloned().unzip();
        let variables = json!({ "login": self.author.actor.login, "statuses": statuses, "comments": comments });
        let read = data(&self.actor, &query, variables).await;
        let profile = texts(&read["user"]["profileTimeline"]["entries"], "/status/id");
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let expected = self.model.can_view(audience);
            let mut check = |surface, is_shown| matrix.check(self.cell(surface, Some(audience)), is_shown, expected);
            check("node of a status", !read["statuses"][at].is_null());
            check("node of a comment", !read["comments"][at].is_null());
            check("profileTimeline", profile.contains(&statuses[at].as_str()));
            let single = data(&self.actor, "query($id: ID!) { node(id: $id) { id } }", json!({ "id": statuses[at] })).await;
            check("node", !single["node"].is_null());
        }
    }

    async fn check_timelines(&self, matrix: &mut Matrix) {
        if self.viewer == Viewer::Nobody {
            return;
        }
        let query = format!(
            "query($list: ID!) {{ homeTimeline {ENTRIES} node(id: $list) {{ ... on UserList {{ members{NAMES} timeline {ENTRIES} }} }} }}"
        );
        let read = data(&self.actor, &query, json!({ "list": self.list.unwrap_or(&self.author.audience_list) })).await;
        let home = not_reposted(&read["homeTimeline"]["entries"]);
        let list = not_reposted(&read["node"]["timeline"]["entries"]);
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let (status, can_deliver) = (self.author.statuses[at].0.as_str(), self.model.can_deliver(audience));
            let is_in_home = self.model.follows() || self.model.is_author();
            matrix.check(self.cell("homeTimeline", Some(audience)), home.contains(&status), can_deliver && is_in_home);
            if self.list.is_some() {
                matrix.check(self.cell("timeline of a list", Some(audience)), list.contains(&status), can_deliver);
            }
        }
        if self.list.is_some() {
            let members = texts(&read["node"]["members"], "/login");
            let is_named = members.contains(&self.author.actor.login.as_str());
            matrix.check(self.cell("members of a list", None), is_named, !self.model.is_blocked_between());
        }
    }

    /// The status for everyone is promoted. Nobody else's campaign competes for the places on the page, and an advertiser does not see its own ads.
    async fn check_promotion(&self, matrix: &mut Matrix) {
        if self.viewer == Viewer::Nobody {
            return;
        }
        let query = "{ homeTimeline { entries(first: 25) { edges { node { promotion { campaignName } } } } } }";
        let read = data(&self.actor, query, json!({})).await;
        let names = texts(&read["homeTimeline"]["entries"], "/promotion/campaignName");
        let is_shown = names.contains(&self.author.actor.login.as_str());
        let expected = self.model.can_deliver(Audience::Public) && !self.author.is_private && !self.model.is_author();
        matrix.check(self.cell("promoted statuses", Some(Audience::Public)), is_shown, expected);
    }

    /// Mutations that take the id of a status or of a comment. The viewer's own comments are under every status.
    async fn check_mutations(&self, matrix: &mut Matrix) {
        let Some(account) = ACCOUNTS.iter().position(|it| *it == self.viewer) else { return };
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let ((status, of_author), own) = (&self.author.statuses[at], &self.author.comments[at][account]);
            for (field, input) in [
                ("likeStatus", json!({ "statusId": status })),
                ("bookmarkStatus", json!({ "statusId": status })),
                ("addComment", json!({ "statusId": status, "message": "more" })),
                ("addComment", json!({ "parentId": of_author, "message": "a reply" })),
                ("voteComment", json!({ "commentId": of_author, "vote": "UP" })),
                ("editComment", json!({ "commentId": own, "message": "edited" })),
                ("deleteComment", json!({ "commentId": own })),
            ] {
                let payload = self.actor.mutate(field, input, "").await;
                let code = payload["userErrors"][0]["code"].as_str();
                assert!(matches!(code, None | Some("NOT_FOUND")), "{field}: {payload}");
                matrix.check(self.cell(field, Some(audience)), code.is_none(), self.model.can_view(audience));
            }
        }
        for field in ["rejectFollowRequest", "rejectFriendRequest", "removeFollower"] {
            let payload = self.actor.mutate(field, json!({ "userId": self.author.actor.id }), "").await;
            matrix.check(self.cell(field, None), payload["userErrors"] == json!([]), self.model.can_discover());
        }
    }
}

#[tokio::test]
async fn reads_and_mutations_agree_with_the_policy() {
    let world = World::start().await;
    let mut matrix = Matrix::default();
    let rows: Vec<Row> = world
        .pairs()
        .into_iter()
        .map(|(viewer, actor, list, author)| Row {
            world: &world,
            viewer,
            actor,
            list,
            author,
            model: Model(viewer, author.is_private),
        })
        .collect();
    for row in &rows {
        row.check_account(&mut matrix).await;
        row.check_statuses(&mut matrix).await;
        row.check_timelines(&mut matrix).await;
        row.check_promotion(&mut matrix).await;
    }
    for row in &rows {
        row.check_mutations(&mut matrix).await;
    }
    matrix.finish(1_200);
}
