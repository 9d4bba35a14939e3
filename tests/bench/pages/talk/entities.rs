//! Finding the entities of texts: of usual texts of 500 characters, and of hostile ones of ten times the length.

use super::super::bed::of_this_process;
use super::Talk;
use std::hint::black_box;
use waxwing::domains::entities::find;

const TIMES: u32 = 2_000;
/// A text, and the parts that are repeated to its length.
const TEXTS: [(&str, &str); 6] = [
    (
        "words, two mentions, two tags and a link in 125 characters",
        "Good evening @ada and @bea, the #herons are back at the #river: see https://birds.example.com/herons?day=2 and tell the others. ",
    ),
    ("@@@@", "@"),
    ("....", "."),
    ("http://a.a.a.a", "http://a.a.a.a"),
    ("emoji", "😀"),
    ("a@#", "a@#"),
];

pub(super) fn run(all: &mut Talk) {
    for (name, part) in TEXTS {
        for characters in [500, 5_000] {
            let text: String = part.chars().cycle().take(characters).collect();
            let before = of_this_process();
            for _ in 0..TIMES {
                black_box(find(black_box(&text)));
            }
            let each = (of_this_process() - before) / f64::from(TIMES);
            println!("  {name:<60} {characters:>6} characters {each:>8.1} us");
            all.entities.push((name, characters, each));
        }
    }
}
