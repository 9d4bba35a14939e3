//! Reads of lists in pages, and of the fields of statuses.

use super::views::List;
use crate::privacy_model::World;
use crate::support::Actor;
use serde_json::{Value, json};

/// The fields of a status that are compared.
pub(super) const CARD: &str =
    "message likeCount replyCount repostCount quoteCount viewerHasLiked viewerHasReposted viewerHasBookmarked
    viewerCanReply replyPolicy conversationId isQuote quotedStatus { message } replyTo { depth replyCount status { message } }
    edits(first: 1) { totalCount } author { login } entities { mentions { user { login } } tags { tag { name } } }";

/// A page: its lines, whether a next one follows, and whether a previous one precedes.
pub(super) type PageOfLines = (Vec<String>, bool, bool);

/// The most pages that are read of a list.
const MAX_PAGES: usize = 25;

/// The pages of a list that is not empty have `size` lines, except the last one that is read.
pub(super) fn pages_of(lines: &[String], size: usize, is_backward: bool) -> Vec<PageOfLines> {
    let chunks: Vec<&[String]> = if is_backward { lines.rchunks(size).collect() } else { lines.chunks(size).collect() };
    let last = chunks.len().saturating_sub(1);
    let page = |(at, chunk): (usize, &&[String])| match is_backward {
        true => (chunk.to_vec(), at > 0, at < last),
        false => (chunk.to_vec(), at < last, at > 0),
    };
    let pages: Vec<PageOfLines> = chunks.iter().enumerate().map(page).take(MAX_PAGES).collect();
    if pages.is_empty() { vec![(Vec::new(), false, false)] } else { pages }
}

/// A reader of lists as an actor.
pub(super) struct Reader<'a> {
    pub(super) world: &'a World,
    pub(super) actor: Actor,
    /// The number of the actor's account.
    pub(super) viewer: usize,
}

impl Reader<'_> {
    /// The selection of a list with `@` instead of the arguments and the selection of its connection, and the selection of a node.
    fn selection(&self, list: List) -> (String, &'static str) {
        const ENTRY: &str = "repostedBy { login } status { message }";
        const REPLY: &str = "depth replyCount status { message }";
        let of_status =
            |at: usize, field: &str| format!("node(id: {:?}) {{ ... on Status {{ list: {field} }} }}", self.world.statuses[at]);
        match list {
            List::Home => ("homeTimeline { list: entries(@) }".to_owned(), ENTRY),
            List::Timeline => {
                let id = &self.world.lists[self.viewer];
                (format!("node(id: {id:?}) {{ ... on UserList {{ timeline {{ list: entries(@) }} }} }}"), ENTRY)
            }
            List::Profile(of, replies, reposts) => {
                let choice = format!("includeReplies: {replies}, includeReposts: {reposts}");
                (format!("user(login: \"p{of}\") {{ profileTimeline({choice}) {{ list: entries(@) }} }}"), ENTRY)
            }
            List::Tag(tag) => (format!("tag(name: \"#Tag{tag}\") {{ timeline {{ list: entries(@) }} }}"), ENTRY),
            List::Mentions => ("viewerMentions { list: entries(@) }".to_owned(), ENTRY),
            List::Pins(of) => (format!("user(login: \"p{of}\") {{ list: pinnedStatuses {{ message }} }}"), ""),
            List::Bookmarks => ("list: viewerBookmarks(@)".to_owned(), "message"),
            List::Ancestors(at) => (of_status(at, "ancestors(@)"), REPLY),
            List::Replies(at, sort) => (of_status(at, &format!("replies(sort: {sort}, @)")), REPLY),
            List::Quotes(at) => (of_status(at, "quotes(@)"), "message"),
            List::Reposters(at) => (of_status(at, "reposters(@)"), "login"),
            List::Edits(at) => (of_status(at, "edits(@)"), "message"),
        }
    }

    /// Reads a list in pages from one of its ends; `None` if the object that has the list is null.
    pub(super) async fn pages(&self, list: List, size: usize, is_backward: bool) -> Option<Vec<PageOfLines>> {
        let (selection, node) = self.selection(list);
        let connection = format!(
            "first: $first, after: $after, last: $last, before: $before) {{
                edges {{ node {{ {node} }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }}"
        );
        let arguments = if selection.contains('@') { "($first: Int, $after: String, $last: Int, $before: String)" } else { "" };
        let query = format!("query{arguments} {{ {} }}", selection.replace("@)", &connection));
        let [count, cursor, end, more] = if is_backward {
            ["last", "before", "startCursor", "hasPreviousPage"]
        } else {
            ["first", "after", "endCursor", "hasNextPage"]
        };
        let (mut pages, mut variables) = (Vec::new(), if arguments.is_empty() { json!({}) } else { json!({ count: size }) });
        loop {
            let response = self.actor.gql(&query, variables.clone()).await;
            assert_eq!(response.get("errors"), None, "{query}: {response}");
            let found = find_list(&response["data"])?;
            if let Some(statuses) = found.as_array() {
                return Some(vec![(statuses.iter().map(|status| text(&status["message"])).collect(), false, false)]);
            }
            let edges = found["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
            let flag = |name: &str| found["pageInfo"][name].as_bool().unwrap_or_else(|| panic!("{response}"));
            pages.push((edges.iter().map(|edge| line(&edge["node"])).collect(), flag("hasNextPage"), flag("hasPreviousPage")));
            if !flag(more) || pages.len() == MAX_PAGES {
                return Some(pages);
            }
            variables[cursor] = found["pageInfo"][end].clone();
        }
    }

    /// The fields of statuses, null for those that the viewer does not see.
    pub(super) async fn cards(&self, statuses: &[usize]) -> Vec<Value> {
        let ids: Vec<&String> = statuses.iter().map(|at| &self.world.statuses[*at]).collect();
        let query = format!("query($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on Status {{ {CARD} }} }} }}");
        let response = self.actor.gql(&query, json!({ "ids": ids })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"]["nodes"].as_array().unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// The number of statuses of tags, and whether the viewer follows them.
    pub(super) async fn tag_cards(&self, tags: usize) -> Vec<(usize, bool)> {
        let fields: Vec<String> =
            (0..tags).map(|tag| format!("t{tag}: tag(name: \"tag{tag}\") {{ statusesCount viewerIsFollowing }}")).collect();
        let response = self.actor.gql(&format!("{{ {} }}", fields.join(" ")), json!({})).await;
        let card = |tag: usize| {
            let tag = &response["data"][format!("t{tag}")];
            (tag["statusesCount"].as_u64().map_or(usize::MAX, |count| count as usize), tag["viewerIsFollowing"] == true)
        };
        (0..tags).map(card).collect()
    }

    /// The number of statuses of accounts, or `None` for those that the viewer does not find.
    pub(super) async fn statuses_counts(&self, people: usize) -> Vec<Option<usize>> {
        let users: Vec<String> = (0..people).map(|of| format!("u{of}: user(login: \"p{of}\") {{ statusesCount }}")).collect();
        let response = self.actor.gql(&format!("{{ {} }}", users.join(" ")), json!({})).await;
        let count = |of: usize| response["data"][format!("u{of}")]["statusesCount"].as_u64().map(|count| count as usize);
        (0..people).map(count).collect()
    }
}

/// Follows the only field of each object to the field `list`.
fn find_list(value: &Value) -> Option<&Value> {
    let mut at = value;
    while let Some(object) = at.as_object() {
        if let Some(list) = object.get("list") {
            return Some(list);
        }
        at = object.values().next()?;
    }
    None
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}

/// The line of a node: an entry of a conversation, an account, a text, or an entry of a timeline.
fn line(node: &Value) -> String {
    if let Some(depth) = node.get("depth") {
        return format!("{depth} {} {}", node["replyCount"], text(&node["status"]["message"]));
    }
    if let Some(login) = node.get("login") {
        return text(login);
    }
    let Some(status) = node.get("status") else { return text(&node["message"]) };
    match node["repostedBy"]["login"].as_str() {
        Some(login) => format!("{login}: {}", text(&status["message"])),
        None => text(&status["message"]),
    }
}
