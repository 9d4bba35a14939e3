//! What must hold in the end: by the API, and by the audit of the whole store.

use super::person::{Belief, Person, place};
use super::town::Town;
use crate::support::Actor;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One person as the API shows them to themselves.
struct Shown {
    follows: BTreeSet<String>,
    /// Message and status, newest first.
    profile: Vec<(String, String)>,
    home: Vec<String>,
}

pub(super) async fn hear(town: &Town, people: &[Person]) {
    let mut shown: HashMap<String, Shown> = HashMap::new();
    for (at, person) in people.iter().enumerate() {
        let actor = person.actor.at_url(&town.server(at).expect("a server"));
        shown.insert(actor.id.clone(), Shown::to(&actor).await);
    }
    for (at, person) in people.iter().enumerate() {
        let own = &shown[&person.actor.id];
        follows_are_acknowledged(person, people, own);
        statuses_are_acknowledged(person, own);
        let mut merged: Vec<&String> = Vec::new();
        for author in own.follows.iter().chain([&person.actor.id]) {
            merged.extend(shown[author].profile.iter().map(|(_, id)| id));
        }
        merged.sort_by_key(|id| std::cmp::Reverse(place(id)));
        assert_eq!(own.home.iter().collect::<Vec<_>>(), merged, "the home of {} is the merge", person.actor.login);
        likes_are_acknowledged(&person.actor.at_url(&town.server(at).expect("a server")), person).await;
    }
    super::threads::hear(people, |at| town.server(at).expect("a server")).await;
    town.is_sound().await;
    town.nothing_odd_was_logged();
}

fn follows_are_acknowledged(person: &Person, people: &[Person], own: &Shown) {
    for (other, belief) in &person.follows {
        let there = own.follows.contains(&people[*other].actor.id);
        match belief {
            Belief::Is => assert!(there, "{} follows p{other}, which was acknowledged and is lost", person.actor.login),
            Belief::IsNot => assert!(!there, "{} has left p{other}, which was acknowledged and is lost", person.actor.login),
            Belief::Unknown(_) => {}
        }
    }
    let never =
        own.follows.iter().filter(|id| people.iter().all(|it| it.actor.id != **id || !person.follows.contains_key(&it.at)));
    assert_eq!(never.count(), 0, "nobody is followed whom nobody asked for");
}

fn statuses_are_acknowledged(person: &Person, own: &Shown) {
    let mut there: BTreeMap<&String, &String> = BTreeMap::new();
    for (message, id) in &own.profile {
        assert!(person.said.contains_key(message), "{message:?} was never said");
        assert_eq!(there.insert(message, id), None, "{message:?} is there twice");
    }
    for (message, said) in &person.said {
        let id = there.get(message).copied();
        match said.belief {
            Belief::Is => assert_eq!(id, said.id.as_ref(), "{message:?} was acknowledged"),
            Belief::IsNot => assert_eq!(id, None, "{message:?} was taken back, or never said"),
            Belief::Unknown(_) => assert!(id.is_none() || said.id.is_none() || id == said.id.as_ref(), "{message:?}"),
        }
    }
}

async fn likes_are_acknowledged(actor: &Actor, person: &Person) {
    let liked: Vec<&String> = person.likes.iter().filter(|(_, belief)| **belief == Belief::Is).map(|(id, _)| id).collect();
    for ids in liked.chunks(50) {
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Status { id viewerHasLiked } } }";
        let answer = actor.gql(query, json!({ "ids": ids })).await;
        let nodes = answer["data"]["nodes"].as_array().unwrap_or_else(|| panic!("{answer}"));
        // What was deleted since is nobody's any more.
        for node in nodes.iter().filter(|node| !node.is_null()) {
            assert_eq!(node["viewerHasLiked"], true, "{} likes {}, which was acknowledged and is lost", actor.login, node["id"]);
        }
    }
}

impl Shown {
    async fn to(actor: &Actor) -> Self {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let status = |node: &Value| (text(&node["status"]["message"]), text(&node["status"]["id"]));
        let profile = format!("user(login: \"{}\") {{ profileTimeline {{ @ }} }}", actor.login);
        let profile = everything(actor, &profile, "/data/user/profileTimeline/entries").await;
        let home = everything(actor, "homeTimeline { @ }", "/data/homeTimeline/entries").await;
        let query = "query($login: String!) { user(login: $login) { following(first: 100) { edges { node { id } } } } }";
        let answer = actor.gql(query, json!({ "login": actor.login })).await;
        let follows = answer["data"]["user"]["following"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
        Self {
            follows: follows.iter().map(|edge| text(&edge["node"]["id"])).collect(),
            profile: profile.iter().map(status).collect(),
            home: home.iter().map(status).map(|(_, id)| id).collect(),
        }
    }
}

/// A timeline to its end.
async fn everything(actor: &Actor, path: &str, pointer: &str) -> Vec<Value> {
    let entries =
        "entries(first: 100, after: $after) { edges { node { status { id message } } } pageInfo { hasNextPage endCursor } }";
    let query = format!("query($after: String) {{ {} }}", path.replace('@', entries));
    let (mut all, mut after) = (Vec::new(), Value::Null);
    loop {
        let answer = actor.gql(&query, json!({ "after": after })).await;
        let entries = answer.pointer(pointer).unwrap_or_else(|| panic!("{answer}"));
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
        all.extend(edges.iter().map(|edge| edge["node"].clone()));
        if entries["pageInfo"]["hasNextPage"] == false {
            return all;
        }
        assert_eq!(edges.len(), 100, "a page is short only at the end");
        after = entries["pageInfo"]["endCursor"].clone();
    }
}
