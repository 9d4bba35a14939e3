//! Reads of chats by an account, in the form of the model's views.

use super::World;
use super::views::List;
use crate::support::Actor;
use serde_json::{Value, json};

const ROW: &str = "sequence kind text editedAt isDeleted isHidden role sender { login } subject { login }
    replyTo { sequence text isDeleted isHidden sender { login } } reactions { emoji count viewerHasReacted }";

/// A page: its entries, whether a next one follows, and whether a previous one precedes.
pub(super) type PageOf<T> = (Vec<T>, bool, bool);

/// The pages of a list.
pub(super) fn pages_of<T: Clone>(lines: &[T], size: usize, is_backward: bool) -> Vec<PageOf<T>> {
    let chunks: Vec<&[T]> = if is_backward { lines.rchunks(size).collect() } else { lines.chunks(size).collect() };
    let last = chunks.len().saturating_sub(1);
    let page = |(at, chunk): (usize, &&[T])| match is_backward {
        true => (chunk.to_vec(), at > 0, at < last),
        false => (chunk.to_vec(), at < last, at > 0),
    };
    let pages: Vec<PageOf<T>> = chunks.iter().enumerate().map(page).collect();
    if pages.is_empty() { vec![(Vec::new(), false, false)] } else { pages }
}

pub(super) struct Reader<'a> {
    pub(super) world: &'a World,
    pub(super) actor: Actor,
}

/// The login of an account in a response, or null.
fn login(user: &Value) -> Value {
    user["login"].clone()
}

/// Whether a hidden row is deleted is left open by the rulings.
fn hide_deletion(row: &mut Value) {
    if row["isHidden"] == true {
        row["isDeleted"] = json!(false);
    }
}

/// A row in the form of the model.
pub(super) fn row(node: &Value) -> Value {
    if node.is_null() {
        return Value::Null;
    }
    let mut row = node.clone();
    let is_edited = !row["editedAt"].is_null();
    let object = row.as_object_mut().expect("a row");
    object.remove("editedAt");
    object.insert("isEdited".into(), json!(is_edited));
    for name in ["sender", "subject"] {
        object.insert(name.into(), login(&node[name]));
    }
    if !node["replyTo"].is_null() {
        row["replyTo"]["sender"] = login(&node["replyTo"]["sender"]);
        hide_deletion(&mut row["replyTo"]);
    }
    hide_deletion(&mut row);
    row
}

impl Reader<'_> {
    async fn data(&self, query: &str, variables: Value) -> Value {
        let mut response = self.actor.gql(query, variables).await;
        assert_eq!(response.get("errors"), None, "{query}: {response}");
        response["data"].take()
    }

    /// The numbers of the chats with these ids.
    fn number(&self, id: &Value) -> usize {
        self.world.chats.iter().position(|chat| *id == **chat).unwrap_or_else(|| panic!("no chat {id}"))
    }

    /// All pages of a connection at `pointer`.
    async fn pages(
        &self,
        query: &str,
        variables: Value,
        pointer: &str,
        size: usize,
        is_backward: bool,
    ) -> Option<Vec<PageOf<Value>>> {
        let [count, cursor, end, more] = if is_backward {
            ["last", "before", "startCursor", "hasPreviousPage"]
        } else {
            ["first", "after", "endCursor", "hasNextPage"]
        };
        let (mut variables, mut pages) = (variables, Vec::new());
        variables[count] = json!(size);
        loop {
            let data = self.data(query, variables.clone()).await;
            let found = data.pointer(pointer)?;
            let edges = found["edges"].as_array().unwrap_or_else(|| panic!("{data}"));
            let flag = |name: &str| found["pageInfo"][name].as_bool().unwrap_or_else(|| panic!("{data}"));
            pages.push((edges.iter().map(|edge| edge["node"].clone()).collect(), flag("hasNextPage"), flag("hasPreviousPage")));
            if !flag(more) {
                return Some(pages);
            }
            variables[cursor] = found["pageInfo"][end].clone();
        }
    }

    /// The pages of a list of chats.
    pub(super) async fn list(&self, list: List, size: usize, is_backward: bool) -> Vec<PageOf<usize>> {
        let (field, filter) = match list {
            List::Inbox => ("viewerChats", ""),
            List::Archived => ("viewerChats", "filter: ARCHIVED"),
            List::Requests => ("viewerChatRequests", ""),
        };
        let query = format!(
            "query($first: Int, $after: String, $last: Int, $before: String) {{
                {field}(first: $first, after: $after, last: $last, before: $before, {filter}) {{ totalCount
                    edges {{ node {{ id }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
        );
        let pages = self.pages(&query, json!({}), &format!("/{field}"), size, is_backward).await;
        let pages = pages.expect("a list");
        pages
            .into_iter()
            .map(|(nodes, next, previous)| (nodes.iter().map(|it| self.number(&it["id"])).collect(), next, previous))
            .collect()
    }

    pub(super) async fn total_counts(&self) -> Vec<usize> {
        let query = "{ a: viewerChats { totalCount } b: viewerChats(filter: ARCHIVED) { totalCount } c: viewerChatRequests { totalCount } }";
        let data = self.data(query, json!({})).await;
        ["a", "b", "c"].map(|list| data[list]["totalCount"].as_u64().expect("a number") as usize).to_vec()
    }

    pub(super) async fn badge(&self) -> usize {
        self.data("{ viewerUnreadChatsCount }", json!({})).await["viewerUnreadChatsCount"].as_u64().expect("a number") as usize
    }

    pub(super) async fn settings(&self) -> (String, bool) {
        let data = self.data("{ viewerChatSettings { whoMayWrite sharesSeen } }", json!({})).await;
        let settings = &data["viewerChatSettings"];
        (settings["whoMayWrite"].as_str().expect("a setting").to_owned(), settings["sharesSeen"] == true)
    }

    /// The chats with unread texts: the chat, its count, the rows, and whether there are more.
    pub(super) async fn pending(&self, per_chat: usize) -> Vec<(usize, usize, Vec<Value>, bool)> {
        let query = format!(
            "query($perChat: Int) {{ pendingMessages(first: 20, perChat: $perChat) {{
                edges {{ node {{ chat {{ id viewerUnreadCount }} messages {{ {ROW} }} hasMore }} }} }} }}"
        );
        let data = self.data(&query, json!({ "perChat": per_chat })).await;
        let edges = data["pendingMessages"]["edges"].as_array().unwrap_or_else(|| panic!("{data}"));
        let of = |edge: &Value| {
            let node = &edge["node"];
            let count = node["chat"]["viewerUnreadCount"].as_u64().expect("a count") as usize;
            let rows = node["messages"].as_array().expect("rows").iter().map(row).collect();
            (self.number(&node["chat"]["id"]), count, rows, node["hasMore"] == true)
        };
        edges.iter().map(of).collect()
    }

    /// The card of a chat without its rows.
    pub(super) async fn card(&self, chat: usize) -> Value {
        let query = "query($id: ID!) { node(id: $id) { ... on Chat {
            kind name history membersCount newestSequence viewerPeer { login } viewerState viewerCanSend viewerUnreadCount viewerHasMuted
            viewerMutedUntil viewerHasArchived daysAfterSeen viewerMember { role seenSequence deliveredSequence }
            members(first: 100) { totalCount edges { node { user { login } role seenSequence deliveredSequence } } } } } }";
        let mut card = self.data(query, json!({ "id": self.world.chats[chat] })).await["node"].take();
        if card.is_null() {
            return card;
        }
        card["viewerPeer"] = login(&card["viewerPeer"]);
        let edges = card["members"]["edges"].as_array().expect("members");
        assert_eq!(card["members"]["totalCount"], edges.len(), "{card}");
        let line = |edge: &Value| {
            let node = &edge["node"];
            let role = node["role"].as_str().expect("a role");
            json!(format!("{} {role} {} {}", login(&node["user"]), node["seenSequence"], node["deliveredSequence"]))
        };
        card["members"] = edges.iter().map(line).collect();
        card
    }

    /// The newest row that the viewer can read, and the number of the oldest.
    pub(super) async fn ends(&self, chat: usize) -> (Value, Value) {
        let query = format!(
            "query($id: ID!) {{ node(id: $id) {{ ... on Chat {{ newestMessage {{ {ROW} }}
                messages(first: 1) {{ newestSequence oldestSequence }} }} }} }}"
        );
        let data = self.data(&query, json!({ "id": self.world.chats[chat] })).await;
        let messages = &data["node"]["messages"];
        (row(&data["node"]["newestMessage"]), messages["oldestSequence"].clone())
    }

    /// The pages of the rows of a chat; none if it does not exist.
    pub(super) async fn rows(&self, chat: usize, size: usize, is_backward: bool) -> Option<Vec<PageOf<Value>>> {
        let query = format!(
            "query($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {{ node(id: $id) {{ ... on Chat {{
                messages(first: $first, after: $after, last: $last, before: $before) {{ edges {{ node {{ {ROW} }} }}
                    pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }} }}"
        );
        let pages = self.pages(&query, json!({ "id": self.world.chats[chat] }), "/node/messages", size, is_backward).await?;
        Some(pages.into_iter().map(|(nodes, next, previous)| (nodes.iter().map(row).collect(), next, previous)).collect())
    }

    /// The numbers of the rows next to one, and of the pages that go on from there in both directions.
    pub(super) async fn around(&self, chat: usize, around: usize, first: usize) -> Option<[PageOf<usize>; 3]> {
        let query = "query($id: ID!, $around: Int, $first: Int, $after: String, $last: Int, $before: String) { node(id: $id) { ... on Chat {
            messages(around: $around, first: $first, after: $after, last: $last, before: $before) { edges { node { sequence } }
                pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }";
        let read = async |mut variables: Value| {
            variables["id"] = json!(self.world.chats[chat]);
            let data = self.data(query, variables).await;
            (!data["node"].is_null()).then(|| data["node"]["messages"].clone())
        };
        let page = |found: &Value| -> PageOf<usize> {
            let edges = found["edges"].as_array().unwrap_or_else(|| panic!("{found}"));
            let numbers = edges.iter().map(|edge| edge["node"]["sequence"].as_u64().expect("a number") as usize).collect();
            (numbers, found["pageInfo"]["hasNextPage"] == true, found["pageInfo"]["hasPreviousPage"] == true)
        };
        let found = read(json!({ "around": around, "first": first })).await?;
        let [mut older, mut newer] = [(Vec::new(), false, false), (Vec::new(), false, false)];
        if found["pageInfo"]["hasNextPage"] == true {
            older = page(&read(json!({ "first": 3, "after": found["pageInfo"]["endCursor"] })).await?);
        }
        if found["pageInfo"]["hasPreviousPage"] == true {
            newer = page(&read(json!({ "last": 3, "before": found["pageInfo"]["startCursor"] })).await?);
        }
        Some([page(&found), older, newer])
    }

    /// A row by its id, and who has reacted.
    pub(super) async fn message(&self, at: (usize, usize)) -> (Value, Vec<(String, Vec<Value>)>) {
        let query = format!(
            "query($id: ID!) {{ node(id: $id) {{ ... on ChatMessage {{ {ROW}
                all: reactions {{ emoji reactors(first: 20) {{ edges {{ node {{ login }} }} }} }} }} }} }}"
        );
        let mut node = self.data(&query, json!({ "id": self.world.message(at) })).await["node"].take();
        if node.is_null() {
            return (node, Vec::new());
        }
        let all = node.as_object_mut().and_then(|node| node.remove("all")).expect("reactions");
        let logins =
            |it: &Value| it["reactors"]["edges"].as_array().expect("edges").iter().map(|edge| login(&edge["node"])).collect();
        let reactors = all.as_array().expect("reactions").iter();
        let reactors = reactors.map(|it| (it["emoji"].as_str().expect("an emoji").to_owned(), logins(it))).collect();
        (row(&node), reactors)
    }
}
