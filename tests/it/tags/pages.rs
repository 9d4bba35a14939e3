//! Pages of the timelines of tags and mentions.

use super::{mentions, tagged};
use crate::support::{Actor, PagedConnection, TestApp};
use serde_json::json;

fn connections(viewer: &Actor) -> [PagedConnection; 2] {
    let connection = |path: &str, pointer| PagedConnection {
        actor: viewer.clone(),
        path: path.to_owned(),
        field: "entries",
        arguments: "",
        pointer,
    };
    [
        connection("tag(name: \"birds\") { timeline { @ } }", "/data/tag/timeline/list"),
        connection("viewerMentions { @ }", "/data/viewerMentions/list"),
    ]
}

/// Posts 36 statuses with a tag and a mention, of which the viewer sees 32; returns their messages, newest first.
async fn post_all(app: &TestApp, [bea, cyd]: [&Actor; 2], viewer: &Actor) -> Vec<String> {
    let mut shown = Vec::new();
    for number in 0..36 {
        app.clock.advance(1_000);
        let message = format!("{number} #birds @{}", viewer.login);
        match number {
            5 => {
                cyd.post(&message).await;
            }
            9 | 10 => {
                bea.mutate_ok("postStatus", json!({ "message": message, "audience": "FOLLOWERS" }), "").await;
            }
            20 => drop(bea.delete(&bea.post(&message).await).await),
            _ => {
                bea.post(&message).await;
                shown.insert(0, message);
            }
        }
    }
    viewer.mutate_ok("muteUser", json!({ "userId": cyd.id }), "").await;
    shown
}

#[tokio::test]
async fn pages_of_tags_and_mentions_add_up_in_both_directions() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let shown = post_all(&app, [&bea, &cyd], &ada).await;
    let [(tag_ids, of_tag), (mention_ids, of_mentions)] = [tagged(&ada, "birds").await, mentions(&ada).await];
    assert_eq!([&of_tag, &of_mentions], [&shown, &shown]);
    let all = connections(&ada);
    let foreign: Vec<Vec<String>> =
        [all[1].page(json!({ "first": 3 })).await.cursors, all[0].page(json!({ "first": 3 })).await.cursors].into();
    for ((connection, ids), foreign) in all.iter().zip([tag_ids, mention_ids]).zip(foreign) {
        connection.check(&ids).await;
        connection.check_between().await;
        connection.check_refusals(&foreign).await;
    }
}

#[tokio::test]
async fn pages_of_tags_and_mentions_neither_skip_nor_repeat_while_others_write() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    post_all(&app, [&bea, &cyd], &ada).await;
    for (connection, ids) in connections(&ada).iter().zip([tagged(&ada, "birds").await.0, mentions(&ada).await.0]) {
        let write = async |_: &_| {
            let status = bea.post("new #birds @ada").await;
            let other = bea.post("another").await;
            crate::edits::edit(&bea, &other, "another #birds @ada").await;
            bea.delete(&status).await;
            bea.delete(&other).await;
        };
        let forward: Vec<String> = connection.forward(7, write).await.into_iter().flat_map(|page| page.ids).collect();
        assert_eq!(forward, ids);
        let mut backward = connection.backward(7, write).await;
        backward.reverse();
        assert_eq!(backward.into_iter().flat_map(|page| page.ids).collect::<Vec<_>>(), ids);
    }
}
