//! The small world: twenty people, whom they follow, and a week of what they say.

use super::plan::{PAST, Spread, TALK, World};
use super::text::{Dice, sentence};
use crate::base::clock::Millis;

/// The login that the playground offers.
pub(in crate::cli) const LOGIN: &str = "ada";
/// The password of everybody in it.
pub(in crate::cli) const PASSWORD: &str = "waxwing-demo";

/// Statuses of the week.
const STATUSES: usize = 400;

/// Login, name, bio.
const PEOPLE: [(&str, &str, &str); 20] = [
    ("ada", "Ada Lindqvist", "Programs by day, counts birds by dawn. Keeper of two bicycles."),
    ("bram", "Bram de Vries", "Night trains, slow travel, strong opinions on timetables."),
    ("chiara", "Chiara Fontana", "Baker. The starter is older than my car."),
    ("dmitri", "Dmitri Volkov", "Distributed systems and close harmonies."),
    ("elif", "Elif Şahin", "Photographs cities before they wake up."),
    ("fatou", "Fatou Diallo", "Water engineer. Rivers have the right of way."),
    ("gus", "Gus O'Malley", "Second-hand books, first-hand gossip."),
    ("hana", "花 Hana Mori", "Potter and part-time astronomer 🔭"),
    ("ines", "Inês Carvalho", "Cartographer. Yes, I know a shortcut."),
    ("jonas", "Jonas Weber", "Builds databases, breaks espresso machines."),
    ("kavya", "Kavya Raman", "Chess, cricket and compilers."),
    ("liam", "Liam Byrne", "Lighthouse volunteer on the west coast."),
    ("mei", "Mei Tanaka", "Film editor. I have seen the other ending."),
    ("noor", "Noor Haddad", "Gardens on roofs, recipes on napkins."),
    ("oskar", "Oskar Nyman", "Choir bass, snow shoveller, patient father of three."),
    ("paula", "Paula Ríos", "Teaches physics with things from the kitchen."),
    ("quinn", "Quinn Harper", "Cycle courier. I am already there."),
    ("rosa", "Rosa Weiss", "Radio plays and other ways to see in the dark."),
    ("samir", "Samir Patel", "Weather, explained. Umbrellas, lent."),
    ("tove", "Tove Holm", "Illustrator of small animals in large coats."),
];

/// The world as of a moment.
pub(super) fn world(now: Millis) -> World {
    let (mut world, mut dice) = (World::default(), Dice::new(20));
    let joined = Spread::new(now - PAST, TALK, PEOPLE.len());
    for (number, (login, name, bio)) in PEOPLE.iter().enumerate() {
        world.add_user(joined.id(number), (*login).into(), (*name).into(), (*bio).into());
    }
    follow(&mut world, &mut dice, now);
    talk(&mut world, &mut dice, now);
    world
}

/// Ada follows half of them, so that her home is full; the others between five and nine of those who come next.
fn follow(world: &mut World, dice: &mut Dice, now: Millis) {
    let people = PEOPLE.len();
    let mut edges: Vec<(usize, usize)> = (1..people).step_by(2).map(|other| (0, other)).collect();
    for follower in 1..people {
        let mut others: Vec<usize> =
            (0..5 + dice.roll(5)).map(|_| dice.roll(people)).filter(|other| *other != follower).collect();
        others.sort_unstable();
        others.dedup();
        edges.extend(others.into_iter().map(|other| (follower, other)));
    }
    let ids = Spread::new(now - 20 * PAST / 30, TALK, edges.len());
    for (place, (follower, followed)) in edges.into_iter().enumerate() {
        world.add_follow(follower, followed, ids.id(place));
    }
}

fn talk(world: &mut World, dice: &mut Dice, now: Millis) {
    let posted = Spread::new(now - TALK, TALK, STATUSES);
    let liked = Spread::new(now - TALK, TALK, STATUSES * PEOPLE.len());
    for place in 0..STATUSES {
        let (author, other) = (dice.roll(PEOPLE.len()), dice.roll(PEOPLE.len()));
        world.add_status(author, posted.id(place), sentence(dice, Some(PEOPLE[other].0)));
        let fans = dice.roll(9);
        let mut likers: Vec<usize> = (0..fans).map(|_| dice.roll(PEOPLE.len())).collect();
        likers.sort_unstable();
        likers.dedup();
        // A like is younger than its status: it takes its id from the next place on, and the last ones share the end.
        let id =
            |order: usize| liked.id(((place + 1) * PEOPLE.len() + order).min(STATUSES * PEOPLE.len() - PEOPLE.len() + order));
        world.add_likes(place, likers.into_iter().enumerate().map(|(order, fan)| (fan, id(order))).collect());
    }
}
