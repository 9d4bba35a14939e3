//! Conversations, quotes, reposts, bookmarks, pins and versions: on every surface the policy decides which content of the author is shown.

use super::model::{Audience, Model, Viewer};
use super::read::{data, texts};
use super::world::{ACCOUNTS, AUDIENCES, Author, World};
use super::{Cell, Matrix};
use crate::conversations::reply;
use crate::edits::edit;
use crate::quotes::quote;
use crate::reposts::repost;
use crate::support::Actor;
use serde_json::json;

const ENTRIES: &str = "(first: 100) { edges { node { depth status { id } } } }";
const PROFILE: &str =
    "profileTimeline(includeReposts: true) { entries(first: 100) { edges { node { repostedBy { login } status { id } } } } }";

/// The tag in the texts of the authors' statuses.
pub(super) const TAG: &str = "matrix";

/// Replies, quotes, reposts and marks of the statuses of an author, made while everybody could see them.
pub(super) struct Talk {
    of_audiences: Vec<OfAudience>,
    /// The status of the host that the author replies to and quotes.
    hosted: String,
    /// A status of the host that the author has reposted.
    reposted: String,
}

/// The replies, quotes, reposts and marks of a status of the author.
struct OfAudience {
    /// The host's reply to the status, its quote of the status, and its reply to the author's reply.
    below: String,
    quote: String,
    /// The author's replies to the host, without and with a reply of the host, and the author's quote of the host. They have the audience of the status.
    alone: String,
    with_reply: String,
    quoting: String,
}

impl Talk {
    /// Every account bookmarks the statuses; the author edits and pins them. The new texts have a tag and mention every account.
    pub(super) async fn begin(author: &Actor, statuses: &[(String, String)], host: &Actor, accounts: &[Actor]) -> Self {
        let hosted = host.post("talk of the host").await;
        let mut of_audiences = Vec::new();
        let mentions: String = accounts.iter().chain([author]).map(|account| format!(" @{}", account.login)).collect();
        for (status, _) in statuses {
            edit(author, status, &format!("a new text of {} #{TAG}{mentions}", author.login)).await;
            author.mutate_ok("pinStatus", json!({ "statusId": status }), "").await;
            repost(host, status).await;
            for account in accounts.iter().chain([author]) {
                account.mutate_ok("bookmarkStatus", json!({ "statusId": status }), "").await;
            }
            let with_reply = reply(author, &hosted, "with a reply").await;
            reply(host, &with_reply, "of the host").await;
            of_audiences.push(OfAudience {
                below: reply(host, status, "below").await,
                quote: quote(host, status, "a quote").await,
                alone: reply(author, &hosted, "alone").await,
                with_reply,
                quoting: quote(author, &hosted, "quoting").await,
            });
        }
        let reposted = host.post("reposted").await;
        repost(author, &reposted).await;
        Self { of_audiences, hosted, reposted }
    }

    /// The statuses of the author that have the audience of the status at this place.
    pub(super) fn of_author(&self, at: usize) -> [&String; 3] {
        let of = &self.of_audiences[at];
        [&of.alone, &of.with_reply, &of.quoting]
    }
}

struct Row<'a> {
    viewer: Viewer,
    actor: Actor,
    author: &'a Author,
    model: Model,
}

impl Row<'_> {
    fn cell(&self, surface: &'static str, audience: Option<Audience>) -> Cell {
        (surface, self.viewer, self.author.is_private, audience)
    }

    /// Whether a public status of the author is shown: reposts and quotes of it.
    fn can_view_public(&self, audience: Audience) -> bool {
        audience == Audience::Public && !self.author.is_private && self.model.can_view(audience)
    }

    /// The content of the author that the host's statuses show.
    async fn check_around(&self, matrix: &mut Matrix) {
        let query = format!(
            "query($below: ID!, $quote: ID!) {{
                below: node(id: $below) {{ ... on Status {{ replyTo {{ depth status {{ id }} }} ancestors{ENTRIES} }} }}
                quote: node(id: $quote) {{ ... on Status {{ isQuote quotedStatus {{ id }} }} }}
            }}"
        );
        let reposted = data(&self.actor, &format!("{{ user(login: \"host\") {{ {PROFILE} }} }}"), json!({})).await;
        let reposted = texts(&reposted["user"]["profileTimeline"]["entries"], "/status/id");
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let (of, status) = (&self.author.talk.of_audiences[at], &self.author.statuses[at].0);
            let read = data(&self.actor, &query, json!({ "below": of.below, "quote": of.quote })).await;
            let below = &read["below"];
            let (can_view, is_public) = (self.model.can_view(audience), self.can_view_public(audience));
            let mut check = |surface, is_shown, expected| matrix.check(self.cell(surface, Some(audience)), is_shown, expected);
            check("replyTo", below["replyTo"]["status"]["id"] == **status, can_view);
            check("ancestors", texts(&below["ancestors"], "/status/id") == [status.as_str()], can_view);
            assert_eq!((&below["replyTo"]["depth"], below["ancestors"]["edges"].as_array().map(Vec::len)), (&json!(0), Some(1)));
            check("quotedStatus", read["quote"]["quotedStatus"]["id"] == **status, is_public);
            assert_eq!(read["quote"]["isQuote"], true);
            check("repost of another", reposted.contains(&status.as_str()), is_public);
        }
    }

    /// The author's replies below a status of the host.
    async fn check_below(&self, matrix: &mut Matrix) {
        let talk = &self.author.talk;
        let query = format!(
            "query($hosted: ID!, $reposted: ID!) {{
                hosted: node(id: $hosted) {{ ... on Status {{
                    old: replies{ENTRIES} new: replies(first: 100, sort: NEW) {{ edges {{ node {{ depth status {{ id }} }} }} }}
                    quotes(first: 100) {{ edges {{ node {{ id }} }} }} }} }}
                reposted: node(id: $reposted) {{ ... on Status {{ repostCount reposters(first: 100) {{ edges {{ node {{ login }} }} }} }} }}
            }}"
        );
        let read = data(&self.actor, &query, json!({ "hosted": talk.hosted, "reposted": talk.reposted })).await;
        let (hosted, login) = (&read["hosted"], self.author.actor.login.as_str());
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let (of, can_view) = (&talk.of_audiences[at], self.model.can_view(audience));
            let mut check = |surface, is_shown| matrix.check(self.cell(surface, Some(audience)), is_shown, can_view);
            for (surface, sort) in [("replies, oldest first", "old"), ("replies, newest first", "new")] {
                let shown = texts(&hosted[sort], "/status/id");
                check(surface, shown.contains(&of.alone.as_str()));
                check(surface, shown.contains(&of.with_reply.as_str()));
            }
            check("quotes", texts(&hosted["quotes"], "/id").contains(&of.quoting.as_str()));
        }
        // A hidden reply has an entry only above other entries.
        let entries = hosted["old"]["edges"].as_array().map_or(0, Vec::len);
        let shown = AUDIENCES.into_iter().filter(|audience| self.model.can_view(*audience)).count();
        assert_eq!(entries, AUDIENCES.len() + shown, "{:?}: {hosted}", self.viewer);
        assert_eq!(read["reposted"]["repostCount"], 1);
        let is_named = texts(&read["reposted"]["reposters"], "/login").contains(&login);
        matrix.check(self.cell("reposters", None), is_named, self.model.can_read_profile());
    }

    /// The author's profile, pins and versions, and the viewer's bookmarks.
    async fn check_lists(&self, matrix: &mut Matrix) {
        let query = format!("query($login: String!) {{ user(login: $login) {{ {PROFILE} pinnedStatuses {{ id }} }} }}");
        let read = data(&self.actor, &query, json!({ "login": self.author.actor.login })).await;
        let profile = texts(&read["user"]["profileTimeline"]["entries"], "/status/id");
        let pinned: Vec<&str> =
            read["user"]["pinnedStatuses"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_str()).collect();
        let reads = self.model.can_read_profile();
        matrix.check(self.cell("reposts of a profile", None), profile.contains(&self.author.talk.reposted.as_str()), reads);
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let (status, can_view) = (&self.author.statuses[at].0, self.model.can_view(audience));
            let mut check = |surface, is_shown, expected| matrix.check(self.cell(surface, Some(audience)), is_shown, expected);
            for of_author in self.author.talk.of_author(at) {
                check("talk in a profile", profile.contains(&of_author.as_str()), can_view);
            }
            check("pinnedStatuses", pinned.contains(&status.as_str()), reads && can_view);
            let query = "query($id: ID!) { node(id: $id) { ... on Status { editedAt edits(first: 5) { totalCount edges { node { message } } } } } }";
            let response = data(&self.actor, query, json!({ "id": status })).await.to_string();
            let (old, new) = (format!("{audience:?}"), format!("a new text of {}", self.author.actor.login));
            check("edits, the first", response.contains(&old), can_view);
            check("edits, the last", response.contains(&new), can_view);
        }
        if self.viewer != Viewer::Nobody {
            let read = data(&self.actor, "{ viewerBookmarks(first: 100) { edges { node { id } } } }", json!({})).await;
            let bookmarks = texts(&read["viewerBookmarks"], "/id");
            for (at, audience) in AUDIENCES.into_iter().enumerate() {
                let is_shown = bookmarks.contains(&self.author.statuses[at].0.as_str());
                matrix.check(self.cell("viewerBookmarks", Some(audience)), is_shown, self.model.can_view(audience));
            }
        }
    }

    /// Mutations are refused as for a missing status, unless the viewer sees the status.
    async fn check_mutations(&self, matrix: &mut Matrix) {
        if !ACCOUNTS.contains(&self.viewer) {
            return;
        }
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let status = &self.author.statuses[at].0;
            let is_public = audience == Audience::Public && !self.author.is_private;
            for (field, input, needs_open) in [
                ("postStatus", json!({ "replyToId": status, "message": "a reply" }), false),
                ("postStatus", json!({ "quotedStatusId": status, "message": "a quote" }), true),
                ("repostStatus", json!({ "statusId": status }), true),
            ] {
                let payload = self.actor.mutate(field, input, "").await;
                let code = payload["userErrors"][0]["code"].as_str();
                matrix.check(self.cell(field, Some(audience)), code != Some("NOT_FOUND"), self.model.can_view(audience));
                assert!(
                    code == Some("NOT_FOUND") || code == (needs_open && !is_public).then_some("FORBIDDEN"),
                    "{field}: {payload}"
                );
            }
            for (field, input) in [
                ("editStatus", json!({ "statusId": status, "message": "mine" })),
                ("setReplyPolicy", json!({ "statusId": status, "replyPolicy": "NOBODY" })),
                ("pinStatus", json!({ "statusId": status })),
                ("unpinStatus", json!({ "statusId": status })),
            ] {
                let payload = self.actor.mutate(field, input, "").await;
                matrix.check(self.cell(field, Some(audience)), payload["userErrors"][0]["code"] != "NOT_FOUND", false);
            }
            // The end of the viewer's own mark succeeds, and shows nothing.
            for field in ["undoRepost", "removeBookmark"] {
                let payload = self.actor.mutate(field, json!({ "statusId": status }), "status { id }").await;
                assert_eq!(payload["userErrors"], json!([]), "{field}");
                matrix.check(self.cell(field, Some(audience)), !payload["status"].is_null(), self.model.can_view(audience));
            }
        }
    }
}

#[tokio::test]
async fn conversations_reposts_and_marks_agree_with_the_policy() {
    let world = World::start().await;
    let mut matrix = Matrix::default();
    let rows: Vec<Row> = world
        .pairs()
        .into_iter()
        .map(|(viewer, actor, _, author)| Row { viewer, actor, author, model: Model(viewer, author.is_private) })
        .collect();
    for row in &rows {
        row.check_around(&mut matrix).await;
        row.check_below(&mut matrix).await;
        row.check_lists(&mut matrix).await;
    }
    for row in &rows {
        row.check_mutations(&mut matrix).await;
    }
    matrix.finish(2_200);
}
