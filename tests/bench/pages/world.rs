//! A store with this many users who follow each other and have posted statuses.

use super::bed::Bed;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use waxwing::base::clock::{DAY, Millis};
use waxwing::base::ids::source::{self, IMPORT_WORKER};
use waxwing::base::ids::{StatusId, UserId};
use waxwing::domains::statuses::Status;
use waxwing::domains::users::User;
use waxwing::domains::{graph, sessions, statuses, timelines, users};

/// The password of all users.
pub(crate) const PASSWORD: &str = "correct horse";
/// The age of the oldest statuses, and the length of the period in which users post.
const PAST: Millis = 7 * DAY;
const CHUNK: usize = 5_000;
const AT_ONCE: usize = 32;
const MESSAGES: [&str; 4] = [
    "What a day for a walk along the river; the herons are back, and so are the people who photograph them.",
    "The tea is ready, come over.",
    "Does anybody know who left a green bicycle by the library? It has been there for a week, and it begins to rust.",
    "Reading about lighthouses again. The one on the west coast was lit by hand until 1987.",
];

/// The size of a world.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) users: usize,
    /// The number of users who read: only they follow others and have a home.
    pub(crate) readers: usize,
    /// The number of users whom each reader follows.
    pub(crate) follows: usize,
    /// The number of statuses of each user.
    pub(crate) statuses: usize,
}

/// A user who reads.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Reader {
    pub(crate) id: u64,
    pub(crate) login: String,
    pub(crate) token: String,
    /// The users whom it follows.
    #[serde(skip)]
    pub(crate) follows: Vec<u64>,
    /// The statuses of its home, in no order.
    #[serde(skip)]
    pub(crate) home: Vec<u64>,
}

/// Loads the world, and creates a session for every reader. The data is the same each time, except for times and tokens.
pub(crate) async fn load(bed: &Bed, size: Size) -> Vec<Reader> {
    let began = bed.app.now() - PAST;
    // Spread over a day: at most 64 ids fit into a millisecond, and fewer are needed.
    let id =
        |at: usize, of: usize, from: Millis| source::compose(from + at as u64 * DAY / of as u64, IMPORT_WORKER, at as u64 % 64);
    let people: Vec<UserId> = (0..size.users).map(|at| UserId(id(at, size.users, began))).collect();
    let readers: Vec<usize> = (0..size.readers).map(|at| at * size.users / size.readers).collect();
    let step = (size.users - 1) / size.follows;
    let whom = |reader: usize| (0..size.follows).map(move |at| (reader + 1 + at * step) % size.users);
    let mut edges = Vec::with_capacity(size.readers * size.follows);
    for reader in &readers {
        edges.extend(whom(*reader).map(|other| (*reader, other)));
    }
    let many = edges.len();
    let edges: Vec<_> = edges.into_iter().enumerate().map(|(at, (a, b))| (a, b, id(at, many, began + DAY))).collect();
    accounts(bed, size, &people, &edges).await;
    graph::service::import(&bed.app, &people, &edges).await.expect("follows");
    let status_id = |user: usize, at: usize| StatusId(id(at * size.users + user, size.users * size.statuses, began + 3 * DAY));
    import_statuses(bed, size, &people, status_id).await;
    let profile = |user: usize| (0..size.statuses).map(move |at| status_id(user, at)).collect::<Vec<_>>();
    let homes = readers.iter().map(async |reader| {
        let home = std::iter::once(*reader).chain(whom(*reader)).flat_map(profile).collect();
        timelines::service::import(&bed.app, people[*reader], &profile(*reader), home).await
    });
    stream::iter(homes).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.expect("homes");
    let ids: Vec<UserId> = readers.iter().map(|at| people[*at]).collect();
    let tokens = sessions::service::create_many(&bed.app, &ids).await.expect("sessions");
    let of = |(at, token): (&usize, String)| Reader {
        id: people[*at].0,
        login: format!("user{at}"),
        token,
        follows: whom(*at).map(|other| people[other].0).collect(),
        home: std::iter::once(*at).chain(whom(*at)).flat_map(profile).map(|id| id.0).collect(),
    };
    readers.iter().zip(tokens).map(of).collect()
}

async fn accounts(bed: &Bed, size: Size, people: &[UserId], edges: &[(usize, usize, u64)]) {
    let mut counts = vec![(0, 0); people.len()];
    for (follower, followed, _) in edges {
        counts[*follower].0 += 1;
        counts[*followed].1 += 1;
    }
    let user = |(at, id): (usize, &UserId)| User {
        bio: "Keeper of two bicycles.".into(),
        avatar_url: Some(format!("https://example.com/avatars/{at}.png").into()),
        followers: counts[at].1,
        following: counts[at].0,
        posts: size.statuses as u64,
        ..User::new(*id, format!("user{at}"), format!("User Number {at}"))
    };
    let all: Vec<User> = people.iter().enumerate().map(user).collect();
    for part in all.chunks(CHUNK) {
        users::service::import(&bed.app, part, PASSWORD).await.expect("accounts");
    }
}

/// Posts the statuses, from all users in turns.
async fn import_statuses(bed: &Bed, size: Size, people: &[UserId], status_id: impl Fn(usize, usize) -> StatusId + Copy) {
    let status = |at: usize, user: usize| {
        let (id, message) = (status_id(user, at), MESSAGES[(at + user) % MESSAGES.len()].to_owned());
        Status::new(id, people[user], message)
    };
    let places: Vec<(usize, usize)> = (0..size.statuses).flat_map(|at| (0..size.users).map(move |user| (at, user))).collect();
    for part in places.chunks(CHUNK) {
        let all: Vec<Status> = part.iter().map(|(at, user)| status(*at, *user)).collect();
        statuses::service::import(&bed.app, all.iter()).await.expect("statuses");
    }
    let profiles = (0..size.users).map(async |user| {
        let ids: Vec<StatusId> = (0..size.statuses).map(|at| status_id(user, at)).collect();
        statuses::service::import_profile(&bed.app, people[user], &ids).await
    });
    stream::iter(profiles).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.expect("profiles");
}
