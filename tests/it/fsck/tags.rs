//! Broken indexes of tags and mentions, and sets of tags: each is found, and repaired from the texts.

use crate::support::{TestApp, findings};
use serde_json::json;
use std::time::Duration;
use waxwing::base::audience::ChosenAudience;
use waxwing::base::audit::Findings;
use waxwing::base::ids::StatusId;
use waxwing::cli::fsck::{self, AuditOptions};
use waxwing::db::audit_reader::AuditReader;
use waxwing::domains::users::user_key;
use waxwing::platform::journal::{Task, service as journal};

/// A command that breaks the store, the finding, and whether it is repaired.
type Case = (&'static str, &'static str, bool);

/// `birds` and `trees` as they are encoded in keys.
const BIRDS: &str = "tag:{YmlyZHM}";
const TREES: &str = "tag:{dHJlZXM}";

const CASES: [Case; 14] = [
    ("ZREM tag:{YmlyZHM} $status", "status:{$status}: by $ada is missing in tag:{YmlyZHM}", true),
    ("ZREM tag:{dHJlZXM} $edited", "status:{$edited}: by $ada is missing in tag:{dHJlZXM}", true),
    ("DEL mentions:{$bea}", "status:{$status}: by $ada is missing in mentions:{$bea}", true),
    ("ZADD tag:{YmlyZHM} $edited $edited", "tag:{YmlyZHM}: status $edited by $ada does not belong to it", true),
    ("ZADD tag:{YmlyZHM} $hidden $hidden", "tag:{YmlyZHM}: status $hidden by $ada does not belong to it", true),
    ("ZADD tag:{YmlyZHM} 9 9", "tag:{YmlyZHM}: there is no status 9", true),
    ("ZADD tag:{YmlyZHM} 8 $status", "tag:{YmlyZHM}: the score of status $status is not its id", true),
    ("ZADD mentions:{$ada} $status $status", "mentions:{$ada}: status $status by $ada does not belong to it", true),
    ("ZADD mentions:{7} $status $status", "mentions:{7}: there is no such account", true),
    ("SET tag:{YWJj} 1", "tag:{YWJj}: should be a zset", true),
    ("ZADD tag:{YSBi} $status $status", "tag:{YSBi}: its name is not a tag", false),
    ("ZADD followed_tags:{$bea} 300|two words", "followed_tags:{$bea}: contains a name that is not a tag", true),
    ("ZADD followed_tags:{7} 300 birds", "followed_tags:{7}: there is no such account or list", true),
    ("ZADD list_tags:{7} 300 birds", "list_tags:{7}: there is no such account or list", true),
];

#[tokio::test]
async fn broken_indexes_are_found_and_repaired_from_the_texts() {
    for case in CASES {
        check(case).await;
    }
}

async fn check((command, finding, is_repaired): Case) {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = ada.post("hello @bea #birds").await;
    let edited = ada.post("about #birds").await;
    crate::edits::edit(&ada, &edited, "about #trees").await;
    let hidden = json!({ "message": "to followers #birds @bea", "audience": "FOLLOWERS" });
    let hidden = ada.mutate_ok("postStatus", hidden, "status { id }").await;
    bea.mutate_ok("followTag", json!({ "name": "birds" }), "tag { name }").await;
    app.drain_journal().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0], "before {command}");
    let members = |key: &str| app.redis.run::<Vec<String>>(&["ZRANGE", key, "0", "-1"]);
    let before = [members(BIRDS), members(TREES)];
    let number = |id: &str| StatusId::from_global(id).expect("an id").0.to_string();
    let names = [
        ("$status", number(&status)),
        ("$edited", number(&edited)),
        ("$hidden", number(hidden["status"]["id"].as_str().expect("an id"))),
        ("$ada", ada.user_id().0.to_string()),
        ("$bea", bea.user_id().0.to_string()),
    ];
    let substitute = |text: &str| names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    let (words, last) = command.split_once('|').unwrap_or((command, ""));
    let command = substitute(words);
    let words: Vec<&str> = command.split(' ').chain((!last.is_empty()).then_some(last)).collect();
    app.redis.run::<redis::Value>(&words);
    let found = findings(&app.app).await;
    assert!(found.iter().any(|line| line.starts_with(&substitute(finding))), "{command}: {found:?}");
    let options =
        AuditOptions { home_window: Some(app.app.config().home_window), pause: Duration::ZERO, ..AuditOptions::default() };
    fsck::repair(&app.app, options, false, |_| ()).await.expect("a store");
    app.drain_journal().await;
    if is_repaired {
        assert_eq!(findings(&app.app).await, [""; 0], "after the repair of {command}");
        assert_eq!([members(BIRDS), members(TREES)], before, "{command}");
    }
}

/// The findings of the keys of statuses alone.
async fn findings_of(app: &TestApp, statuses: &[u64]) -> Vec<String> {
    let reader = AuditReader::new(app.app.db().clone(), app.app.now(), user_key);
    let entries = reader.entries(statuses.iter().map(|id| format!("status:{{{id}}}")).collect()).await.expect("a store");
    let mut found = Findings::default();
    waxwing::domains::statuses::audit::check(&reader, &entries, &mut found).await.expect("a store");
    let mut found: Vec<String> = found.into_vec().iter().map(ToString::to_string).collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_full_index_lacks_only_statuses_that_are_older_than_its_oldest_entry() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut ids = Vec::new();
    for text in ["old @bea", "kept @bea", "lost @bea"] {
        app.clock.advance(60_000);
        ids.push(StatusId::from_global(&ada.post(text).await).expect("an id").0);
    }
    app.drain_journal().await;
    app.clock.advance(120_000);
    let (mentions, [old, kept, lost]) = (format!("mentions:{{{}}}", bea.user_id().0), [ids[0], ids[1], ids[2]]);
    let remove = |id: u64| app.redis.run::<i64>(&["ZREM", &mentions, &id.to_string()]);
    assert_eq!([remove(old), remove(lost)], [1, 1]);
    let missing = |id: u64| format!("status:{{{id}}}: by {} is missing in {mentions}", ada.user_id().0);
    assert_eq!(findings_of(&app, &ids).await, [missing(old), missing(lost)], "the index is not full");
    let fill = "for n = 1, 99999 do local id = string.format('%d', ARGV[1] + n) redis.call('ZADD', KEYS[1], id, id) end";
    app.redis.run::<redis::Value>(&["EVAL", fill, "1", &mentions, &kept.to_string()]);
    assert_eq!(app.redis.run::<usize>(&["ZCARD", &mentions]), 100_000);
    assert_eq!(findings_of(&app, &ids).await, [missing(lost)]);
}

#[tokio::test]
async fn a_status_whose_index_entries_are_being_changed_has_no_findings() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = StatusId::from_global(&ada.post("about #birds").await).expect("an id");
    app.drain_journal().await;
    app.clock.advance(120_000);
    let (author, number) = (ada.user_id(), status.0.to_string());
    app.redis.run::<i64>(&["ZREM", BIRDS, &number]);
    app.redis.run::<i64>(&["ZADD", TREES, &number, &number]);
    let tasks = [
        Task::Audience { author, status, before: ChosenAudience::Followers, change: 1 },
        Task::StatusIndexes { author, status, tags: vec!["birds".to_owned()], logins: Vec::new() },
        Task::Edit { author, status, edit: 1 },
    ];
    let expected = [
        format!("status:{{{number}}}: by {} is missing in {BIRDS}", author.0),
        format!("{TREES}: status {number} by {} does not belong to it", author.0),
    ];
    for task in tasks {
        let lease = journal::begin(&app.app, task.clone()).await.expect("a store");
        assert_eq!(findings(&app.app).await, [""; 0], "{task:?}");
        lease.ack(&app.app);
        app.drain_journal().await;
        let mut found = findings(&app.app).await;
        found.sort();
        assert_eq!(found, expected, "{task:?}");
    }
}
