//! Pages of the levels of a thread in every order, also while other users write.

use super::{Commenter, app_with_status};
use crate::support::{Actor, Page, PagedConnection};
use serde_json::json;

const LEN: usize = 97;
const SORTS: [&str; 5] = ["TOP", "NEW", "OLD", "REPLIES", "CONTROVERSIAL"];

fn top_level(reader: &Actor, status: &str, field: &'static str) -> PagedConnection {
    let path = format!("node(id: \"{status}\") {{ ... on Status {{ commentThread {{ @ }} }} }}");
    PagedConnection { actor: reader.clone(), path, field, arguments: "", pointer: "/data/node/commentThread/list" }
}

fn below(reader: &Actor, comment: &str, field: &'static str) -> PagedConnection {
    let path = format!("node(id: \"{comment}\") {{ ... on Comment {{ @ }} }}");
    PagedConnection { actor: reader.clone(), path, field, arguments: "", pointer: "/data/node/list" }
}

/// A connection in one order.
fn sorted(list: PagedConnection, sort: &str) -> PagedConnection {
    let arguments = match sort {
        "TOP" => "sort: TOP,",
        "NEW" => "sort: NEW,",
        "OLD" => "sort: OLD,",
        "REPLIES" => "sort: REPLIES,",
        _ => "sort: CONTROVERSIAL,",
    };
    PagedConnection { arguments, ..list }
}

fn ids(pages: &[Page]) -> Vec<String> {
    pages.iter().flat_map(|page| page.ids.clone()).collect()
}

#[tokio::test]
async fn the_pages_of_a_level_add_up_in_every_order() {
    let (app, users, status) = app_with_status(4).await;
    let ada = Commenter(&users[0]);
    let parent = ada.comment_on(&status, "parent").await;
    let mut all = Vec::new();
    for number in 0..LEN {
        app.clock.advance((number % 3) as i64);
        let comment = ada.reply_to(&parent, &number.to_string()).await;
        for (at, who) in users[1..].iter().enumerate() {
            match (number * 7 + at * 3) % 5 {
                0 | 1 => drop(Commenter(who).vote(&comment, "UP").await),
                2 => drop(Commenter(who).vote(&comment, "DOWN").await),
                _ => {}
            }
        }
        for _ in 0..number % 3 {
            ada.reply_to(&comment, "x").await;
        }
        let seen = ada.read_comment(&comment).await;
        let number_of = |field: &str| seen[field].as_i64().expect("a count");
        let controversy =
            waxwing::domains::comments::controversy(number_of("upvoteCount") as u64, number_of("downvoteCount") as u64);
        all.push((comment, number_of("score"), number_of("replyCount"), i64::from(controversy)));
    }
    for sort in SORTS {
        // The newest first, then by rank: the sort is stable.
        let mut expected = all.clone();
        if sort != "OLD" {
            expected.reverse();
        }
        match sort {
            "TOP" => expected.sort_by_key(|it| -it.1),
            "REPLIES" => expected.sort_by_key(|it| -it.2),
            "CONTROVERSIAL" => expected.sort_by_key(|it| -it.3),
            _ => {}
        }
        let expected: Vec<String> = expected.into_iter().map(|it| it.0).collect();
        let list = sorted(below(&users[1], &parent, "replies"), sort);
        list.check(&expected).await;
        list.check_between().await;
    }
}

#[tokio::test]
async fn paging_by_age_neither_skips_nor_repeats_comments_during_writes() {
    let (app, users, status) = app_with_status(3).await;
    let ada = Commenter(&users[0]);
    let mut made = Vec::new();
    for number in 0..60 {
        made.push(ada.comment_on(&status, &number.to_string()).await);
    }
    for sort in ["NEW", "OLD"] {
        let list = sorted(top_level(&users[1], &status, "comments"), sort);
        let before = list.page(json!({ "first": 100 })).await.ids;
        let write = async |page: &Page| {
            // Comments of the page get votes and replies, and a new comment is added.
            Commenter(&users[1]).vote(&page.ids[0], "UP").await;
            Commenter(&users[2]).reply_to(&page.ids[1], "x").await;
            ada.comment_on(&status, "new").await;
            app.clock.advance(1);
        };
        let forward = ids(&list.forward(7, write).await);
        assert_eq!(forward[..before.len()], before, "{sort}");
        let mut backward = list.backward(7, write).await;
        backward.reverse();
        let seen: Vec<String> = ids(&backward).into_iter().filter(|id| before.contains(id)).collect();
        assert_eq!(seen, before, "{sort} backwards");
    }
}

#[tokio::test]
async fn paging_by_rank_returns_unmoved_comments_once() {
    let (_app, users, status) = app_with_status(6).await;
    let ada = Commenter(&users[0]);
    let mut made = Vec::new();
    for number in 0..40 {
        let comment = ada.comment_on(&status, &number.to_string()).await;
        for who in &users[1..=1 + number % 4] {
            Commenter(who).vote(&comment, if number % 3 == 0 { "DOWN" } else { "UP" }).await;
        }
        made.push(comment);
    }
    for sort in ["TOP", "REPLIES", "CONTROVERSIAL"] {
        let list = sorted(top_level(&users[1], &status, "comments"), sort);
        let before = list.page(json!({ "first": 100 })).await.ids;
        let mut moved = Vec::new();
        let mut at = 0;
        let pages = list
            .forward(5, async |page| {
                at += page.ids.len();
                for victim in [&page.ids[2], before.get(at + 3).unwrap_or(&page.ids[3])] {
                    Commenter(&users[5]).vote(victim, "UP").await;
                    Commenter(&users[1]).vote(victim, "DOWN").await;
                    Commenter(&users[5]).reply_to(victim, "x").await;
                    moved.push(victim.clone());
                }
            })
            .await;
        let kept = |all: &[String]| -> Vec<String> { all.iter().filter(|id| !moved.contains(id)).cloned().collect() };
        assert_eq!(kept(&ids(&pages)), kept(&before), "{sort}");
        assert!(kept(&before).len() > 10);
    }
}

#[tokio::test]
async fn invalid_page_arguments_are_rejected() {
    let (_app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    let parent = ada.comment_on(&status, "x").await;
    let reply = ada.reply_to(&parent, "y").await;
    ada.reply_to(&reply, "z").await;
    let lists: Vec<PagedConnection> = SORTS
        .iter()
        .flat_map(|sort| {
            let levels = [
                top_level(&users[0], &status, "comments"),
                below(&users[0], &parent, "replies"),
                below(&users[0], &reply, "replies"),
            ];
            levels.map(|list| sorted(list, sort))
        })
        .collect();
    let mut cursors = Vec::new();
    for list in &lists {
        cursors.push(list.page(json!({ "first": 1 })).await.cursors.remove(0));
    }
    for own in [0, 7, 14] {
        let foreign: Vec<String> = cursors.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, it)| it.clone()).collect();
        lists[own].check_refusals(&foreign).await;
    }
}
