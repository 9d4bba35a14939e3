//! Every connection passes the same check: sizes, directions, cursors, and concurrent writes.

use crate::ads;
use crate::support::{Actor, Page, PagedConnection, TestApp};
use serde_json::{Value, json};

/// Members of a list: one page shows all of them, and only the sizes 1 and 97 divide them.
const LEN: usize = 97;

/// A reader and as many other users.
struct World {
    app: TestApp,
    reader: Actor,
    users: Vec<Actor>,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::start().await;
        let reader = app.create_users("reader", 1).await.remove(0);
        let users = app.create_users("c", LEN + 20).await;
        Self { app, reader, users }
    }

    fn listing(&self, path: &str, field: &'static str, pointer: &'static str) -> PagedConnection {
        PagedConnection { actor: self.reader.clone(), path: path.to_owned(), field, arguments: "", pointer }
    }

    fn home(&self) -> PagedConnection {
        self.listing("homeTimeline { @ }", "entries", "/data/homeTimeline/list")
    }

    fn profile(&self, of: &str) -> PagedConnection {
        self.listing(
            &format!("user(login: \"{of}\") {{ profileTimeline {{ @ }} }}"),
            "entries",
            "/data/user/profileTimeline/list",
        )
    }

    fn people(&self, of: &str, field: &'static str) -> PagedConnection {
        self.listing(&format!("user(login: \"{of}\") {{ @ }}"), field, "/data/user/list")
    }

    fn likers(&self, status: &str) -> PagedConnection {
        self.listing(&format!("node(id: \"{status}\") {{ ... on Status {{ @ }} }}"), "likers", "/data/node/list")
    }

    fn lists(&self) -> PagedConnection {
        self.listing("@", "viewerLists", "/data/list")
    }

    fn members(&self, list: &str) -> PagedConnection {
        self.listing(&format!("node(id: \"{list}\") {{ ... on UserList {{ @ }} }}"), "members", "/data/node/list")
    }

    fn timeline(&self, list: &str) -> PagedConnection {
        let path = format!("node(id: \"{list}\") {{ ... on UserList {{ timeline {{ @ }} }} }}");
        self.listing(&path, "entries", "/data/node/timeline/list")
    }

    fn campaigns(&self) -> PagedConnection {
        self.listing("@", "viewerCampaigns", "/data/list")
    }

    fn websites(&self) -> PagedConnection {
        self.listing("@", "viewerWebsites", "/data/list")
    }

    fn ads(&self, campaign: &str) -> PagedConnection {
        self.listing(&format!("node(id: \"{campaign}\") {{ ... on Campaign {{ @ }} }}"), "ads", "/data/node/list")
    }

    /// The reader registers a website.
    async fn website(&self) -> String {
        let input = json!({ "name": "News", "origin": "https://news.example" });
        let made = ads::run_ok(&self.reader, "RegisterWebsite", "website", input).await;
        made["id"].as_str().expect("an id").to_owned()
    }

    /// The reader creates a list.
    async fn list(&self) -> String {
        let response = self.reader.run("CreateList", json!({ "input": { "name": "x" } })).await;
        response["data"]["createUserList"]["userList"]["id"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    async fn put_on(&self, list: &str, other: &Actor) {
        let response = self.reader.run("AddToList", json!({ "input": { "listId": list, "userId": other.id } })).await;
        assert_eq!(response["data"]["addUserToList"]["userErrors"], json!([]), "{response}");
    }

    /// The first users follow the reader.
    async fn followed(&self) -> PagedConnection {
        self.app.create_follows(&self.users[..LEN].iter().map(|fan| (fan, &self.reader)).collect::<Vec<_>>()).await;
        self.people("reader0", "followers")
    }

    /// The reader follows the first users.
    async fn following(&self) -> PagedConnection {
        self.app.create_follows(&self.users[..LEN].iter().map(|other| (&self.reader, other)).collect::<Vec<_>>()).await;
        self.people("reader0", "following")
    }

    /// The first users like a status of the reader.
    async fn liked(&self) -> (PagedConnection, String) {
        let status = self.reader.post("liked").await;
        for liker in &self.users[..LEN] {
            liker.like(&status).await;
        }
        (self.likers(&status), status)
    }

    /// A user whom the reader follows has posted.
    async fn publish_status(&self) {
        self.reader.follow(&self.users[0]).await;
        for number in 0..LEN {
            self.users[0].post(&number.to_string()).await;
        }
    }

    /// The first users, in reverse order.
    fn newest_first(&self) -> Vec<String> {
        self.users[..LEN].iter().rev().map(|actor| actor.id.clone()).collect()
    }
}

/// The ids of a list for which the check has no other source: one large page.
async fn one_page(list: &PagedConnection) -> Vec<String> {
    let page = list.page(json!({ "first": 100 })).await;
    assert_eq!(page.ids.len(), LEN);
    page.ids
}

async fn cursor_of(list: &PagedConnection) -> String {
    list.page(json!({ "first": 1 })).await.cursors.remove(0)
}

fn ids(pages: &[Page]) -> Vec<String> {
    pages.iter().flat_map(|page| page.ids.clone()).collect()
}

/// Pages through a list in both directions while `write` adds something in front of it after every page.
async fn check_while_written(list: &PagedConnection, mut write: impl AsyncFnMut(usize)) {
    let before = list.page(json!({ "first": 100 })).await.ids;
    let mut written = 0;
    let forward = list
        .forward(11, async |_| {
            write(written).await;
            written += 1;
        })
        .await;
    assert_eq!(ids(&forward), before, "a row is repeated or missing");
    assert!(forward.iter().skip(1).all(|page| page.previous));
    let count = written;
    let mut backward = list
        .backward(23, async |_| {
            write(written).await;
            written += 1;
        })
        .await;
    backward.reverse();
    let seen = ids(&backward);
    assert_eq!(seen[seen.len() - before.len()..], before, "the earlier rows are missing");
    assert_eq!(seen.len(), before.len() + written, "rows that were added later are missing");
    assert!(count > 5 && written > count);
}

#[tokio::test]
async fn homes_are_paged_completely() {
    let world = World::new().await;
    world.publish_status().await;
    let list = world.home();
    list.check(&one_page(&list).await).await;
    list.check_between().await;
    check_while_written(&list, async |number| drop(world.users[0].post(&format!("new {number}")).await)).await;
}

#[tokio::test]
async fn profiles_are_paged_completely() {
    let world = World::new().await;
    world.publish_status().await;
    let list = world.profile("c0");
    list.check(&one_page(&list).await).await;
    list.check_between().await;
    check_while_written(&list, async |number| drop(world.users[0].post(&format!("new {number}")).await)).await;
}

#[tokio::test]
async fn followers_are_paged_completely() {
    let world = World::new().await;
    let list = world.followed().await;
    list.check(&world.newest_first()).await;
    list.check_between().await;
    check_while_written(&list, async |number| drop(world.users[LEN + number].follow(&world.reader).await)).await;
}

#[tokio::test]
async fn following_is_paged_completely() {
    let world = World::new().await;
    let list = world.following().await;
    list.check(&world.newest_first()).await;
    list.check_between().await;
    check_while_written(&list, async |number| drop(world.reader.follow(&world.users[LEN + number]).await)).await;
}

#[tokio::test]
async fn likers_are_paged_completely() {
    let world = World::new().await;
    let (list, status) = world.liked().await;
    list.check(&world.newest_first()).await;
    list.check_between().await;
    check_while_written(&list, async |number| drop(world.users[LEN + number].like(&status).await)).await;
}

#[tokio::test]
async fn lists_are_paged_completely() {
    let world = World::new().await;
    let mut made = Vec::new();
    for _ in 0..43 {
        made.insert(0, world.list().await);
    }
    world.lists().check(&made).await;
    world.lists().check_between().await;
}

#[tokio::test]
async fn members_are_paged_completely() {
    let world = World::new().await;
    let id = world.list().await;
    for member in &world.users[..LEN] {
        world.put_on(&id, member).await;
    }
    let list = world.members(&id);
    list.check(&world.newest_first()).await;
    list.check_between().await;
    check_while_written(&list, async |number| world.put_on(&id, &world.users[LEN + number]).await).await;
}

#[tokio::test]
async fn timelines_of_lists_are_paged_completely() {
    let world = World::new().await;
    let id = world.list().await;
    for number in 0..LEN {
        world.users[number % 10].post(&number.to_string()).await;
    }
    for member in &world.users[..10] {
        world.put_on(&id, member).await;
    }
    let list = world.timeline(&id);
    list.check(&one_page(&list).await).await;
    list.check_between().await;
    check_while_written(&list, async |number| drop(world.users[number % 10].post(&format!("new {number}")).await)).await;
}

#[tokio::test]
async fn campaigns_are_paged_completely() {
    let world = World::new().await;
    let mut made = Vec::new();
    for _ in 0..LEN {
        made.insert(0, ads::make(&world.reader, json!({})).await);
    }
    let list = world.campaigns();
    list.check(&made).await;
    list.check_between().await;
    check_while_written(&list, async |_| drop(ads::make(&world.reader, json!({})).await)).await;
}

#[tokio::test]
async fn websites_are_paged_completely() {
    let world = World::new().await;
    let mut made = Vec::new();
    for _ in 0..70 {
        made.insert(0, world.website().await);
    }
    let list = world.websites();
    list.check(&made).await;
    list.check_between().await;
    check_while_written(&list, async |_| drop(world.website().await)).await;
}

#[tokio::test]
async fn ads_of_a_campaign_are_paged_completely() {
    let world = World::new().await;
    let campaign = ads::make(&world.reader, json!({})).await;
    let mut made = Vec::new();
    for _ in 0..70 {
        made.insert(0, ads::add(&world.reader, &campaign, json!({})).await);
    }
    let list = world.ads(&campaign);
    list.check(&made).await;
    list.check_between().await;
    check_while_written(&list, async |_| drop(ads::add(&world.reader, &campaign, json!({})).await)).await;
}

#[tokio::test]
async fn a_cursor_stays_valid_after_its_entry_is_deleted() {
    let world = World::new().await;
    world.publish_status().await;
    let (home, profile) = (world.home(), world.profile("c0"));
    let before = one_page(&home).await;
    let statuses =
        world.reader.gql("{ homeTimeline { entries(first: 100) { edges { node { status { id } } } } } }", json!({})).await;
    let mut at = 0;
    let pages = home
        .forward(10, async |page| {
            at += page.ids.len();
            let status =
                statuses.pointer(&format!("/data/homeTimeline/entries/edges/{}/node/status/id", at - 1)).and_then(Value::as_str);
            world.users[0].delete(status.expect("a status")).await;
        })
        .await;
    assert_eq!(ids(&pages), before, "each row was read before its deletion");
    let remaining_page = profile.page(json!({ "first": 100 })).await;
    assert_eq!((remaining_page.ids.len(), remaining_page.next, remaining_page.previous), (LEN - 9, false, false));
    let entry = pages[0].cursors[9].as_str();
    let newer = home.page(json!({ "last": 100, "before": entry })).await;
    assert_eq!((newer.ids, newer.next, newer.previous), (before[..9].to_vec(), true, false));
}

#[tokio::test]
async fn every_list_refuses_invalid_page_arguments() {
    let world = World::new().await;
    world.publish_status().await;
    let status = world.reader.post("liked").await;
    world.users[0].like(&status).await;
    world.users[0].follow(&world.reader).await;
    let other = world.users[1].post("liked").await;
    world.reader.like(&other).await;
    world.users[0].follow(&world.users[1]).await;
    let (list, another) = (world.list().await, world.list().await);
    for id in [&list, &another] {
        world.put_on(id, &world.users[0]).await;
    }
    let (campaign, second) = (ads::make(&world.reader, json!({})).await, ads::make(&world.reader, json!({})).await);
    for id in [&campaign, &second] {
        ads::add(&world.reader, id, json!({})).await;
    }
    world.website().await;
    let lists = || {
        [
            world.home(),
            world.profile("c0"),
            world.people("reader0", "followers"),
            world.people("reader0", "following"),
            world.likers(&status),
            world.lists(),
            world.members(&list),
            world.timeline(&list),
            world.campaigns(),
            world.websites(),
            world.ads(&campaign),
        ]
    };
    let others = [
        world.profile("c1"),
        world.profile("reader0"),
        world.people("c1", "followers"),
        world.people("c0", "following"),
        world.likers(&other),
        world.members(&another),
        world.timeline(&another),
        world.ads(&second),
    ];
    let mut cursors = Vec::new();
    for list in lists().iter().chain(&others) {
        cursors.push(cursor_of(list).await);
    }
    for (own, list) in lists().iter().enumerate() {
        let foreign: Vec<String> =
            cursors.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, cursor)| cursor.clone()).collect();
        list.check_refusals(&foreign).await;
    }
    let theirs = PagedConnection { actor: world.users[0].clone(), ..world.home() };
    theirs.check_refusals(&cursors).await;
}

/// Entries of the home newer than a cursor, in both directions of a client's screen.
async fn newer(reader: &Actor, cursor: &str) -> Vec<String> {
    let response = reader.run("Newer", json!({ "last": 100, "before": cursor })).await;
    let edges = response["data"]["homeTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
}

async fn sync_cursor(reader: &Actor, first: usize) -> String {
    let response = reader.run("Home", json!({ "first": first })).await;
    response["data"]["homeTimeline"]["syncCursor"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

#[tokio::test]
async fn a_sync_cursor_continues_with_exactly_the_new_statuses() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 3).await;
    let reader = &users[0];
    reader.follow(&users[1]).await;
    let empty = sync_cursor(reader, 20).await;
    assert_eq!(newer(reader, &empty).await, [""; 0]);
    users[1].post("one").await;
    users[2].post("a stranger's").await;
    assert_eq!(newer(reader, &empty).await, ["one"]);
    for first in [1, 20] {
        assert_eq!(newer(reader, &sync_cursor(reader, first).await).await, [""; 0]);
    }
    let cursor = sync_cursor(reader, 20).await;
    users[1].post("two").await;
    reader.post("three").await;
    assert_eq!(newer(reader, &cursor).await, ["three", "two"]);
    assert_eq!(newer(reader, &empty).await, ["three", "two", "one"]);
    let last = reader.run("Newer", json!({ "last": 1, "before": cursor })).await;
    let entries = &last["data"]["homeTimeline"]["entries"];
    assert_eq!(entries["edges"][0]["node"]["status"]["message"], "two", "the one next to the cursor");
    assert_eq!(entries["pageInfo"]["hasPreviousPage"], true);
}

#[tokio::test]
async fn a_sync_cursor_works_without_a_page_and_in_profiles() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let query = "{ homeTimeline { syncCursor } user(login: \"c1\") { profileTimeline { syncCursor } } }";
    for _ in 0..2 {
        let response = users[0].gql(query, json!({})).await;
        let home = response["data"]["homeTimeline"]["syncCursor"].as_str().expect("a cursor").to_owned();
        let profile = response["data"]["user"]["profileTimeline"]["syncCursor"].clone();
        users[1].post("theirs").await;
        users[0].post("own").await;
        assert_eq!(newer(&users[0], &home).await, ["own"]);
        let since = "query($before: String) { user(login: \"c1\") { profileTimeline { entries(last: 5, before: $before) { edges { node { status { message } } } } } } }";
        let response = users[0].gql(since, json!({ "before": profile })).await;
        let edges = &response["data"]["user"]["profileTimeline"]["entries"]["edges"];
        assert_eq!(edges.as_array().map(Vec::len), Some(1), "{response}");
    }
}

#[tokio::test]
async fn a_page_of_hidden_entries_ends_and_continues_at_its_end_cursor() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    bea.follow(&ada).await;
    let key = format!("followers:{{{}}}", ada.user_id().0);
    let fill = "local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
        for n = 1, 12000 do redis.call('ZADD', KEYS[1], held + n, n) end
        for n = 12001, 24000 do redis.call('ZADD', KEYS[1], held - n, n) end";
    app.redis.run::<()>(&["EVAL", fill, "1", &key, &bea.user_id().0.to_string()]);
    let query = "query($first: Int, $after: String, $last: Int, $before: String) { user(login: \"ada\") {
        followers(first: $first, after: $after, last: $last, before: $before) {
            edges { node { login } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }";
    let page = async |arguments: Value| ada.gql(query, arguments).await["data"]["user"]["followers"].take();
    for (size, cursor, end, more) in
        [("first", "after", "endCursor", "hasNextPage"), ("last", "before", "startCursor", "hasPreviousPage")]
    {
        let (mut found, mut at, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let read = page(json!({ size: 5, cursor: at })).await;
            let edges = read["edges"].as_array().unwrap_or_else(|| panic!("{read}"));
            found.extend(edges.iter().map(|edge| edge["node"]["login"].clone()));
            pages += 1;
            if read["pageInfo"][more] == json!(false) {
                break;
            }
            assert!(pages < 9 && read["pageInfo"][end].is_string() && read["pageInfo"][end] != at, "{read}");
            at = read["pageInfo"][end].clone();
        }
        // 10,000 entries a page, also those of the check for entries before the cursor.
        assert_eq!((found, pages), (vec![json!("bea")], 4), "{size}");
    }
}
