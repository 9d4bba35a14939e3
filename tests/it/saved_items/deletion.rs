//! Deleted statuses and accounts take bookmarks and pins along.

use super::{bookmark, bookmarks, pin, pinned, post};
use crate::support::{Actor, TestApp, findings, references};
use serde_json::json;
use waxwing::base::ids::StatusId;

async fn assert_no_findings(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

async fn delete_account(actor: &Actor) {
    actor.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
}

/// The keys of these kinds.
fn keys_of(app: &TestApp, kinds: &[&str]) -> Vec<String> {
    app.redis.keys().into_iter().filter(|key| kinds.iter().any(|kind| key.starts_with(&format!("{kind}:")))).collect()
}

const KINDS: [&str; 3] = ["bookmarks", "bookmarkers", "pins"];

#[tokio::test]
async fn a_deleted_status_is_removed_from_all_bookmarks() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let (one, two) = (post(&app, &ada, "one").await, post(&app, &ada, "two").await);
    for (who, what) in [(&bea, &one), (&bea, &two), (&cyd, &one), (&ada, &one)] {
        bookmark(who, what).await;
    }
    pin(&ada, &one).await;
    ada.delete(&one).await;
    assert_eq!((bookmarks(&bea).await, bookmarks(&cyd).await), (vec!["two".to_owned()], vec![]), "when the response has arrived");
    assert_eq!(pinned(&ada, "ada").await, Some(vec![]));
    app.drain().await;
    let id = StatusId::from_global(&two).expect("an id").0;
    let remaining_keys = [format!("bookmarkers:{{{id}}}"), format!("bookmarks:{{{}}}", bea.user_id().0)];
    assert_eq!(keys_of(&app, &KINDS).iter().filter(|key| !remaining_keys.contains(key)).collect::<Vec<_>>(), [""; 0]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_status_is_removed_from_the_bookmarks_of_more_accounts_than_a_pass() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 1_050).await;
    let status = post(&app, &users[0], "x").await;
    for part in users.chunks(100) {
        futures_util::future::join_all(part.iter().map(|user| bookmark(user, &status))).await;
    }
    users[0].delete(&status).await;
    app.drain().await;
    assert_eq!(keys_of(&app, &KINDS), [""; 0]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_deleted_account_leaves_no_bookmarks_and_pins() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (of_ada, of_bea) = (post(&app, &ada, "of ada").await, post(&app, &bea, "of bea").await);
    for (who, what) in [(&ada, &of_bea), (&ada, &of_ada), (&bea, &of_ada), (&bea, &of_bea)] {
        bookmark(who, what).await;
    }
    pin(&ada, &of_ada).await;
    pin(&bea, &of_bea).await;
    delete_account(&ada).await;
    assert_eq!(bookmarks(&bea).await, ["of bea"], "when the response has arrived");
    assert_eq!(pinned(&bea, "ada").await, None);
    app.drain().await;
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert_eq!(bookmarks(&bea).await, ["of bea"]);
    assert_eq!(pinned(&bea, "bea").await, Some(vec!["of bea".to_owned()]));
    assert_eq!(keys_of(&app, &KINDS).len(), 3, "those of the other account");
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn an_account_with_more_bookmarks_than_a_pass_is_deleted_completely() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(post(&app, &bea, &number.to_string()).await);
    }
    for id in &ids {
        bookmark(&ada, id).await;
    }
    // Bookmarks of statuses that were deleted without their bookmarks.
    let key = format!("bookmarks:{{{}}}", ada.user_id().0);
    app.redis.run::<()>(&["EVAL", "for n = 1, 2100 do redis.call('ZADD', KEYS[1], n, n) end", "1", &key]);
    delete_account(&ada).await;
    app.drain().await;
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert_eq!(keys_of(&app, &KINDS), [""; 0]);
    assert_no_findings(&app).await;
}
