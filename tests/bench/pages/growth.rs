//! The growth of costs: of a home page by the number of users, of followed authors and of their statuses; of a post by the number of
//! recipients.

use super::bed::Bed;
use super::cases::{self, Case};
use super::edge::Edge;
use super::inside::is_whole;
use super::live::Subscriptions;
use super::meter::{Cost, measure};
use super::stage::Stage;
use super::world::{self, Reader, Size};
use serde::Serialize;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::Target;
use waxwing::domains::sessions;

/// The number of home pages in each average.
const PAGES: usize = 1_000;
/// The maximum number of answers to subscriptions where all of them receive every event.
const TOLD: usize = 20_000;

/// A dimension of growth, its values, and the cost of a request at each value.
#[derive(Serialize)]
pub(crate) struct Line {
    /// The dimension that grows.
    pub(crate) of: &'static str,
    /// The kind of request.
    pub(crate) what: &'static str,
    pub(crate) points: Vec<(usize, Cost)>,
}

pub(crate) fn run() -> Vec<Line> {
    println!("How it grows, a request:");
    println!("  of what                how many  what                       CPU us: own  Redis  trips  commands");
    super::runtime().block_on(async {
        let few = Size { users: 2_000, readers: 50, follows: 50, statuses: 2 };
        let users = [1_000, 10_000, 100_000].map(|users| (users, Size { users, readers: 200, ..few }));
        let follows = [10, 100, 1_000].map(|follows| (follows, Size { follows, statuses: 10, ..few }));
        let sizes_by_statuses =
            [10, 100, 1_000].map(|statuses| (statuses, Size { users: 100, readers: 20, follows: 30, statuses }));
        let mut lines = Vec::new();
        for (of, sizes) in [("users", users), ("follows a reader", follows), ("statuses an author", sizes_by_statuses)] {
            lines.extend(homes(of, &sizes).await);
        }
        for (what, all) in [("post, one subscriber matches", false), ("post, all subscribers match", true)] {
            lines.push(subscribers(what, all).await);
        }
        println!();
        lines
    })
}

fn tell(of: &str, many: usize, what: &str, cost: &Cost) {
    println!(
        "  {of:<20} {many:>10}  {what:<26} {:>11.0} {:>6.0} {:>6.1} {:>9.1}",
        cost.own, cost.redis, cost.trips, cost.commands
    );
}

/// Measures home pages with the cache, and without.
async fn homes(of: &'static str, sizes: &[(usize, Size)]) -> [Line; 2] {
    let [home, far] = { cases::all() }.into_iter().take(2).collect::<Vec<_>>().try_into().ok().expect("two of them");
    let line = |case: &Case| Line { of, what: case.name, points: Vec::new() };
    let mut lines = [line(&home), line(&far)];
    for (many, size) in sizes {
        let bed = Bed::with(&[], Config::default()).await;
        let stage = Stage { readers: world::load(&bed, *size).await, ..Stage::empty() };
        for (line, case) in lines.iter_mut().zip([&home, &far]) {
            let cost = pages(&bed, &stage, case).await;
            tell(of, *many, case.name, &cost);
            line.points.push((*many, cost));
        }
    }
    lines
}

async fn pages(bed: &Bed, stage: &Stage, case: &Case) -> Cost {
    let edge = Edge::over(&Target::socket(&bed.socket()), case.uses_cache, Clock::System).await;
    for (token, body) in case.many(stage, 0..stage.readers.len()) {
        is_whole(&edge.ask(token, body).await);
    }
    let requests = case.many(stage, 0..PAGES);
    let work = async {
        let mut answered = 0;
        for (token, body) in requests {
            answered += edge.ask(token, body).await.len();
        }
        (PAGES, answered)
    };
    measure(bed, &edge.app, work).await
}

/// Measures posts with this many open subscriptions, each to its own word, or all to the home of a follower of the author.
async fn subscribers(what: &'static str, all: bool) -> Line {
    let mut points = Vec::new();
    let case = { cases::all() }.into_iter().find(|case| case.publishes).expect("there is one");
    for many in [0, 1_000, 10_000] {
        let bed = Bed::with(&[], Config::default()).await;
        let reader = bed.author("reader", &[]).await;
        let author = bed.author("author", &[reader]).await;
        let mut tokens = sessions::service::create_many(&bed.app, &[reader, author]).await.expect("sessions").into_iter();
        let [reader, author] = [0, 1].map(|_| tokens.next().expect("one for each"));
        let stage = Stage { alone: author, ..Stage::empty() };
        let edge = Edge::over(&Target::socket(&bed.socket()), true, Clock::System).await;
        let subscriptions = match all {
            true => Subscriptions::to_home(&edge, &reader, many).await,
            false => Subscriptions::to_words(&edge, many).await,
        };
        let each = if all { many } else { many.min(1) };
        let posts = if all { (TOLD / many.max(1)).clamp(2, 300) } else { 300 };
        let mut requests = case.many(&stage, 0..posts + 20).into_iter();
        for (at, (token, body)) in requests.by_ref().take(20).enumerate() {
            is_whole(&edge.ask(token, body).await);
            subscriptions.wait_for_responses((at + 1) * each).await;
        }
        let work = async {
            let mut answered = 0;
            for (at, (token, body)) in requests.enumerate() {
                answered += edge.ask(token, body).await.len();
                subscriptions.wait_for_responses((at + 21) * each).await;
            }
            edge.app.drain().await;
            (posts, answered)
        };
        let cost = measure(&bed, &edge.app, work).await;
        tell("subscribers", many, what, &cost);
        points.push((many, cost));
    }
    Line { of: "subscribers", what, points }
}

impl Stage {
    /// Creates a world without users and data.
    fn empty() -> Self {
        let nothing = String::new;
        let readers: Vec<Reader> = Vec::new();
        Self {
            readers,
            few: nothing(),
            many: nothing(),
            alone: nothing(),
            thread: nothing(),
            website_key: nothing(),
            chat: nothing(),
        }
    }
}
