//! Reading: lists of few and many chats, pages of short and long chats, the number of unread chats, positions, and unread messages. Few and many are measured by
//! turns, in rounds, since the processor of a shared machine is not equally fast all the time.

use super::super::meter::Cost;
use super::super::talk::{Ask, cost_of, request};
use super::world::World;
use super::{Chats, document, work_after_response};
use serde_json::{Value, json};

const ROUNDS: usize = 5;
/// The requests of a round.
const PAGES: usize = 80;
const WARM: usize = 20;
/// One message, by its id.
const MESSAGE: &str =
    "query Message($id: ID!) { node(id: $id) { ... on ChatMessage { id sequence text sentAt sender { id login } } } }";
const CHATS: [usize; 2] = [20, 1_000];
const MESSAGES: [usize; 2] = [100, 100_000];
/// The messages of the shorter chat in which each marking is of one message more.
const MARKED: usize = 1_000;
/// The unread messages of each chat.
const UNREAD: usize = 20;

pub(super) async fn run(all: &mut Chats) {
    let lists = [Lists::of(CHATS[0]).await, Lists::of(CHATS[1]).await];
    by_turns(all, lists.each_ref().map(Lists::reads)).await;
    let [short, marked, long] = [Long::of(MESSAGES[0]).await, Long::of(MARKED).await, Long::of(MESSAGES[1]).await];
    by_turns(all, [&short, &long].map(Long::reads)).await;
    by_turns(all, [&marked, &long].map(Long::markings)).await;
}

/// The measured requests: their name, the store, and the request of each number.
type Reads<'a> = Vec<(String, &'a World, Box<dyn Fn(usize) -> Ask + 'a>)>;

/// Measures the same with two stores by turns.
async fn by_turns(all: &mut Chats, [few, many]: [Reads<'_>; 2]) {
    for pair in few.into_iter().zip(many) {
        let mut costs: [Vec<Cost>; 2] = Default::default();
        for round in 0..ROUNDS {
            for ((_, world, ask), costs) in [&pair.0, &pair.1].into_iter().zip(&mut costs) {
                let numbers = round * (PAGES + WARM)..(round + 1) * (PAGES + WARM);
                costs.push(cost_of(&world.bed, &world.edge, numbers.map(ask).collect(), WARM).await);
            }
        }
        let [few, many] = costs.map(Cost::median);
        all.add(&pair.0.0, few);
        all.add(&pair.1.0, many);
    }
}

/// The same request of the first account, again and again.
fn read<'a>(world: &'a World, operation: &str, variables: Value) -> Box<dyn Fn(usize) -> Ask + 'a> {
    let document = document(operation);
    Box::new(move |_| request(&world.tokens[0], &document, &variables))
}

/// An account with direct chats, each with one unread message, twenty of them with twenty.
struct Lists {
    world: World,
    chats: usize,
}

impl Lists {
    async fn of(chats: usize) -> Self {
        let world = World::of(chats + 1).await;
        for other in 1..=chats {
            let chat = world.direct(0, other).await;
            for number in 0..if other + UNREAD > chats { UNREAD } else { 1 } {
                world.send(other, &chat, &format!("Good evening, for the {number}th time.")).await;
            }
        }
        work_after_response(&world.bed, &world.edge, 1).await;
        Self { world, chats }
    }

    fn reads(&self) -> Reads<'_> {
        let Self { world, chats } = self;
        let pending = json!({ "first": 20, "perChat": UNREAD });
        vec![
            (format!("20 of {chats} chats"), world, read(world, "query Chats", json!({ "first": 20 }))),
            (format!("number of unread chats, of {chats}"), world, read(world, "query UnreadChats", json!({}))),
            (
                format!("{UNREAD} unread messages of each of 20, of {chats} chats"),
                world,
                read(world, "query PendingMessages", pending),
            ),
        ]
    }
}

/// A direct chat with messages.
struct Long {
    world: World,
    chat: String,
    messages: usize,
    /// The message in the middle.
    middle: String,
}

impl Long {
    async fn of(messages: usize) -> Self {
        let world = World::of(2).await;
        let chat = world.direct(0, 1).await;
        let mut middle = String::new();
        for number in 0..messages {
            let id = world.send(number % 2, &chat, &format!("Good evening, for the {number}th time.")).await;
            if number == messages / 2 {
                middle = id;
            }
        }
        work_after_response(&world.bed, &world.edge, 1).await;
        Self { world, chat, messages, middle }
    }

    fn reads(&self) -> Reads<'_> {
        let Self { world, chat, messages, middle } = self;
        let name = |what: &str| format!("{what} of {messages} messages");
        let newest = json!({ "id": chat, "first": 20 });
        let around = json!({ "id": chat, "first": 20, "around": messages / 2 });
        vec![
            (name("newest 20"), world, read(world, "query ChatPage", newest)),
            (name("20 around the middle"), world, read(world, "query ChatPage", around)),
            (name("one by its id,"), world, Box::new(move |_| request(&world.tokens[0], MESSAGE, &json!({ "id": middle })))),
        ]
    }

    fn markings(&self) -> Reads<'_> {
        let Self { world, chat, messages, .. } = self;
        let document = document("mutation MarkChatSeen");
        let seen = move |number: usize| {
            let input = json!({ "input": { "chatId": chat, "sequence": number + 1 } });
            request(&world.tokens[0], &document, &input)
        };
        vec![(format!("marking as seen, of {messages} messages"), world, Box::new(seen))]
    }
}
