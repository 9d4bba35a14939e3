//! The tree of a thread: all comments in reading order.

use super::{Commenter, app_with_status, line};
use crate::support::{Actor, error_codes};
use serde_json::{Value, json};

struct TreePage {
    lines: Vec<String>,
    ids: Vec<String>,
    cursors: Vec<String>,
    next: bool,
    previous: bool,
}

async fn tree_page(reader: &Actor, status: &str, arguments: Value) -> TreePage {
    let query = "query($id: ID!, $first: Int, $after: String, $sort: CommentSort, $maxDepth: Int) { node(id: $id) { ... on Status { commentThread {
        tree(first: $first, after: $after, sort: $sort, maxDepth: $maxDepth) {
            edges { cursor node { id message depth isDeleted parent { id } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } } }";
    let mut variables = arguments;
    variables["id"] = json!(status);
    let response = reader.gql(query, variables).await;
    let tree = &response["data"]["node"]["commentThread"]["tree"];
    let edges = tree["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let text = |edge: &Value, at: &str| edge.pointer(at).and_then(Value::as_str).expect("text").to_owned();
    let flag = |name: &str| tree["pageInfo"][name].as_bool().expect("a flag");
    TreePage {
        lines: edges.iter().map(|edge| line(&edge["node"])).collect(),
        ids: edges.iter().map(|edge| text(edge, "/node/id")).collect(),
        cursors: edges.iter().map(|edge| text(edge, "/cursor")).collect(),
        next: flag("hasNextPage"),
        previous: flag("hasPreviousPage"),
    }
}

/// Creates a with the replies b (c, d (e)) and f, and g.
async fn create_tree(commenter: &Commenter<'_>, status: &str) -> Vec<String> {
    let a = commenter.comment_on(status, "a").await;
    let b = commenter.reply_to(&a, "b").await;
    let c = commenter.reply_to(&b, "c").await;
    let d = commenter.reply_to(&b, "d").await;
    let e = commenter.reply_to(&d, "e").await;
    let f = commenter.reply_to(&a, "f").await;
    let g = commenter.comment_on(status, "g").await;
    vec![a, b, c, d, e, f, g]
}

#[tokio::test]
async fn a_tree_is_read_in_order_at_every_depth() {
    let (_app, users, status) = app_with_status(1).await;
    create_tree(&Commenter(&users[0]), &status).await;
    let old = ["a", "-b", "--c", "--d", "---e", "-f", "g"];
    let new = ["g", "a", "-f", "-b", "--d", "---e", "--c"];
    for (sort, expected) in [("OLD", old), ("NEW", new), ("TOP", new), ("CONTROVERSIAL", new)] {
        for size in 1..=8 {
            let (mut all, mut after) = (Vec::new(), Value::Null);
            loop {
                let page = tree_page(&users[0], &status, json!({ "first": size, "after": after, "sort": sort })).await;
                assert_eq!(page.previous, !all.is_empty(), "{sort} {size}");
                all.extend(page.lines.clone());
                assert!(!page.next || page.lines.len() == size);
                if !page.next {
                    break;
                }
                after = json!(page.cursors.last());
            }
            assert_eq!(all, expected, "{sort} by {size}");
        }
    }
    for (depth, expected) in
        [(1, &["a", "g"][..]), (2, &["a", "-b", "-f", "g"]), (3, &["a", "-b", "--c", "--d", "-f", "g"]), (4, &old)]
    {
        for size in [1, 3, 100] {
            let (mut all, mut after) = (Vec::new(), Value::Null);
            loop {
                let arguments = json!({ "first": size, "after": after, "sort": "OLD", "maxDepth": depth });
                let page = tree_page(&users[0], &status, arguments).await;
                all.extend(page.lines.clone());
                if !page.next {
                    break;
                }
                after = json!(page.cursors.last());
            }
            assert_eq!(all, expected, "{depth} levels by {size}");
        }
    }
}

#[tokio::test]
async fn paging_continues_from_a_deleted_comment() {
    let (app, users, status) = app_with_status(2).await;
    let (ada, bob) = (Commenter(&users[0]), Commenter(&users[1]));
    let all = create_tree(&bob, &status).await;
    let page = tree_page(&users[0], &status, json!({ "first": 100, "sort": "OLD" })).await;
    let rest =
        async |at: usize| tree_page(&users[0], &status, json!({ "first": 100, "sort": "OLD", "after": page.cursors[at] })).await;
    for (at, expected) in [(0, 6), (4, 2), (6, 0)] {
        let found = rest(at).await;
        assert_eq!((found.ids.len(), found.previous, found.next), (expected, true, false), "after {at}");
    }
    bob.delete(&all[4], false).await;
    assert_eq!(rest(4).await.lines, ["-f", "g"], "after a deleted leaf");
    // A branch is deleted while a reader pages in it: none of its comments is returned, and no other comment is missing.
    let id = waxwing::base::ids::CommentId::from_global(&all[1]).expect("an id");
    let key = format!("comment:{{{}}}:{}", id.status.0, id.number);
    app.redis.run::<()>(&["RENAME", &key, &format!("{key}0")]);
    for at in 1..=4 {
        assert_eq!(rest(at).await.lines, ["-f", "g"], "after {at}, before the branch is cleaned up");
    }
    app.redis.run::<()>(&["RENAME", &format!("{key}0"), &key]);
    assert_eq!(ada.delete(&all[1], true).await["removedCount"], 3);
    for at in 1..=4 {
        assert_eq!(rest(at).await.lines, ["-f", "g"], "after {at}");
    }
    ada.delete(&all[0], true).await;
    assert_eq!(rest(2).await.lines, ["g"]);
    ada.delete(&all[6], true).await;
    let nothing = rest(2).await;
    assert_eq!((nothing.lines, nothing.next, nothing.previous), (vec![], false, false));
}

#[tokio::test]
async fn invalid_page_arguments_are_rejected() {
    let (_app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    create_tree(&ada, &status).await;
    let other = users[0].post("another").await;
    ada.comment_on(&other, "x").await;
    let foreign = tree_page(&users[0], &other, json!({ "first": 1 })).await.cursors.remove(0);
    let of_new = tree_page(&users[0], &status, json!({ "first": 1, "sort": "NEW" })).await.cursors.remove(0);
    let level = users[0].run("Thread", json!({ "statusId": status, "first": 1 })).await;
    let level = level["data"]["node"]["commentThread"]["comments"]["edges"][0]["cursor"].as_str().expect("a cursor").to_owned();
    let mut own = tree_page(&users[0], &status, json!({ "first": 1 })).await.cursors.remove(0);
    own.pop();
    for wrong in [
        json!({ "first": 0 }),
        json!({ "first": 101 }),
        json!({ "first": -1 }),
        json!({ "maxDepth": 0 }),
        json!({ "maxDepth": -3 }),
        json!({ "after": foreign }),
        json!({ "after": of_new }),
        json!({ "after": level }),
        json!({ "after": own }),
        json!({ "after": "" }),
        json!({ "after": "garbage" }),
    ] {
        let mut variables = wrong.clone();
        variables["statusId"] = json!(status);
        let response = users[0].run("Tree", variables).await;
        assert_eq!(error_codes(&response), ["BAD_USER_INPUT"], "{wrong}: {response}");
        let message = response["errors"][0]["message"].as_str().expect("a message");
        let name = wrong.as_object().and_then(|it| it.keys().next()).expect("an argument");
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
    assert_eq!(tree_page(&users[0], &status, json!({ "maxDepth": i32::MAX })).await.ids.len(), 7);
}
