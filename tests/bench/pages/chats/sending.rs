//! Sending in a direct chat, compared with a post to ten followers, and in groups: until the response, and what the workers do after it.

use super::super::meter::Cost;
use super::super::talk::{cost_of, request};
use super::world::World;
use super::{Chats, document, work_after_response};
use serde_json::json;

const SENT: usize = 400;
const WARM: usize = 20;
/// Messages in a large group: each of them has work for every member.
const SENT_TO_GROUP: usize = 40;
const GROUPS: [usize; 3] = [5, 51, 500];

pub(super) async fn run(all: &mut Chats) {
    let world = World::of(2).await;
    let chat = world.direct(0, 1).await;
    let cost = sent(&world, &chat, SENT).await;
    all.add("message in a direct chat", cost);
    all.add("message in a direct chat, after the response", work_after_response(&world.bed, &world.edge, SENT).await);
    for size in GROUPS {
        let world = World::of(size).await;
        let chat = world.group(size).await;
        work_after_response(&world.bed, &world.edge, 1).await;
        let cost = sent(&world, &chat, SENT_TO_GROUP).await;
        all.add(&format!("message in a group of {size}"), cost);
        let after = work_after_response(&world.bed, &world.edge, SENT_TO_GROUP + WARM).await;
        all.add(&format!("message in a group of {size}, after the response"), after);
    }
}

async fn sent(world: &World, chat: &str, many: usize) -> Cost {
    let document = document("mutation SendMessage");
    let variables = |number: usize| json!({ "input": { "chatId": chat, "text": format!("Good evening, and tea {number}.") } });
    let requests = (0..many + WARM).map(|number| request(&world.tokens[0], &document, &variables(number))).collect();
    cost_of(&world.bed, &world.edge, requests, WARM).await
}
