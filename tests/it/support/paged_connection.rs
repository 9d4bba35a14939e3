//! The check that every connection passes: pages of any size, in both directions, add up to the list.

use super::{Actor, error_codes};
use serde_json::{Value, json};

/// A connection under test.
pub struct PagedConnection {
    pub actor: Actor,
    /// The selection around the connection, with `@` in its place, such as `user(login: "ada") { @ }`.
    pub path: String,
    /// The field, such as `followers`.
    pub field: &'static str,
    /// Further arguments, such as `sort: NEW`.
    pub arguments: &'static str,
    /// The pointer to the connection in the response.
    pub pointer: &'static str,
}

/// One page: its ids and cursors, and its `pageInfo`.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub ids: Vec<String>,
    pub cursors: Vec<String>,
    pub next: bool,
    pub previous: bool,
}

impl PagedConnection {
    fn query(&self) -> String {
        let connection = format!(
            "list: {}({} first: $first, after: $after, last: $last, before: $before) {{
                edges {{ cursor node {{ id }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }}",
            self.field, self.arguments
        );
        let variables = "$first: Int, $after: String, $last: Int, $before: String";
        format!("query({variables}) {{ {} }}", self.path.replace('@', &connection))
    }

    /// A page, with the cursors of `pageInfo` checked against its edges.
    pub async fn page(&self, arguments: Value) -> Page {
        let response = self.actor.gql(&self.query(), arguments.clone()).await;
        let list = response.pointer(self.pointer).unwrap_or_else(|| panic!("{arguments}: {response}"));
        let edges = list["edges"].as_array().unwrap_or_else(|| panic!("{arguments}: {response}"));
        let all = |pointer: &str| -> Vec<String> {
            edges.iter().map(|edge| edge.pointer(pointer).and_then(Value::as_str).expect("text").to_owned()).collect()
        };
        let (ids, cursors, info) = (all("/node/id"), all("/cursor"), &list["pageInfo"]);
        assert_eq!(
            (info["startCursor"].as_str(), info["endCursor"].as_str()),
            (cursors.first().map(String::as_str), cursors.last().map(String::as_str))
        );
        let flag = |name: &str| info[name].as_bool().expect("a flag");
        Page { ids, cursors, next: flag("hasNextPage"), previous: flag("hasPreviousPage") }
    }

    /// The code and the message with which arguments are refused.
    pub async fn refusal(&self, arguments: Value) -> (String, String) {
        let response = self.actor.gql(&self.query(), arguments.clone()).await;
        assert_eq!(error_codes(&response).len(), 1, "{arguments}: {response}");
        (error_codes(&response).remove(0), response["errors"][0]["message"].as_str().expect("a message").to_owned())
    }

    /// Pages from the newest on; `between` runs after each.
    pub async fn forward(&self, size: usize, mut between: impl AsyncFnMut(&Page)) -> Vec<Page> {
        let mut pages = vec![self.page(json!({ "first": size })).await];
        while let Some(last) = pages.last().filter(|page| page.next).cloned() {
            between(&last).await;
            let after = last.cursors.last().expect("a page with a next one is not empty");
            pages.push(self.page(json!({ "first": size, "after": after })).await);
            assert!(pages.len() < 1_000, "it does not end");
        }
        pages
    }

    /// Pages from the oldest on; `between` runs after each.
    pub async fn backward(&self, size: usize, mut between: impl AsyncFnMut(&Page)) -> Vec<Page> {
        let mut pages = vec![self.page(json!({ "last": size })).await];
        while let Some(last) = pages.last().filter(|page| page.previous).cloned() {
            between(&last).await;
            let before = last.cursors.first().expect("a page with a previous one is not empty");
            pages.push(self.page(json!({ "last": size, "before": before })).await);
            assert!(pages.len() < 1_000, "it does not end");
        }
        pages
    }

    /// Paging forwards and backwards in every size gives `expected`, and every `pageInfo` is correct.
    pub async fn check(&self, expected: &[String]) {
        let whole = self.page(json!({ "first": 100 })).await;
        assert_eq!((&whole.ids[..], whole.next, whole.previous), (expected, false, false));
        for size in [1, 2, 7, 100] {
            let forward = self.forward(size, async |_| ()).await;
            let chunks: Vec<&[String]> = expected.chunks(size).collect();
            assert_eq!(forward.iter().map(|page| &page.ids[..]).collect::<Vec<_>>(), chunks, "first: {size}");
            let previous: Vec<bool> = forward.iter().map(|page| page.previous).collect();
            assert_eq!(previous, (0..chunks.len()).map(|at| at > 0).collect::<Vec<_>>(), "first: {size}");
            let mut backward = self.backward(size, async |_| ()).await;
            backward.reverse();
            let chunks: Vec<&[String]> = expected.rchunks(size).rev().collect();
            assert_eq!(backward.iter().map(|page| &page.ids[..]).collect::<Vec<_>>(), chunks, "last: {size}");
            let next: Vec<bool> = backward.iter().map(|page| page.next).collect();
            assert_eq!(next, (0..chunks.len()).map(|at| at + 1 < chunks.len()).collect::<Vec<_>>(), "last: {size}");
        }
    }

    /// Both cursors at once, each with the size of the other end: the rows strictly between them, from the requested end.
    pub async fn check_between(&self) {
        let all = self.page(json!({ "first": 100 })).await;
        let (newer, older) = (all.cursors[10].as_str(), all.cursors[20].as_str());
        let ask = async |mut arguments: Value| {
            let page = self.page(std::mem::take(&mut arguments)).await;
            (page.ids, page.previous, page.next)
        };
        let part = |from: usize, to: usize| all.ids[from..to].to_vec();
        for (arguments, expected) in [
            (json!({ "first": 50, "after": newer, "before": older }), (part(11, 20), true, true)),
            (json!({ "last": 50, "after": newer, "before": older }), (part(11, 20), true, true)),
            (json!({ "first": 3, "after": newer, "before": older }), (part(11, 14), true, true)),
            (json!({ "last": 3, "after": newer, "before": older }), (part(17, 20), true, true)),
            (json!({ "first": 3, "after": older, "before": newer }), (vec![], true, true)),
            (json!({ "first": 3, "after": newer, "before": newer }), (vec![], true, true)),
            (json!({ "first": 3, "before": newer }), (part(0, 3), false, true)),
            (json!({ "first": 50, "before": newer }), (part(0, 10), false, true)),
            (json!({ "last": 3, "after": older }), (part(all.ids.len() - 3, all.ids.len()), true, false)),
            (json!({ "last": 100, "after": older }), (part(21, all.ids.len()), true, false)),
            (json!({ "after": newer }), (part(11, 31), true, true)),
            (json!({ "before": older }), (part(0, 20), false, true)),
        ] {
            assert_eq!(ask(arguments.clone()).await, expected, "{arguments}");
        }
    }

    /// Every refusal names the argument in its message.
    pub async fn check_refusals(&self, foreign: &[String]) {
        let good = self.page(json!({ "first": 1 })).await.cursors.remove(0);
        for size in [0, -1, 101, i32::MAX, i32::MIN] {
            for name in ["first", "last"] {
                let (code, message) = self.refusal(json!({ name: size })).await;
                assert!(code == "BAD_USER_INPUT" && message.contains(&format!("`{name}`")), "{name}: {size}: {message}");
            }
        }
        let (code, message) = self.refusal(json!({ "first": 2, "last": 2 })).await;
        assert!(code == "BAD_USER_INPUT" && message.contains("first") && message.contains("last"), "{message}");
        let mut forged = vec![
            String::new(),
            "garbage".into(),
            "A".repeat(20),
            good[..19].into(),
            format!("{good}A"),
            "é".repeat(10),
            format!("{good}="),
        ];
        forged.push(good.chars().rev().collect());
        for at in [0, 9, 12, 19] {
            let other = if &good[at..=at] == "A" { "B" } else { "A" };
            forged.push(format!("{}{other}{}", &good[..at], &good[at + 1..]));
        }
        for cursor in forged.iter().chain(foreign) {
            for (name, size) in [("after", "first"), ("before", "last"), ("before", "first"), ("after", "last")] {
                let (code, message) = self.refusal(json!({ size: 1, name: cursor })).await;
                assert!(code == "BAD_USER_INPUT" && message.contains(&format!("`{name}`")), "{name}: {cursor}: {message}");
            }
        }
    }
}
