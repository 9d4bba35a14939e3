//! Generated texts with words, #tags and @mentions. The same seed gives the same texts.

const SUBJECTS: [&str; 16] = [
    "The morning train",
    "My sourdough starter",
    "This garden",
    "The night bus",
    "Our release",
    "The old lighthouse",
    "That film",
    "A flock of waxwings",
    "The build",
    "The market on Saturday",
    "My bicycle",
    "The choir",
    "The river path",
    "Our telescope",
    "The coffee down the road",
    "The library",
];
const VERBS: [&str; 12] = [
    "has never looked better",
    "is running late again",
    "surprised everyone today",
    "needs a little patience",
    "finally works as it should",
    "was worth the walk",
    "deserves a second chance",
    "is louder than I remembered",
    "went further than planned",
    "made my day",
    "is full of berries",
    "keeps me awake",
];
const ENDS: [&str; 12] = [
    "and the light is perfect",
    "so bring a friend",
    "but the weather holds",
    "and nobody noticed",
    "while the kettle boils",
    "just before the rain",
    "after three attempts",
    "with a good book in the bag",
    "and I would do it again",
    "for the first time this year",
    "although the map said otherwise",
    "as the street wakes up",
];
const TAGS: [&str; 16] = [
    "birds",
    "redis",
    "rust",
    "graphql",
    "coffee",
    "photography",
    "train",
    "garden",
    "astronomy",
    "music",
    "baking",
    "cycling",
    "books",
    "weather",
    "film",
    "city",
];

/// A deterministic random number generator (SplitMix64).
pub(super) struct RandomNumbers(u64);

impl RandomNumbers {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub(super) const fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    pub(super) const fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Generates a sentence, often with one or two tags, sometimes with the mention.
pub(super) fn sentence(random: &mut RandomNumbers, mention: Option<&str>) -> String {
    let mut text = format!("{} {} {}.", random.pick(&SUBJECTS), random.pick(&VERBS), random.pick(&ENDS));
    if let Some(login) = mention.filter(|_| random.below(5) == 0) {
        text = format!("@{login} {text}");
    }
    for _ in 0..random.below(3) {
        text.push_str(" #");
        text.push_str(random.pick(&TAGS));
    }
    text
}

const OPENINGS: [&str; 8] = [
    "I thought the same",
    "Well said",
    "Not on my street",
    "That made me laugh",
    "Tell us more",
    "I would not have guessed",
    "Count me in",
    "Somebody had to say it",
];

/// Generates a reply.
pub(super) fn reply(random: &mut RandomNumbers) -> String {
    format!("{}, {}.", random.pick(&OPENINGS), random.pick(&ENDS))
}
