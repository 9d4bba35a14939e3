//! The cost of a live event for each account that has a subscription: of a message in their group, and of a status in their home timelines. All subscriptions
//! of one kind have the same selection. Sockets are not measured.

use super::super::live::Subscriptions;
use super::super::meter::{Cost, measure};
use super::super::talk::post;
use super::world::World;
use super::{Chats, document, work_after_response};
use crate::cases::operation;
use serde_json::json;
use std::cell::Cell;

const LIVE: &str = include_str!("../../../it/contract/live.graphql");
/// A subscription without a field that depends on the viewer.
const PLAIN: &str = "subscription ChatEvents { chatEvents { ... on MessageSent { cursor chatId chatMessage { id sequence text sentAt sender { id login } } } } }";
const ACCOUNTS: usize = 500;
const EVENTS: usize = 40;
const WARM: usize = 5;

pub(super) async fn run(all: &mut Chats) {
    let world = World::of(ACCOUNTS).await;
    world.bed.homes(&world.ids[1..], &[10]).await;
    let chat = world.group(ACCOUNTS).await;
    work_after_response(&world.bed, &world.edge, 1).await;
    let number = Cell::new(0);
    let text = || format!("Good evening, and tea {}.", number.replace(number.get() + 1));
    let message = async || _ = world.send(0, &chat, &text()).await;
    let status = async || _ = post(&world.edge, world.ids[0], text(), None).await;
    let events = document("subscription ChatEvents");
    let home = operation(LIVE, &["subscription HomeEvents", "fragment Event"]);
    all.add("event of a message, for each of 500 members", cost(&world, PLAIN, "\"chatMessage\"", message).await);
    all.add("the same, with each member's number of unread messages", cost(&world, &events, "\"MessageSent\"", message).await);
    all.add("event of a status, for each of 500 homes", cost(&world, &home, "\"StatusPosted\"", status).await);
}

/// Publishes events without subscriptions, then with one for each account, and returns what an event costs more with them, divided by their number. Only
/// responses that contain `kind` are waited for.
async fn cost(world: &World, document: &str, kind: &'static str, publish: impl AsyncFn()) -> Cost {
    let without = published(world, &Subscriptions::default(), 0, &publish).await;
    let tokens: Vec<&str> = world.tokens.iter().map(String::as_str).collect();
    let subscriptions = Subscriptions::of_viewers(&world.edge, document, &json!({}), &tokens, kind).await;
    published(world, &subscriptions, ACCOUNTS, &publish).await.more_than(without, ACCOUNTS)
}

/// Publishes one event after the other, and waits for `responses` to each.
async fn published(world: &World, subscriptions: &Subscriptions, responses: usize, publish: &impl AsyncFn()) -> Cost {
    let events = async |numbers: std::ops::Range<usize>| {
        for number in numbers {
            publish().await;
            world.edge.app.drain().await;
            subscriptions.wait_for_responses((number + 1) * responses).await;
        }
    };
    events(0..WARM).await;
    let measured = async {
        events(WARM..WARM + EVENTS).await;
        (EVENTS, 0)
    };
    measure(&world.bed, &world.edge.app, measured).await
}
