//! Blocks against follows and additions to lists, on two servers: in any order, no follow or membership exists together with the block.

use super::*;
use crate::support::races;
use waxwing::base::ids::UserListId;
use waxwing::domains::graph::service as graph;
use waxwing::domains::lists::service as lists;

/// Asserts that the block exists, and that neither account follows the other or has it on a list.
async fn stands_alone(app: &TestApp, ada: &Actor, bea: &Actor, list: &str) {
    let list = UserListId::from_global(list).expect("an id");
    let edges = [
        graph::edge(&app.app, ada.user_id(), bea.user_id()).await.expect("a store"),
        graph::edge(&app.app, bea.user_id(), ada.user_id()).await.expect("a store"),
        lists::edge(&app.app, list, ada.user_id()).await.expect("a store"),
    ];
    assert_eq!(edges.map(|edge| (edge.follow, edge.unfollowed)), [(None, None); 3]);
    assert_eq!(blocks(ada).await, (vec![bea.login.clone()], 1));
}

#[tokio::test]
async fn no_follow_remains_with_a_block() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (list, elsewhere) = (list_of(&bea, &[]).await, bea.at(&other));
    for race in 0..races(25) {
        // The order alternates.
        let (follows, follows_back, blocks) = (elsewhere.follow(&ada), ada.follow(&bea), block(&ada, &bea.id));
        let (followed, _, blocked) = match race % 2 {
            0 => tokio::join!(follows, follows_back, blocks),
            _ => {
                let (blocked, followed, back) = tokio::join!(blocks, follows, follows_back);
                (followed, back, blocked)
            }
        };
        assert_eq!(user_error_codes(&blocked), [""; 0]);
        assert!(matches!(&user_error_codes(&followed)[..], [] | [_]), "{followed}");
        stands_alone(&app, &ada, &bea, &list).await;
        unblock(&ada, &bea.id).await;
    }
    settles(&app).await;
}

#[tokio::test]
async fn no_membership_remains_with_a_block() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (list, elsewhere) = (list_of(&bea, &[]).await, bea.at(&other));
    for _ in 0..races(25) {
        let (blocked, _) = tokio::join!(block(&ada, &bea.id), add_to_list(&elsewhere, &list, &ada));
        assert_eq!(user_error_codes(&blocked), [""; 0]);
        stands_alone(&app, &ada, &bea, &list).await;
        unblock(&ada, &bea.id).await;
    }
    settles(&app).await;
}

/// Two accounts block each other at the same time: both blocks exist, or the later request does not find the account.
#[tokio::test]
async fn blocks_of_each_other_both_stand_or_one_is_too_late() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let elsewhere = bea.at(&other);
    for _ in 0..races(25) {
        let (of_ada, of_bea) = tokio::join!(block(&ada, &bea.id), block(&elsewhere, &ada.id));
        let (by_ada, by_bea) = (blocks(&ada).await.1, blocks(&bea).await.1);
        assert!(by_ada + by_bea >= 1, "{of_ada} {of_bea}");
        for (person, response, count) in [(&ada, &of_ada, by_ada), (&bea, &of_bea, by_bea)] {
            let expected = if count == 1 { vec![] } else { vec!["NOT_FOUND".to_owned()] };
            assert_eq!(user_error_codes(response), expected, "{}: {response}", person.login);
        }
        unblock(&ada, &bea.id).await;
        unblock(&bea, &ada.id).await;
        assert_eq!((blocks(&ada).await.1, blocks(&bea).await.1), (0, 0), "both can unblock");
    }
    settles(&app).await;
}

async fn settles(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
