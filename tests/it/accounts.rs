//! Accounts: sign-up, profiles and their validation, as the contract defines them.

use crate::support::texts::{self, FAMILY};
use crate::support::{Actor, HttpResponse, PASSWORD_MEMORY, TestApp, error_codes, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};

async fn sign_up(app: &TestApp, login: &str, name: &str, password: &str) -> Value {
    let input = json!({ "input": { "login": login, "name": name, "password": password } });
    let mut response = app.anonymous().run("SignUp", input).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["signUp"].take()
}

async fn log_in(app: &TestApp, login: &str, password: &str) -> Value {
    let mut response = app.anonymous().run("LogIn", json!({ "input": { "login": login, "password": password } })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["logIn"].take()
}

async fn by_login(actor: &Actor, login: &str) -> Value {
    let mut response = actor.run("Profile", json!({ "login": login })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["user"].take()
}

async fn update(actor: &Actor, input: Value) -> Value {
    let mut response = actor.run("UpdateProfile", json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["updateProfile"].take()
}

/// Returns the payload that rejects one field.
fn assert_refused(payload: &Value, result: &str, code: &str, path: &[&str]) {
    assert_eq!(user_error_codes(payload), [code], "{payload}");
    assert_eq!(payload["userErrors"][0]["path"], json!(path), "{payload}");
    assert_eq!(payload[result], Value::Null, "{payload}");
}

#[tokio::test]
async fn sign_up_creates_a_session_for_the_new_account() {
    let app = TestApp::start().await;
    let ada = app.user("Ada_1").await;
    let response = ada.run("Viewer", json!({})).await;
    assert_eq!(response.get("errors"), None, "{response}");
    let viewer = &response["data"]["viewer"];
    assert_eq!(viewer["login"], "Ada_1");
    assert_eq!(viewer["createdAt"], "2026-03-01T00:00:00.000Z");
    for (field, value) in
        [("bio", json!("")), ("followersCount", json!(0)), ("followingCount", json!(0)), ("statusesCount", json!(0))]
    {
        assert_eq!(viewer[field], value, "{field}");
    }
    assert_eq!(response["data"]["viewerSessions"][0]["isCurrent"], true);
    assert_refused(&sign_up(&app, "ada_1", "A", "12345678").await, "session", "LOGIN_TAKEN", &["login"]);
}

#[tokio::test]
async fn a_client_without_a_session_has_no_viewer_and_no_sessions() {
    let app = TestApp::start().await;
    let response = app.anonymous().run("Viewer", json!({})).await;
    assert_eq!(response["data"], json!({ "viewer": null, "viewerSessions": null }));
    assert_eq!(error_codes(&response), ["UNAUTHENTICATED"]);
    assert_eq!(response["errors"][0]["path"], json!(["viewerSessions"]));
}

#[tokio::test]
async fn a_login_keeps_its_case_and_is_found_in_any_case() {
    let app = TestApp::start().await;
    sign_up(&app, "Ada_LOVELACE", "Ada", "correct horse").await;
    assert_eq!(by_login(&app.anonymous(), "aDA_lovelace").await["login"], "Ada_LOVELACE");
    assert_eq!(log_in(&app, "ADA_lovelace", "correct horse").await["session"]["user"]["login"], "Ada_LOVELACE");
    assert_eq!(by_login(&app.anonymous(), "ada_lovelac").await, Value::Null);
}

#[tokio::test]
async fn an_invalid_login_is_refused_and_finds_no_account() {
    let app = TestApp::start().await;
    app.user("ada").await;
    let keys = app.redis.keys();
    let long = "a".repeat(31);
    let megabyte = "a".repeat(1_000_000);
    for login in
        ["", " ", " ada", "ada ", "a b", "a\0b", "a\nb", "a\u{202e}b", "é", "аda", "ada\u{301}", "a-b", FAMILY, &long, &megabyte]
    {
        let payload = sign_up(&app, login, "Ada", "correct horse").await;
        assert_refused(&payload, "session", "INVALID_LOGIN", &["login"]);
        assert_eq!(user_error_codes(&log_in(&app, login, "correct horse").await), ["WRONG_CREDENTIALS"]);
        assert_eq!(by_login(&app.anonymous(), login).await, Value::Null);
    }
    assert_eq!(app.redis.keys(), keys, "nothing was written");
    assert_eq!(sign_up(&app, &"Z".repeat(30), "Z", "correct horse").await["session"]["user"]["login"], "Z".repeat(30));
}

#[tokio::test]
async fn a_name_has_one_to_fifty_visible_characters() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    for (name, kept) in texts::valid(50) {
        assert_eq!(update(&ada, json!({ "name": name })).await["user"]["name"], kept, "{name}");
    }
    let before = by_login(&ada, "ada").await;
    let more = ["", "  ", "\n", "a\nb"].map(str::to_owned);
    for name in texts::invalid(50).into_iter().chain(more) {
        assert_refused(&update(&ada, json!({ "name": name, "bio": "new" })).await, "user", "INVALID_NAME", &["name"]);
        assert_refused(&sign_up(&app, "bea", &name, "correct horse").await, "session", "INVALID_NAME", &["name"]);
    }
    assert_refused(&update(&ada, json!({ "name": null })).await, "user", "INVALID_NAME", &["name"]);
    assert_eq!(by_login(&ada, "ada").await, before, "nothing was changed");
    assert_eq!(by_login(&ada, "bea").await, Value::Null);
}

#[tokio::test]
async fn a_bio_has_up_to_160_characters_and_may_be_empty() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    for (bio, kept) in texts::valid(160).into_iter().chain([("a\nb".to_owned(), "a\nb".to_owned())]) {
        assert_eq!(update(&ada, json!({ "bio": bio })).await["user"]["bio"], kept, "{bio}");
    }
    for bio in texts::invalid(160) {
        assert_refused(&update(&ada, json!({ "bio": bio, "name": "new" })).await, "user", "INVALID_BIO", &["bio"]);
    }
    for clear in [json!(null), json!(""), json!(" \n ")] {
        assert_eq!(update(&ada, json!({ "bio": "something" })).await["user"]["bio"], "something");
        let cleared = update(&ada, json!({ "bio": clear })).await;
        assert_eq!((&cleared["user"]["bio"], &cleared["user"]["name"]), (&json!(""), &json!("ada")), "{clear}");
    }
}

/// A valid new value of each field of a profile.
fn new_values() -> [(&'static str, Value); 11] {
    [
        ("name", json!("Countess")),
        ("bio", json!("Numbers.")),
        ("isPrivate", json!(true)),
        ("location", json!("London")),
        ("gender", json!("woman")),
        ("avatarUrl", json!("https://example.com/a.png")),
        ("bannerUrl", json!("https://example.com/b.png")),
        ("websiteUrl", json!("https://example.com/")),
        ("birthDate", json!("1915-12-10")),
        ("showBirthDate", json!("FRIENDS")),
        ("showAge", json!("EVERYONE")),
    ]
}

#[tokio::test]
async fn every_field_of_a_profile_can_be_changed() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let response = ada.gql("{ __type(name: \"UpdateProfileInput\") { inputFields { name } } }", json!({})).await;
    let fields = response["data"]["__type"]["inputFields"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
    for field in fields.iter().map(|field| field["name"].as_str().expect("a name")) {
        let new = new_values().into_iter().find(|(name, _)| *name == field).unwrap_or_else(|| panic!("no value for {field}")).1;
        // What only the owner sees is read from its account.
        let (shown, own) = if field.starts_with("show") { ("id", field) } else { (field, "id") };
        let query = format!("mutation($input: UpdateProfileInput!) {{ updateProfile(input: $input) {{ user {{ {shown} }} }} }}");
        let changed = ada.gql(&query, json!({ "input": { field: new } })).await;
        let account = ada.gql(&format!("{{ viewerAccount {{ {own} }} }}"), json!({})).await;
        let seen = if shown == field { &changed["data"]["updateProfile"]["user"] } else { &account["data"]["viewerAccount"] };
        assert_eq!(seen[field], new, "{changed} {account}");
    }
}

#[tokio::test]
async fn omitted_fields_of_a_profile_stay_unchanged() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    update(&ada, json!({ "name": "Ada", "bio": "counts birds" })).await;
    let expected = json!({ "id": ada.id, "name": "Ada", "bio": "counts birds" });
    assert_eq!(update(&ada, json!({})).await["user"], expected);
    assert_eq!(update(&ada, json!({ "name": "Ada" })).await["user"], expected);
    assert_eq!(update(&ada, json!({ "bio": "counts birds" })).await["user"], expected);
    let both = update(&ada, json!({ "name": "", "bio": "\u{200b}" })).await;
    assert_eq!(user_error_codes(&both), ["INVALID_NAME", "INVALID_BIO"]);
    let nobody = app.anonymous().run("UpdateProfile", json!({ "input": { "name": "x" } })).await;
    assert_eq!((error_codes(&nobody), &nobody["data"]), (vec!["UNAUTHENTICATED".to_owned()], &json!({ "updateProfile": null })));
}

#[tokio::test]
async fn a_password_has_8_to_128_characters_and_is_never_trimmed() {
    let app = TestApp::start().await;
    let mut refused: Vec<String> =
        ["", "1234567", "        ", " 12345678", "12345678 ", "12345678\n", "1234\n5678", "\u{200b}"].map(str::to_owned).to_vec();
    refused.push(FAMILY.repeat(7));
    // Passwords may have more bytes than other texts.
    refused.extend(texts::invalid(128).into_iter().filter(|text| !text.starts_with(FAMILY) || *text == FAMILY.repeat(129)));
    refused.extend(["1234\u{0}5678", "1234\t5678", "1234\u{202e}5678", "1234\u{7f}5678"].map(str::to_owned));
    for password in refused {
        let payload = sign_up(&app, "ada", "Ada", &password).await;
        assert_refused(&payload, "session", "INVALID_PASSWORD", &["password"]);
    }
    for (number, password) in
        ["12345678".to_owned(), "x".repeat(128), FAMILY.repeat(128), "two  words".to_owned()].into_iter().enumerate()
    {
        let login = format!("ada{number}");
        assert_eq!(user_error_codes(&sign_up(&app, &login, "Ada", &password).await), [""; 0], "{password}");
        assert_eq!(user_error_codes(&log_in(&app, &login, &password).await), [""; 0], "{password}");
    }
}

#[tokio::test]
async fn a_password_is_normalized_before_it_is_hashed() {
    let app = TestApp::start().await;
    sign_up(&app, "ada", "Ada", "e\u{301}clairs!").await;
    assert_eq!(user_error_codes(&log_in(&app, "ada", "\u{e9}clairs!").await), [""; 0]);
    assert_eq!(user_error_codes(&log_in(&app, "ada", "eclairs!").await), ["WRONG_CREDENTIALS"]);
    assert_eq!(user_error_codes(&log_in(&app, "ada", " \u{e9}clairs!").await), ["WRONG_CREDENTIALS"]);
}

#[tokio::test]
async fn all_errors_of_an_input_are_reported_together() {
    let app = TestApp::start().await;
    let payload = sign_up(&app, "a b", "\0", "short").await;
    assert_eq!(user_error_codes(&payload), ["INVALID_LOGIN", "INVALID_NAME", "INVALID_PASSWORD"]);
    assert_eq!(payload["session"], Value::Null);
}

#[tokio::test]
async fn one_of_a_hundred_concurrent_sign_ups_gets_a_login() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let login = |number: usize| -> String {
        let case = |(at, letter): (usize, char)| if number >> (at % 7) & 1 == 1 { letter.to_ascii_uppercase() } else { letter };
        "lovelace".chars().enumerate().map(case).collect()
    };
    let tries = (0..100).map(|number| {
        let server = if number % 2 == 0 { &app } else { &other };
        async move { (login(number), sign_up(server, &login(number), "L", "correct horse").await) }
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        join_all(tries).await.into_iter().partition(|(_, payload)| payload["session"].is_object());
    assert_eq!((won.len(), lost.len()), (1, 99));
    assert!(lost.iter().all(|(_, payload)| user_error_codes(payload) == ["LOGIN_TAKEN"]));
    assert_eq!(by_login(&app.anonymous(), "LOVELACE").await["login"], won[0].0);
    app.drain_journal().await;
    let keys = app.redis.keys();
    let kinds: Vec<&str> = keys.iter().filter_map(|key| key.split_once(':')).map(|(kind, _)| kind).collect();
    let of = |kind: &str| kinds.iter().filter(|other| **other == kind).count();
    assert_eq!(["user", "password", "users", "session", "sessions"].map(of), [1; 5], "{keys:?}");
    assert_eq!(keys.len(), 5 + of("worker") + of("secret"), "{keys:?}");
}

/// A claimed login without an account: the state after a crash between the two writes.
async fn abandoned_claim(app: &TestApp, login: &str) {
    let gone = app.user(login).await.user_id().0;
    app.redis.run::<()>(&["DEL", &format!("user:{{{gone}}}"), &format!("password:{{{gone}}}")]);
}

#[tokio::test]
async fn an_abandoned_claim_of_a_login_expires_after_ten_seconds() {
    let app = TestApp::start().await;
    abandoned_claim(&app, "ada").await;
    app.clock.advance(10_000);
    assert_eq!(user_error_codes(&sign_up(&app, "Ada", "Ada", "correct horse").await), ["LOGIN_TAKEN"]);
    assert_eq!(by_login(&app.anonymous(), "ada").await, Value::Null);
    assert_eq!(user_error_codes(&log_in(&app, "ada", "correct horse").await), ["WRONG_CREDENTIALS"]);
    app.clock.advance(1_000);
    let tries = (0..5).map(|_| sign_up(&app, "Ada", "Ada", "correct horse"));
    let made = join_all(tries).await;
    assert_eq!(made.iter().filter(|payload| payload["session"].is_object()).count(), 1, "{made:?}");
    assert_eq!(by_login(&app.anonymous(), "ada").await["login"], "Ada");
    app.clock.advance(60_000);
    assert_eq!(
        user_error_codes(&sign_up(&app, "ada", "Ada", "correct horse").await),
        ["LOGIN_TAKEN"],
        "an account is not abandoned"
    );
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_login_get_identical_responses() {
    let app = TestApp::start().await;
    app.user("ada").await;
    let ask = async |login: &str, password: &str| {
        let query = "mutation($i: LogInInput!) { logIn(input: $i) { session { token } userErrors { code message path } } }";
        let body = json!({ "query": query, "variables": { "i": { "login": login, "password": password } } });
        let response = HttpResponse::fetch(app.post().header("x-request-id", "same").json(&body)).await;
        let mut headers: Vec<String> = response.headers.keys().filter(|name| *name != "date").map(ToString::to_string).collect();
        headers.sort();
        (response.status, headers, response.text)
    };
    let wrong = ask("ada", "battery staple").await;
    assert!(wrong.2.contains("WRONG_CREDENTIALS"), "{wrong:?}");
    for (login, password) in
        [("nobody", "battery staple"), ("no login", ""), ("ada", ""), ("", ""), ("ada", &"x".repeat(900_000)), ("ada", "\0")]
    {
        assert_eq!(ask(login, password).await, wrong, "{login}");
    }
}

#[tokio::test]
async fn secrets_are_neither_in_accounts_nor_in_plain_text() {
    let app = TestApp::start().await;
    let payload = sign_up(&app, "ada", "Ada", "hunter-two-and-a-half").await;
    let again = log_in(&app, "ada", "hunter-two-and-a-half").await;
    log_in(&app, "ada", "another-secret-word").await;
    let id =
        waxwing::base::ids::UserId::from_global(payload["session"]["user"]["id"].as_str().expect("an id")).expect("an account");
    let mut fields: Vec<String> = app.redis.run(&["HKEYS", &format!("user:{{{}}}", id.0)]);
    fields.sort();
    assert_eq!(fields, ["bio", "followers", "following", "id", "login", "name", "posts", "signup"]);
    let dump = app.redis.dump();
    assert!(dump.contains(&format!("$argon2id$v=19$m={PASSWORD_MEMORY},t=2,p=1$")), "the dump sees the hash");
    let tokens = [&payload, &again].map(|payload| payload["session"]["token"].as_str().expect("a token").to_owned());
    for secret in ["hunter-two", "another-secret", &tokens[0], &tokens[1]] {
        assert!(!dump.contains(secret), "{secret} is in the store");
    }
}
