//! The sample data set: twenty accounts, their follows, and their statuses of a week.

use super::dataset::{Dataset, HISTORY, IdRange, STATUS_PERIOD};
use super::text::{RandomNumbers, sentence};
use crate::base::clock::Millis;

/// The login that the playground offers.
pub(in crate::cli) const LOGIN: &str = "ada";
/// The password of every account of the sample data.
pub(in crate::cli) const PASSWORD: &str = "waxwing-demo";

/// The number of statuses.
const STATUSES: usize = 400;

/// Login, name, bio, location.
const PEOPLE: [(&str, &str, &str, &str); 20] = [
    ("ada", "Ada Lindqvist", "Programs by day, counts birds by dawn. Keeper of two bicycles.", "Malmö"),
    ("bram", "Bram de Vries", "Night trains, slow travel, strong opinions on timetables.", "Utrecht"),
    ("chiara", "Chiara Fontana", "Baker. The starter is older than my car.", "Genova"),
    ("dmitri", "Dmitri Volkov", "Distributed systems and close harmonies.", "Sofia"),
    ("elif", "Elif Şahin", "Photographs cities before they wake up.", "İzmir"),
    ("fatou", "Fatou Diallo", "Water engineer. Rivers have the right of way.", "Dakar"),
    ("gus", "Gus O'Malley", "Second-hand books, first-hand gossip.", "Galway"),
    ("hana", "花 Hana Mori", "Potter and part-time astronomer 🔭", "京都"),
    ("ines", "Inês Carvalho", "Cartographer. Yes, I know a shortcut.", "Porto"),
    ("jonas", "Jonas Weber", "Builds databases, breaks espresso machines.", "Leipzig"),
    ("kavya", "Kavya Raman", "Chess, cricket and compilers.", "Chennai"),
    ("liam", "Liam Byrne", "Lighthouse volunteer on the west coast.", "Kilkee"),
    ("mei", "Mei Tanaka", "Film editor. I have seen the other ending.", "Osaka"),
    ("noor", "Noor Haddad", "Gardens on roofs, recipes on napkins.", "Amman"),
    ("oskar", "Oskar Nyman", "Choir bass, snow shoveller, patient father of three.", "Umeå"),
    ("paula", "Paula Ríos", "Teaches physics with things from the kitchen.", "Valparaíso"),
    ("quinn", "Quinn Harper", "Cycle courier. I am already there.", "Bristol"),
    ("rosa", "Rosa Weiss", "Radio plays and other ways to see in the dark.", "Wien"),
    ("samir", "Samir Patel", "Weather, explained. Umbrellas, lent.", "Pune"),
    ("tove", "Tove Holm", "Illustrator of small animals in large coats.", "Aarhus"),
];

/// Creates the data set as of `now`.
pub(super) fn create(now: Millis) -> Dataset {
    let (mut data, mut random) = (Dataset::default(), RandomNumbers::new(20));
    let joined = IdRange::new(now - HISTORY, STATUS_PERIOD, PEOPLE.len());
    for (number, (login, name, bio, location)) in PEOPLE.iter().enumerate() {
        data.add_user(joined.id(number), (*login).into(), (*name).into(), (*bio).into());
        data.describe_user(location);
    }
    add_follows(&mut data, &mut random, now);
    add_statuses(&mut data, &mut random, now);
    data.find_entities(&PEOPLE.iter().map(|(login, ..)| (*login).to_owned()).collect());
    data
}

/// Adds follows. Ada follows half of the accounts, so that her home is full; each other account follows at most nine.
fn add_follows(data: &mut Dataset, random: &mut RandomNumbers, now: Millis) {
    let people = PEOPLE.len();
    let mut edges: Vec<(usize, usize)> = (1..people).step_by(2).map(|other| (0, other)).collect();
    for follower in 1..people {
        let mut others: Vec<usize> =
            (0..5 + random.below(5)).map(|_| random.below(people)).filter(|other| *other != follower).collect();
        others.sort_unstable();
        others.dedup();
        edges.extend(others.into_iter().map(|other| (follower, other)));
    }
    let ids = IdRange::new(now - 20 * HISTORY / 30, STATUS_PERIOD, edges.len());
    for (index, (follower, followed)) in edges.into_iter().enumerate() {
        data.add_follow(follower, followed, ids.id(index));
    }
}

fn add_statuses(data: &mut Dataset, random: &mut RandomNumbers, now: Millis) {
    let posted = IdRange::new(now - STATUS_PERIOD, STATUS_PERIOD, STATUSES);
    let liked = IdRange::new(now - STATUS_PERIOD, STATUS_PERIOD, STATUSES * PEOPLE.len());
    for index in 0..STATUSES {
        let (author, other) = (random.below(PEOPLE.len()), random.below(PEOPLE.len()));
        data.add_status(author, posted.id(index), sentence(random, Some(PEOPLE[other].0)));
        let likes = random.below(9);
        let mut likers: Vec<usize> = (0..likes).map(|_| random.below(PEOPLE.len())).collect();
        likers.sort_unstable();
        likers.dedup();
        // A like must be newer than its status: its id is from the range of the next status. Likes of the last status use the end of the range.
        let id =
            |order: usize| liked.id(((index + 1) * PEOPLE.len() + order).min(STATUSES * PEOPLE.len() - PEOPLE.len() + order));
        data.add_likes(index, likers.into_iter().enumerate().map(|(order, liker)| (liker, id(order))).collect());
    }
}
