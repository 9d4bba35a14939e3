//! The view of an account, compared with a model.

use super::Play;
use super::model::{Model, PEOPLE};
use crate::support::Actor;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Debug;

const ENTRIES: &str = "{ entries(first: 100) { edges { node { status { message } } } } }";
const NAMES: &str = "(first: 100) { totalCount edges { node { login } } }";

/// A line for each difference from the model.
struct Differences(Vec<String>);

impl Differences {
    fn compare<T: PartialEq + Debug>(&mut self, what: &str, shown: T, expected: T) {
        if shown != expected {
            self.0.push(format!("{what}: {shown:?}, not {expected:?}"));
        }
    }
}

impl Play {
    /// The fields of an account that are compared.
    fn account(at: usize, person: &Actor) -> String {
        format!(
            "u{at}: user(login: {:?}) {{ isPrivate followersCount followingCount friendsCount viewerFollowState viewerIsFollowing
             isFollowingViewer viewerHasFollowRequest viewerFriendship viewerIsBlocking viewerIsMuting
             profileTimeline {ENTRIES} followers{NAMES} following{NAMES} }}",
            person.login
        )
    }

    /// Compares the whole view of an account with a model.
    pub(super) async fn differences(&self, viewer: usize, model: &Model) -> Vec<String> {
        let users: Vec<String> = self.world.people.iter().enumerate().map(|(at, person)| Self::account(at, person)).collect();
        let query = format!(
            "query($list: ID!, $ids: [ID!]!) {{ {} homeTimeline {ENTRIES} node(id: $list) {{ ... on UserList {{ timeline {ENTRIES} members{NAMES} }} }}
             nodes(ids: $ids) {{ ... on Status {{ audience }} }} }}",
            users.join(" ")
        );
        let recent = self.recent();
        let variables = json!({ "list": self.world.lists[viewer], "ids": &self.world.statuses[recent..] });
        let response = self.world.people[viewer].at(&self.world.servers[viewer % 2]).gql(&query, variables).await;
        assert_eq!(response.get("errors"), None, "{response}");
        let (data, mut all) = (&response["data"], Differences(Vec::new()));
        let newest = |all: Vec<usize>| all.into_iter().take(100).map(|at| at.to_string()).collect::<Vec<_>>();
        all.compare(&format!("home of {viewer}"), messages(&data["homeTimeline"]), newest(model.home(viewer)));
        all.compare(&format!("list of {viewer}"), messages(&data["node"]["timeline"]), newest(model.list(viewer)));
        let nodes: Vec<Value> = data["nodes"].as_array().expect("nodes").iter().map(|node| node["audience"].clone()).collect();
        let audience = |at: usize| model.can_view(viewer, at).then(|| model.statuses[at].audience.name());
        let visible: Vec<Value> = (recent..self.world.statuses.len()).map(|at| json!(audience(at))).collect();
        all.compare(&format!("audiences by id for {viewer}, from {recent}"), nodes, visible);
        let members = (0..PEOPLE).filter(|other| model.members.contains(&(viewer, *other))).collect();
        self.compare_names(&format!("members of the list of {viewer}"), &data["node"]["members"], members, &mut all);
        for other in 0..PEOPLE {
            self.compare_account(viewer, other, &data[format!("u{other}")], model, &mut all);
        }
        all.0
    }

    /// The first of the statuses that are compared by id.
    pub(super) fn recent(&self) -> usize {
        self.world.statuses.len().saturating_sub(50)
    }

    fn compare_account(&self, viewer: usize, other: usize, shown: &Value, model: &Model, all: &mut Differences) {
        let when = format!("{viewer} looks at {other}");
        if !model.can_discover(viewer, other) || shown.is_null() {
            all.compare(&format!("{when}: is hidden"), shown.is_null(), !model.can_discover(viewer, other));
            return;
        }
        let has = |pairs: &BTreeSet<(usize, usize)>| pairs.contains(&(viewer, other));
        let is_in = |pairs: &BTreeSet<(usize, usize)>| pairs.contains(&(other, viewer));
        let count =
            |is: &dyn Fn(&(usize, usize)) -> bool, pairs: &BTreeSet<(usize, usize)>| pairs.iter().filter(|pair| is(pair)).count();
        let state = if has(&model.follows) {
            "FOLLOWING"
        } else if has(&model.follow_requests) {
            "REQUESTED"
        } else {
            "NONE"
        };
        let friendship = match () {
            () if has(&model.friends) => "FRIENDS",
            () if has(&model.friend_requests) => "REQUEST_SENT",
            () if is_in(&model.friend_requests) => "REQUEST_RECEIVED",
            () => "NONE",
        };
        let (followers, following) = (count(&|(_, b)| *b == other, &model.follows), count(&|(a, _)| *a == other, &model.follows));
        let expected = json!({
            "isPrivate": model.private.contains(&other),
            "followersCount": followers,
            "followingCount": following,
            "friendsCount": count(&|(a, _)| *a == other, &model.friends),
            "viewerFollowState": state,
            "viewerIsFollowing": has(&model.follows),
            "isFollowingViewer": is_in(&model.follows),
            "viewerHasFollowRequest": is_in(&model.follow_requests),
            "viewerFriendship": friendship,
            "viewerIsBlocking": has(&model.blocks),
            "viewerIsMuting": has(&model.mutes),
        });
        for (name, value) in expected.as_object().expect("an object") {
            all.compare(&format!("{when}: {name}"), &shown[name], value);
        }
        let profile: Vec<String> = model.profile(viewer, other).into_iter().take(100).map(|at| at.to_string()).collect();
        all.compare(&format!("{when}: profile"), messages(&shown["profileTimeline"]), profile);
        for (list, are_first, total) in [("followers", true, followers), ("following", false, following)] {
            let people = model.people(viewer, other, &model.follows, are_first);
            self.compare_names(&format!("{when}: {list}"), &shown[list], people, all);
            all.compare(&format!("{when}: number of {list}"), &shown[list]["totalCount"], &json!(total));
        }
    }

    /// Compares the accounts of a list, in any order.
    fn compare_names(&self, what: &str, shown: &Value, people: Vec<usize>, all: &mut Differences) {
        let mut logins: Vec<&str> = people.iter().map(|at| self.world.people[*at].login.as_str()).collect();
        let mut found: Vec<&str> = edges(shown).iter().map(|edge| edge["node"]["login"].as_str().expect("a login")).collect();
        logins.sort_unstable();
        found.sort_unstable();
        all.compare(what, found, logins);
    }
}

fn edges(connection: &Value) -> &[Value] {
    connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}"))
}

fn messages(timeline: &Value) -> Vec<String> {
    let message = |edge: &Value| edge["node"]["status"]["message"].as_str().expect("a message").to_owned();
    edges(&timeline["entries"]).iter().map(message).collect()
}
