//! Random changes of relations, audiences and statuses agree with a model in memory: their results, and the whole view of every account, on two
//! servers. `WAXWING_PRIVACY_STEPS` is the number of operations, `WAXWING_PRIVACY_SEED` the seed.

mod crashes;
pub(crate) mod model;
mod views;
mod world;

use crate::support::{TestApp, findings};
use model::{Model, Operation, PEOPLE, Refusal};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::time::Duration;

pub(crate) use crashes::SYNCED;
pub(crate) use world::World;

/// Operations between two comparisons of all views.
const BETWEEN: usize = 25;

struct Play {
    world: World,
    model: Model,
    random: StdRng,
}

pub(crate) fn number(name: &str) -> Option<u64> {
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
        Self { world: World::begin(app).await, model: Model::default(), random: StdRng::seed_from_u64(seed) }
    }

    fn operation(&mut self) -> Operation {
        Operation::random(&mut self.random, &self.model)
    }

    /// Runs an operation, and returns the code of its user error.
    async fn run(&mut self, operation: Operation) -> Option<String> {
        let request = self.world.request(operation);
        self.world.run(request).await
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
            play.world.server = 1 - play.world.server;
        }
    }
    assert!(refused > steps / 20 && refused < steps, "{refused} of {steps} operations were refused");
    play.world.servers[0].drain_journal().await;
    assert_eq!(findings(&play.world.servers[0].app).await, [""; 0], "seed {seed}");
}
