//! A quoted status is shown while it is public, and while no block separates the two authors; the quote itself stays.

use super::{quote, quotes, read};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

struct Scene {
    app: TestApp,
    /// Ada quotes a status of Bea.
    ada: Actor,
    bea: Actor,
    viewer: Actor,
    quoted: String,
    quote: String,
}

impl Scene {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let [ada, bea, viewer] = app.users(["ada", "bea", "viewer"]).await;
        for follower in [&ada, &viewer] {
            follower.follow(&bea).await;
        }
        let quoted = bea.post("quoted").await;
        let quote = quote(&ada, &quoted, "the quote").await;
        Self { app, ada, bea, viewer, quoted, quote }
    }

    async fn block(&self, from: &Actor, to: &Actor, on: bool) {
        from.mutate_ok(if on { "blockUser" } else { "unblockUser" }, json!({ "userId": to.id }), "").await;
    }

    async fn set(&self, reason: &str, is_hidden: bool) {
        match reason {
            "private" => drop(self.bea.mutate_ok("updateProfile", json!({ "isPrivate": is_hidden }), "").await),
            "audience" => {
                let audience = if is_hidden { "FOLLOWERS" } else { "PUBLIC" };
                self.bea.mutate_ok("setStatusAudience", json!({ "statusId": self.quoted, "audience": audience }), "").await;
            }
            "the quoted author blocks" => self.block(&self.bea, &self.ada, is_hidden).await,
            "the quoting author blocks" => self.block(&self.ada, &self.bea, is_hidden).await,
            "the viewer blocks" => self.block(&self.viewer, &self.bea, is_hidden).await,
            _ => self.block(&self.bea, &self.viewer, is_hidden).await,
        }
        self.app.drain().await;
    }

    async fn shown(&self, viewer: &Actor) -> Value {
        read(viewer, &self.quote, "message isQuote quotedStatus { message }").await
    }
}

#[tokio::test]
async fn a_hidden_quoted_status_is_shown_again_after_the_reason_ends() {
    let scene = Scene::start().await;
    let nobody = scene.app.anonymous();
    let full = json!({ "message": "the quote", "isQuote": true, "quotedStatus": { "message": "quoted" } });
    let empty = json!({ "message": "the quote", "isQuote": true, "quotedStatus": null });
    for (reason, is_hidden_from_all) in [
        ("private", true),
        ("audience", true),
        ("the quoted author blocks", true),
        ("the quoting author blocks", true),
        ("the viewer blocks", false),
        ("the viewer is blocked", false),
    ] {
        assert_eq!((scene.shown(&scene.viewer).await, scene.shown(&nobody).await), (full.clone(), full.clone()), "{reason}");
        scene.set(reason, true).await;
        assert_eq!(scene.shown(&scene.viewer).await, empty, "{reason}: also from a follower of the author");
        assert_eq!(scene.shown(&nobody).await, if is_hidden_from_all { empty.clone() } else { full.clone() }, "{reason}");
        scene.set(reason, false).await;
    }
}

#[tokio::test]
async fn quotes_that_the_viewer_cannot_see_are_left_out_and_counted() {
    let scene = Scene::start().await;
    let (viewer, status) = (&scene.viewer, &scene.quoted);
    quote(viewer, status, "mine").await;
    assert_eq!(quotes(viewer, status, 1).await, ["mine", "the quote"]);
    scene.block(&scene.ada, viewer, true).await;
    assert_eq!(quotes(viewer, status, 1).await, ["mine"]);
    assert_eq!(read(viewer, status, "quoteCount").await["quoteCount"], 2, "the same for everybody");
    scene.block(&scene.ada, viewer, false).await;
    assert_eq!(quotes(viewer, status, 1).await, ["mine", "the quote"]);
}
