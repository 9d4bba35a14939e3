//! Reposts in homes and lists: the changes that add, hide and remove them.

use super::{assert_no_findings, repost, undo};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::config::Config;

const ENTRIES: &str = "edges { node { id repostedAt repostedBy { login } status { message } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

const DAY_MS: i64 = 24 * 3_600_000;

/// A home of twenty entries that is dropped when nobody reads it for two days.
fn config(star_followers: u64) -> Config {
    Config { home_window: 20, home_idle: 2 * DAY_MS as u64, star_followers, ..Config::default() }
}

/// The entries of a connection: the message, with `↻ login` for a repost.
fn lines(entries: &Value) -> Vec<String> {
    let line = |edge: &Value| {
        let message = edge["node"]["status"]["message"].as_str().expect("a message");
        match edge["node"]["repostedBy"]["login"].as_str() {
            Some(login) => format!("↻ {login}: {message}"),
            None => message.to_owned(),
        }
    };
    entries["edges"].as_array().unwrap_or_else(|| panic!("{entries}")).iter().map(line).collect()
}

async fn home_page(viewer: &Actor, variables: Value) -> Value {
    let query = format!(
        "query($first: Int, $after: String, $last: Int, $before: String) {{
            homeTimeline {{ entries(first: $first, after: $after, last: $last, before: $before) {{ {ENTRIES} }} }} }}"
    );
    let response = viewer.gql(&query, variables).await;
    let entries = response["data"]["homeTimeline"]["entries"].clone();
    assert!(entries.is_object(), "{response}");
    entries
}

/// The first hundred entries of a home.
pub(super) async fn home(viewer: &Actor) -> Vec<String> {
    lines(&home_page(viewer, json!({ "first": 100 })).await)
}

/// A home to its end in pages of a size, forwards and backwards, which must be the same.
async fn read_in_pages(viewer: &Actor, size: usize) -> Vec<String> {
    let (mut forwards, mut after) = (Vec::new(), Value::Null);
    loop {
        let page = home_page(viewer, json!({ "first": size, "after": after })).await;
        forwards.extend(lines(&page));
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    let (mut backwards, mut before) = (Vec::new(), Value::Null);
    loop {
        let page = home_page(viewer, json!({ "last": size, "before": before })).await;
        backwards.splice(0..0, lines(&page));
        before = page["pageInfo"]["startCursor"].clone();
        if page["pageInfo"]["hasPreviousPage"] == false {
            break;
        }
    }
    assert_eq!(forwards, backwards, "pages of {size}");
    forwards
}

async fn list_of(owner: &Actor, members: &[&Actor]) -> String {
    let list = owner.mutate_ok("createUserList", json!({ "name": "l" }), "userList { id }").await;
    let list = list["userList"]["id"].as_str().expect("an id").to_owned();
    for member in members {
        owner.mutate_ok("addUserToList", json!({ "listId": list, "userId": member.id }), "").await;
    }
    list
}

async fn list(owner: &Actor, id: &str) -> Vec<String> {
    let query = format!(
        "query($id: ID!) {{ node(id: $id) {{ ... on UserList {{ timeline {{ entries(first: 100) {{ {ENTRIES} }} }} }} }} }}"
    );
    lines(&owner.gql(&query, json!({ "id": id })).await["data"]["node"]["timeline"]["entries"])
}

fn size(app: &TestApp, actor: &Actor) -> usize {
    app.redis.run(&["ZCARD", &format!("home:{{{}}}", actor.user_id().0)])
}

#[tokio::test]
async fn a_repost_is_in_homes_and_lists_at_its_own_time() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    cyd.follow(&bea).await;
    let of_dan = list_of(&dan, &[&bea]).await;
    let one = ada.post("one").await;
    bea.post("two").await;
    repost(&bea, &one).await;
    bea.post("three").await;
    for viewer in [&bea, &cyd] {
        assert_eq!(home(viewer).await, ["three", "↻ bea: one", "two"]);
    }
    assert_eq!(list(&dan, &of_dan).await, ["three", "↻ bea: one", "two"]);
    assert_eq!((home(&ada).await, home(&dan).await), (vec!["one".to_owned()], vec![]), "of whom they do not follow");
    // The same again changes nothing; undone and repeated it has a new time.
    repost(&bea, &one).await;
    assert_eq!(home(&cyd).await, ["three", "↻ bea: one", "two"]);
    undo(&bea, &one).await;
    assert_eq!(
        (home(&cyd).await, list(&dan, &of_dan).await),
        (vec!["three".into(), "two".into()], vec!["three".into(), "two".into()])
    );
    repost(&bea, &one).await;
    for viewer in [&bea, &cyd] {
        assert_eq!(home(viewer).await, ["↻ bea: one", "three", "two"]);
    }
    ada.delete(&one).await;
    assert_eq!(
        (home(&cyd).await, list(&dan, &of_dan).await),
        (vec!["three".into(), "two".into()], vec!["three".into(), "two".into()])
    );
    app.drain_journal().await;
    assert_eq!((size(&app, &cyd), size(&app, &bea)), (2, 2), "the entries are gone");
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn following_adds_reposts_and_unfollowing_removes_them() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let ids = [ada.post("one").await, ada.post("two").await];
    for id in &ids {
        repost(&bea, id).await;
    }
    bea.post("own").await;
    let of_cyd = list_of(&cyd, &[]).await;
    cyd.follow(&bea).await;
    cyd.mutate_ok("addUserToList", json!({ "listId": of_cyd, "userId": bea.id }), "").await;
    let all = ["own", "↻ bea: two", "↻ bea: one"];
    assert_eq!((home(&cyd).await, list(&cyd, &of_cyd).await), (all.map(String::from).to_vec(), all.map(String::from).to_vec()));
    cyd.unfollow(&bea).await;
    cyd.mutate_ok("removeUserFromList", json!({ "listId": of_cyd, "userId": bea.id }), "").await;
    assert_eq!((home(&cyd).await, list(&cyd, &of_cyd).await), (vec![], vec![]));
    app.drain_journal().await;
    assert_eq!(size(&app, &cyd), 0);
    cyd.follow(&bea).await;
    cyd.follow(&ada).await;
    assert_eq!(home(&cyd).await, ["own", "two", "one"], "the statuses themselves follow soon");
    cyd.unfollow(&ada).await;
    assert_eq!(home(&cyd).await, all);
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    assert_eq!(home(&cyd).await, [""; 0]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn reposts_continue_below_the_window_and_are_restored_by_a_rebuild() {
    for star_followers in [1_000, 1] {
        let app = TestApp::with(config(star_followers)).await;
        let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
        let mut expected = Vec::new();
        cyd.follow(&bea).await;
        app.drain().await;
        for n in 0..30 {
            let id = ada.post(&format!("a{n}")).await;
            if n % 3 == 0 {
                repost(&bea, &id).await;
                expected.insert(0, format!("↻ bea: a{n}"));
            } else {
                bea.post(&format!("b{n}")).await;
                expected.insert(0, format!("b{n}"));
            }
            app.clock.advance(1_000);
        }
        app.drain().await;
        for size in [1, 7, 20, 100] {
            assert_eq!(read_in_pages(&cyd, size).await, expected, "pages of {size}, stars from {star_followers}");
        }
        // An undone repost is not served from below the floor either.
        let undone = ada
            .gql("{ viewer { profileTimeline { entries(first: 100) { edges { node { status { id message } } } } } } }", json!({}))
            .await;
        let edges = undone["data"]["viewer"]["profileTimeline"]["entries"]["edges"].as_array().expect("edges").clone();
        let oldest = edges.iter().map(|edge| &edge["node"]["status"]).find(|status| status["message"] == "a0").expect("it");
        undo(&bea, oldest["id"].as_str().expect("an id")).await;
        expected.pop();
        assert_eq!(read_in_pages(&cyd, 7).await, expected);
        // A home that nobody reads is dropped. The reposts of an account that is followed meanwhile are added, too.
        app.clock.advance(3 * DAY_MS);
        let late = ada.post("late").await;
        repost(&bea, &late).await;
        expected.insert(0, "↻ bea: late".to_owned());
        app.drain().await;
        let [eve] = app.users(["eve"]).await;
        repost(&eve, &ada.post("of eve").await).await;
        cyd.follow(&eve).await;
        app.drain().await;
        expected.insert(0, "↻ eve: of eve".to_owned());
        assert_eq!(read_in_pages(&cyd, 7).await, expected, "before the rebuild; stars from {star_followers}");
        app.drain().await;
        assert_eq!(read_in_pages(&cyd, 7).await, expected, "after the rebuild; stars from {star_followers}");
        assert_no_findings(&app).await;
    }
}

#[tokio::test]
async fn a_rebuilt_home_has_the_reposts_of_an_account_followed_while_it_was_dropped() {
    let app = TestApp::with(config(1_000)).await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    bea.follow(&cyd).await;
    home(&bea).await;
    app.drain().await;
    app.clock.advance(3 * DAY_MS);
    cyd.post("drops it").await;
    let state: Option<String> = app.redis.run(&["HGET", &format!("feed:{{{}}}", bea.user_id().0), "is"]);
    assert_eq!(state.as_deref(), Some("dropped"));
    let [eve] = app.users(["eve"]).await;
    repost(&eve, &ada.post("one").await).await;
    bea.follow(&eve).await;
    for state in ["dropped", "rebuilt"] {
        assert_eq!(home(&bea).await, ["↻ eve: one", "drops it"], "{state}");
        app.drain().await;
    }
    assert_eq!(size(&app, &bea), 2);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_repeated_status_is_left_out_until_the_older_entry_is_removed() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for followed in [&ada, &bea, &cyd] {
        dan.follow(followed).await;
    }
    let one = ada.post("one").await;
    repost(&bea, &one).await;
    cyd.post("between").await;
    repost(&cyd, &one).await;
    assert_eq!(home(&dan).await, ["between", "one"], "both reposts are left out");
    dan.unfollow(&ada).await;
    assert_eq!(home(&dan).await, ["between", "↻ bea: one"], "the older repost shows it");
    undo(&bea, &one).await;
    assert_eq!(home(&dan).await, ["↻ cyd: one", "between"], "the newer repost is shown");
    dan.mutate_ok("muteUser", json!({ "userId": cyd.id }), "").await;
    assert_eq!(home(&dan).await, [""; 0]);
    repost(&bea, &one).await;
    assert_eq!(home(&dan).await, ["↻ bea: one"]);
    dan.mutate_ok("unmuteUser", json!({ "userId": cyd.id }), "").await;
    assert_eq!(home(&dan).await, ["↻ cyd: one", "between"]);
    for size in [1, 2, 7] {
        assert_eq!(read_in_pages(&dan, size).await, ["↻ cyd: one", "between"], "pages of {size}");
    }
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn the_rule_on_repeated_statuses_counts_a_hundred_visible_statuses_for_all_page_sizes() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan, eve] = app.users(["ada", "bea", "cyd", "dan", "eve"]).await;
    for followed in [&bea, &cyd, &eve] {
        dan.follow(followed).await;
    }
    let [far, near] = [ada.post("far").await, ada.post("near").await];
    repost(&bea, &far).await;
    eve.post("muted later").await;
    repost(&bea, &near).await;
    for n in 0..99 {
        bea.post(&n.to_string()).await;
    }
    repost(&cyd, &near).await;
    repost(&cyd, &far).await;
    let shown = async |viewer: &Actor| -> Vec<String> {
        let all = read_in_pages(viewer, 100).await;
        for size in [7, 20] {
            assert_eq!(read_in_pages(viewer, size).await, all, "pages of {size}");
        }
        all.into_iter().filter(|line| line.starts_with('↻')).collect()
    };
    // 99 statuses are between the reposts of "near", 100 between those of "far".
    assert_eq!(shown(&dan).await, ["↻ cyd: far", "↻ bea: near", "↻ bea: far"]);
    dan.mutate_ok("muteUser", json!({ "userId": eve.id }), "").await;
    assert_eq!(shown(&dan).await, ["↻ bea: near", "↻ bea: far"], "a hidden one does not count");
    dan.mutate_ok("unmuteUser", json!({ "userId": eve.id }), "").await;
    bea.post("the hundredth").await;
    undo(&cyd, &near).await;
    repost(&cyd, &near).await;
    assert_eq!(shown(&dan).await, ["↻ cyd: near", "↻ cyd: far", "↻ bea: near", "↻ bea: far"]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_repost_that_was_hidden_is_shown_again_at_its_position() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    cyd.follow(&bea).await;
    let of_cyd = list_of(&cyd, &[&bea]).await;
    let one = ada.post("one").await;
    bea.post("before").await;
    repost(&bea, &one).await;
    bea.post("after").await;
    let (all, hidden) = (["after", "↻ bea: one", "before"].map(String::from), ["after", "before"].map(String::from));
    let check = async |expected: &[String], why: &str| {
        assert_eq!(home(&cyd).await, expected, "{why}");
        assert_eq!(list(&cyd, &of_cyd).await, expected, "{why}, in the list");
    };
    check(&all, "nothing hides it").await;
    for (hides, shows) in [
        (
            ("setStatusAudience", json!({ "statusId": one, "audience": "FOLLOWERS" })),
            ("setStatusAudience", json!({ "statusId": one, "audience": "PUBLIC" })),
        ),
        (("updateProfile", json!({ "isPrivate": true })), ("updateProfile", json!({ "isPrivate": false }))),
        (("blockUser", json!({ "userId": bea.id })), ("unblockUser", json!({ "userId": bea.id }))),
        (("blockUser", json!({ "userId": cyd.id })), ("unblockUser", json!({ "userId": cyd.id }))),
    ] {
        ada.mutate_ok(hides.0, hides.1.clone(), "").await;
        check(&hidden, hides.0).await;
        ada.mutate_ok(shows.0, shows.1, "").await;
        check(&all, shows.0).await;
    }
    cyd.mutate_ok("muteUser", json!({ "userId": ada.id }), "").await;
    check(&hidden, "the author is muted").await;
    cyd.mutate_ok("unmuteUser", json!({ "userId": ada.id }), "").await;
    check(&all, "the author is not muted any more").await;
    bea.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    check(&all, "a private account is named to its followers").await;
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn concurrent_reposts_and_undos_leave_homes_consistent() {
    let app = TestApp::start().await;
    let users = app.create_users("r", 16).await;
    let [ada] = app.users(["ada"]).await;
    for user in &users {
        users[0].follow(user).await;
    }
    let status = ada.post("popular").await;
    let act = async |at: usize| {
        let user = &users[at / 4];
        if at.is_multiple_of(2) {
            repost(user, &status).await;
        } else {
            undo(user, &status).await;
        }
    };
    futures_util::future::join_all((0..64).map(act)).await;
    assert_no_findings(&app).await;
    for user in &users[1..] {
        undo(user, &status).await;
        repost(user, &status).await;
    }
    app.drain_journal().await;
    // The reader's own repost may be there or not.
    assert!((15..=16).contains(&size(&app, &users[0])), "{}", size(&app, &users[0]));
    assert_eq!(home(&users[0]).await.len(), 1, "once");
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_viewer_chooses_whose_reposts_the_home_shows() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let set = async |viewer: &Actor, of: &Actor, shown: bool| {
        viewer.mutate("setRepostsShown", json!({ "userId": of.id, "shown": shown }), "user { login viewerSeesReposts }").await
    };
    let sees = async |viewer: &Actor, of: &Actor| -> bool {
        let query = "query($id: ID!) { node(id: $id) { ... on User { viewerSeesReposts } } }";
        viewer.gql(query, json!({ "id": of.id })).await["data"]["node"]["viewerSeesReposts"].as_bool().expect("a flag")
    };
    let refused = json!({ "user": null, "userErrors": [{ "code": "INVALID_INPUT", "path": ["userId"] }] });
    assert_eq!(set(&cyd, &bea, false).await, refused, "of whom one does not follow");
    assert_eq!(set(&cyd, &cyd, false).await, refused, "of oneself");
    cyd.follow(&bea).await;
    let of_cyd = list_of(&cyd, &[&bea]).await;
    assert_eq!((sees(&cyd, &bea).await, sees(&cyd, &cyd).await, sees(&app.anonymous(), &bea).await), (true, false, false));
    let one = ada.post("one").await;
    bea.post("before").await;
    repost(&bea, &one).await;
    bea.post("after").await;
    let (all, without) = (["after", "↻ bea: one", "before"].map(String::from), ["after", "before"].map(String::from));
    assert_eq!(home(&cyd).await, all);
    for _ in 0..2 {
        let done = set(&cyd, &bea, false).await;
        assert_eq!(done, json!({ "user": { "login": "bea", "viewerSeesReposts": false }, "userErrors": [] }));
        assert_eq!((home(&cyd).await, list(&cyd, &of_cyd).await), (without.to_vec(), all.to_vec()), "lists are untouched");
        assert_eq!(home(&bea).await, all, "the choice is the viewer's");
        assert_eq!(set(&cyd, &bea, true).await["user"]["viewerSeesReposts"], true);
        assert_eq!(home(&cyd).await, all);
    }
    set(&cyd, &bea, false).await;
    cyd.unfollow(&bea).await;
    assert!(!sees(&cyd, &bea).await);
    cyd.follow(&bea).await;
    assert!(sees(&cyd, &bea).await, "unfollowing forgets it");
    assert_eq!(home(&cyd).await, all);
    set(&cyd, &bea, false).await;
    assert_no_findings(&app).await;
    cyd.unfollow(&bea).await;
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("reposts_hidden:")), "{:?}", app.redis.keys());
    cyd.follow(&bea).await;
    set(&cyd, &bea, false).await;
    cyd.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    assert_eq!(crate::support::references(&app.app, cyd.user_id()).await, [""; 0]);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_sync_cursor_includes_shown_reposts_and_promoted_homes_show_them() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    bea.follow(&ada).await;
    let one = bea.post("one").await;
    repost(&ada, &one).await;
    ada.post("two").await;
    undo(&ada, &one).await;
    let other = app.users(["cyd"]).await[0].post("three").await;
    repost(&ada, &other).await;
    let query = "{ homeTimeline { syncCursor entries(first: 10) { edges { cursor node { repostedBy { login } promotion { campaignName } status { message } } } } } }";
    let response = bea.gql(query, json!({})).await;
    let entries = &response["data"]["homeTimeline"]["entries"];
    assert_eq!(lines(entries), ["↻ ada: three", "two", "one"], "{response}");
    let cursor = response["data"]["homeTimeline"]["syncCursor"].as_str().expect("a cursor").to_owned();
    let newer = home_page(&bea, json!({ "last": 5, "before": cursor })).await;
    assert_eq!(lines(&newer), [""; 0], "it stands before the newest entry, a repost");
}

#[tokio::test]
async fn a_page_with_reposts_takes_at_most_one_round_trip_more() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea, cyd, dan, eve, fay, gil, hal] = app.users(["ada", "bea", "cyd", "dan", "eve", "fay", "gil", "hal"]).await;
    cyd.follow(&bea).await;
    eve.follow(&dan).await;
    gil.follow(&fay).await;
    for n in 0..20 {
        if n % 3 == 0 {
            repost(&bea, &ada.post(&n.to_string()).await).await;
            let again = ada.post(&format!("{n} again")).await;
            repost(&hal, &again).await;
            repost(&fay, &again).await;
        } else {
            bea.post(&n.to_string()).await;
            fay.post(&n.to_string()).await;
        }
        dan.post(&n.to_string()).await;
    }
    let cost = async |viewer: &Actor| {
        // The read of a home is recorded once an hour.
        home_page(viewer, json!({ "first": 20 })).await;
        app.drain().await;
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        assert_eq!(lines(&home_page(viewer, json!({ "first": 20 })).await).len(), 20);
        (app.app.db().round_trips() - before, app.redis.calls())
    };
    let (plain, calls) = cost(&eve).await;
    assert!(
        !calls.contains_key("zmscore") && calls.get("zrange") == Some(&2),
        "the page and the followed tags, nothing for reposts: {calls:?}"
    );
    let (with_reposts, calls) = cost(&cyd).await;
    // The ids of the reposts, and whether their authors are followed.
    assert!(with_reposts <= plain + 1, "{with_reposts} round trips, {plain} without reposts: {calls:?}");
    assert_eq!(
        calls.get("zrange"),
        Some(&2),
        "no rows: nothing else brings statuses by others that were reposted once: {calls:?}"
    );
    let (with_others, calls) = cost(&gil).await;
    // The same, and the rows below the reposts: the statuses may have been reposted by somebody else who is followed.
    assert!(with_others <= plain + 1, "{with_others} round trips, {plain} without reposts: {calls:?}");
    assert_eq!(calls.get("zrange"), Some(&4), "one more read of rows, with the followed tags: {calls:?}");
}
