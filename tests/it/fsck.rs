//! `waxwing fsck`: a store that the API, or the demo, has written has no findings; every invariant that is broken by hand is told, and
//! nothing else.

use crate::support::{Actor, START, TestApp};
use serde_json::json;
use std::process::{Command, Output};
use std::time::Duration;
use waxwing::fsck::{Options, Step, run};
use waxwing::ids::source::compose;
use waxwing::ids::{StatusId, UserId};

const QUICK: Options = Options { home_window: Some(1_000), pause: Duration::from_millis(2) };

/// Three people, what they said, and names for their ids.
struct Scene {
    app: TestApp,
    people: [Actor; 3],
    names: Vec<(&'static str, String)>,
}

impl Scene {
    /// Bob and Cyd follow Ada. She has two statuses, of which Bob likes the first, and two sessions; Bob has one status. What else
    /// there was is gone again.
    async fn play() -> Self {
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
        let (of_bob, gone) = (bob.post("Me too.").await, ada.post("Not this.").await);
        for (who, what) in [(bob, &status), (cyd, &second), (bob, &gone)] {
            who.like(what).await;
        }
        cyd.run("Unlike", json!({ "input": { "statusId": second } })).await;
        ada.delete(&gone).await;
        cyd.unfollow(bob).await;
        for actor in [ada, ada, bob] {
            log_in(&app, actor).await;
        }
        let token = log_in(&app, ada).await;
        ada.with_token(&token).run("LogOut", json!({})).await;
        app.drain().await;
        app.clock.advance(120_000);
        let mut scene = Self { app, people: people.clone(), names: Vec::new() };
        scene.name(&[("$status", &status), ("$second", &second), ("$ofbob", &of_bob), ("$gone", &gone)]);
        scene
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
        let record = keys.iter().find(|key| key.starts_with("idempotency:"));
        let digest = session.and_then(|key| key.strip_prefix("session:{")?.strip_suffix('}')).expect("a session").to_owned();
        self.names.push(("$shard", shard.expect("a claim").clone()));
        self.names.push(("$digest", digest));
        self.names.push(("$record", record.expect("a record").clone()));
    }

    fn fill(&self, template: &str) -> String {
        self.names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// Runs commands, words of which are parted by blanks, or by bars where there are any.
    fn break_it(&self, commands: &[&str]) {
        for command in commands {
            let command = self.fill(command);
            let words: Vec<&str> = command.split(if command.contains('|') { '|' } else { ' ' }).collect();
            self.app.redis.run::<redis::Value>(&words);
        }
    }

    async fn findings(&self, options: Options) -> Vec<String> {
        let mut found = Vec::new();
        let report = run(&self.app.app, options, |step| {
            if let Step::Found(finding) = step {
                found.push(format!("{}: {}", finding.key, finding.what));
            }
        });
        let report = report.await.expect("it is read");
        assert_eq!(report.findings, found.len());
        found.sort();
        found
    }

    /// Keeps the store as it is now, for [`Self::restore`].
    fn keep(&self) {
        let copy = "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', 1) end";
        self.app.redis.run::<redis::Value>(&["EVAL", copy, "0"]);
    }

    fn restore(&self) {
        let copy = "redis.call('FLUSHDB') redis.call('SELECT', 1) \
            for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', 0) end";
        self.app.redis.run::<redis::Value>(&["EVAL", copy, "0"]);
    }
}

async fn log_in(app: &TestApp, actor: &Actor) -> String {
    let input = json!({ "login": actor.login, "password": "correct horse" });
    let answer = app.anonymous().run("LogIn", json!({ "input": input })).await;
    answer["data"]["logIn"]["session"]["token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn fsck(redis: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waxwing"));
    command.args(["fsck", "--redis", redis]).args(arguments).output().expect("it runs")
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn what_the_api_has_written_is_sound() {
    let scene = Scene::play().await;
    assert_eq!(scene.findings(QUICK).await, [""; 0]);
    for kind in ["user", "users", "password", "session", "sessions", "following", "followers", "status", "likers", "profile"] {
        assert!(scene.app.redis.keys().iter().any(|key| key.starts_with(&format!("{kind}:{{"))), "the scene has no {kind}");
    }
    for kind in ["home", "gone", "idempotency", "worker", "secret"] {
        let any = kind == "secret" || scene.app.redis.keys().iter().any(|key| key.starts_with(&format!("{kind}:{{")));
        assert!(any, "the scene has no {kind}");
    }
    let output = fsck(&scene.app.redis.url(), &["--home-window", "1000"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(lines(&output), [format!("{} keys read, nothing is broken.", scene.app.redis.keys().len())]);
}

#[tokio::test]
async fn the_command_tells_what_is_broken_and_fails() {
    let scene = Scene::play().await;
    scene.break_it(&["HSET user:{$ada} followers 9", "SET stray 1"]);
    let output = fsck(&scene.app.redis.url(), &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let mut found = lines(&output);
    let keys = scene.app.redis.keys().len();
    assert_eq!(found.pop(), Some(format!("{keys} keys read, 2 findings.")));
    found.sort();
    let count = scene.fill("user:{$ada}: its followers is not the size of followers:{$ada} (9, not 2)");
    assert_eq!(found, ["stray: is no key of Waxwing's".to_owned(), count]);
    assert_eq!(keys, scene.app.redis.keys().len(), "it only reads");
}

#[tokio::test]
async fn an_audit_writes_nothing() {
    let scene = Scene::play().await;
    scene.break_it(&["HSET user:{$ada} followers 9"]);
    scene.app.redis.reset_calls();
    scene.findings(QUICK).await;
    let reading = [
        "scan", "type", "pttl", "hmget", "hget", "hscan", "exists", "zcard", "zscore", "zcount", "zrange", "getrange", "strlen",
        "ping",
    ];
    let calls = scene.app.redis.calls();
    assert!(calls.keys().all(|name| reading.contains(&name.as_str())), "{calls:?}");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("typo");
    let output = Command::new(env!("CARGO_BIN_EXE_waxwing")).arg("fsck").arg("--data-dir").arg(&data).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no data folder"), "{output:?}");
    assert!(!data.exists());
}

#[tokio::test]
async fn demo_worlds_are_sound() {
    for follows in [None, Some("1 2\n2 1\n3 1\n1 3\n4 5\n5 6\n6 4\n7 1\n")] {
        let redis = crate::support::RedisServer::start();
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_waxwing"));
        command.args(["demo", "--redis", &redis.url(), "--tokens"]).arg(folder.path().join("tokens"));
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

/// What is done to the scene, and every finding that it must give.
type Case = (&'static [&'static str], &'static [&'static str]);

const OF_THE_PROCESS: &[Case] = &[
    (&["SET worker:{64} 1"], &["worker:{64}: worker numbers end at 63"]),
    (&["SET worker:{7} soon"], &["worker:{7}: is no time in ms"]),
    (&["SET secret:{cursor} short"], &["secret:{cursor}: is not 16 bytes long"]),
    (
        &["HSET world:{demo} name people moment 5 state loading"],
        &["world:{demo}: the demo world is not loaded to its end: load it again"],
    ),
    (&["HSET world:{demo} name people"], &["world:{demo}: its fields are not a name, a moment and a state"]),
    (&["SET nonsense 1"], &["nonsense: is no key of Waxwing's"]),
    (&["SET user:{01} 1"], &["user:{01}: is no key of Waxwing's"]),
    (&["EVAL|redis.call('SET', 'user:{\\255}', 1)|0"], &["user:{\u{fffd}}: is no key of Waxwing's"]),
];

const OF_ACCOUNTS: &[Case] = &[
    (&["HDEL user:{$ada} bio"], &["user:{$ada}: has no bio"]),
    (&["HSET user:{$ada} signup soon"], &["user:{$ada}: its signup is no number"]),
    (&["HSET user:{$ada} posts -1"], &["user:{$ada}: its posts is no number"]),
    (&["HSET user:{$ada} id 7"], &["user:{$ada}: has another id"]),
    (&["EXPIRE user:{$ada} 1000"], &["user:{$ada}: should have no time to live"]),
    (&["HDEL $shard ada"], &["user:{$ada}: does not hold its login \"ada\""]),
    (
        &["HSET $shard ada $bob"],
        &["user:{$ada}: does not hold its login \"ada\"", "$shard: the login \"ada\" is claimed by $bob, which has another"],
    ),
    (
        &["HSET $shard ada $old"],
        &["user:{$ada}: does not hold its login \"ada\"", "$shard: the login \"ada\" is claimed by $old, which is no account"],
    ),
    (
        &["HSET users:{0} zed nobody"],
        &["users:{0}: the login \"zed\" belongs into another shard", "users:{0}: the login \"zed\" is claimed by what is no id"],
    ),
    (&["SET users:{0} 1"], &["users:{0}: should be a hash"]),
    (&["DEL password:{$ada}"], &["user:{$ada}: has no password"]),
    (&["SET password:{$ada} secret"], &["password:{$ada}: is no argon2id hash"]),
    (&["SET password:{$old} $argon2id$"], &["password:{$old}: there is no such account"]),
];

const OF_SESSIONS: &[Case] = &[
    (&["PERSIST session:{$digest}"], &["session:{$digest}: has no time to live"]),
    (&["HDEL session:{$digest} agent"], &["session:{$digest}: has no agent"]),
    (&["HSET session:{$digest} seen now"], &["session:{$digest}: its id, uid or seen is no number"]),
    (
        &["HSET session:{$digest} uid $old"],
        &[
            "session:{$digest}: its account $old does not exist",
            "session:{$digest}: is not listed in sessions:{$old} with its id",
        ],
    ),
    (&["ZREM sessions:{$ada} $digest"], &["session:{$digest}: is not listed in sessions:{$ada} with its id"]),
    (&["ZADD sessions:{$ada} $old $digest"], &["session:{$digest}: is not listed in sessions:{$ada} with its id"]),
    (&["PERSIST sessions:{$ada}"], &["sessions:{$ada}: has no time to live"]),
    (&["COPY sessions:{$ada} sessions:{$old}"], &["sessions:{$old}: there is no such account"]),
    (
        &["EVAL|for n = 1, 98 do redis.call('ZADD', KEYS[1], n, n) end|1|sessions:{$ada}"],
        &["sessions:{$ada}: lists more than 100 sessions"],
    ),
];

const OF_FOLLOWS: &[Case] = &[
    (&["HSET user:{$ada} followers 9"], &["user:{$ada}: its followers is not the size of followers:{$ada}"]),
    (&["HSET user:{$bob} following 0"], &["user:{$bob}: its following is not the size of following:{$bob}"]),
    (
        &["ZREM followers:{$ada} $bob", "HINCRBY user:{$ada} followers -1"],
        &["following:{$bob}: $ada is in it, but followers:{$ada} has no $bob"],
    ),
    (
        &["ZREM following:{$bob} $ada", "HINCRBY user:{$bob} following -1"],
        &[
            "followers:{$ada}: $bob is in it, but following:{$bob} has no $ada",
            "home:{$bob}: status $second is by $ada, whom the owner does not follow",
            "home:{$bob}: status $status is by $ada, whom the owner does not follow",
        ],
    ),
    (&["ZADD followers:{$ada} $old $bob"], &["following:{$bob}: $ada is in it with another follow than in followers:{$ada}"]),
    (&["ZADD following:{$ada} $old $ada", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: holds its own account"]),
    (&["ZADD following:{$ada} $old 12345", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: 12345 in it is no account"]),
    (&["ZADD followers:{$ada} $old 12345", "HINCRBY user:{$ada} followers 1"], &["followers:{$ada}: 12345 in it is no account"]),
    (
        &["COPY following:{$bob} following:{$old}"],
        &["following:{$old}: $ada is in it, but followers:{$ada} has no $old", "following:{$old}: there is no such account"],
    ),
    (
        &["COPY followers:{$ada} followers:{$old}"],
        &[
            "followers:{$old}: $bob is in it, but following:{$bob} has no $old",
            "followers:{$old}: $cyd is in it, but following:{$cyd} has no $old",
            "followers:{$old}: there is no such account",
        ],
    ),
    (&["ZADD following:{$ada} -5 $bob", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: has scores that are no ids"]),
    (&["SET following:{$ada} 1"], &["following:{$ada}: should be a zset"]),
];

const OF_STATUSES: &[Case] = &[
    (&["HDEL status:{$status} message"], &["status:{$status}: has no message"]),
    (&["HSET status:{$status} posted soon"], &["status:{$status}: its posted is no number"]),
    (&["HSET status:{$status} id 7"], &["status:{$status}: has another id"]),
    (&["HSET status:{$status} comments 3"], &["status:{$status}: counts comments"]),
    (&["HSET status:{$status} likes 5"], &["status:{$status}: its likes is not the size of likers:{$status}"]),
    (&["HSET status:{$status} lat 5"], &["status:{$status}: its lat and lon are no place"]),
    (
        &["HSET status:{$status} uid $old"],
        &[
            "status:{$status}: its author $old does not exist",
            "status:{$status}: does not stand in profile:{$old}",
            "profile:{$ada}: status $status is by $old",
            "home:{$ada}: status $status is by $old, whom the owner does not follow",
            "home:{$bob}: status $status is by $old, whom the owner does not follow",
            "home:{$cyd}: status $status is by $old, whom the owner does not follow",
        ],
    ),
    (
        &["DEL status:{$status}"],
        &[
            "likers:{$status}: there is no such status",
            "profile:{$ada}: there is no status $status",
            "home:{$ada}: there is no status $status",
            "home:{$bob}: there is no status $status",
            "home:{$cyd}: there is no status $status",
        ],
    ),
    (&["ZREM profile:{$ada} $status", "HINCRBY user:{$ada} posts -1"], &["status:{$status}: does not stand in profile:{$ada}"]),
    (&["HSET user:{$ada} posts 5"], &["user:{$ada}: its posts is not the size of profile:{$ada}"]),
    (&["ZADD profile:{$ada} $old $old", "HINCRBY user:{$ada} posts 1"], &["profile:{$ada}: there is no status $old"]),
    (&["ZADD profile:{$ada} 77 $status"], &["profile:{$ada}: status $status does not stand at its own place"]),
    (
        &["COPY profile:{$bob} profile:{$old}"],
        &["profile:{$old}: status $ofbob is by $bob", "profile:{$old}: there is no such account"],
    ),
    (&["ZADD likers:{$status} $old 4242", "HINCRBY status:{$status} likes 1"], &["likers:{$status}: 4242 in it is no account"]),
    (&["ZADD likers:{$status} 1.5 x", "HINCRBY status:{$status} likes 1"], &["likers:{$status}: entry \"x\" is no pair of ids"]),
    (
        &["ZADD likers:{$status} $old $ada $old $cyd", "HINCRBY status:{$status} likes 2"],
        &["likers:{$status}: two entries stand at $old"],
    ),
    (&["SET gone:{$status} 1 PX 90000"], &["gone:{$status}: status:{$status} stands beside it"]),
    (&["PERSIST gone:{$gone}"], &["gone:{$gone}: has no time to live"]),
    (&["PERSIST $record"], &["$record: has no time to live"]),
    (&["SET $record broken PX 90000"], &["$record: is no fingerprint and status"]),
];

const OF_HOMES: &[Case] = &[
    (&["ZADD home:{$cyd} $ofbob $ofbob"], &["home:{$cyd}: status $ofbob is by $bob, whom the owner does not follow"]),
    (&["ZADD home:{$cyd} $old $old"], &["home:{$cyd}: there is no status $old"]),
    (&["ZADD home:{$bob} 77 $status"], &["home:{$bob}: status $status does not stand at its own place"]),
    (
        &["ZADD home:{$old} $ofbob $ofbob"],
        &["home:{$old}: there is no such account", "home:{$old}: status $ofbob is by $bob, whom the owner does not follow"],
    ),
    (&["DEL home:{$bob}", "SET home:{$bob} 1"], &["home:{$bob}: should be a zset"]),
];

async fn hold(cases: &[Case]) {
    let scene = Scene::play().await;
    scene.keep();
    for (commands, expected) in cases {
        assert_eq!(scene.findings(QUICK).await, [""; 0], "before {commands:?}");
        scene.break_it(commands);
        let mut expected: Vec<String> = expected.iter().map(|line| scene.fill(line)).collect();
        expected.sort();
        assert_eq!(scene.findings(QUICK).await, expected, "{commands:?}");
        scene.restore();
    }
}

#[tokio::test]
async fn what_processes_keep_is_checked() {
    hold(OF_THE_PROCESS).await;
}

#[tokio::test]
async fn accounts_are_checked() {
    hold(OF_ACCOUNTS).await;
}

#[tokio::test]
async fn sessions_are_checked() {
    hold(OF_SESSIONS).await;
}

#[tokio::test]
async fn follows_are_checked() {
    hold(OF_FOLLOWS).await;
}

#[tokio::test]
async fn statuses_are_checked() {
    hold(OF_STATUSES).await;
}

#[tokio::test]
async fn homes_are_checked() {
    hold(OF_HOMES).await;
    let scene = Scene::play().await;
    let found = scene.findings(Options { home_window: Some(1), ..QUICK }).await;
    let mut expected = ["$ada", "$bob", "$cyd"].map(|who| scene.fill(&format!("home:{{{who}}}: holds more than 1")));
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(scene.findings(Options { home_window: None, ..QUICK }).await, [""; 0]);
}

#[tokio::test]
async fn big_sets_are_bounded_and_read_to_their_ends() {
    let scene = Scene::play().await;
    let many = "local id = tonumber(ARGV[1]) for n = 1, 25000 do redis.call('ZADD', KEYS[1], id + n * 64, string.format('%d', id + n * 64)) end";
    let last = (1_u64 << 53) - 1;
    scene.break_it(&[&format!("EVAL|{many}|1|home:{{$cyd}}|$young"), &format!("ZADD home:{{$cyd}} {last} x")]);
    let found = scene.findings(QUICK).await;
    let expected =
        ["home:{$cyd}: entry \"x\" is no pair of ids", "home:{$cyd}: holds more than 1000"].map(|line| scene.fill(line));
    assert_eq!(found, expected);
    scene.break_it(&["DEL home:{$cyd}", &format!("EVAL|{many}|1|following:{{$cyd}}|$young")]);
    let found = scene.findings(QUICK).await;
    assert!(found.contains(&scene.fill("following:{$cyd}: holds more than 10000")), "{found:?}");
    let of_set = found.iter().filter(|line| line.starts_with("following:"));
    assert_eq!(of_set.count(), 101, "what is broken throughout is told a hundred times");
}

/// Halves of changes that a server may be in the middle of.
const HALVES: Case = (
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
    ],
    &[
        "$shard: the login \"zed\" is claimed by $young, which is no account",
        "password:{$young}: there is no such account",
        "following:{$ada}: $cyd is in it, but followers:{$cyd} has no $ada",
        "status:{$young}: does not stand in profile:{$ada}",
        "home:{$bob}: there is no status $young9",
        "home:{$ada}: there is no status $old",
        "profile:{$ada}: there is no status $old",
    ],
);

#[tokio::test]
async fn what_is_younger_than_the_lease_is_no_orphan() {
    let mut scene = Scene::play().await;
    let young = compose(scene.app.app.now() - 59_000, 5, 9).to_string();
    scene.names.insert(0, ("$young9", young));
    scene.break_it(HALVES.0);
    // The shard of this login is another one, which is no matter of age.
    let shard = scene.fill("$shard: the login \"zed\" belongs into another shard");
    assert_eq!(scene.findings(QUICK).await, std::slice::from_ref(&shard));
    scene.app.clock.advance(2_000);
    scene.break_it(&["PEXPIRE gone:{$old} 89930000"]);
    let mut expected: Vec<String> = HALVES.1.iter().map(|line| scene.fill(line)).chain([shard]).collect();
    expected.sort();
    assert_eq!(scene.findings(QUICK).await, expected);
}

#[tokio::test]
async fn what_is_well_at_the_second_look_is_not_told() {
    let scene = Scene::play().await;
    scene.break_it(&["HSET user:{$ada} followers 9", "HSET user:{$bob} following 9"]);
    let mend = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        scene.break_it(&["HSET user:{$ada} followers 2"]);
    };
    let patient = Options { pause: Duration::from_millis(800), ..QUICK };
    let (found, ()) = tokio::join!(scene.findings(patient), mend);
    assert_eq!(found, [scene.fill("user:{$bob}: its following is not the size of following:{$bob}")]);
}

#[tokio::test]
async fn a_store_in_use_is_sound_at_every_moment() {
    let scene = Scene::play().await;
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
    let looks = async {
        for _ in 0..4 {
            let patient = Options { pause: Duration::from_millis(150), ..QUICK };
            assert_eq!(scene.findings(patient).await, [""; 0]);
        }
    };
    tokio::join!(traffic, looks);
}
