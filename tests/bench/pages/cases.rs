//! The cases: one request for each main feature of Waxwing.

use super::chats;
use super::guard::READERS;
use super::stage::Stage;
use super::world::PASSWORD;
use axum::body::Bytes;
use serde_json::{Value, json};

const ACCOUNTS: &str = include_str!("../../it/contract/accounts.graphql");
const TIMELINES: &str = include_str!("../../it/contract/timelines.graphql");
const COMMENTS: &str = include_str!("../../it/contract/comments.graphql");
const ADS: &str = include_str!("../../it/contract/ads.graphql");
/// The query of the first screen, in the form that is also sent to other servers.
pub(crate) const HOME: &str = "query Home { viewer { id login followersCount } homeTimeline { entries(first: 30) { edges { cursor node { status { \
    id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount } } } } \
    pageInfo { hasNextPage endCursor } } } }";

/// A kind of request that the benchmark repeats.
pub(crate) struct Case {
    /// Its name in tables and in instructions.json.
    pub(crate) name: &'static str,
    document: String,
    variables: fn(&Stage, usize) -> Value,
    token: fn(&Stage, usize) -> Option<&str>,
    /// The number of requests where each request is counted.
    pub(crate) requests: usize,
    /// Whether the client cache contains users and statuses.
    pub(crate) uses_cache: bool,
    /// Whether each request sends an event to a subscription.
    pub(crate) publishes: bool,
    /// The number of requests whose instructions are counted and compared; 0 for none.
    pub(crate) guarded: usize,
}

impl Case {
    /// Returns the body and the session of one request.
    pub(crate) fn request<'a>(&self, stage: &'a Stage, number: usize) -> (Option<&'a str>, Bytes) {
        let body = json!({ "query": self.document, "variables": (self.variables)(stage, number) });
        ((self.token)(stage, number), body.to_string().into())
    }

    /// Returns several requests in a row.
    pub(crate) fn many<'a>(&self, stage: &'a Stage, numbers: std::ops::Range<usize>) -> Vec<(Option<&'a str>, Bytes)> {
        numbers.map(|number| self.request(stage, number)).collect()
    }

    fn read(name: &'static str, document: String, variables: fn(&Stage, usize) -> Value) -> Self {
        Self { name, document, variables, token: reader, requests: 2_000, uses_cache: true, publishes: false, guarded: READERS }
    }

    fn post(name: &'static str, token: fn(&Stage, usize) -> Option<&str>) -> Self {
        let document = operation(TIMELINES, &["mutation PostStatus", "fragment StatusCard"]);
        let variables = |_: &Stage, number: usize| {
            // Contains a word to which the benchmark subscribes (`tea0`, `tea1`, …), and further text.
            json!({ "input": { "message": format!("Good evening, everyone, and tea{} to all of you.", number % 100) } })
        };
        Self { token, requests: 500, ..Self::read(name, document, variables) }
    }
}

/// Returns all cases.
pub(crate) fn all() -> Vec<Case> {
    let nothing = |_: &Stage, _: usize| json!({});
    let profile = |stage: &Stage, number: usize| json!({ "login": login(stage, number + 1), "first": 20 });
    let thread = |stage: &Stage, _: usize| json!({ "statusId": stage.thread, "first": 20, "sort": "TOP" });
    let tree = |stage: &Stage, _: usize| json!({ "statusId": stage.thread, "first": 100, "sort": "TOP" });
    let card = "fragment CommentCard";
    let page = |stage: &Stage, number: usize| {
        let visitor = format!("visitor {}", number % 500);
        json!({ "input": { "websiteKey": stage.website_key, "slot": "BANNER", "keywords": ["Tea", "pots"], "visitorId": visitor, "count": 1 } })
    };
    let password = |stage: &Stage, number: usize| json!({ "input": { "login": login(stage, number), "password": PASSWORD } });
    let message = |stage: &Stage, number: usize| json!({ "input": { "chatId": stage.chat, "text": format!("Good evening, and tea {number}.") } });
    let chat = |stage: &Stage, _: usize| json!({ "id": stage.chat, "first": 20 });
    let sign_in = operation(ACCOUNTS, &["mutation LogIn", "fragment SessionFields"]);
    vec![
        Case::read("home page", HOME.into(), nothing),
        Case { uses_cache: false, ..Case::read("home page, nothing cached", HOME.into(), nothing) },
        Case::read("profile page", operation(ACCOUNTS, &["query Profile"]), profile),
        Case::post("post, 10 followers", |stage, _| Some(&stage.few)),
        Case { guarded: 2, ..Case::post("post, 1,000 followers", |stage, _| Some(&stage.many)) },
        Case { requests: 500, ..Case::read("thread page", operation(COMMENTS, &["query Thread", card]), thread) },
        Case { requests: 500, ..Case::read("tree of comments", operation(COMMENTS, &["query Tree", card]), tree) },
        Case { token: nobody, ..Case::read("ad decision", operation(ADS, &["mutation ServeAds"]), page) },
        Case {
            token: first,
            requests: 500,
            ..Case::read("message in a direct chat", chats::document("mutation SendMessage"), message)
        },
        Case {
            token: first,
            requests: 500,
            ..Case::read("list of chats", chats::document("query Chats"), |_, _| json!({ "first": 20 }))
        },
        Case { token: first, requests: 500, ..Case::read("page of a chat", chats::document("query ChatPage"), chat) },
        Case { publishes: true, guarded: 0, ..Case::post("post to a live stream", |stage, _| Some(&stage.alone)) },
        // Nearly all of its cost is argon2, which is intended.
        Case { token: nobody, requests: 40, guarded: 0, ..Case::read("log-in", sign_in, password) },
    ]
}

fn reader(stage: &Stage, number: usize) -> Option<&str> {
    Some(&stage.readers[number % stage.readers.len()].token)
}

fn first(stage: &Stage, _: usize) -> Option<&str> {
    Some(&stage.readers[0].token)
}

fn nobody(_: &Stage, _: usize) -> Option<&str> {
    None
}

fn login(stage: &Stage, number: usize) -> &str {
    &stage.readers[number % stage.readers.len()].login
}

/// Returns a client's document: the definitions of a file that begin with one of these texts.
pub(crate) fn operation(file: &str, wanted: &[&str]) -> String {
    let begins = |line: &str| ["query ", "mutation ", "subscription ", "fragment ", "#"].iter().any(|it| line.starts_with(it));
    let mut text = String::new();
    let mut is_included = false;
    for line in file.lines() {
        if begins(line) {
            is_included = wanted.iter().any(|it| line.starts_with(it) && !line[it.len()..].starts_with(char::is_alphanumeric));
        }
        if is_included {
            text.push_str(line.trim());
            text.push('\n');
        }
    }
    text
}
