//! Many requests at once, over two servers.

use super::{assert_sound, badge, befriend, card, group, run, start};
use crate::support::TestApp;
use futures_util::future::join_all;
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn rows_have_no_gaps_with_many_senders() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let actors = [&ada, &bea, &cyd].map(|actor| [actor.clone(), actor.at(&other)]).concat();
    let chat = &chat;
    let sends = (0..192).map(|number| {
        let actor = actors[number % actors.len()].clone();
        async move {
            let sent = run(&actor, "SendMessage", json!({ "chatId": chat, "text": number.to_string() })).await;
            sent["chatMessage"]["sequence"].as_u64().unwrap_or_else(|| panic!("{sent}"))
        }
    });
    let mut numbers = Vec::new();
    let mut sends: Vec<_> = sends.collect();
    while !sends.is_empty() {
        numbers.extend(join_all(sends.drain(..sends.len().min(64))).await);
    }
    assert_eq!(numbers.iter().copied().collect::<BTreeSet<_>>(), (1..=192).collect(), "each number once, and none is missing");
    app.drain().await;
    let texts: BTreeSet<String> = {
        let mut texts = BTreeSet::new();
        for around in [50, 150] {
            let answer = ada.run("ChatPage", json!({ "id": chat, "first": 100, "around": around })).await;
            let edges = answer["data"]["node"]["messages"]["edges"].as_array().expect("rows");
            texts.extend(edges.iter().map(|edge| edge["node"]["text"].as_str().expect("a text").to_owned()));
        }
        texts
    };
    assert!(texts.len() > 180, "{}", texts.len());
    let counts = async |actor: &crate::support::Actor| card(actor, chat).await["viewerUnreadCount"].as_u64().expect("a count");
    for actor in [&ada, &bea, &cyd] {
        assert_eq!(badge(actor).await, u64::from(counts(actor).await > 0), "the badge agrees with the count");
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_hundred_concurrent_starts_create_one_chat() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let sides = [(ada.clone(), bea.clone()), (bea.at(&other), ada.clone())];
    let starts = (0..100).map(|number| {
        let (actor, peer) = sides[number % 2].clone();
        async move { start(&actor, &peer).await }
    });
    let chats: BTreeSet<String> = join_all(starts).await.into_iter().collect();
    assert_eq!(chats.len(), 1, "{chats:?}");
    assert_sound(&app).await;
}
