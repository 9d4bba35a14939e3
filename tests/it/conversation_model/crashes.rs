//! Operations during which the server dies after any write, or Redis is killed: each is applied completely or not at all, and one that was acknowledged is
//! applied. `WAXWING_TALK_CRASHES` is their number.

use super::model::{Model, Operation};
use super::operations::request;
use super::views::NOBODY;
use super::{Play, first_seed, settings};
use crate::privacy_model::model::{Operation as RelationOperation, PEOPLE};
use crate::privacy_model::{SYNCED, number};
use crate::support::{RedisServer, START, SingleServerReason, TestApp, findings};
use rand::Rng;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use waxwing::base::clock::Clock;

/// Operations before the first crash.
const BEFORE: usize = 200;
/// The most writes after which the server dies. Some operations have fewer.
const WRITES: usize = 25;

/// The accounts and statuses that an operation may have changed.
fn involved(operation: &Operation, model: &Model) -> (Vec<usize>, Vec<usize>) {
    use Operation as O;
    let of_status = |by: usize, at: usize| {
        let near = [Some(at), model.statuses[at].parent, model.statuses[at].quoted];
        (vec![by, model.author(at)], near.into_iter().flatten().collect())
    };
    match operation {
        O::Relation(RelationOperation::SetAudience(by, at, _)) => of_status(*by, *at),
        O::Relation(operation) => (operation.accounts().to_vec(), Vec::new()),
        O::Post(draft) => {
            let near: Vec<usize> = [draft.parent, draft.quoted].into_iter().flatten().collect();
            (near.iter().map(|at| model.author(*at)).chain([draft.author]).collect(), near)
        }
        O::FollowTag(by, ..) | O::ListTag(by, ..) => (vec![*by], Vec::new()),
        O::ShowReposts(by, other, _) => (vec![*by, *other], Vec::new()),
        O::DeleteAccount(account) => ((0..PEOPLE).filter(|of| of != account).take(3).collect(), Vec::new()),
        O::Edit(by, at, _)
        | O::Delete(by, at)
        | O::SetPolicy(by, at, _)
        | O::Like(by, at)
        | O::Unlike(by, at)
        | O::Repost(by, at)
        | O::UndoRepost(by, at)
        | O::Bookmark(by, at)
        | O::RemoveBookmark(by, at)
        | O::Pin(by, at)
        | O::Unpin(by, at) => of_status(*by, *at),
    }
}

impl Play {
    /// Adds the status that was posted without a response, if it exists.
    async fn adopt_status(&mut self, author: usize, message: &str) -> bool {
        let person = self.world.people[author].at(&self.world.servers[self.world.server]);
        let query = "query($login: String!) { user(login: $login) { profileTimeline { entries(first: 1) { edges { node { status { id message } } } } } } }";
        let response = person.gql(query, json!({ "login": person.login })).await;
        let status = &response["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"];
        let is_new = status["message"] == message;
        self.world.statuses.extend(status["id"].as_str().filter(|_| is_new).map(str::to_owned));
        is_new
    }

    /// A line for each difference from a model for the accounts that an operation involves, two others, and nobody.
    async fn all_differences(&self, model: &Model, (people, statuses): &(Vec<usize>, Vec<usize>)) -> Vec<String> {
        let mut viewers: Vec<usize> = people.iter().copied().chain([0, PEOPLE / 2, NOBODY]).collect();
        viewers.sort_unstable();
        viewers.dedup();
        viewers.retain(|viewer| !self.model.deleted_accounts.contains(viewer) && !model.deleted_accounts.contains(viewer));
        let mut all = Vec::new();
        for viewer in viewers {
            all.extend(self.differences(model, viewer, statuses).await);
        }
        all
    }

    /// Runs an operation that is cut off, and returns its response.
    async fn run_cut_off(&mut self, operation: &Operation, is_redis_killed: bool) -> Option<Option<String>> {
        let request = request(&self.world, operation);
        if is_redis_killed {
            let pause = Duration::from_micros(self.random.random_range(0..8_000));
            self.world.run_while_redis_is_killed(request, pause).await
        } else {
            let writes = self.random.random_range(0..WRITES);
            self.world.run_on_crashing_server(request, writes).await
        }
    }

    /// Whether an operation without a response is applied; compares all views.
    async fn crash(&mut self, number: usize) -> (bool, bool) {
        let operation = self.operation();
        let when = format!("seed {}, crash {number}: {operation:?}", self.seed);
        let before = self.model.clone();
        let involved = involved(&operation, &self.model);
        let is_repeatable = !matches!(operation, Operation::Post(_) | Operation::DeleteAccount(_));
        let refusal = self.model.apply(operation.clone());
        let response = self.run_cut_off(&operation, number % 8 == 7).await;
        // The lease expires, and another server completes the change.
        self.world.servers[0].clock.advance(61_000);
        self.world.servers[0].drain_journal().await;
        if let Operation::Post(draft) = &operation
            && refusal.is_none()
        {
            let is_posted = self.adopt_status(draft.author, &draft.text.message).await;
            assert!(is_posted || response.is_none(), "{when}: an acknowledged status is lost");
            if !is_posted {
                self.model = before.clone();
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let differences = self.all_differences(&self.model, &involved).await;
        let is_applied = differences.is_empty();
        if let Some(response) = &response {
            assert_eq!(response.as_deref(), refusal, "{when}");
            assert_eq!(differences, [""; 0], "{when} was acknowledged");
        } else if !is_applied {
            let others = self.all_differences(&before, &involved).await;
            assert_eq!(others, [""; 0], "{when} is neither absent nor complete: {differences:?}");
            self.model = before;
        } else if refusal.is_none() && is_repeatable && self.all_differences(&before, &involved).await.is_empty() {
            // No view that was compared shows whether it was applied: the client repeats it.
            let request = request(&self.world, &operation);
            assert_eq!(self.world.run(request).await, None, "{when} again");
        }
        assert_eq!(findings(&self.world.servers[0].app).await, [""; 0], "{when}");
        (response.is_none(), is_applied)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_that_are_cut_off_are_applied_completely_or_not_at_all() {
    let crashes = number("WAXWING_TALK_CRASHES").unwrap_or(12) as usize;
    let redis = RedisServer::single_with(SingleServerReason::ConnectionControl, &SYNCED);
    let app = TestApp::on_redis(Arc::new(redis), Clock::manual(START), settings()).await;
    let mut play = Play::begin(app, first_seed()).await;
    for _ in 0..BEFORE {
        play.step().await;
    }
    let (mut without_response, mut applied) = (0, 0);
    // Some operations have fewer writes than the server survives: it continues until enough of them were interrupted.
    for number in 0..4 * crashes {
        if number >= crashes && without_response > crashes / 6 {
            break;
        }
        let (has_no_response, is_applied) = play.crash(number).await;
        without_response += usize::from(has_no_response);
        applied += usize::from(has_no_response && is_applied);
    }
    println!("{without_response} operations had no response, {applied} of which were applied");
    assert!(without_response > crashes / 6, "only {without_response} of {crashes} were cut off");
}
