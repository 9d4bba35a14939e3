//! Random changes of relations, audiences and statuses agree with a model in memory: their results, and the whole view of every account, on two
//! servers. `WAXWING_PRIVACY_STEPS` is the number of operations, `WAXWING_PRIVACY_SEED` the seed.

mod crashes;
mod model;
mod views;

use crate::support::{Actor, TestApp, findings};
use model::{Audience, Model, Operation, PEOPLE, Refusal};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::time::Duration;

/// Operations between two comparisons of all views.
const BETWEEN: usize = 25;

struct Play {
    servers: [TestApp; 2],
    /// The server of the next operations. What one server answers holds on the others within a second.
    server: usize,
    people: Vec<Actor>,
    lists: Vec<String>,
    statuses: Vec<String>,
    model: Model,
    random: StdRng,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// The seed, which is printed.
fn seed() -> u64 {
    let seed = number("WAXWING_PRIVACY_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    println!("seed {seed}");
    seed
}

impl Play {
    async fn begin(app: TestApp, seed: u64) -> Self {
        let people = app.create_users("p", PEOPLE).await;
        let mut lists = Vec::new();
        for person in &people {
            let made = person.run("CreateList", json!({ "input": { "name": "audience" } })).await;
            lists.push(made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned());
        }
        let servers = [app.sibling().await, app];
        Self {
            servers,
            server: 0,
            people,
            lists,
            statuses: Vec::new(),
            model: Model::default(),
            random: StdRng::seed_from_u64(seed),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.random_range(0..bound)
    }

    fn audience(&mut self) -> Audience {
        [Audience::Public, Audience::Followers, Audience::Friends, Audience::List][self.below(4)]
    }

    fn operation(&mut self) -> Operation {
        use Operation::{
            AcceptFollow, AcceptFriend, AddToList, Block, Comment, Delete, Follow, Like, Mute, Post, RejectFollow, RejectFriend,
            RemoveFollower, RemoveFriend, RemoveFromList, RequestFriend, SetAudience, SetPrivate, Unblock, Unfollow, Unmute,
        };
        // Few accounts at a time, so that operations meet.
        let first = self.below(PEOPLE);
        let near = if self.below(2) == 0 { 3 } else { PEOPLE - 1 };
        let second = (first + 1 + self.below(near)) % PEOPLE;
        let pairs: [fn(usize, usize) -> Operation; 17] = [
            Follow,
            Follow,
            Follow,
            Unfollow,
            AcceptFollow,
            AcceptFollow,
            RejectFollow,
            RemoveFollower,
            RequestFriend,
            RequestFriend,
            AcceptFriend,
            RejectFriend,
            RemoveFriend,
            Unblock,
            Mute,
            Unmute,
            AddToList,
        ];
        match self.below(30) {
            at @ 0..17 => pairs[at](first, second),
            17 => RemoveFromList(first, second),
            18 => Block(first, second),
            19 => SetPrivate(first, self.below(2) == 0),
            20..24 => Post(first, self.audience()),
            _ if self.statuses.is_empty() => Post(first, Audience::Public),
            kind => {
                let status = self.below(self.statuses.len());
                let author = self.model.statuses[status].author;
                match kind {
                    24 | 25 => SetAudience(author, status, self.audience()),
                    26 => SetAudience(first, status, Audience::Public),
                    27 => Delete(author, status),
                    28 => Like(first, status),
                    _ => Comment(first, status),
                }
            }
        }
    }

    /// The account, the mutation and the input of an operation.
    fn request(&self, operation: Operation) -> (usize, &'static str, Value) {
        use Operation as O;
        let on = |field: &'static str, b: usize| (field, json!({ "userId": self.people[b].id }));
        let status = |at: usize| json!({ "statusId": self.statuses[at] });
        let audience_of = |author: usize, audience: Audience| match audience {
            Audience::List => json!({ "audience": "LIST", "audienceListId": self.lists[author] }),
            other => json!({ "audience": format!("{other:?}").to_uppercase() }),
        };
        let with = |mut input: Value, name: &str, value: Value| {
            input[name] = value;
            input
        };
        let (actor, (field, input)) = match operation {
            O::Follow(a, b) => (a, on("followUser", b)),
            O::Unfollow(a, b) => (a, on("unfollowUser", b)),
            O::AcceptFollow(a, b) => (a, on("acceptFollowRequest", b)),
            O::RejectFollow(a, b) => (a, on("rejectFollowRequest", b)),
            O::RemoveFollower(a, b) => (a, on("removeFollower", b)),
            O::RequestFriend(a, b) => (a, on("requestFriend", b)),
            O::AcceptFriend(a, b) => (a, on("acceptFriendRequest", b)),
            O::RejectFriend(a, b) => (a, on("rejectFriendRequest", b)),
            O::RemoveFriend(a, b) => (a, on("removeFriend", b)),
            O::Block(a, b) => (a, on("blockUser", b)),
            O::Unblock(a, b) => (a, on("unblockUser", b)),
            O::Mute(a, b) => (a, on("muteUser", b)),
            O::Unmute(a, b) => (a, on("unmuteUser", b)),
            O::AddToList(a, b) => (a, ("addUserToList", json!({ "listId": self.lists[a], "userId": self.people[b].id }))),
            O::RemoveFromList(a, b) => {
                (a, ("removeUserFromList", json!({ "listId": self.lists[a], "userId": self.people[b].id })))
            }
            O::SetPrivate(a, is_private) => (a, ("updateProfile", json!({ "isPrivate": is_private }))),
            O::Post(a, audience) => {
                let message = self.statuses.len().to_string();
                (a, ("postStatus", with(audience_of(a, audience), "message", json!(message))))
            }
            O::SetAudience(a, at, audience) => {
                (a, ("setStatusAudience", with(audience_of(a, audience), "statusId", json!(self.statuses[at]))))
            }
            O::Delete(a, at) => (a, ("deleteStatus", status(at))),
            O::Like(a, at) => (a, ("likeStatus", status(at))),
            O::Comment(a, at) => (a, ("addComment", with(status(at), "message", json!("x")))),
        };
        (actor, field, input)
    }

    /// Runs an operation, and returns the code of its user error.
    async fn run(&mut self, operation: Operation) -> Option<String> {
        let (actor, field, input) = self.request(operation);
        let result = if field == "postStatus" { "status { id }" } else { "" };
        let payload = self.people[actor].at(&self.servers[self.server]).mutate(field, input, result).await;
        self.statuses.extend(payload["status"]["id"].as_str().map(str::to_owned));
        self.servers[self.server].clock.advance(1_000);
        payload["userErrors"][0]["code"].as_str().map(str::to_owned)
    }
}

#[tokio::test]
async fn random_changes_agree_with_a_model_of_the_policy() {
    let seed = seed();
    let steps = number("WAXWING_PRIVACY_STEPS").unwrap_or(400) as usize;
    let mut play = Play::begin(TestApp::start().await, seed).await;
    let mut refused = 0;
    for step in 1..=steps {
        let operation = play.operation();
        let result = play.run(operation).await;
        let expected: Refusal = play.model.apply(operation);
        assert_eq!(result.as_deref(), expected, "seed {seed}, step {step}: {operation:?}");
        refused += usize::from(expected.is_some());
        if step % BETWEEN == 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            for viewer in 0..PEOPLE {
                assert_eq!(play.differences(viewer, &play.model).await, [""; 0], "seed {seed}, step {step}");
            }
            play.server = 1 - play.server;
        }
    }
    assert!(refused > steps / 20 && refused < steps, "{refused} of {steps} operations were refused");
    play.servers[0].drain_journal().await;
    assert_eq!(findings(&play.servers[0].app).await, [""; 0], "seed {seed}");
}
