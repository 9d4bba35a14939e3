//! Bookmarked and pinned statuses that the viewer cannot see are left out, and are shown again at their positions.

use super::{bookmark, bookmarks, page, pin, pinned, post, remove_bookmark};
use crate::support::{Actor, TestApp, user_error_codes};
use serde_json::{Value, json};

struct Scene {
    app: TestApp,
    viewer: Actor,
    bea: Actor,
    /// The status of bea between two of cyd.
    status: String,
}

impl Scene {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let [viewer, bea, cyd] = app.users(["viewer", "bea", "cyd"]).await;
        let mut ids = Vec::new();
        for (author, message) in [(&cyd, "first"), (&bea, "hidden"), (&cyd, "last")] {
            let status = post(&app, author, message).await;
            bookmark(&viewer, &status).await;
            ids.push(status);
        }
        pin(&bea, &ids[1]).await;
        Self { app, viewer, bea, status: ids.remove(1) }
    }

    async fn narrow(&self, audience: &str) {
        self.bea.mutate_ok("setStatusAudience", json!({ "statusId": self.status, "audience": audience }), "").await;
    }

    async fn set_private(&self, is_private: bool) {
        self.bea.mutate_ok("updateProfile", json!({ "isPrivate": is_private }), "").await;
    }

    /// Hides the status from the viewer, or shows it again.
    async fn set(&self, reason: &str, is_hidden: bool) {
        let block = if is_hidden { "blockUser" } else { "unblockUser" };
        match reason {
            "private" => self.set_private(is_hidden).await,
            "audience" => self.narrow(if is_hidden { "FRIENDS" } else { "PUBLIC" }).await,
            "blocks" => drop(self.viewer.mutate_ok(block, json!({ "userId": self.bea.id }), "").await),
            _ => drop(self.bea.mutate_ok(block, json!({ "userId": self.viewer.id }), "").await),
        }
        self.app.drain().await;
    }
}

#[tokio::test]
async fn a_hidden_status_is_left_out_and_shown_again_at_its_position() {
    let scene = Scene::start().await;
    let viewer = &scene.viewer;
    let before = page(viewer, json!({})).await;
    for reason in ["private", "audience", "blocks", "is blocked"] {
        assert_eq!(bookmarks(viewer).await, ["last", "hidden", "first"], "{reason}");
        scene.set(reason, true).await;
        assert_eq!(bookmarks(viewer).await, ["last", "first"], "{reason}");
        // The page is filled up, and a cursor of a hidden entry is still valid.
        let first = page(viewer, json!({ "first": 2 })).await;
        assert_eq!(
            (first["edges"][1]["node"]["message"].as_str(), &first["pageInfo"]["hasNextPage"]),
            (Some("first"), &json!(false))
        );
        let after = page(viewer, json!({ "after": before["edges"][1]["cursor"] })).await;
        assert_eq!(after["edges"].as_array().map(Vec::len), Some(1), "{reason}");
        assert_eq!(user_error_codes(&bookmark(viewer, &scene.status).await), ["NOT_FOUND"], "{reason}");
        scene.set(reason, false).await;
        assert_eq!(page(viewer, json!({})).await, before, "{reason}: with its time and its cursor");
    }
}

#[tokio::test]
async fn a_bookmark_of_a_hidden_status_can_be_removed() {
    for reason in ["private", "audience", "blocks", "is blocked"] {
        let scene = Scene::start().await;
        scene.set(reason, true).await;
        for _ in 0..2 {
            let removed = remove_bookmark(&scene.viewer, &scene.status).await;
            assert_eq!(removed, json!({ "status": null, "userErrors": [] }), "{reason}");
        }
        scene.set(reason, false).await;
        assert_eq!(bookmarks(&scene.viewer).await, ["last", "first"], "{reason}");
    }
}

#[tokio::test]
async fn a_mute_hides_no_bookmark() {
    let scene = Scene::start().await;
    scene.viewer.mutate_ok("muteUser", json!({ "userId": scene.bea.id }), "").await;
    assert_eq!(bookmarks(&scene.viewer).await, ["last", "hidden", "first"]);
    assert_eq!(pinned(&scene.viewer, "bea").await.as_deref(), Some(&["hidden".to_owned()][..]));
}

#[tokio::test]
async fn pins_are_shown_to_viewers_who_can_read_the_profile_and_see_the_status() {
    let scene = Scene::start().await;
    let (viewer, bea, nobody) = (&scene.viewer, &scene.bea, scene.app.anonymous());
    let other = post(&scene.app, bea, "for all").await;
    pin(bea, &other).await;
    let both = ["for all".to_owned(), "hidden".to_owned()];
    let shown = async |actor: &Actor| pinned(actor, "bea").await;
    for actor in [viewer, bea, &nobody] {
        assert_eq!(shown(actor).await.as_deref(), Some(&both[..]));
    }
    scene.set("audience", true).await;
    for (actor, expected) in [(viewer, &both[..1]), (&nobody, &both[..1]), (bea, &both[..])] {
        assert_eq!(shown(actor).await.as_deref(), Some(expected), "only the visible ones");
    }
    scene.set("audience", false).await;
    scene.set("private", true).await;
    for (actor, expected) in [(viewer, &both[..0]), (&nobody, &both[..0]), (bea, &both[..])] {
        assert_eq!(shown(actor).await.as_deref(), Some(expected), "none on a profile that is not read");
    }
    scene.set("private", false).await;
    scene.set("blocks", true).await;
    assert_eq!(shown(viewer).await.as_deref(), Some(&both[..0]));
    scene.set("blocks", false).await;
    scene.set("is blocked", true).await;
    assert_eq!(shown(viewer).await, None, "the account does not exist for the viewer");
    scene.set("is blocked", false).await;
    assert_eq!(shown(viewer).await.as_deref(), Some(&both[..]));
}

/// A member of a list of the author sees statuses for it, but does not read the profile of a private account.
#[tokio::test]
async fn a_member_of_a_list_sees_no_pins_of_a_private_account() {
    let scene = Scene::start().await;
    let (viewer, bea) = (&scene.viewer, &scene.bea);
    let made = bea.mutate_ok("createUserList", json!({ "name": "circle" }), "userList { id }").await;
    let list: &Value = &made["userList"]["id"];
    bea.mutate_ok("addUserToList", json!({ "listId": list, "userId": viewer.id }), "").await;
    let input = json!({ "statusId": scene.status, "audience": "LIST", "audienceListId": list });
    bea.mutate_ok("setStatusAudience", input, "").await;
    assert_eq!(pinned(viewer, "bea").await.as_deref(), Some(&["hidden".to_owned()][..]));
    scene.set_private(true).await;
    assert_eq!(pinned(viewer, "bea").await, Some(vec![]));
    assert_eq!(bookmarks(viewer).await, ["last", "hidden", "first"], "the status itself is visible");
}
