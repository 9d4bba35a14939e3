//! The CPU cost of hostile documents: each is checked and, when it passes, validated, on one thread, without Redis. `cargo bench` prints a
//! row for each and fails when one takes five milliseconds or more.

#![recursion_limit = "256"] // The compiler computes the layout of the whole schema's futures here.

use async_graphql::Request;
use rustix::time::{ClockId, clock_gettime};
use std::process::ExitCode;
use waxwing::base::config::Config;
use waxwing::schema;

/// The most frequent document of clients: here it is parsed and validated, and its resolvers fail at once.
const SCREEN: &str = "query Home { viewer { id login followersCount } homeTimeline { entries(first: 30) { edges { cursor node { status { \
    id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount } } } } \
    pageInfo { hasNextPage endCursor } } } }";

const ROUNDS: usize = 50;
/// The maximum CPU time of a document, in microseconds.
const BOUND: f64 = 5_000.0;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (schema, config) = (schema::instance(), Config::default());
    let mut worst: f64 = 0.0;
    println!("{:>9}  {:>9}  {:24}  document", "median us", "worst us", "code");
    for (name, document) in documents() {
        let (mut times, mut code) = (Vec::new(), String::new());
        for _ in 0..ROUNDS {
            let mut request = Request::new(&document);
            let began = cpu();
            let refused = schema::check(&mut request, &config).err();
            let response = match refused {
                Some(refused) => *refused.into_response(),
                None => runtime.block_on(schema::execute(&schema, request)),
            };
            times.push(cpu() - began);
            let code_of = |error: &async_graphql::ServerError| error.extensions.as_ref().and_then(|it| it.get("code").cloned());
            code = response.errors.first().and_then(code_of).map_or("(no error)".into(), |code| code.to_string());
        }
        times.sort_by(f64::total_cmp);
        worst = worst.max(times[ROUNDS / 2]);
        println!("{:9.0}  {:9.0}  {code:24}  {name}", times[ROUNDS / 2], times[ROUNDS - 1]);
    }
    if worst < BOUND { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the CPU time of this thread in microseconds.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e6 + now.tv_nsec as f64 / 1e3
}

/// Repeats `part`, which has `each` tokens, as often as fits into `tokens` tokens. A number replaces each `#`.
fn fill(tokens: usize, each: usize, part: &str) -> String {
    (0..tokens / each).map(|at| part.replace('#', &at.to_string())).collect()
}

fn unfolding(levels: usize, width: usize) -> String {
    let spread = |at: usize| format!(" fragment F{at} on Query {{ {}}}", format!("...F{} ", at + 1).repeat(width));
    format!("{{ ...F0 }}{} fragment F{levels} on Query {{ __typename }}", (0..levels).map(spread).collect::<String>())
}

/// Returns documents of every kind that takes long to validate, at a quarter, a half and the whole of the limits; then documents beyond the
/// limits.
fn documents() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, document: String| all.push((name.to_owned(), document));
    add("a first screen", SCREEN.to_owned());
    for part in [4, 2, 1] {
        let (tokens, of) = (1_950 / part, format!("1/{part}"));
        let fields = 990 / part;
        add(&format!("unknown fields, {of}"), format!("{{ viewer {{ {} }} }}", fill(fields, 1, "nope# ")));
        add(
            &format!("unknown fields with long names, {of}"),
            format!("{{ viewer {{ {} }} }}", fill(fields / 8, 1, &format!("{}# ", "logi".repeat(30)))),
        );
        add(&format!("the same field, {of}"), format!("{{ viewer {{ {} }} }}", fill(fields, 1, "login ")));
        add(&format!("the same field with arguments, {of}"), format!("{{ viewer {{ {} }} }}", fill(tokens, 6, "login(a: #) ")));
        add(&format!("unused variables, {of}"), format!("query({}) {{ __typename }}", fill(tokens, 4, "$v#: Int ")));
        add(&format!("variables of unknown types, {of}"), format!("query({}) {{ __typename }}", fill(tokens, 4, "$v#: T# ")));
        add(&format!("undefined variables, {of}"), format!("{{ viewer {{ {} }} }}", fill(tokens, 8, "login(a: $v#) ")));
        let operations = fill(50 * 7, 7, "query Q# { ...F } ");
        let many =
            format!("{operations} fragment F on Query {{ user({}) {{ id }} }}", fill((1_500 / part).max(40), 4, "a#: $v# "));
        add(&format!("undefined variables of many operations, {of}"), many);
        add(&format!("unknown arguments, {of}"), format!("{{ user({}) {{ id }} }}", fill(tokens, 3, "a#: 1 ")));
        add(&format!("unused fragments, {of}"), format!("{{ __typename }} {}", fill(tokens, 7, "fragment F# on Query { id } ")));
        add(&format!("unknown spreads, {of}"), format!("{{ viewer {{ {} }} }}", fill(fields, 1, "...F# ")));
        let one_fragment = format!("{{ viewer {{ {} }} }} fragment F on User {{ id }}", fill(fields / 2, 1, "...F "));
        add(&format!("one fragment spread often, {of}"), one_fragment);
        add(
            &format!("an object with unknown members, {of}"),
            format!("{{ user(login: {{ {} }}) {{ id }} }}", fill(tokens, 3, "a#: 1 ")),
        );
        add(&format!("a list of lists, {of}"), format!("{{ nodes(ids: [{}]) {{ id }} }}", fill(tokens, 3, "[#] ")));
        add(&format!("directives, {of}"), format!("{{ viewer {{ id {} }} }}", fill(50 / part, 1, "@nope# ")));
        add(&format!("a long string, {of}"), format!("{{ user(login: \"{}\") {{ nope }} }}", "x".repeat(16_000 / part)));
        add(&format!("a long comment, {of}"), format!("{{ nope }} #{}", "x".repeat(16_000 / part)));
        let nested = (0..28 / part).fold("nope".to_owned(), |inner, _| format!("... {{ {inner} {} }}", "__typename ".repeat(9)));
        add(&format!("nested inline fragments, {of}"), format!("{{ viewer {{ {nested} }} }}"));
    }
    add("over: nested brackets", "[".repeat(16_000));
    add("over: nested objects", format!("{{ a(b: {}", "{a:".repeat(5_000)));
    add("over: tokens", "a,".repeat(8_000));
    add("over: aliases", fill(10_000, 4, "a#:b ").chars().take(16_000).collect());
    add("over: doubling fragments, 31 levels", unfolding(31, 2));
    add("over: doubling fragments, 20 levels of 10", unfolding(20, 10));
    add("over: 17 KiB", "x".repeat(17 << 10));
    add("over: 1 MiB", "x".repeat(1 << 20));
    let page = |inner: &str| format!("followers(first: 100) {{ edges {{ node {{ {inner} }} }} }}");
    add("over: pages of pages", format!("{{ user(login: \"a\") {{ {} }} }}", page(&page(&page("id")))));
    all
}
