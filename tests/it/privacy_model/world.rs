//! Accounts on two servers, random operations of them, and the requests of operations.

use super::model::{Audience, Model, Operation, PEOPLE};
use crate::support::{Actor, TestApp};
use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

/// Accounts with one list each, on two servers.
pub(crate) struct World {
    pub(crate) servers: [TestApp; 2],
    /// The server of the next operations. A change that one server has acknowledged is visible on the others within a second.
    pub(crate) server: usize,
    pub(crate) people: Vec<Actor>,
    pub(crate) lists: Vec<String>,
    pub(crate) statuses: Vec<String>,
}

impl World {
    pub(crate) async fn begin(app: TestApp) -> Self {
        let people = app.create_users("p", PEOPLE).await;
        let mut lists = Vec::new();
        for person in &people {
            let made = person.run("CreateList", json!({ "input": { "name": "audience" } })).await;
            lists.push(made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned());
        }
        let servers = [app.sibling().await, app];
        Self { servers, server: 0, people, lists, statuses: Vec::new() }
    }

    /// The account, the mutation and the input of an operation.
    pub(crate) fn request(&self, operation: Operation) -> (usize, &'static str, Value) {
        use Operation as O;
        let on = |field: &'static str, b: usize| (field, json!({ "userId": self.people[b].id }));
        let status = |at: usize| json!({ "statusId": self.statuses[at] });
        let audience_of = |author: usize, audience: Audience| match audience {
            Audience::List => json!({ "audience": "LIST", "audienceListId": self.lists[author] }),
            other => json!({ "audience": other.name() }),
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

    /// Runs a mutation, and returns the code of its user error.
    pub(crate) async fn run(&mut self, (actor, field, input): (usize, &str, Value)) -> Option<String> {
        let result = if field == "postStatus" { "status { id }" } else { "" };
        let payload = self.people[actor].at(&self.servers[self.server]).mutate(field, input, result).await;
        self.statuses.extend(payload["status"]["id"].as_str().map(str::to_owned));
        self.servers[self.server].clock.advance(1_000);
        payload["userErrors"][0]["code"].as_str().map(str::to_owned)
    }
}

impl Operation {
    /// A random operation on few accounts at a time, so that operations meet.
    pub(crate) fn random(random: &mut StdRng, model: &Model) -> Self {
        use Operation::{
            AcceptFollow, AcceptFriend, AddToList, Block, Comment, Delete, Follow, Like, Mute, Post, RejectFollow, RejectFriend,
            RemoveFollower, RemoveFriend, RemoveFromList, RequestFriend, SetAudience, SetPrivate, Unblock, Unfollow, Unmute,
        };
        let mut below = |bound: usize| random.random_range(0..bound);
        let first = below(PEOPLE);
        let near = if below(2) == 0 { 3 } else { PEOPLE - 1 };
        let second = (first + 1 + below(near)) % PEOPLE;
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
        match below(30) {
            at @ 0..17 => pairs[at](first, second),
            17 => RemoveFromList(first, second),
            18 => Block(first, second),
            19 => SetPrivate(first, below(2) == 0),
            20..24 => Post(first, Audience::ALL[below(4)]),
            _ if model.statuses.is_empty() => Post(first, Audience::Public),
            kind => {
                let status = below(model.statuses.len());
                let author = model.statuses[status].author;
                match kind {
                    24 | 25 => SetAudience(author, status, Audience::ALL[below(4)]),
                    26 => SetAudience(first, status, Audience::Public),
                    27 => Delete(author, status),
                    28 => Like(first, status),
                    _ => Comment(first, status),
                }
            }
        }
    }
    /// The accounts of an operation, twice the same if it has one.
    pub(crate) const fn accounts(self) -> [usize; 2] {
        use Operation as O;
        match self {
            O::SetPrivate(a, _) | O::Post(a, _) | O::SetAudience(a, ..) | O::Delete(a, _) | O::Like(a, _) | O::Comment(a, _) => {
                [a, a]
            }
            O::Follow(a, b)
            | O::Unfollow(a, b)
            | O::AcceptFollow(a, b)
            | O::RejectFollow(a, b)
            | O::RemoveFollower(a, b)
            | O::RequestFriend(a, b)
            | O::AcceptFriend(a, b)
            | O::RejectFriend(a, b)
            | O::RemoveFriend(a, b)
            | O::Block(a, b)
            | O::Unblock(a, b)
            | O::Mute(a, b)
            | O::Unmute(a, b)
            | O::AddToList(a, b)
            | O::RemoveFromList(a, b) => [a, b],
        }
    }
}
