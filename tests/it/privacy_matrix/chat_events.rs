//! Chats: what a subscription that was open before a block, a removal or a declining delivers from then on.

use super::chat_world::{VIEWERS, Viewer, World};
use crate::chats::{befriend, open, run_ok, send};
use crate::live::chats::ChatEvents;
use crate::support::Actor;
use serde_json::{Value, json};

/// The events that the viewers member, blocked, blocker, later, removed, left, declined and never receive after each step: of the group, or of the
/// direct chat with the author.
const STEPS: [(&str, [&str; 8]); 21] = [
    ("remove", ["left 5 removed", "left 5 removed", "left 5 removed", "", "left 5 removed", "left 5 removed", "", ""]),
    ("leave", ["left 6 left", "left 6 left", "left 6 left", "", "", "left 6 left", "", ""]),
    ("decline", ["left 7 declined", "left 7 declined", "left 7 declined", "", "", "", "gone", ""]),
    ("decline direct", ["", "", "", "", "", "", "direct gone", ""]),
    ("add later", ["joined 8 later", "joined 8 later", "joined 8 later", "joined 8 later", "", "", "", ""]),
    ("block", [""; 8]),
    ("last text", ["+9 last", "+9 hidden", "+9 hidden", "+9 last", "", "", "", ""]),
    ("edit", ["~9 edited", "", "", "~9 edited", "", "", "", ""]),
    ("react", ["*9 🎉1", "", "", "*9 🎉1", "", "", "", ""]),
    ("edit by host", ["~3 changed", "~3 changed", "~3 changed", "", "", "", "", ""]),
    ("delete", ["-9", "-9", "-9", "-9", "", "", "", ""]),
    ("rename", ["renamed 10 new", "renamed 10 new", "renamed 10 new", "renamed 10 new", "", "", "", ""]),
    ("role", ["role 11 member ADMIN", "role 11 member ADMIN", "role 11 member ADMIN", "role 11 member ADMIN", "", "", "", ""]),
    ("text by host", ["+12 by host", "+12 by host", "+12 by host", "+12 by host", "", "", "", ""]),
    ("add", ["joined 13 another", "joined 13 another", "joined 13 another", "joined 13 another", "", "", "", ""]),
    ("direct text", ["direct +4 after", "", "", "direct +4 after", "direct +4 after", "direct +4 after", "", ""]),
    ("direct edit", ["direct ~4 edited", "", "", "direct ~4 edited", "direct ~4 edited", "direct ~4 edited", "", ""]),
    ("direct reaction", ["direct *4 🎉1", "", "", "direct *4 🎉1", "direct *4 🎉1", "direct *4 🎉1", "", ""]),
    ("direct deletion", ["direct -1", "", "", "direct -1", "direct -1", "direct -1", "", ""]),
    ("position and typing", [""; 8]),
    ("mark", ["mark"; 8]),
];

/// Whether positions and typing of the author may come to the viewer in the group, and in the direct chat.
const POSITIONS: [[bool; 2]; 8] =
    [[true, true], [false, false], [false, false], [true, true], [false, true], [false, true], [false, false], [false, false]];

/// An open subscription, and the accounts whose positions or typing came in each chat.
struct Stream<'a> {
    viewer: Viewer,
    events: ChatEvents,
    chats: [&'a str; 2],
    others: [Vec<Value>; 2],
}

impl Stream<'_> {
    /// The next event that is not about positions or typing, as a line.
    async fn next(&mut self) -> String {
        loop {
            let event = self.events.next_of_any_kind().await;
            let Some(place) = self.chats.iter().position(|chat| event.shown["chatId"] == **chat) else {
                return if event.line == "+1 mark" { "mark".to_owned() } else { format!("another chat: {}", event.shown) };
            };
            match event.shown["__typename"].as_str() {
                Some("SeenChanged") => self.others[place].push(event.shown["member"]["user"]["id"].clone()),
                Some("TypingStarted") => self.others[place].push(event.shown["user"]["id"].clone()),
                _ => return if place == 0 { event.line } else { format!("direct {}", event.line) },
            }
        }
    }
}

/// Runs a step that changes no membership.
async fn act(world: &World, step: &str, another: &Actor) {
    let (author, host, group) = (&world.author, &world.host, &world.group);
    let last = world.texts.last().expect("a text");
    match step {
        "edit" => drop(run_ok(author, "EditMessage", json!({ "messageId": last, "text": "edited" })).await),
        "react" => drop(run_ok(author, "ReactToMessage", json!({ "messageId": last, "emoji": "🎉" })).await),
        "edit by host" => {
            run_ok(host, "EditMessage", json!({ "messageId": world.texts[1], "text": "changed" })).await;
        }
        "delete" => drop(run_ok(author, "DeleteMessage", json!({ "messageId": last })).await),
        "rename" => drop(run_ok(author, "RenameChat", json!({ "chatId": group, "name": "new" })).await),
        "role" => {
            let member = &world.actor(Viewer::Member).id;
            run_ok(host, "SetChatMemberRole", json!({ "chatId": group, "userId": member, "role": "ADMIN" })).await;
        }
        "text by host" => drop(send(host, group, "by host").await),
        "add" => drop(run_ok(host, "AddChatMembers", json!({ "chatId": group, "userIds": [another.id] })).await),
        "position and typing" => {
            run_ok(author, "MarkChatSeen", json!({ "chatId": group, "sequence": 13 })).await;
            run_ok(author, "SendTyping", json!({ "chatId": group })).await;
        }
        _ => panic!("no step {step}"),
    }
}

/// Runs a step in each direct chat of the author. While a block exists, only its own deletions and positions work.
async fn act_directly(world: &World, step: &str, sent: &mut [Option<String>; 8]) {
    for viewer in &VIEWERS[..7] {
        let at = *viewer as usize;
        let (chat, author, [of_author, _]) = (&world.direct[at], &world.author, &world.direct_texts[at]);
        let is_separated = matches!(viewer, Viewer::Blocked | Viewer::Blocker);
        match step {
            "direct deletion" => {
                run_ok(author, "DeleteMessage", json!({ "messageId": of_author })).await;
                run_ok(author, "MarkChatSeen", json!({ "chatId": chat, "sequence": 3 })).await;
            }
            _ if is_separated => {}
            "direct text" => sent[at] = Some(send(author, chat, "after").await),
            "direct edit" => drop(run_ok(author, "EditMessage", json!({ "messageId": sent[at], "text": "edited" })).await),
            _ => drop(run_ok(author, "ReactToMessage", json!({ "messageId": sent[at], "emoji": "🎉" })).await),
        }
    }
}

#[tokio::test]
async fn open_subscriptions_to_chats_deliver_the_events_of_the_privacy_matrix() {
    let mut world = World::begin().await;
    let another = world.app.user("another").await;
    befriend(&another, &world.host).await;
    let mut marks = Vec::new();
    for viewer in &VIEWERS[..8] {
        marks.push(open(&world.host, world.actor(*viewer)).await);
    }
    world.app.drain().await;
    let (group, direct) = (world.group.clone(), world.direct.clone());
    let mut streams = Vec::new();
    for viewer in &VIEWERS[..8] {
        let events = ChatEvents::listen(&world.app, world.actor(*viewer)).await;
        streams.push(Stream { viewer: *viewer, events, chats: [&group, &direct[*viewer as usize]], others: Default::default() });
    }
    let (mut wrong, mut sent) = (Vec::new(), [const { None }; 8]);
    for (at, (step, expected)) in STEPS.into_iter().enumerate() {
        match step {
            _ if at < 7 => world.apply(step).await,
            "mark" => {
                for mark in &marks {
                    send(&world.host, mark, "mark").await;
                }
            }
            step if step.starts_with("direct") => act_directly(&world, step, &mut sent).await,
            step => act(&world, step, &another).await,
        }
        world.app.drain().await;
        for (stream, expected) in streams.iter_mut().zip(expected).filter(|(_, expected)| !expected.is_empty()) {
            let mut found = stream.next().await;
            // An unexpected event is reported once.
            while found != expected {
                wrong.push(format!("{step}: {found:?} came to {:?} before {expected:?}", stream.viewer));
                found = stream.next().await;
            }
        }
    }
    let author = json!(world.author.id);
    for (stream, allowed) in streams.iter().zip(POSITIONS) {
        let found = [0, 1].map(|chat| stream.others[chat].contains(&author));
        if [0, 1].iter().any(|chat| found[*chat] && !allowed[*chat]) {
            wrong.push(format!("positions and typing of the author come to {:?}: {found:?}", stream.viewer));
        }
    }
    assert!(streams[0].others[0].contains(&author), "a position of the author comes to a member");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
