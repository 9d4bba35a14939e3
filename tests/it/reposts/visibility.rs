//! A repost is visible while its status is public and no block separates the author and the account; it is shown again when the reason ends.

use super::profiles::{lines, page};
use super::{logins, payload, repost, undo};
use crate::support::{Actor, TestApp};
use serde_json::json;

/// Ada has reposted a status of Bea between two others of Cyd.
struct Scene {
    app: TestApp,
    ada: Actor,
    bea: Actor,
    viewer: Actor,
    status: String,
}

impl Scene {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let [ada, bea, cyd, viewer] = app.users(["ada", "bea", "cyd", "viewer"]).await;
        let mut ids = Vec::new();
        for (author, message) in [(&cyd, "first"), (&bea, "hidden"), (&cyd, "last")] {
            let id = author.post(message).await;
            app.clock.advance(1_000);
            repost(&ada, &id).await;
            ids.push(id);
        }
        // A status that is not public any more is still visible to followers, and its reposts are not.
        viewer.follow(&bea).await;
        ada.follow(&bea).await;
        Self { app, ada, bea, viewer, status: ids.remove(1) }
    }

    async fn block(&self, from: &Actor, to: &Actor, on: bool) {
        from.mutate_ok(if on { "blockUser" } else { "unblockUser" }, json!({ "userId": to.id }), "").await;
    }

    async fn set(&self, reason: &str, is_hidden: bool) {
        match reason {
            "private" => drop(self.bea.mutate_ok("updateProfile", json!({ "isPrivate": is_hidden }), "").await),
            "audience" => {
                let audience = if is_hidden { "FOLLOWERS" } else { "PUBLIC" };
                self.bea.mutate_ok("setStatusAudience", json!({ "statusId": self.status, "audience": audience }), "").await;
            }
            "the author blocks the reposter" => self.block(&self.bea, &self.ada, is_hidden).await,
            "the reposter blocks the author" => self.block(&self.ada, &self.bea, is_hidden).await,
            "the viewer blocks the author" => self.block(&self.viewer, &self.bea, is_hidden).await,
            _ => self.block(&self.bea, &self.viewer, is_hidden).await,
        }
        self.app.drain().await;
    }

    async fn shown(&self, viewer: &Actor) -> Vec<String> {
        lines(&page(viewer, "ada", "includeReposts: true", json!({})).await)
    }
}

#[tokio::test]
async fn a_hidden_repost_is_left_out_and_shown_again_at_its_position() {
    let scene = Scene::start().await;
    let all = ["↻ ada: last", "↻ ada: hidden", "↻ ada: first"];
    for (reason, hidden_from_all) in [
        ("private", true),
        ("audience", true),
        ("the author blocks the reposter", true),
        ("the reposter blocks the author", true),
        ("the viewer blocks the author", false),
        ("the author blocks the viewer", false),
    ] {
        let nobody = scene.app.anonymous();
        assert_eq!(
            (scene.shown(&scene.viewer).await, scene.shown(&nobody).await),
            (all.map(Into::into).into(), all.map(Into::into).into()),
            "{reason}"
        );
        scene.set(reason, true).await;
        let others = [all[0], all[2]];
        assert_eq!(scene.shown(&scene.viewer).await, others, "{reason}");
        assert_eq!(scene.shown(&nobody).await == others, hidden_from_all, "{reason}");
        let first = page(&scene.viewer, "ada", "includeReposts: true", json!({ "first": 2 })).await;
        assert_eq!(lines(&first), others, "{reason}: the page is filled up");
        scene.set(reason, false).await;
    }
    assert_eq!(scene.shown(&scene.viewer).await, all);
}

#[tokio::test]
async fn accounts_whose_repost_is_hidden_are_not_among_the_reposters() {
    let scene = Scene::start().await;
    repost(&scene.viewer, &scene.status).await;
    let nobody = scene.app.anonymous();
    assert_eq!(logins(&nobody, &scene.status).await, ["viewer", "ada"]);
    scene.block(&scene.ada, &scene.bea, true).await;
    assert_eq!(logins(&nobody, &scene.status).await, ["viewer"]);
    assert_eq!(logins(&scene.bea, &scene.status).await, ["viewer"]);
    scene.block(&scene.ada, &scene.bea, false).await;
    scene.ada.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    assert_eq!(logins(&nobody, &scene.status).await, ["viewer"], "a private account is named to its own and to the author");
    assert_eq!(logins(&scene.bea, &scene.status).await, ["viewer", "ada"]);
    scene.set("audience", true).await;
    assert_eq!(logins(&scene.bea, &scene.status).await, [""; 0], "no repost is visible while the status is not public");
    let hidden = undo(&scene.viewer, &scene.status).await;
    assert_eq!(hidden, payload(1, false), "a hidden repost can be undone, and is counted until then");
}

#[tokio::test]
async fn the_reposts_of_a_profile_that_the_viewer_cannot_read_are_hidden() {
    let scene = Scene::start().await;
    scene.ada.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    assert_eq!(scene.shown(&scene.viewer).await, [""; 0]);
    assert_eq!(scene.shown(&scene.ada).await.len(), 3);
}
