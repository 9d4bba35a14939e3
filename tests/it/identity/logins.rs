//! `changeLogin`: its effects, reserved logins, and the accounts that mentions refer to.

use super::{DAY_MS, RIGHT, assert_no_findings, assert_refused, change_login, claims_of, found_by, log_in, run, sign_up};
use crate::conversations::reply;
use crate::edits::edit;
use crate::live::{LiveSubscription, open_statuses};
use crate::support::{Actor, START, TestApp, error_codes, references, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::{Limit, RateLimits};

/// The logins that the mentions of a status lead to, for a reader without a session.
async fn mentioned(app: &TestApp, status: &str) -> Vec<String> {
    let query = "query($id: ID!) { node(id: $id) { ... on Status { entities { mentions { user { login } } } } } }";
    let response = app.anonymous().gql(query, json!({ "id": status })).await;
    let mentions = response["data"]["node"]["entities"]["mentions"].as_array().unwrap_or_else(|| panic!("{response}"));
    mentions.iter().map(|mention| mention["user"]["login"].as_str().expect("a login").to_owned()).collect()
}

/// The messages of the statuses that mention an account, newest first.
async fn mentions_of(actor: &Actor) -> Vec<String> {
    let query = "{ viewerMentions { entries(first: 100) { edges { node { status { message } } } } } }";
    let response = actor.gql(query, json!({})).await;
    let edges = response["data"]["viewerMentions"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
}

/// A session of an account whose sessions have expired.
async fn again(app: &TestApp, actor: &Actor, login: &str) -> Actor {
    let payload = log_in(app, login, RIGHT).await;
    actor.with_token(payload["session"]["token"].as_str().unwrap_or_else(|| panic!("{payload}")))
}

#[tokio::test]
async fn a_changed_login_is_shown_everywhere_and_the_former_one_finds_the_account() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = ada.post("hello").await;
    let author = async |app: &TestApp| {
        let query = "query($id: ID!) { node(id: $id) { ... on Status { author { login } } } }";
        app.anonymous().gql(query, json!({ "id": status })).await["data"]["node"]["author"]["login"].clone()
    };
    assert_eq!((author(&app).await, author(&other).await), (json!("ada"), json!("ada")));
    let changed = change_login(&ada, "Lovelace").await;
    assert_eq!(changed, json!({ "user": { "id": ada.id, "login": "Lovelace" }, "userErrors": [] }));
    for server in [&app, &other] {
        assert_eq!(author(server).await, "Lovelace");
        for login in ["Lovelace", "lovelace", "ada", "ADA"] {
            assert_eq!(found_by(server, login).await, "Lovelace", "{login}");
            assert_eq!(log_in(server, login, RIGHT).await["session"]["user"]["login"], "Lovelace", "{login}");
            assert_refused(&sign_up(server, login).await, "LOGIN_TAKEN", &["login"]);
            assert_refused(&change_login(&bea.at(server), login).await, "LOGIN_TAKEN", &["login"]);
        }
    }
    assert_eq!(ada.run("MyAccount", json!({})).await["data"]["viewerAccount"]["user"]["login"], "Lovelace");
    assert_no_findings(&app, "a change").await;
}

#[tokio::test]
async fn an_old_login_is_free_for_all_after_thirty_days() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    change_login(&ada, "lovelace").await;
    app.clock.advance(30 * DAY_MS - 1);
    let bea = again(&app, &bea, "bea").await;
    assert_eq!(found_by(&app, "ada").await, "lovelace");
    assert_refused(&change_login(&bea, "ada").await, "LOGIN_TAKEN", &["login"]);
    app.clock.advance(1);
    assert_eq!(found_by(&app, "ada").await, Value::Null);
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), ["WRONG_CREDENTIALS"]);
    assert_eq!(change_login(&bea, "Ada").await["user"]["login"], "Ada");
    assert_eq!((found_by(&app, "ada").await, found_by(&app, "bea").await), (json!("Ada"), json!("Ada")));
    let ada = again(&app, &ada, "lovelace").await;
    assert_refused(&change_login(&ada, "ada").await, "LOGIN_TAKEN", &["login"]);
    app.clock.advance(30 * DAY_MS);
    assert_eq!(user_error_codes(&sign_up(&app, "bea").await), [""; 0], "signUp takes a free one");
    assert_no_findings(&app, "logins that were taken again").await;
}

#[tokio::test]
async fn a_login_changes_twice_in_thirty_days() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    // As it is written, it changes nothing and does not count.
    for _ in 0..3 {
        assert_eq!(change_login(&ada, "ada").await["user"]["login"], "ada");
    }
    assert_eq!(change_login(&ada, "Ada").await["user"]["login"], "Ada", "a change of case counts");
    app.clock.advance(DAY_MS);
    assert_eq!(change_login(&ada, "lovelace").await["user"]["login"], "lovelace");
    for login in ["ada", "Lovelace", "countess"] {
        assert_refused(&change_login(&ada, login).await, "LIMIT_REACHED", &["login"]);
    }
    assert_eq!(change_login(&ada, "lovelace").await["user"]["login"], "lovelace", "the present one is no change");
    app.clock.advance(29 * DAY_MS - 1);
    let ada = again(&app, &ada, "lovelace").await;
    assert_refused(&change_login(&ada, "ada").await, "LIMIT_REACHED", &["login"]);
    app.clock.advance(1);
    assert_eq!(change_login(&ada, "ada").await["user"]["login"], "ada", "taking it back, while it is reserved");
    assert_refused(&change_login(&ada, "lovelace").await, "LIMIT_REACHED", &["login"]);
    assert_eq!((found_by(&app, "lovelace").await, found_by(&app, "ada").await), (json!("ada"), json!("ada")));
    app.clock.advance(DAY_MS);
    assert_eq!(change_login(&ada, "lovelace").await["user"]["login"], "lovelace", "taking back counts");
    assert_eq!(found_by(&app, "ada").await, "lovelace");
    assert_no_findings(&app, "changes and back").await;
}

#[tokio::test]
async fn a_change_needs_the_password_and_a_valid_login() {
    let limit =
        |limit: Limit| if limit == Limit::LogInsOfDevice { "2/1h".parse().expect("a quota") } else { limit.default_quota() };
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..Config::default() }).await;
    let ada = app.user("ada").await;
    for login in ["", "a b", "é", "a-b", &"a".repeat(31)] {
        assert_refused(&change_login(&ada, login).await, "INVALID_LOGIN", &["login"]);
    }
    for _ in 0..2 {
        let input = json!({ "login": "lovelace", "password": "wrong" });
        assert_refused(&run(&ada, "ChangeLogin", "changeLogin", input).await, "WRONG_CREDENTIALS", &["password"]);
    }
    let input = json!({ "input": { "login": "lovelace", "password": RIGHT } });
    assert_eq!(error_codes(&ada.run("ChangeLogin", input.clone()).await), ["RATE_LIMITED"]);
    assert_eq!(error_codes(&app.anonymous().run("ChangeLogin", input).await), ["UNAUTHENTICATED"]);
    assert_eq!((found_by(&app, "ada").await, found_by(&app, "lovelace").await), (json!("ada"), Value::Null));
}

/// By whichever login it is tried: a guesser has no more attempts.
#[tokio::test]
async fn failed_log_ins_count_together_by_both_logins() {
    let limit = |limit: Limit| if limit == Limit::LogIns { "3/1h".parse().expect("a quota") } else { limit.default_quota() };
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..Config::default() }).await;
    let ada = app.user("ada").await;
    change_login(&ada, "lovelace").await;
    for login in ["ada", "Lovelace", "ADA"] {
        assert_eq!(user_error_codes(&log_in(&app, login, "wrong").await), ["WRONG_CREDENTIALS"], "{login}");
    }
    for login in ["ada", "lovelace"] {
        let input = json!({ "input": { "login": login, "password": RIGHT } });
        assert_eq!(error_codes(&app.anonymous().run("LogIn", input).await), ["RATE_LIMITED"], "{login}");
    }
}

/// While an account changes its login, it has claimed two.
#[tokio::test]
async fn failed_log_ins_count_together_during_a_change() {
    let limit = |limit: Limit| if limit == Limit::LogIns { "3/1h".parse().expect("a quota") } else { limit.default_quota() };
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..Config::default() }).await;
    let ada = app.user("ada").await;
    app.redis.run::<()>(&["HSET", &claims_of("lovelace"), "lovelace", &ada.user_id().0.to_string()]);
    for login in ["ada", "lovelace", "Ada"] {
        assert_eq!(user_error_codes(&log_in(&app, login, "wrong").await), ["WRONG_CREDENTIALS"], "{login}");
    }
    for login in ["ada", "lovelace"] {
        let input = json!({ "input": { "login": login, "password": RIGHT } });
        assert_eq!(error_codes(&app.anonymous().run("LogIn", input).await), ["RATE_LIMITED"], "{login}");
    }
}

/// A filter of logins is one of their accounts.
#[tokio::test]
async fn the_public_stream_follows_accounts_through_changes_of_their_logins() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let open = async |login: &str| {
        let filter = json!({ "follow": [login] });
        LiveSubscription::open(&app, None, "PublicStream", json!({ "filter": filter })).await.until_listening().await
    };
    let mut before = open("ada").await;
    change_login(&ada, "lovelace").await;
    let mut streams = [open("ada").await, open("lovelace").await];
    let expected = ["one @ada", "two @lovelace", "by herself"];
    cyd.post(expected[0]).await;
    let second = cyd.post(expected[1]).await;
    ada.post(expected[2]).await;
    for stream in streams.iter_mut().chain([&mut before]) {
        for text in expected {
            assert_eq!(stream.next().await.line, format!("+{text}"));
        }
    }
    for text in ["two @lovelace again", "two @nobody"] {
        edit(&cyd, &second, text).await;
        for stream in streams.iter_mut().chain([&mut before]) {
            assert_eq!(stream.next().await.line, "~", "{text}");
        }
    }
    app.clock.advance(31 * DAY_MS);
    let [bea, cyd] = [again(&app, &bea, "bea").await, again(&app, &cyd, "cyd").await];
    change_login(&bea, "ada").await;
    cyd.post("three @ada").await;
    cyd.post("four @lovelace").await;
    for stream in streams.iter_mut().chain([&mut before]) {
        assert_eq!(stream.next().await.line, "+four @lovelace", "@ada is somebody else");
    }
}

#[tokio::test]
async fn the_logins_of_a_deleted_account_stay_taken_for_thirty_days() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = bea.post("for @ada").await;
    change_login(&ada, "lovelace").await;
    app.clock.advance(20 * DAY_MS);
    let ada = again(&app, &ada, "ada").await;
    ada.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "").await;
    app.drain_journal().await;
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    let dump = app.redis.dump();
    assert!(!dump.contains(&ada.user_id().0.to_string()), "nothing names the account");
    assert!(["ada@", "lovelace@"].iter().all(|times| !dump.contains(times)), "nor is anything left of its logins: {dump}");
    // The old login was reserved for ten more days, and is reserved again.
    for (days, is_taken) in [(0, true), (29, true), (1, false)] {
        app.clock.advance(days * DAY_MS);
        for login in ["ada", "lovelace"] {
            assert_eq!(found_by(&app, login).await, Value::Null);
            let made = sign_up(&app, login).await;
            assert_eq!(user_error_codes(&made), if is_taken { vec!["LOGIN_TAKEN"] } else { vec![] }, "{login}");
        }
    }
    assert_eq!(mentioned(&app, &status).await, [""; 0], "the next account with the login is not mentioned");
    assert_no_findings(&app, "a deletion").await;
}

/// A mention in a status refers to the same account, also if another account takes the login later.
#[tokio::test]
async fn mentions_point_to_accounts() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let first = cyd.post("one @ada").await;
    let mut stream = open_statuses(&app, Some(&ada), "viewerMentionEvents").await.until_listening().await;
    change_login(&ada, "lovelace").await;
    assert_eq!(mentioned(&app, &first).await, ["lovelace"]);
    // Both logins mention the account while the old one is reserved, also on a stream that was open before.
    let second = cyd.post("two @ada").await;
    let third = cyd.post("three @lovelace").await;
    assert_eq!((stream.next().await.line, stream.next().await.line), ("+two @ada".into(), "+three @lovelace".into()));
    assert_eq!(mentions_of(&ada).await, ["three @lovelace", "two @ada", "one @ada"]);
    app.clock.advance(40 * DAY_MS);
    let (ada, bea, cyd) = (again(&app, &ada, "lovelace").await, again(&app, &bea, "bea").await, again(&app, &cyd, "cyd").await);
    assert_eq!(mentioned(&app, &second).await, ["lovelace"], "nobody has the login now");
    let unmentioned = cyd.post("four @ada").await;
    // An account that is older than the texts takes it.
    assert_eq!(change_login(&bea, "ada").await["user"]["login"], "ada");
    let fifth = cyd.post("five @ada").await;
    for (status, expected) in [(&first, "lovelace"), (&second, "lovelace"), (&third, "lovelace"), (&fifth, "ada")] {
        assert_eq!(mentioned(&app, status).await, [expected]);
    }
    assert_eq!(mentioned(&app, &unmentioned).await, [""; 0]);
    assert_eq!(mentions_of(&ada).await, ["three @lovelace", "two @ada", "one @ada"]);
    assert_eq!(mentions_of(&bea).await, ["five @ada"]);
    // A text that is written now mentions the account that has the login now; a deletion is one for those who were mentioned.
    edit(&cyd, &second, "two again @ada").await;
    cyd.delete(&first).await;
    assert_eq!(mentions_of(&ada).await, ["three @lovelace"]);
    assert_eq!(mentions_of(&bea).await, ["five @ada", "two again @ada"]);
    assert_no_findings(&app, "mentions").await;
}

#[tokio::test]
async fn mentioned_accounts_may_reply_after_a_change_of_their_login() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let post = async |message: &str| {
        let input = json!({ "message": message, "replyPolicy": "MENTIONED" });
        let posted = cyd.mutate_ok("postStatus", input, "status { id }").await;
        posted["status"]["id"].as_str().expect("an id").to_owned()
    };
    let before = post("before @ada").await;
    change_login(&ada, "lovelace").await;
    reply(&ada, &before, "it was me").await;
    app.clock.advance(31 * DAY_MS);
    let (ada, bea) = (again(&app, &ada, "lovelace").await, again(&app, &bea, "bea").await);
    change_login(&bea, "ada").await;
    reply(&ada, &before, "it still is").await;
    let refused = bea.mutate("postStatus", json!({ "replyToId": before, "message": "it was not me" }), "status { id }").await;
    assert_eq!(user_error_codes(&refused), ["FORBIDDEN"], "{refused}");
}

/// The deletion of an account releases the former logins that its history has. The change that drops an older one releases it.
#[tokio::test]
async fn a_login_that_is_dropped_from_the_history_is_released() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let ada = app.user("ada").await;
    let (id, days) = (ada.user_id().0, |number: u64| number * DAY_MS as u64);
    let until = |number: u64| START - days(15 * (60 - number));
    let entry = |number: u64| format!(" old_{number}:{}:{}:{}", until(number) - days(15), until(number), number + 1);
    let history = (0..50).fold("50".to_owned(), |text, number| text + &entry(number));
    app.redis.run::<()>(&["HSET", &format!("user:{{{id}}}"), "logins", &history]);
    let field = |number: u64| format!("old_{number}@");
    for number in [0, 1] {
        let times = format!("{id}:{}:{}:{}", until(number) - days(15), until(number) + days(30), number + 1);
        app.redis.run::<()>(&["HSET", &claims_of(&format!("old_{number}")), &field(number), &times]);
    }
    let is_stored = |number: u64| app.redis.run::<bool>(&["HEXISTS", &claims_of(&format!("old_{number}")), &field(number)]);
    assert_eq!(change_login(&ada, "lovelace").await["user"]["login"], "lovelace");
    assert_eq!((is_stored(0), is_stored(1)), (false, true));
    let history: String = app.redis.run(&["HGET", &format!("user:{{{id}}}"), "logins"]);
    assert!(history.starts_with("51 old_1:"), "{history}");
    ada.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "").await;
    app.drain().await;
    assert!(!is_stored(1));
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert_no_findings(&app, "a deletion").await;
}
