//! Reading: lists of few and many chats, pages of short and long chats, the number of unread chats, positions, and unread messages.

use super::super::talk::{cost_of, request};
use super::world::World;
use super::{Chats, document, work_behind};
use serde_json::{Value, json};

const PAGES: usize = 400;
const WARM: usize = 20;
const CHATS: [usize; 2] = [20, 1_000];
const MESSAGES: [usize; 2] = [100, 100_000];
/// The unread messages of each chat.
const UNREAD: usize = 20;

pub(super) async fn run(all: &mut Chats) {
    for chats in CHATS {
        lists(all, chats).await;
    }
    for messages in MESSAGES {
        long(all, messages).await;
    }
}

/// Reads the same with the session of the first account.
async fn read(all: &mut Chats, world: &World, name: &str, operation: &str, variables: &Value) {
    let requests = (0..PAGES + WARM).map(|_| request(&world.tokens[0], &document(operation), variables)).collect();
    all.add(name, cost_of(&world.bed, &world.edge, requests, WARM).await);
}

/// Lists of an account with this many direct chats, each with one unread message, twenty of them with twenty.
async fn lists(all: &mut Chats, chats: usize) {
    let world = World::of(chats + 1).await;
    for other in 1..=chats {
        let chat = world.direct(0, other).await;
        for number in 0..if other + UNREAD > chats { UNREAD } else { 1 } {
            world.send(other, &chat, &format!("Good evening, for the {number}th time.")).await;
        }
    }
    work_behind(&world.bed, &world.edge, 1).await;
    read(all, &world, &format!("20 of {chats} chats"), "query Chats", &json!({ "first": 20 })).await;
    read(all, &world, &format!("number of unread chats, of {chats}"), "query UnreadChats", &json!({})).await;
    let pending = json!({ "first": 20, "perChat": UNREAD });
    read(all, &world, &format!("20 unread messages of each of 20, of {chats} chats"), "query PendingMessages", &pending).await;
}

/// Pages of a direct chat with this many messages.
async fn long(all: &mut Chats, messages: usize) {
    let world = World::of(2).await;
    let chat = world.direct(0, 1).await;
    for number in 0..messages {
        world.send(number % 2, &chat, &format!("Good evening, for the {number}th time.")).await;
    }
    work_behind(&world.bed, &world.edge, 1).await;
    let page = |more: Value| {
        let mut variables = json!({ "id": chat, "first": 20 });
        variables.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        variables
    };
    let name = |what: &str| format!("{what} of {messages} messages");
    read(all, &world, &name("newest 20"), "query ChatPage", &page(json!({}))).await;
    read(all, &world, &name("20 around the middle"), "query ChatPage", &page(json!({ "around": messages / 2 }))).await;
    let seen = |number: usize| json!({ "input": { "chatId": chat, "sequence": number + 1 } });
    let document = document("mutation MarkChatSeen");
    let many = PAGES.min(messages - WARM);
    let requests = (0..many).map(|number| request(&world.tokens[0], &document, &seen(number))).collect();
    all.add(&format!("marking as seen, of {messages} messages"), cost_of(&world.bed, &world.edge, requests, WARM).await);
}
