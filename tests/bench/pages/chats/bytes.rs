//! The bytes in Redis of a message and of a membership, each as an average over many.

use super::super::bed::Bed;
use super::world::World;
use super::{Chats, work_after_response};
use redis::cmd;

/// A message of 100 bytes in each of twenty buckets of 128.
const SENT: usize = 20 * 128;
const MEMBERS: usize = 400;

pub(super) async fn run(all: &mut Chats) {
    let (message, member) = (message().await, membership().await);
    for (kind, bytes) in [("message of 100 bytes in a direct chat", message), ("membership of a group", member)] {
        println!("  {kind:<60} {bytes:>8.0} bytes");
        all.bytes.push((kind, bytes));
    }
}

/// The memory without the log of events and the journal, which do not grow for ever.
async fn settled_memory(world: &World) -> f64 {
    work_after_response(&world.bed, &world.edge, 1).await;
    let bed: &Bed = &world.bed;
    let logs: Vec<String> = bed.ask(cmd("KEYS").arg("events:*")).await;
    bed.write(logs.iter().map(|log| cmd("XTRIM").arg(log).arg("MAXLEN").arg(0).take())).await;
    bed.used_memory().await as f64
}

async fn message() -> f64 {
    let world = World::of(2).await;
    let chat = world.direct(0, 1).await;
    let text = "x".repeat(100);
    // The first ones create what all share.
    for number in 0..1_024 {
        world.send(number % 2, &chat, &text).await;
    }
    let before = settled_memory(&world).await;
    for number in 0..SENT {
        world.send(number % 2, &chat, &text).await;
    }
    (settled_memory(&world).await - before) / SENT as f64
}

async fn membership() -> f64 {
    let world = World::of(MEMBERS).await;
    // The first one creates the keys of each account.
    world.group(MEMBERS).await;
    let before = settled_memory(&world).await;
    world.group(MEMBERS).await;
    (settled_memory(&world).await - before) / MEMBERS as f64
}
