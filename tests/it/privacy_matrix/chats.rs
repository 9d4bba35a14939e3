//! Chats: the responses to every kind of viewer for a group and for a direct chat, and the mutations that it may send.

use super::chat_world::{VIEWERS, Viewer, World};
use crate::support::{Actor, error_codes};
use serde_json::{Value, json};

/// A query or mutation, and its expected result for each of [`VIEWERS`].
type Row = (&'static str, [&'static str; 9]);

const ROW: &str = "sequence text isHidden sender { login } replyTo { sequence text isHidden }";

/// A row as a line: its number, its sender, its text or `hidden`, and the text that it replies to.
fn line(row: &Value) -> String {
    let shown = |row: &Value| {
        if row["isHidden"] == true { "hidden".to_owned() } else { row["text"].as_str().unwrap_or_default().to_owned() }
    };
    let reply = &row["replyTo"];
    let reply = if reply.is_null() { String::new() } else { format!(" > {} {}", reply["sequence"], shown(reply)) };
    let sender = row["sender"]["login"].as_str().unwrap_or("null");
    format!("{} {sender} {}{reply}", row["sequence"], shown(row)).trim_end().to_owned()
}

fn lines(connection: &Value, line: impl Fn(&Value) -> String) -> String {
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}"));
    edges.iter().map(|edge| line(&edge["node"])).collect::<Vec<_>>().join(", ")
}

/// The node with this id, or none.
async fn node(actor: &Actor, id: &str, selection: &str) -> Option<Value> {
    let query = format!("query($id: ID!) {{ node(id: $id) {{ ... {selection} }} }}");
    let mut response = actor.gql(&query, json!({ "id": id })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    Some(response["data"]["node"].take()).filter(|node| !node.is_null())
}

/// A field of the viewer, or the code of its error.
async fn own(actor: &Actor, selection: &str) -> Result<Value, String> {
    let mut response = actor.gql(&format!("{{ own: {selection} }}"), json!({})).await;
    match error_codes(&response).pop() {
        Some(code) => {
            assert_eq!(response["data"]["own"], Value::Null, "{response}");
            Err(code)
        }
        None => Ok(response["data"]["own"].take()),
    }
}

impl World {
    /// Reads a field of the group or of the direct chat as a viewer, and returns the result as text.
    async fn read(&self, surface: &str, viewer: Viewer) -> String {
        let actor = self.actor(viewer);
        let (group, direct) = (&self.group, &self.direct[viewer as usize]);
        let page = |arguments: &str| format!("on Chat {{ messages({arguments}) {{ edges {{ node {{ {ROW} }} }} }} }}");
        let members = "on Chat { members(first: 50) { edges { node { user { login } } } } }";
        let login = |node: &Value| node["user"]["login"].as_str().unwrap_or("null").to_owned();
        let message = format!("on ChatMessage {{ {ROW} }}");
        let reactors = "on ChatMessage { reactions { emoji count reactors(first: 20) { edges { node { login } } } } }";
        let found = match surface {
            "node" => node(actor, group, "on Chat { name }").await.map(|it| it["name"].as_str().expect("a name").to_owned()),
            "messages" => node(actor, group, &page("first: 50")).await.map(|it| lines(&it["messages"], line)),
            "around" => node(actor, group, &page("around: 2, first: 3")).await.map(|it| lines(&it["messages"], line)),
            "text" => node(actor, &self.texts[0], &message).await.map(|it| line(&it)),
            "answer" => node(actor, &self.texts[1], &message).await.map(|it| line(&it)),
            "newest" => {
                node(actor, group, &format!("on Chat {{ newestMessage {{ {ROW} }} }}")).await.map(|it| line(&it["newestMessage"]))
            }
            "members" => node(actor, group, members).await.map(|it| lines(&it["members"], login)),
            "reactors" => node(actor, &self.texts[1], reactors).await.map(|it| {
                let reaction = &it["reactions"][0];
                format!(
                    "{}: {}",
                    reaction["count"],
                    lines(&reaction["reactors"], |node| node["login"].as_str().expect("a login").to_owned())
                )
            }),
            "unread" => node(actor, group, "on Chat { viewerUnreadCount }").await.map(|it| it["viewerUnreadCount"].to_string()),
            "direct node" => {
                node(actor, direct, "on Chat { viewerPeer { login } viewerCanSend viewerUnreadCount }").await.map(|it| {
                    let peer = it["viewerPeer"]["login"].as_str().unwrap_or("null");
                    format!("{peer} {} {}", it["viewerCanSend"], it["viewerUnreadCount"])
                })
            }
            "direct messages" => node(actor, direct, &page("last: 50")).await.map(|it| lines(&it["messages"], line)),
            "direct text" => node(actor, &self.direct_texts[viewer as usize][0], &message).await.map(|it| line(&it)),
            "direct members" => node(actor, direct, members).await.map(|it| lines(&it["members"], login)),
            _ => return self.read_own(surface, actor, direct).await.unwrap_or_else(|code| code),
        };
        found.unwrap_or_else(|| "-".to_owned())
    }

    /// Reads a list of the viewer, and returns its chats as text: `group` and `direct`.
    async fn read_own(&self, surface: &str, actor: &Actor, direct: &str) -> Result<String, String> {
        let name = |id: &Value| match id.as_str() {
            Some(id) if id == self.group => "group".to_owned(),
            Some(id) if id == direct => "direct".to_owned(),
            _ => panic!("{id}"),
        };
        let chats = "edges { node { id } }";
        Ok(match surface {
            "pendingMessages" => {
                let rows = format!("edges {{ node {{ chat {{ id }} messages {{ {ROW} }} }} }}");
                let found = own(actor, &format!("pendingMessages(first: 20) {{ {rows} }}")).await?;
                let texts =
                    |node: &Value| node["messages"].as_array().expect("rows").iter().map(line).collect::<Vec<_>>().join(", ");
                let line = |node: &Value| format!("{}: {}", name(&node["chat"]["id"]), texts(node));
                found["edges"].as_array().expect("edges").iter().map(|edge| line(&edge["node"])).collect::<Vec<_>>().join("; ")
            }
            "viewerChats" => {
                lines(&own(actor, &format!("viewerChats(first: 50) {{ {chats} }}")).await?, |node| name(&node["id"]))
            }
            "requests" => {
                lines(&own(actor, &format!("viewerChatRequests(first: 50) {{ {chats} }}")).await?, |node| name(&node["id"]))
            }
            "badge" => own(actor, "viewerUnreadChatsCount").await?.to_string(),
            _ => panic!("no surface {surface}"),
        })
    }
}

const ALL: &str =
    "9 author last > 2 first, 8 host, 7 declined, 6 left, 5 host, 4 author, 3 host answer > 2 first, 2 author first, 1 host";
const OF_BLOCKED: &str =
    "9 null hidden, 8 host, 7 declined, 6 left, 5 host, 4 null, 3 host answer > 2 hidden, 2 null hidden, 1 host";
const OF_BLOCKER: &str =
    "9 null hidden, 8 host, 7 declined, 6 left, 5 host, 4 author, 3 host answer > 2 hidden, 2 null hidden, 1 host";
const DIRECT: &str = "3 author second, 2 OWN own, 1 author secret";
const NONE: &str = "UNAUTHENTICATED";

/// The expected results of queries, for the viewers member, blocked, blocker, later, removed, left, declined, never, nobody; `-` is null.
const READS: [Row; 17] = [
    ("node", ["party", "party", "party", "party", "-", "-", "-", "-", "-"]),
    ("messages", [ALL, OF_BLOCKED, OF_BLOCKER, "9 author last, 8 host", "-", "-", "-", "-", "-"]),
    (
        "around",
        [
            "3 host answer > 2 first, 2 author first, 1 host",
            "3 host answer > 2 hidden, 2 null hidden, 1 host",
            "3 host answer > 2 hidden, 2 null hidden, 1 host",
            "9 author last, 8 host",
            "-",
            "-",
            "-",
            "-",
            "-",
        ],
    ),
    ("text", ["2 author first", "2 null hidden", "2 null hidden", "-", "-", "-", "-", "-", "-"]),
    ("answer", ["3 host answer > 2 first", "3 host answer > 2 hidden", "3 host answer > 2 hidden", "-", "-", "-", "-", "-", "-"]),
    ("newest", ["9 author last > 2 first", "9 null hidden", "9 null hidden", "9 author last", "-", "-", "-", "-", "-"]),
    (
        "members",
        [
            "host, author, member, blocked, blocker, later",
            "host, null, member, blocked, blocker, later",
            "host, author, member, blocked, blocker, later",
            "host, author, member, blocked, blocker, later",
            "-",
            "-",
            "-",
            "-",
            "-",
        ],
    ),
    ("reactors", ["2: member, author", "2: member", "2: member, author", "-", "-", "-", "-", "-", "-"]),
    ("unread", ["3", "1", "1", "1", "-", "-", "-", "-", "-"]),
    (
        "direct node",
        ["author true 1", "null false 0", "author false 0", "author true 1", "author true 1", "author true 1", "-", "-", "-"],
    ),
    ("direct messages", [DIRECT, "3 null second, 2 OWN own, 1 null secret", DIRECT, DIRECT, DIRECT, DIRECT, "-", "-", "-"]),
    (
        "direct text",
        [
            "1 author secret",
            "1 null secret",
            "1 author secret",
            "1 author secret",
            "1 author secret",
            "1 author secret",
            "-",
            "-",
            "-",
        ],
    ),
    ("direct members", ["OWN, author", "OWN, null", "OWN, author", "OWN, author", "OWN, author", "OWN, author", "-", "-", "-"]),
    (
        "pendingMessages",
        [
            "group: 2 author first, 3 host answer > 2 first, 9 author last > 2 first; direct: 3 author second",
            "group: 3 host answer > 2 hidden",
            "group: 3 host answer > 2 hidden",
            "group: 9 author last; direct: 3 author second",
            "direct: 3 author second",
            "direct: 3 author second",
            "",
            "",
            NONE,
        ],
    ),
    ("viewerChats", ["group, direct", "group, direct", "group, direct", "group, direct", "direct", "direct", "", "", NONE]),
    ("requests", ["", "", "", "", "", "", "", "", NONE]),
    ("badge", ["2", "1", "1", "2", "1", "1", "0", "0", NONE]),
];

/// Collects the cells that differ, so that a failure shows all of them.
#[derive(Default)]
struct Cells {
    count: usize,
    wrong: Vec<String>,
}

impl Cells {
    fn check(&mut self, surface: &str, viewer: Viewer, found: &str, expected: &str) {
        self.count += 1;
        if found != expected {
            self.wrong.push(format!("{surface} of {viewer:?}: {found:?}, not {expected:?}"));
        }
    }

    fn finish(self, at_least: usize) {
        println!("{} cells", self.count);
        assert!(self.wrong.is_empty(), "{} of {} cells:\n{}", self.wrong.len(), self.count, self.wrong.join("\n"));
        assert!(self.count >= at_least, "only {} cells were compared", self.count);
    }
}

#[tokio::test]
async fn reads_of_chats_agree_with_the_rulings() {
    let mut world = World::begin().await;
    world.change().await;
    let mut cells = Cells::default();
    for (surface, expected) in READS {
        for (viewer, expected) in VIEWERS.into_iter().zip(expected) {
            let found = world.read(surface, viewer).await;
            cells.check(surface, viewer, &found, &expected.replace("OWN", &world.actor(viewer).login));
        }
    }
    cells.finish(150);
}

const OK: &str = "";
const NF: &str = "NOT_FOUND";
const NO: &str = "FORBIDDEN";
const BAD: &str = "INVALID_INPUT";

/// The expected codes of mutations in the group; `text` is the author's first text, and `last` the author's reply to it. Run in this order, so that
/// `leaveChat`, which ends a membership, is the last one.
const IN_GROUP: [Row; 23] = [
    ("sendMessage", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("sendMessage > text", [OK, NF, NF, NF, NF, NF, NF, NF, NONE]),
    ("sendMessage > last", [OK, NF, NF, OK, NF, NF, NF, NF, NONE]),
    ("editMessage", [NO, NO, NO, NF, NF, NF, NF, NF, NONE]),
    ("deleteMessage", [NO, NO, NO, NF, NF, NF, NF, NF, NONE]),
    ("reactToMessage", [OK, NF, NF, NF, NF, NF, NF, NF, NONE]),
    ("removeReaction", [OK, NF, NF, NF, NF, NF, NF, NF, NONE]),
    ("markChatSeen", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("markChatSeen -1", [BAD, BAD, BAD, BAD, NF, NF, NF, NF, NONE]),
    ("sendTyping", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("addChatMembers", [NO, NO, NO, NO, NF, NF, NF, NF, NONE]),
    ("removeChatMember", [NO, NO, NO, NO, NF, NF, NF, NF, NONE]),
    ("setChatMemberRole", [NO, NO, NO, NO, NF, NF, NF, NF, NONE]),
    ("renameChat", [NO, NO, NO, NO, NF, NF, NF, NF, NONE]),
    ("setChatRetention", [NO, NO, NO, NO, NF, NF, NF, NF, NONE]),
    ("muteChat", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("unmuteChat", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("archiveChat", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("unarchiveChat", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("acceptChatRequest", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("declineChatRequest", [NF, NF, NF, NF, NF, NF, NF, NF, NONE]),
    ("deleteChatHistory", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
    ("leaveChat", [OK, OK, OK, OK, NF, NF, NF, NF, NONE]),
];

/// The expected codes of mutations in the direct chat with the author; `text` is the author's text, and `own` the viewer's.
const IN_DIRECT: [Row; 24] = [
    ("sendMessage", [OK, NO, NO, OK, OK, OK, NF, NF, NONE]),
    ("sendMessage > text", [OK, NO, NO, OK, OK, OK, NF, NF, NONE]),
    ("editMessage", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("editMessage own", [OK, NO, NO, OK, OK, OK, NF, NF, NONE]),
    ("deleteMessage", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("reactToMessage", [OK, NO, NO, OK, OK, OK, NF, NF, NONE]),
    ("deleteMessage own", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("markChatSeen", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("sendTyping", [OK, NO, NO, OK, OK, OK, NF, NF, NONE]),
    ("addChatMembers", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("removeChatMember", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("setChatMemberRole", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("renameChat", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("setChatRetention", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("leaveChat", [NO, NO, NO, NO, NO, NO, NF, NF, NONE]),
    ("muteChat", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("unmuteChat", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("archiveChat", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("unarchiveChat", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("acceptChatRequest", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    ("declineChatRequest", [NF, NF, NF, NF, NF, NF, NF, NF, NONE]),
    ("deleteChatHistory", [OK, OK, OK, OK, OK, OK, NF, NF, NONE]),
    // These create a group with the author, and the direct chat.
    ("createGroupChat", [OK, NF, NO, OK, OK, OK, OK, OK, NONE]),
    ("startDirectChat", [OK, NF, OK, OK, OK, OK, OK, OK, NONE]),
];

impl World {
    fn input(&self, field: &str, variant: &str, viewer: Viewer, is_direct: bool) -> Value {
        let chat = if is_direct { &self.direct[viewer as usize] } else { &self.group };
        let [of_author, own] = &self.direct_texts[viewer as usize];
        let message = match variant {
            "own" => own,
            "> last" => &self.texts[2],
            _ if is_direct => of_author,
            _ => &self.texts[0],
        };
        let author = &self.author.id;
        match field {
            "sendMessage" if variant.is_empty() => json!({ "chatId": chat, "text": "more" }),
            "sendMessage" => json!({ "chatId": chat, "text": "more", "replyToId": message }),
            "editMessage" => json!({ "messageId": message, "text": "edited" }),
            "deleteMessage" => json!({ "messageId": message }),
            "reactToMessage" | "removeReaction" => json!({ "messageId": message, "emoji": "🎉" }),
            "markChatSeen" => json!({ "chatId": chat, "sequence": if variant.is_empty() { 1 } else { -1 } }),
            "addChatMembers" => json!({ "chatId": chat, "userIds": [self.host.id] }),
            "removeChatMember" => json!({ "chatId": chat, "userId": author }),
            "setChatMemberRole" => json!({ "chatId": chat, "userId": author, "role": "MEMBER" }),
            "renameChat" => json!({ "chatId": chat, "name": "mine" }),
            "setChatRetention" => json!({ "chatId": chat, "daysAfterSeen": 365 }),
            "createGroupChat" => json!({ "name": "new", "userIds": [author] }),
            "startDirectChat" => json!({ "userId": author }),
            _ => json!({ "chatId": chat }),
        }
    }

    /// The code of a mutation's error.
    async fn code(&self, mutation: &str, viewer: Viewer, is_direct: bool) -> String {
        let (field, variant) = mutation.split_once(' ').unwrap_or((mutation, ""));
        let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
        let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ userErrors {{ code }} }} }}");
        let input = self.input(field, variant, viewer, is_direct);
        let response = self.actor(viewer).gql(&query, json!({ "input": input })).await;
        let of_user = response["data"][field]["userErrors"][0]["code"].as_str().map(str::to_owned);
        error_codes(&response).pop().or(of_user).unwrap_or_default()
    }
}

#[tokio::test]
async fn mutations_of_chats_agree_with_the_rulings() {
    let mut world = World::begin().await;
    world.change().await;
    let mut cells = Cells::default();
    for (is_direct, rows) in [(false, &IN_GROUP[..]), (true, &IN_DIRECT[..])] {
        for (mutation, expected) in rows {
            for (viewer, expected) in VIEWERS.into_iter().zip(expected) {
                let found = world.code(mutation, viewer, is_direct).await;
                let place = if is_direct { "direct" } else { "group" };
                cells.check(&format!("{place} {mutation}"), viewer, &found, expected);
            }
        }
    }
    // The same by the author: neither account of a block can add the other.
    for (viewer, expected) in VIEWERS[..8].iter().zip([OK, NO, NF, OK, OK, OK, OK, OK]) {
        let input = json!({ "name": "of the author", "userIds": [world.actor(*viewer).id] });
        let payload = world.author.mutate("createGroupChat", input, "").await;
        let found = payload["userErrors"][0]["code"].as_str().unwrap_or_default();
        cells.check("createGroupChat by the author", *viewer, found, expected);
    }
    cells.finish(400);
}
