//! `waxwing fsck`: a store written by the API, or by the demo, has no findings; every invariant that is broken by hand is reported, and
//! nothing else.

mod broken;
mod key_repairs;
mod repair;
mod repair_world;
mod chats;
mod tags;
mod windows;

use crate::support::{Actor, Cluster, LONG_TIMEOUTS, START, TestApp, TestServer, waxwing};
use serde_json::json;
use std::process::Output;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::source::compose;
use waxwing::base::ids::{CommentId, StatusId, UserId, UserListId};
use waxwing::cli::fsck::{AuditOptions, AuditProgress, run};
use waxwing::db::{Db, embedded};

const QUICK: AuditOptions = AuditOptions { home_window: Some(1_000), messages_kept: None, pause: Duration::from_millis(2) };

/// Three users, their statuses, and placeholders for the ids.
struct Scene {
    app: TestApp,
    people: [Actor; 3],
    names: Vec<(&'static str, String)>,
}

impl Scene {
    /// Creates the scene. Bob and Cyd follow Ada. They mute each other, Cyd for a year; Cyd blocks Bob. Ada and Cyd are friends, and Bob has
    /// requested the friendship of Ada. Bob is private, and Ada has requested to follow Bob.
    /// Ada has two statuses, of which Bob likes the first, and two sessions; Bob has one status.
    /// All other statuses are deleted. Bob and Cyd are on a list of Ada's. Under the second status Bob has written a comment ($c1), which
    /// Cyd has upvoted and Ada downvoted. Cyd's reply to it ($c2) is deleted, and Bob's reply to that ($c3) is not. All other comments were
    /// deleted with their branch.
    async fn create() -> Self {
        let app = TestApp::start().await;
        let people = app.users(["Ada", "bob", "cyd"]).await;
        let [ada, bob, cyd] = &people;
        for (a, b) in [(bob, ada), (cyd, bob), (cyd, ada)] {
            a.follow(b).await;
        }
        let status = ada.post("The first.").await;
        let input = json!({ "message": "Here.", "location": { "latitude": 1.5, "longitude": -7 }, "idempotencyKey": "once" });
        let second = ada.run("PostStatus", json!({ "input": input })).await;
        let second = second["data"]["postStatus"]["status"]["id"].as_str().unwrap_or_else(|| panic!("{second}")).to_owned();
        let (of_bob, deleted_status) = (bob.post("Me too.").await, ada.post("Not this.").await);
        for (who, what) in [(bob, &status), (cyd, &second), (bob, &deleted_status)] {
            who.like(what).await;
        }
        // Bob has bookmarked the first status, and Ada has pinned it.
        for status in [&status, &deleted_status] {
            bob.mutate_ok("bookmarkStatus", json!({ "statusId": status }), "").await;
            ada.mutate_ok("pinStatus", json!({ "statusId": status }), "").await;
        }
        cyd.run("Unlike", json!({ "input": { "statusId": second } })).await;
        ada.delete(&deleted_status).await;
        cyd.unfollow(bob).await;
        for (muter, muted, duration) in [(bob, cyd, ""), (cyd, bob, ", durationSeconds: 31536000")] {
            let mutation =
                format!("mutation {{ muteUser(input: {{ userId: {:?}{duration} }}) {{ userErrors {{ code }} }} }}", muted.id);
            assert_eq!(muter.gql(&mutation, json!({})).await["data"]["muteUser"]["userErrors"], json!([]));
        }
        for (requester, asked) in [(ada, cyd), (cyd, ada), (bob, ada)] {
            let mutation =
                format!("mutation {{ requestFriend(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", asked.id);
            assert_eq!(requester.gql(&mutation, json!({})).await["data"]["requestFriend"]["userErrors"], json!([]));
        }
        ada.unfollow(cyd).await;
        let private = "mutation { updateProfile(input: { isPrivate: true }) { userErrors { code } } }";
        assert_eq!(bob.gql(private, json!({})).await["data"]["updateProfile"]["userErrors"], json!([]));
        ada.follow(bob).await;
        for actor in [ada, ada, bob] {
            log_in(&app, actor).await;
        }
        let (list, deleted) = (make_list(ada, &[bob, cyd, ada]).await, make_list(ada, &[bob]).await);
        ada.run("RemoveFromList", json!({ "input": { "listId": list, "userId": ada.id } })).await;
        ada.run("DeleteList", json!({ "input": { "listId": deleted } })).await;
        let comments = make_thread(&people, &second).await;
        let mutation = format!("mutation {{ blockUser(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", bob.id);
        assert_eq!(cyd.gql(&mutation, json!({})).await["data"]["blockUser"]["userErrors"], json!([]));
        let token = log_in(&app, ada).await;
        ada.with_token(&token).run("LogOut", json!({})).await;
        app.drain_journal().await;
        app.clock.advance(120_000);
        let mut scene = Self { app, people: people.clone(), names: Vec::new() };
        scene.name(&[("$status", &status), ("$second", &second), ("$ofbob", &of_bob), ("$gone", &deleted_status)]);
        for (name, id) in ["$c1", "$c2", "$c3"].into_iter().zip(comments) {
            scene.names.push((name, CommentId::from_global(&id).expect("an id").number.to_string()));
        }
        scene.names.push(("$list", UserListId::from_global(&list).expect("an id").0.to_string()));
        scene
    }

    /// Creates the scene, and publishes the changes of votes. Otherwise they would be published a second later, while a test breaks the
    /// store.
    async fn create_with_votes_published() -> Self {
        let scene = Self::create().await;
        let thread = StatusId(scene.substitute("$second").parse().expect("a number"));
        waxwing::domains::comments::service::publish_votes(&scene.app.app, thread).await.expect("a store");
        scene
    }

    /// Leaves the event about a vote pending for as long as the clock stands still: a vote before it has just published one.
    async fn leave_vote_pending(&self) {
        let number = |name| self.substitute(name).parse().expect("a number");
        let comment = CommentId { status: StatusId(number("$second")), number: number("$c1") }.global();
        for vote in ["UP", "DOWN"] {
            self.people[0].run("Vote", json!({ "input": { "commentId": comment, "vote": vote } })).await;
        }
    }

    fn name(&mut self, statuses: &[(&'static str, &str)]) {
        for (name, actor) in ["$ada", "$bob", "$cyd"].into_iter().zip(&self.people) {
            self.names.push((name, UserId::from_global(&actor.id).expect("an id").0.to_string()));
        }
        for (name, id) in statuses {
            self.names.push((name, StatusId::from_global(id).expect("an id").0.to_string()));
        }
        self.names.push(("$old", compose(START - 3_600_000, 5, 5).to_string()));
        self.names.push(("$young", compose(self.app.app.now() - 59_000, 5, 5).to_string()));
        let keys = self.app.redis.keys();
        let holds = |key: &&String, field: &str, value: &str| {
            self.app.redis.run::<Option<String>>(&["HGET", key, field]).as_deref() == Some(value)
        };
        let ada = self.names[0].1.clone();
        let shard = keys.iter().filter(|key| key.starts_with("users:")).find(|key| holds(key, "ada", &ada));
        let session = keys.iter().filter(|key| key.starts_with("session:")).find(|key| holds(key, "uid", &ada));
        let record: Vec<String> = self.app.redis.run(&["HKEYS", &self.substitute("idempotency:{$ada}")]);
        let digest = session.and_then(|key| key.strip_prefix("session:{")?.strip_suffix('}')).expect("a session").to_owned();
        self.names.push(("$shard", shard.expect("a claim").clone()));
        self.names.push(("$digest", digest));
        self.names.push(("$record", record.first().expect("a record").clone()));
    }

    fn substitute(&self, template: &str) -> String {
        self.names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// Runs commands, whose words are separated by spaces, or by bars where there are any. `\255` is a byte that is not valid UTF-8.
    fn run_commands(&self, commands: &[&str]) {
        for command in commands {
            let command = self.substitute(command);
            let words = command.split(if command.contains('|') { '|' } else { ' ' });
            let words: Vec<Vec<u8>> =
                words.map(|word| word.split("\\255").map(str::as_bytes).collect::<Vec<_>>().join(&0xff)).collect();
            match words.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] {
                [b"COPY", from, to] => self.app.redis.copy(from, to),
                ref words => drop(self.app.redis.run_bytes::<redis::Value>(words)),
            }
        }
    }

    async fn findings(&self, options: AuditOptions) -> Vec<String> {
        let mut found = Vec::new();
        let report = run(&self.app.app, options, |step| {
            if let AuditProgress::Found(finding) = step {
                found.push(format!("{}: {}", finding.key, finding.problem));
            }
        });
        let report = report.await.expect("it is read");
        assert_eq!(report.findings, found.len());
        found.sort();
        found
    }
}

async fn make_list(owner: &Actor, members: &[&Actor]) -> String {
    let made = owner.run("CreateList", json!({ "input": { "name": "A list" } })).await;
    let id = made["data"]["createUserList"]["userList"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    for member in members {
        owner.run("AddToList", json!({ "input": { "listId": id, "userId": member.id } })).await;
    }
    id
}

async fn make_thread([ada, bob, cyd]: &[Actor; 3], status: &str) -> [String; 3] {
    let add = async |who: &Actor, input: serde_json::Value| {
        let added = who.run("AddComment", json!({ "input": input })).await;
        added["data"]["addComment"]["comment"]["id"].as_str().unwrap_or_else(|| panic!("{added}")).to_owned()
    };
    let first = add(bob, json!({ "statusId": status, "message": "first" })).await;
    let second = add(cyd, json!({ "parentId": first, "message": "second" })).await;
    let third = add(bob, json!({ "parentId": second, "message": "third" })).await;
    let branch = add(cyd, json!({ "parentId": first, "message": "branch" })).await;
    add(ada, json!({ "parentId": branch, "message": "below" })).await;
    for (who, vote) in [(cyd, "UP"), (ada, "DOWN")] {
        who.run("Vote", json!({ "input": { "commentId": first, "vote": vote } })).await;
    }
    cyd.run("DeleteComment", json!({ "input": { "commentId": second, "withReplies": false } })).await;
    ada.run("DeleteComment", json!({ "input": { "commentId": branch, "withReplies": true } })).await;
    [first, second, third]
}

async fn log_in(app: &TestServer, actor: &Actor) -> String {
    let input = json!({ "login": actor.login, "password": "correct horse" });
    let response = app.anonymous().run("LogIn", json!({ "input": input })).await;
    response["data"]["logIn"]["session"]["token"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

fn fsck(redis: &str, arguments: &[&str]) -> Output {
    waxwing(&["fsck", "--redis", redis]).args(arguments).output().expect("it runs")
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn data_written_by_the_api_has_no_findings() {
    let scene = Scene::create().await;
    scene.leave_vote_pending().await;
    assert_eq!(scene.findings(QUICK).await, [""; 0]);
    for kind in [
        "user",
        "users",
        "password",
        "session",
        "sessions",
        "following",
        "followers",
        "status",
        "likers",
        "liked",
        "bookmarkers",
        "bookmarks",
        "pins",
        "profile",
    ] {
        assert!(scene.app.redis.keys().iter().any(|key| key.starts_with(&format!("{kind}:{{"))), "the scene has no {kind}");
    }
    for kind in ["comment", "votes", "replies", "thread", "discussion", "pending", "erased", "commented"] {
        let any = scene.app.redis.keys().iter().any(|key| key.starts_with(&format!("{kind}:{{")));
        assert!(any, "the scene has no {kind}");
    }
    for kind in
        ["home", "gone", "idempotency", "idempotent", "lists", "dropped", "list", "members", "memberships", "worker", "secret"]
    {
        let any = kind == "secret" || scene.app.redis.keys().iter().any(|key| key.starts_with(&format!("{kind}:{{")));
        assert!(any, "the scene has no {kind}");
    }
    let output = fsck(&scene.app.redis.url(), &["--home-window", "1000"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(lines(&output), [format!("{} keys read, no findings.", scene.app.redis.keys().len())]);
}

#[tokio::test]
async fn the_command_reports_findings_and_fails() {
    let scene = Scene::create().await;
    scene.run_commands(&["HSET user:{$ada} followers 9", "SET stray 1"]);
    let output = fsck(&scene.app.redis.url(), &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let mut found = lines(&output);
    let keys = scene.app.redis.keys().len();
    assert_eq!(found.pop(), Some(format!("{keys} keys read, 2 findings.")));
    found.sort();
    let count = scene.substitute("user:{$ada}: its followers is not the size of followers:{$ada} (9, not 2)");
    assert_eq!(found, ["stray: is not a key of Waxwing".to_owned(), count]);
    assert_eq!(keys, scene.app.redis.keys().len(), "an audit changes nothing");
}

#[tokio::test]
async fn an_audit_writes_nothing() {
    let scene = Scene::create_with_votes_published().await;
    scene.run_commands(&["HSET user:{$ada} followers 9"]);
    scene.app.redis.reset_calls();
    scene.findings(QUICK).await;
    let reading = [
        "scan",
        "type",
        "pttl",
        "hmget",
        "hget",
        "hscan",
        "hlen",
        "llen",
        "lrange",
        "exists",
        "hexists",
        "zcard",
        "zscore",
        "zmscore",
        "zcount",
        "zrange",
        "getrange",
        "strlen",
        "xlen",
        "ping",
        "xrevrange",
        "evalsha",
        "script|load",
    ];
    let calls = scene.app.redis.calls();
    assert!(calls.keys().all(|name| reading.contains(&name.as_str())), "{calls:?}");
}

#[test]
fn a_command_does_not_create_a_missing_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("typo");
    for command in [&["fsck"][..], &["tasks"], &["tasks", "retry"], &["worker"], &["admin", "rotate-ad-keys"]] {
        let output = waxwing(command).env("WAXWING_DATA_DIR", &data).output().expect("it runs");
        assert_eq!((output.status.code(), lines(&output)), (Some(1), vec![]), "{command:?}: {output:?}");
        let message =
            format!("waxwing: there is no data folder {}: name it with --data-dir, or a Redis with --redis\n", data.display());
        assert_eq!(String::from_utf8_lossy(&output.stderr), message, "{command:?}");
        assert!(!data.exists(), "{command:?}");
    }
}

#[tokio::test]
async fn a_data_folder_is_checked_while_no_server_uses_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |command: &str| waxwing(&[command, "--data-dir"]).arg(folder.path()).output().expect("it runs");
    assert!(run("demo").status.success());
    let output = run("fsck");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let options = embedded::EmbeddedOptions { data_dir: folder.path().to_owned(), ..Default::default() };
    let server = embedded::start(options).await.expect("it starts");
    let output = run("fsck");
    assert_eq!((output.status.code(), lines(&output)), (Some(1), vec![]), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("already uses the data folder"), "{output:?}");
    let output = fsck(&server.url(), &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    server.stop().await;
}

#[tokio::test]
async fn demo_worlds_have_no_findings() {
    for follows in [None, Some("1 2\n2 1\n3 1\n1 3\n4 5\n5 6\n6 4\n7 1\n")] {
        let redis = crate::support::RedisServer::start();
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = waxwing(&["demo", "--redis", &redis.url(), "--tokens"]);
        command.arg(folder.path().join("tokens"));
        if let Some(follows) = follows {
            let file = folder.path().join("follows");
            std::fs::write(&file, follows).expect("it is written");
            command.arg("--follows").arg(file);
        }
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let output = fsck(&redis.url(), &["--home-window", "1000"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[tokio::test]
async fn a_cluster_is_read_on_every_node() {
    let cluster = Cluster::start();
    let db = Db::open(&cluster.url().parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a cluster");
    let app = TestServer::start(App::new(db, Clock::System, Config::default()), Clock::System).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    bob.like(&ada.post("Hello.").await).await;
    app.drain().await;
    let keys = || cluster.each::<u64>(&["DBSIZE"]).into_iter().sum::<u64>();
    let output = fsck(&cluster.url(), &[]);
    assert_eq!((output.status.code(), lines(&output)), (Some(0), vec![format!("{} keys read, no findings.", keys())]));
    // Keys of another type, which the checks of other keys read too, on every node.
    let broken = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|user| redis::cmd("SET").arg(format!("user:{{{user}}}")).arg(1).take());
    app.app.db().write_many(broken.to_vec()).await.expect("written");
    let output = fsck(&cluster.url(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let found = lines(&output);
    assert_eq!(found.last(), Some(&format!("{} keys read, 9 findings.", keys())), "{output:?}");
    for user in 1..10 {
        assert!(found.contains(&format!("user:{{{user}}}: should be a hash (it is a string)")), "{found:?}");
    }
}

#[tokio::test]
async fn large_sets_are_read_completely_in_bounded_steps() {
    let scene = Scene::create().await;
    let many = "local id = tonumber(ARGV[1]) for n = 1, 25000 do redis.call('ZADD', KEYS[1], id + n * 64, string.format('%d', id + n * 64)) end";
    let last = (1_u64 << 53) - 1;
    scene.run_commands(&[&format!("EVAL|{many}|1|home:{{$cyd}}|$young"), &format!("ZADD home:{{$cyd}} {last} x")]);
    let found = scene.findings(QUICK).await;
    let expected =
        ["home:{$cyd}: entry \"x\" is no pair of ids", "home:{$cyd}: holds more than 1100"].map(|line| scene.substitute(line));
    assert_eq!(found, expected);
    scene.run_commands(&["DEL home:{$cyd}", &format!("EVAL|{many}|1|following:{{$cyd}}|$young")]);
    let found = scene.findings(QUICK).await;
    assert!(found.contains(&scene.substitute("following:{$cyd}: holds more than 10000")), "{found:?}");
    let of_set = found.iter().filter(|line| line.starts_with("following:"));
    assert_eq!(of_set.count(), 101, "at most a hundred findings are reported per set");
}

/// Incomplete changes that a server may be working on, and the findings when no server completes them.
const HALVES: (&[&str], &[&str]) = (
    &[
        "HSET $shard zed $young",
        "SET password:{$young} $argon2id$",
        "ZADD following:{$ada} $young $cyd",
        "HINCRBY user:{$ada} following 1",
        "HSET status:{$young} id $young uid $ada message x posted 1 likes 0 comments 0",
        "ZADD home:{$bob} $young9 $young9",
        "SET gone:{$old} 1 PX 89999000",
        "ZADD home:{$ada} $old $old",
        "ZADD profile:{$ada} $old $old",
        "HINCRBY user:{$ada} posts 1",
        "ZADD lists:{$ada} $young $young",
        "ZADD members:{$list} $young $ada",
        "ZADD removed:{$list} $young $ada",
    ],
    &[
        "$shard: the login \"zed\" is claimed by $young, which is not an account",
        "password:{$young}: there is no such account",
        "following:{$ada}: contains $cyd, but followers:{$cyd} does not contain $ada",
        "status:{$young}: is missing in profile:{$ada}",
        "home:{$bob}: there is no status $young9",
        "home:{$ada}: there is no status $old",
        "profile:{$ada}: there is no status $old",
        "lists:{$ada}: there is no list $young",
        "members:{$list}: contains $ada, but memberships:{$ada} does not contain $list",
        "removed:{$list}: $ada has left the list, but statuses of the account were not removed",
        "list:{$list}: status $status of $ada is missing in timeline:{$list}",
        "list:{$list}: status $second of $ada is missing in timeline:{$list}",
    ],
);

#[tokio::test]
async fn data_younger_than_the_lease_is_not_reported() {
    let mut scene = Scene::create().await;
    let young = compose(scene.app.app.now() - 59_000, 5, 9).to_string();
    scene.names.insert(0, ("$young9", young));
    scene.run_commands(HALVES.0);
    // The login belongs to another shard, which is a finding at any age.
    let shard = scene.substitute("$shard: the login \"zed\" belongs to another shard");
    assert_eq!(scene.findings(QUICK).await, std::slice::from_ref(&shard));
    scene.app.clock.advance(2_000);
    scene.run_commands(&["PEXPIRE gone:{$old} 89930000"]);
    let mut expected: Vec<String> = HALVES.1.iter().map(|line| scene.substitute(line)).chain([shard]).collect();
    expected.sort();
    assert_eq!(scene.findings(QUICK).await, expected);
}

#[tokio::test]
async fn findings_that_disappear_at_the_second_read_are_not_reported() {
    let scene = Scene::create().await;
    scene.run_commands(&["HSET user:{$ada} followers 9", "HSET user:{$bob} following 9"]);
    let restore = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        scene.run_commands(&["HSET user:{$ada} followers 2"]);
    };
    let patient = AuditOptions { pause: Duration::from_millis(800), ..QUICK };
    let (found, ()) = tokio::join!(scene.findings(patient), restore);
    assert_eq!(found, [scene.substitute("user:{$bob}: its following is not the size of following:{$bob}")]);
}

#[tokio::test]
async fn a_store_in_use_never_has_findings() {
    let scene = Scene::create().await;
    let traffic = async {
        let [ada, bob, cyd] = &scene.people;
        for _ in 0..25 {
            bob.unfollow(ada).await;
            let status = ada.post("Now and then.").await;
            tokio::join!(bob.follow(ada), cyd.like(&status), cyd.follow(bob));
            scene.app.clock.advance(90_000);
            tokio::join!(ada.delete(&status), cyd.unfollow(bob));
            scene.app.clock.advance(90_000);
        }
    };
    let audits = async {
        for _ in 0..4 {
            let patient = AuditOptions { pause: Duration::from_millis(150), ..QUICK };
            assert_eq!(scene.findings(patient).await, [""; 0]);
        }
    };
    tokio::join!(traffic, audits);
}
