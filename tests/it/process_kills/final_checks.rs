//! The final checks: by the API, and by an audit of the store.

use super::tracked_user::{KnownState, TrackedUser, order};
use super::world::World;
use crate::support::Actor;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The data of a user, as the API returns it to them.
struct UserView {
    follows: BTreeSet<String>,
    /// Message and status, newest first.
    profile: Vec<(String, String)>,
    home: Vec<String>,
}

pub(super) async fn check(world: &World, people: &[TrackedUser]) {
    let mut shown: HashMap<String, UserView> = HashMap::new();
    for (at, person) in people.iter().enumerate() {
        let actor = person.actor.at_url(&world.server(at).expect("a server"));
        shown.insert(actor.id.clone(), UserView::read(&actor).await);
    }
    for (at, person) in people.iter().enumerate() {
        let own = &shown[&person.actor.id];
        follows_are_acknowledged(person, people, own);
        statuses_are_acknowledged(person, own);
        let mut merged: Vec<&String> = Vec::new();
        for author in own.follows.iter().chain([&person.actor.id]) {
            merged.extend(shown[author].profile.iter().map(|(_, id)| id));
        }
        merged.sort_by_key(|id| std::cmp::Reverse(order(id)));
        assert_eq!(
            own.home.iter().collect::<Vec<_>>(),
            merged,
            "the home of {} is not the merge of its sources",
            person.actor.login
        );
        likes_are_acknowledged(&person.actor.at_url(&world.server(at).expect("a server")), person).await;
    }
    super::threads::check(people, |at| world.server(at).expect("a server")).await;
    world.check_store().await;
    world.stop_and_check_logs();
}

fn follows_are_acknowledged(person: &TrackedUser, people: &[TrackedUser], own: &UserView) {
    for (other, state) in &person.follows {
        let follows = own.follows.contains(&people[*other].actor.id);
        match state {
            KnownState::Present => assert!(follows, "the acknowledged follow of p{other} by {} is lost", person.actor.login),
            KnownState::Absent => assert!(!follows, "the acknowledged unfollow of p{other} by {} is lost", person.actor.login),
            KnownState::Unknown(_) => {}
        }
    }
    let never =
        own.follows.iter().filter(|id| people.iter().all(|it| it.actor.id != **id || !person.follows.contains_key(&it.at)));
    assert_eq!(never.count(), 0, "a follow exists that was never requested");
}

fn statuses_are_acknowledged(person: &TrackedUser, own: &UserView) {
    let mut shown: BTreeMap<&String, &String> = BTreeMap::new();
    for (message, id) in &own.profile {
        assert!(person.posted.contains_key(message), "{message:?} was never posted");
        assert_eq!(shown.insert(message, id), None, "{message:?} exists twice");
    }
    for (message, posted) in &person.posted {
        let id = shown.get(message).copied();
        match posted.state {
            KnownState::Present => assert_eq!(id, posted.id.as_ref(), "{message:?} was acknowledged"),
            KnownState::Absent => assert_eq!(id, None, "{message:?} was deleted or never posted"),
            KnownState::Unknown(_) => assert!(id.is_none() || posted.id.is_none() || id == posted.id.as_ref(), "{message:?}"),
        }
    }
}

async fn likes_are_acknowledged(actor: &Actor, person: &TrackedUser) {
    let liked: Vec<&String> = person.likes.iter().filter(|(_, state)| **state == KnownState::Present).map(|(id, _)| id).collect();
    for ids in liked.chunks(50) {
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Status { id viewerHasLiked } } }";
        let response = actor.gql(query, json!({ "ids": ids })).await;
        let nodes = response["data"]["nodes"].as_array().unwrap_or_else(|| panic!("{response}"));
        // Deleted statuses are null.
        for node in nodes.iter().filter(|node| !node.is_null()) {
            assert_eq!(node["viewerHasLiked"], true, "the acknowledged like by {} of {} is lost", actor.login, node["id"]);
        }
    }
}

impl UserView {
    async fn read(actor: &Actor) -> Self {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let status = |node: &Value| (text(&node["status"]["message"]), text(&node["status"]["id"]));
        let profile = format!("user(login: \"{}\") {{ profileTimeline {{ @ }} }}", actor.login);
        let profile = read_timeline(actor, &profile, "/data/user/profileTimeline/entries").await;
        let home = read_timeline(actor, "homeTimeline { @ }", "/data/homeTimeline/entries").await;
        let query = "query($login: String!) { user(login: $login) { following(first: 100) { edges { node { id } } } } }";
        let response = actor.gql(query, json!({ "login": actor.login })).await;
        let follows = response["data"]["user"]["following"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        Self {
            follows: follows.iter().map(|edge| text(&edge["node"]["id"])).collect(),
            profile: profile.iter().map(status).collect(),
            home: home.iter().map(status).map(|(_, id)| id).collect(),
        }
    }
}

/// Reads a complete timeline.
async fn read_timeline(actor: &Actor, path: &str, pointer: &str) -> Vec<Value> {
    let entries =
        "entries(first: 100, after: $after) { edges { node { status { id message } } } pageInfo { hasNextPage endCursor } }";
    let query = format!("query($after: String) {{ {} }}", path.replace('@', entries));
    let (mut all, mut after) = (Vec::new(), Value::Null);
    loop {
        let response = actor.gql(&query, json!({ "after": after })).await;
        let entries = response.pointer(pointer).unwrap_or_else(|| panic!("{response}"));
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        all.extend(edges.iter().map(|edge| edge["node"].clone()));
        if entries["pageInfo"]["hasNextPage"] == false {
            return all;
        }
        assert_eq!(edges.len(), 100, "a page is short only at the end");
        after = entries["pageInfo"]["endCursor"].clone();
    }
}
