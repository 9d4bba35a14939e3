//! Mutations of comments: results, permissions, limits, idempotency and concurrency.

use super::{Commenter, app_with_status, id};
use crate::support::{TestApp, error_codes, findings, references, texts, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::ids::CommentId;
use waxwing::base::request::Request;
use waxwing::domains::comments::{Vote, service as comments};

#[tokio::test]
async fn comments_are_added_edited_voted_on_and_deleted() {
    let (app, users, status) = app_with_status(3).await;
    let [ada, bob, cyd] = [0, 1, 2].map(|at| Commenter(&users[at]));
    let first = bob.comment_on(&status, " one ").await;
    app.clock.advance(1_000);
    let reply = cyd.reply_to(&first, "two").await;
    let deep = ada.reply_to(&reply, "three").await;
    assert_eq!(ada.read_tree(&status, "OLD").await, ["one", "-two", "--three"]);
    let seen = bob.read_comment(&first).await;
    let expected = json!({
        "id": first, "message": "one", "isDeleted": false, "editedAt": null, "depth": 0, "score": 0, "upvoteCount": 0, "downvoteCount": 0,
        "viewerVote": "NONE", "replyCount": 1, "descendantCount": 2, "author": { "login": "c1" }, "parent": null,
        "status": { "id": status, "commentCount": 3 },
    });
    assert_eq!(seen, expected);
    assert_eq!(bob.read_comment(&deep).await["parent"]["id"], reply);
    // An edit sets `editedAt`; the same text is no edit.
    assert_eq!(bob.edit(&first, "one ").await["comment"], json!({ "id": first, "message": "one", "editedAt": null }));
    assert_eq!(bob.edit(&first, "1").await["comment"]["editedAt"], "2026-03-01T00:00:01.000Z");
    for other in [&ada, &cyd] {
        let refused = other.edit(&first, "mine").await;
        assert_eq!((user_error_codes(&refused), &refused["comment"]), (vec!["FORBIDDEN"], &Value::Null));
    }
    // Votes, also by the author.
    for (who, vote, expected) in [
        (&ada, "UP", [1, 1, 0]),
        (&ada, "UP", [1, 1, 0]),
        (&bob, "UP", [2, 2, 0]),
        (&ada, "DOWN", [0, 1, 1]),
        (&ada, "NONE", [1, 1, 0]),
    ] {
        let voted = who.vote(&first, vote).await;
        let counts = ["score", "upvoteCount", "downvoteCount"].map(|field| voted["comment"][field].as_i64().expect("a count"));
        assert_eq!((counts, &voted["comment"]["viewerVote"]), (expected, &json!(vote)));
    }
    // A deleted comment with replies stays as a placeholder, which is removed with the last reply.
    let deleted = bob.delete(&first, false).await;
    assert_eq!(deleted, json!({ "deletedCommentId": first, "removedCount": 1, "userErrors": [] }));
    assert_eq!(ada.read_tree(&status, "OLD").await, ["*", "-two", "--three"]);
    let held = ada.read_comment(&first).await;
    assert_eq!(
        (&held["message"], &held["author"], &held["viewerVote"], &held["score"]),
        (&json!(""), &Value::Null, &json!("NONE"), &json!(1))
    );
    assert_eq!(
        (&held["replyCount"], &held["descendantCount"], &held["status"]["commentCount"]),
        (&json!(1), &json!(2), &json!(2))
    );
    for who in [&ada, &bob, &cyd] {
        assert_eq!(user_error_codes(&who.delete(&first, false).await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&who.vote(&first, "UP").await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&who.edit(&first, "x").await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&who.add(json!({ "parentId": first, "message": "x" })).await), ["NOT_FOUND"]);
    }
    cyd.delete(&reply, false).await;
    assert_eq!(ada.read_tree(&status, "OLD").await, ["*", "-*", "--three"]);
    ada.delete(&deep, false).await;
    assert_eq!(ada.read_tree(&status, "OLD").await, [""; 0]);
    for comment in [&first, &reply, &deep] {
        assert_eq!(ada.read_comment(comment).await, Value::Null);
    }
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_message_is_one_to_two_thousand_visible_characters() {
    let (_app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    for (message, kept) in texts::valid(2_000) {
        let payload = ada.add(json!({ "statusId": status, "message": message })).await;
        assert_eq!(payload["comment"]["message"], kept, "{message}");
    }
    let comment = ada.comment_on(&status, "x").await;
    for message in texts::invalid(2_000).into_iter().chain(["", " ", "\n\n"].map(str::to_owned)) {
        for payload in [ada.add(json!({ "statusId": status, "message": message })).await, ada.edit(&comment, &message).await] {
            assert_eq!((user_error_codes(&payload), &payload["comment"]), (vec!["INVALID_MESSAGE"], &Value::Null));
            assert_eq!(payload["userErrors"][0]["path"], json!(["message"]));
        }
    }
}

#[tokio::test]
async fn a_comment_requires_exactly_one_existing_status_or_parent() {
    let (_app, users, status) = app_with_status(2).await;
    let ada = Commenter(&users[0]);
    let comment = ada.comment_on(&status, "x").await;
    for input in [json!({ "message": "x" }), json!({ "statusId": status, "parentId": comment, "message": "x" })] {
        assert_eq!(user_error_codes(&ada.add(input).await), ["INVALID_INPUT"]);
    }
    let other = CommentId { number: 7, ..CommentId::from_global(&comment).expect("an id") }.global();
    for wrong in ["garbage", "", &status, &other, &users[0].id] {
        let refused = ada.add(json!({ "parentId": wrong, "message": "x" })).await;
        assert_eq!(
            (user_error_codes(&refused), &refused["userErrors"][0]["path"]),
            (vec!["NOT_FOUND"], &json!(["parentId"])),
            "{wrong}"
        );
        for payload in [ada.vote(wrong, "UP").await, ada.edit(wrong, "y").await, ada.delete(wrong, true).await] {
            assert_eq!(
                (user_error_codes(&payload), &payload["userErrors"][0]["path"]),
                (vec!["NOT_FOUND"], &json!(["commentId"])),
                "{wrong}"
            );
        }
    }
    for wrong in ["garbage", &comment, &users[0].id] {
        assert_eq!(user_error_codes(&ada.add(json!({ "statusId": wrong, "message": "x" })).await), ["NOT_FOUND"], "{wrong}");
    }
    assert_eq!(ada.read_tree(&status, "NEW").await, ["x"]);
}

#[tokio::test]
async fn changes_of_comments_require_a_session() {
    let (app, users, status) = app_with_status(1).await;
    let comment = Commenter(&users[0]).comment_on(&status, "x").await;
    app.drain().await;
    let store = app.redis.dump();
    for (operation, field, input) in [
        ("AddComment", "addComment", json!({ "statusId": status, "message": "x" })),
        ("EditComment", "editComment", json!({ "commentId": comment, "message": "y" })),
        ("DeleteComment", "deleteComment", json!({ "commentId": comment, "withReplies": false })),
        ("Vote", "voteComment", json!({ "commentId": comment, "vote": "UP" })),
    ] {
        let response = app.anonymous().run(operation, json!({ "input": input })).await;
        assert_eq!((error_codes(&response), &response["data"]), (vec!["UNAUTHENTICATED".to_owned()], &json!({ field: null })));
    }
    assert_eq!(app.redis.dump(), store);
    assert_eq!(Commenter(&app.anonymous()).read_comment(&comment).await["viewerVote"], "NONE");
}

#[tokio::test]
async fn replies_are_limited_to_the_maximum_depth() {
    for depth in [1, 64] {
        let app = TestApp::with(Config { comment_depth: depth, ..Config::default() }).await;
        let users = app.create_users("c", 1).await;
        let (ada, status) = (Commenter(&users[0]), users[0].post("x").await);
        let top = ada.comment_on(&status, "0").await;
        let mut last = top.clone();
        for level in 1..=depth {
            last = ada.reply_to(&last, &level.to_string()).await;
        }
        let refused = ada.add(json!({ "parentId": last, "message": "too deep" })).await;
        assert_eq!(
            (user_error_codes(&refused), &refused["userErrors"][0]["path"]),
            (vec!["LIMIT_REACHED"], &json!(["parentId"]))
        );
        let seen = ada.read_comment(&top).await;
        assert_eq!((&seen["descendantCount"], &seen["replyCount"]), (&json!(depth), &json!(1)));
        assert_eq!(ada.read_comment(&last).await["depth"], json!(depth));
        assert_eq!(ada.read_tree(&status, "TOP").await.len(), depth + 1);
        // Deleting the branch deletes all its comments.
        assert_eq!(ada.delete(&top, true).await["removedCount"], json!(depth + 1));
        app.drain().await;
        app.clock.advance(120_000);
        assert_eq!((findings(&app.app).await, ada.read_comment(&last).await), (vec![], Value::Null));
    }
}

#[tokio::test]
async fn a_repeated_key_returns_the_first_response_and_refuses_other_input() {
    let (app, users, status) = app_with_status(2).await;
    let other = app.sibling().await;
    let elsewhere = users[1].at(&other);
    let (bob, sibling) = (Commenter(&users[1]), Commenter(&elsewhere));
    let input = json!({ "statusId": status, "message": "once", "idempotencyKey": "k" });
    let tries = (0..20).map(|number| {
        let who = if number % 2 == 0 { &bob } else { &sibling };
        who.add(input.clone())
    });
    let responses = join_all(tries).await;
    let first = id(&responses[0]);
    assert!(responses.iter().all(|response| id(response) == first), "{responses:?}");
    assert_eq!(bob.read_tree(&status, "NEW").await, ["once"]);
    for changed in [
        json!({ "statusId": status, "message": "twice", "idempotencyKey": "k" }),
        json!({ "parentId": first, "message": "once", "idempotencyKey": "k" }),
    ] {
        assert_eq!(user_error_codes(&bob.add(changed).await), ["IDEMPOTENCY_MISMATCH"]);
    }
    assert_eq!(user_error_codes(&Commenter(&users[0]).add(input.clone()).await), [""; 0], "keys of accounts are independent");
    // A comment that was deleted, with or without a placeholder, or with its parent, is not created again.
    let under = json!({ "parentId": first, "message": "under", "idempotencyKey": "k2" });
    let reply = id(&bob.add(under.clone()).await);
    let nothing = json!({ "comment": null, "userErrors": [] });
    bob.delete(&first, false).await;
    assert_eq!(bob.add(input.clone()).await, nothing, "the placeholder exists");
    assert_eq!(id(&bob.add(under.clone()).await), reply, "the reply is still in the thread");
    bob.delete(&reply, false).await;
    app.drain().await;
    assert_eq!((bob.add(input.clone()).await, bob.add(under).await), (nothing.clone(), nothing), "both are deleted");
    assert_eq!(bob.read_tree(&status, "NEW").await, ["once"], "the comment of the other account");
    app.clock.advance(24 * 3_600_000 + 1);
    assert_ne!(id(&bob.add(input).await), first, "the key has expired");
    let refused = bob.add(json!({ "statusId": status, "message": " ", "idempotencyKey": "k3" })).await;
    assert_eq!(user_error_codes(&refused), ["INVALID_MESSAGE"]);
    assert_eq!(user_error_codes(&bob.add(json!({ "statusId": status, "message": "x", "idempotencyKey": "k3" })).await), [""; 0]);
}

/// The result of a deletion depends on the viewer, the replies, and whether the branch is deleted.
#[tokio::test]
async fn deleting_a_comment_requires_permission() {
    const ADA: usize = 0; // the status's author
    const BOB: usize = 1; // the comment's author
    const CYD: usize = 2; // another user
    // The authors of the replies to Bob's comment, whether it is deleted, the viewer, `withReplies`, the removed count or the error code.
    type Row = (&'static [usize], bool, usize, bool, Result<u64, &'static str>);
    let table: [Row; 18] = [
        (&[], false, BOB, false, Ok(1)),
        (&[], false, BOB, true, Ok(1)),
        (&[], false, ADA, false, Err("FORBIDDEN")),
        (&[], false, ADA, true, Ok(1)),
        (&[], false, CYD, false, Err("FORBIDDEN")),
        (&[], false, CYD, true, Err("FORBIDDEN")),
        (&[BOB, BOB], false, BOB, true, Ok(3)),
        (&[BOB, BOB], false, BOB, false, Ok(1)),
        (&[CYD], false, BOB, false, Ok(1)),
        (&[CYD], false, BOB, true, Err("FORBIDDEN")),
        (&[BOB, CYD, BOB], false, BOB, true, Err("FORBIDDEN")),
        (&[BOB, CYD, BOB], false, CYD, true, Err("FORBIDDEN")),
        (&[BOB, CYD, BOB], false, ADA, true, Ok(4)),
        (&[ADA], false, BOB, true, Err("FORBIDDEN")),
        (&[CYD, BOB], true, BOB, false, Err("NOT_FOUND")),
        (&[CYD, BOB], true, BOB, true, Err("NOT_FOUND")),
        (&[CYD, BOB], true, CYD, true, Err("NOT_FOUND")),
        (&[CYD, BOB], true, ADA, true, Ok(2)),
    ];
    let (app, users, status) = app_with_status(3).await;
    for (row, (replies, deleted, who, with_replies, expected)) in table.into_iter().enumerate() {
        let comment = Commenter(&users[BOB]).comment_on(&status, "x").await;
        let mut last = comment.clone();
        for replier in replies {
            last = Commenter(&users[*replier]).reply_to(&last, "y").await;
        }
        if deleted {
            Commenter(&users[BOB]).delete(&comment, false).await;
        }
        let payload = Commenter(&users[who]).delete(&comment, with_replies).await;
        let found = match user_error_codes(&payload)[..] {
            [] => Ok(payload["removedCount"].as_u64().expect("a count")),
            [code] => Err(code.to_owned()),
            _ => panic!("{payload}"),
        };
        assert_eq!(found, expected.map_err(str::to_owned), "row {row}");
        assert_eq!(payload["removedCount"].is_null(), found.is_err());
        Commenter(&users[ADA]).delete(&comment, true).await;
        assert_eq!(Commenter(&users[ADA]).read_tree(&status, "NEW").await, [""; 0], "row {row}");
    }
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn comments_of_a_deleted_branch_are_invisible_at_once() {
    let (app, users, status) = app_with_status(2).await;
    let (ada, bob) = (Commenter(&users[0]), Commenter(&users[1]));
    let top = bob.comment_on(&status, "top").await;
    let mut all = Vec::new();
    for number in 0..20 {
        let child = bob.reply_to(&top, &number.to_string()).await;
        all.push(bob.reply_to(&child, "x").await);
        all.push(child);
    }
    let number = CommentId::from_global(&top).expect("an id");
    let (key, place) = (format!("comment:{{{}}}:{}", number.status.0, number.number), format!("fallen:{{{}}}", number.status.0));
    // The state after the commit, before the branch is cleaned up.
    app.redis.run::<()>(&["DEL", &key]);
    app.redis.run::<()>(&["ZADD", &place, &number.number.to_string(), &number.number.to_string()]);
    for comment in &all {
        assert_eq!(ada.read_comment(comment).await, Value::Null);
        assert_eq!(user_error_codes(&bob.vote(comment, "UP").await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&bob.edit(comment, "y").await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&bob.delete(comment, false).await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&ada.delete(comment, true).await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&bob.add(json!({ "parentId": comment, "message": "y" })).await), ["NOT_FOUND"]);
    }
}

#[tokio::test]
async fn deleting_a_branch_includes_replies_added_meanwhile() {
    let (app, users, status) = app_with_status(2).await;
    let (ada, bob) = (Commenter(&users[0]), Commenter(&users[1]));
    let top = bob.comment_on(&status, "top").await;
    let id = CommentId::from_global(&top).expect("an id");
    // The deleting request has loaded the comment before the reply was added.
    let loaders = Request::new(app.app.clone(), None, None, None).loaders();
    comments::load_visible(&loaders, [id]).await.expect("a store");
    bob.reply_to(&top, "reply").await;
    assert_eq!(comments::delete(&app.app, &loaders, users[0].user_id(), id, true).await.expect("Ada may delete it"), 2);
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!((findings(&app.app).await, ada.read_tree(&status, "NEW").await), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_concurrent_votes_and_changes_are_counted() {
    let (app, users, status) = app_with_status(200).await;
    let other = app.sibling().await;
    let comment = Commenter(&users[0]).comment_on(&status, "x").await;
    let id = CommentId::from_global(&comment).expect("an id");
    let all = async |vote: fn(usize) -> Vote| {
        let votes = users.iter().enumerate().map(|(at, who)| {
            let (app, user, vote) = (if at % 2 == 0 { app.app.clone() } else { other.app.clone() }, who.user_id(), vote(at));
            tokio::spawn(async move {
                let loaders = Request::new(app.clone(), None, None, None).loaders();
                comments::vote(&app, &loaders, user, id, vote).await.expect("a vote");
            })
        });
        join_all(votes.collect::<Vec<_>>()).await.into_iter().for_each(|vote| vote.expect("no panic"));
        let seen = Commenter(&users[0]).read_comment(&comment).await;
        ["score", "upvoteCount", "downvoteCount"].map(|field| seen[field].as_i64().expect("a count"))
    };
    assert_eq!(all(|at| if at % 4 == 0 { Vote::Down } else { Vote::Up }).await, [100, 150, 50]);
    assert_eq!(all(|at| if at % 4 == 0 { Vote::Up } else { Vote::Down }).await, [-100, 50, 150]);
    assert_eq!(all(|at| if at % 2 == 0 { Vote::None } else { Vote::Down }).await, [-100, 0, 100]);
    assert_eq!(all(|_| Vote::None).await, [0, 0, 0]);
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn deleting_a_status_deletes_its_thread() {
    let (app, users, status) = app_with_status(3).await;
    let (ada, bob) = (Commenter(&users[0]), Commenter(&users[1]));
    let mut last = bob.comment_on(&status, "0").await;
    let mut all = vec![last.clone()];
    for number in 0..250 {
        let parent = if number % 50 == 0 { bob.comment_on(&status, "x").await } else { bob.reply_to(&last, "x").await };
        Commenter(&users[2]).vote(&parent, "UP").await;
        all.push(parent.clone());
        last = parent;
    }
    let one = ada.comment_on(&status, "y").await;
    ada.delete(&one, false).await;
    users[0].delete(&status).await;
    for comment in all.iter().step_by(40) {
        assert_eq!(ada.read_comment(comment).await, Value::Null);
        assert_eq!(user_error_codes(&bob.vote(comment, "UP").await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&bob.add(json!({ "parentId": comment, "message": "y" })).await), ["NOT_FOUND"]);
    }
    assert_eq!(user_error_codes(&bob.add(json!({ "statusId": status, "message": "y" })).await), ["NOT_FOUND"]);
    app.drain().await;
    let key_kinds = ["comment:", "votes:", "replies:", "thread:", "discussion:", "pending:", "erased:", "fallen:", "commented:"];
    let keys = app.redis.keys();
    assert!(!keys.iter().any(|key| key_kinds.iter().any(|kind| key.starts_with(kind))), "{keys:?}");
}

#[tokio::test]
async fn a_deleted_account_leaves_placeholders_and_its_votes_counted() {
    let (app, users, status) = app_with_status(4).await;
    let [ada, bob, cyd, dan] = [0, 1, 2, 3].map(|at| Commenter(&users[at]));
    let held = bob.comment_on(&status, "held").await;
    let under = cyd.reply_to(&held, "under").await;
    let leaf = bob.reply_to(&under, "leaf").await;
    let voted = cyd.comment_on(&status, "voted").await;
    bob.vote(&voted, "UP").await;
    dan.vote(&held, "UP").await;
    let own = users[1].post("bob's").await;
    let on_own = cyd.comment_on(&own, "on bob's").await;
    app.redis.run::<()>(&["DEL", &format!("user:{{{}}}", users[1].user_id().0)]);
    let held_now = ada.read_comment(&held).await;
    assert_eq!((&held_now["isDeleted"], &held_now["message"], &held_now["author"]), (&json!(true), &json!(""), &Value::Null));
    assert_eq!(user_error_codes(&ada.add(json!({ "parentId": held, "message": "x" })).await), ["NOT_FOUND"]);
    assert_eq!(
        (user_error_codes(&dan.vote(&held, "DOWN").await), ada.read_comment(&on_own).await),
        (vec!["NOT_FOUND"], Value::Null)
    );
    waxwing::domains::accounts::service::delete_unchecked(&app.app, users[1].user_id(), "c1")
        .await
        .expect("the account is deleted");
    app.drain().await;
    assert_eq!(ada.read_tree(&status, "OLD").await, ["*", "-under", "voted"]);
    assert_eq!((ada.read_comment(&leaf).await, &ada.read_comment(&voted).await["score"]), (Value::Null, &json!(1)));
    assert_eq!(ada.read_comment(&held).await["status"]["commentCount"], 2);
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
    assert_eq!(references(&app.app, users[1].user_id()).await, [""; 0]);
}
