//! The final check of threads: each is read completely, and compared with the acknowledged changes of all users.

use super::thread_actions::PostedComment;
use super::tracked_user::{KnownState, TrackedUser};
use crate::support::Actor;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All threads: the existing comments by id; `None` for a deleted status.
type Threads = HashMap<String, Option<BTreeMap<String, Value>>>;

pub(super) async fn check(people: &[TrackedUser], url: impl Fn(usize) -> String) {
    let comments: Vec<(usize, &String, &PostedComment)> =
        people.iter().flat_map(|it| it.threads.comments.iter().map(|(message, remark)| (it.at, message, remark))).collect();
    // Including comments whose author received no response, but which others have read.
    let seen = people.iter().flat_map(|it| it.threads.below.iter().map(|(id, above)| (id, Some(above))));
    let acknowledged = comments.iter().filter_map(|(_, _, it)| Some((it.id.as_ref()?, it.parent.as_ref())));
    let parents: HashMap<&String, Option<&String>> = seen.chain(acknowledged).collect();
    let branches = |is: fn(&KnownState) -> bool| -> BTreeSet<&String> {
        let all = people.iter().flat_map(|it| &it.threads.branches);
        all.filter(|(_, state)| is(state)).map(|(id, _)| id).collect()
    };
    let (went, may_have_gone) = (branches(|state| *state == KnownState::Absent), branches(|_| true));
    let mut threads = Threads::new();
    for (_, _, remark) in &comments {
        if !threads.contains_key(&remark.status) {
            threads.insert(remark.status.clone(), read(&people[0].actor.at_url(&url(0)), &remark.status).await);
        }
    }
    let existing_comments: HashMap<&String, &Value> = threads.values().flatten().flatten().collect();
    assert!(went.iter().all(|id| !existing_comments.contains_key(*id)), "a comment of a deleted branch exists");
    let mut messages: BTreeMap<&str, usize> = BTreeMap::new();
    for comment in existing_comments.values().filter(|it| it["isDeleted"] == false) {
        *messages.entry(comment["message"].as_str().expect("a message")).or_default() += 1;
    }
    for (message, count) in &messages {
        let posted = comments.iter().find(|(_, posted, _)| posted == message);
        assert!(
            *count == 1 && posted.is_some_and(|(_, _, it)| it.state != KnownState::Absent),
            "{message:?} exists {count} times"
        );
    }
    let mut lost_with_others = 0;
    for (_, message, remark) in &comments {
        let Some(id) = remark.id.as_ref().filter(|_| remark.state == KnownState::Present) else { continue };
        let mut above = std::iter::successors(Some(id), |id| parents.get(*id).copied().flatten());
        if threads[&remark.status].is_none() || above.any(|id| may_have_gone.contains(id)) {
            lost_with_others += 1;
        } else {
            let shown =
                existing_comments.get(id).unwrap_or_else(|| panic!("{message:?} was acknowledged, but is lost: {remark:?}"));
            assert_eq!((shown["message"].as_str(), &shown["parent"]["id"]), (Some(message.as_str()), &json!(remark.parent)));
        }
    }
    for person in people {
        votes_are_acknowledged(&person.actor.at_url(&url(person.at)), person, &existing_comments).await;
    }
    let votes: usize = people.iter().map(|it| it.threads.votes.len()).sum();
    println!(
        "{} comments, {} exist in {} threads, {lost_with_others} were deleted with a status or a branch; {} branches, {votes} votes",
        comments.len(),
        messages.len(),
        threads.len(),
        may_have_gone.len()
    );
    assert!(!messages.is_empty() && votes > 0, "there are no comments or no votes");
}

/// Reads a complete thread, and checks its counts.
async fn read(actor: &Actor, status: &str) -> Option<BTreeMap<String, Value>> {
    let (mut all, mut after) = (BTreeMap::new(), Value::Null);
    let fields = "id message isDeleted replyCount descendantCount parent { id }";
    let query = format!(
        "query($id: ID!, $after: String) {{ node(id: $id) {{ ... on Status {{ commentCount commentThread {{ tree(first: 100, after: $after) \
         {{ edges {{ node {{ {fields} }} }} pageInfo {{ hasNextPage endCursor }} }} }} }} }} }}"
    );
    loop {
        let response = actor.gql(&query, json!({ "id": status, "after": after })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        let thread = &response["data"]["node"];
        if thread.is_null() {
            return None;
        }
        let tree = &thread["commentThread"]["tree"];
        for node in tree["edges"].as_array().unwrap_or_else(|| panic!("{response}")).iter().map(|edge| &edge["node"]) {
            let id = node["id"].as_str().expect("an id").to_owned();
            assert!(all.insert(id, node.clone()).is_none(), "{node} is repeated");
        }
        if tree["pageInfo"]["hasNextPage"] == false {
            counts_are_exact(&all, &thread["commentCount"]);
            return Some(all);
        }
        after = tree["pageInfo"]["endCursor"].clone();
    }
}

fn counts_are_exact(all: &BTreeMap<String, Value>, counted: &Value) {
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    let living: Vec<&Value> = all.values().filter(|it| it["isDeleted"] == false).collect();
    for comment in &living {
        let mut parent = comment["parent"]["id"].as_str();
        let mut is_direct = true;
        while let Some(above) = parent {
            let count = counts.entry(above).or_default();
            *count = (count.0 + u64::from(is_direct), count.1 + 1);
            is_direct = false;
            parent = all.get(above).unwrap_or_else(|| panic!("the parent of {comment} does not exist"))["parent"]["id"].as_str();
        }
    }
    assert_eq!(counted, &json!(living.len()));
    for (id, comment) in all {
        let (replies, descendants) = counts.get(id.as_str()).copied().unwrap_or_default();
        assert_eq!((&comment["replyCount"], &comment["descendantCount"]), (&json!(replies), &json!(descendants)), "{comment}");
    }
}

async fn votes_are_acknowledged(actor: &Actor, person: &TrackedUser, there: &HashMap<&String, &Value>) {
    let is_there = |id: &String| there.get(id).is_some_and(|it| it["isDeleted"] == false);
    let cast: Vec<_> = person.threads.votes.iter().filter(|(id, it)| it.state == KnownState::Present && is_there(id)).collect();
    for votes in cast.chunks(50) {
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment { id viewerVote } } }";
        let ids: Vec<&String> = votes.iter().map(|(id, _)| *id).collect();
        let response = actor.gql(query, json!({ "ids": ids })).await;
        for ((id, ballot), node) in votes.iter().zip(response["data"]["nodes"].as_array().unwrap_or_else(|| panic!("{response}")))
        {
            assert_eq!(node["viewerVote"], ballot.vote, "{}'s vote on {id}", actor.login);
        }
    }
}
