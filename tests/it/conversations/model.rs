//! Random operations on conversations, compared with a plain model.

use super::{all_pages, field, reply};
use crate::support::{Actor, TestApp, findings};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;
use std::collections::BTreeSet;

/// A status of the model.
struct ModelStatus {
    id: String,
    message: String,
    author: usize,
    parent: Option<usize>,
    is_living: bool,
    likes: BTreeSet<usize>,
}

struct Model {
    statuses: Vec<ModelStatus>,
}

impl Model {
    fn living(&self) -> Vec<usize> {
        (0..self.statuses.len()).filter(|at| self.statuses[*at].is_living).collect()
    }

    fn children(&self, of: usize) -> Vec<usize> {
        (0..self.statuses.len()).filter(|at| self.statuses[*at].parent == Some(of)).collect()
    }

    /// Returns whether the position of a status remains: it is not deleted, or a reply below it at any depth is not.
    fn remains(&self, at: usize) -> bool {
        self.statuses[at].is_living || self.children(at).into_iter().any(|child| self.remains(child))
    }

    fn shown(&self, at: usize) -> String {
        if self.statuses[at].is_living { self.statuses[at].message.clone() } else { "-".to_owned() }
    }

    fn ancestors(&self, of: usize) -> Vec<String> {
        let (mut all, mut next) = (Vec::new(), self.statuses[of].parent);
        while let Some(at) = next {
            all.insert(0, self.shown(at));
            next = self.statuses[at].parent;
        }
        all
    }

    fn replies(&self, of: usize, sort: &str) -> Vec<String> {
        let mut all: Vec<usize> = self.children(of).into_iter().filter(|at| self.remains(*at)).collect();
        match sort {
            "OLD" => {}
            "NEW" => all.reverse(),
            _ => all.sort_by_key(|at| std::cmp::Reverse((self.statuses[*at].likes.len(), *at))),
        }
        all.into_iter().map(|at| self.shown(at)).collect()
    }

    fn reply_count(&self, of: usize) -> usize {
        self.children(of).into_iter().filter(|at| self.statuses[*at].is_living).count()
    }
}

async fn step(people: &[Actor], model: &mut Model, dice: &mut StdRng) {
    let by = dice.random_range(0..people.len());
    let living = model.living();
    let some = living.choose(dice).copied();
    match (dice.random_range(0..100), some) {
        (0..4, _) | (_, None) => {
            let message = format!("m{}", model.statuses.len());
            let id = people[by].post(&message).await;
            model.statuses.push(ModelStatus { id, message, author: by, parent: None, is_living: true, likes: BTreeSet::new() });
        }
        (4..50, Some(parent)) => {
            let message = format!("m{}", model.statuses.len());
            let id = reply(&people[by], &model.statuses[parent].id, &message).await;
            let parent = Some(parent);
            model.statuses.push(ModelStatus { id, message, author: by, parent, is_living: true, likes: BTreeSet::new() });
        }
        (50..65, Some(at)) => {
            people[by].like(&model.statuses[at].id).await;
            model.statuses[at].likes.insert(by);
        }
        (65..72, Some(at)) => {
            people[by].mutate_ok("unlikeStatus", json!({ "statusId": model.statuses[at].id }), "").await;
            model.statuses[at].likes.remove(&by);
        }
        (_, Some(at)) => {
            let status = &mut model.statuses[at];
            people[status.author].delete(&status.id).await;
            status.is_living = false;
        }
    }
}

async fn compare(viewer: &Actor, model: &Model, dice: &mut StdRng) {
    let Some(at) = model.living().choose(dice).copied() else { return };
    let (id, size) = (&model.statuses[at].id, *[1, 7, 20, 100].choose(dice).expect("a size"));
    let name = format!("{} in pages of {size}", model.statuses[at].message);
    assert_eq!(all_pages(viewer, id, "ancestors", None, size).await, model.ancestors(at), "ancestors of {name}");
    for sort in ["OLD", "NEW", "LIKES"] {
        assert_eq!(all_pages(viewer, id, "replies", Some(sort), size).await, model.replies(at, sort), "{sort} of {name}");
    }
    assert_eq!(field(viewer, id, "replyCount").await, model.reply_count(at), "{name}");
}

#[tokio::test]
async fn conversations_are_those_of_a_plain_model() {
    let steps = std::env::var("WAXWING_CONVERSATION_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(250);
    let app = TestApp::start().await;
    let people = app.users(["ada", "bea", "cyd"]).await;
    let mut dice = StdRng::seed_from_u64(21);
    let mut model = Model { statuses: Vec::new() };
    for at in 0..steps {
        step(&people, &mut model, &mut dice).await;
        if at % 5 == 0 {
            compare(&people[0], &model, &mut dice).await;
        }
    }
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    for status in &model.statuses {
        people[status.author].delete(&status.id).await;
    }
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    let remaining_keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.starts_with("conversation")).collect();
    assert_eq!(remaining_keys, [""; 0], "nothing is left of the conversations");
}
