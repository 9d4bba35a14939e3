//! Crashes during changes of tags and mentions. After each, what the timelines of tags, the mentions, homes with followed tags and lists with tags show
//! is compared with the texts and the audiences that the statuses then have.

use super::{assert_no_findings, draft, set_private, settings};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, references};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::audience::AudienceKind;
use waxwing::base::clock::Clock;
use waxwing::base::error::Refusal;
use waxwing::base::ids::{StatusId, UserListId};
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::statuses::{AudienceInput, StatusDraft, service as statuses};
use waxwing::domains::tags::service::follows;
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service as users;

/// The changes of the first user during which the process crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Post,
    Edit,
    Delete,
    /// The status, which was public, is for followers.
    Narrow,
    Widen,
    BecomePrivate,
    BecomePublic,
    FollowTag,
    UnfollowTag,
    AddToList,
    RemoveFromList,
    DeleteAccount,
}

const OLD: &str = "one #birds #trees @p1";
const NEW: &str = "two #fish #lakes @p2";
const TAGS: [&str; 4] = ["birds", "trees", "fish", "lakes"];

/// Four users: the second follows the first. The third and the fourth follow nobody.
struct World {
    people: Vec<Actor>,
    /// The first user's status with the old text.
    status: StatusId,
    /// A list of the first user without members.
    list: UserListId,
}

/// The state of a status, as its author sees it.
struct Known {
    author: usize,
    message: String,
    is_public: bool,
}

fn messages(timeline: &Value) -> Vec<String> {
    let edges = timeline["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{timeline}"));
    let mut all: Vec<String> =
        edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect();
    all.sort(); // Another process's ids of one moment may be smaller.
    all
}

const ENTRIES: &str = "{ entries(first: 100) { edges { node { status { message audience } } } } }";

async fn data(actor: &Actor, query: &str, variables: Value) -> Value {
    let mut response = actor.gql(query, variables).await;
    assert_eq!(response.get("errors"), None, "{query}: {response}");
    response["data"].take()
}

async fn post(app: &TestApp, author: &Actor, message: &str) -> StatusId {
    app.clock.advance(10);
    let draft = StatusDraft { message: message.into(), ..draft(None) };
    timelines::post(&app.app, author.user_id(), draft).await.expect("a status").expect("it is new")
}

impl World {
    async fn make(app: &TestApp, change: Change) -> Self {
        let people = app.create_users("p", 4).await;
        let first = people[0].user_id();
        timelines::follow(&app.app, people[1].user_id(), first).await.expect("a follow");
        post(app, &people[3], "of another #birds #fish @p0 @p1 @p2").await;
        post(app, &people[0], "older #trees #lakes @p2 @p3").await;
        let status = post(app, &people[0], OLD).await;
        let new = NewList { name: "list".into(), idempotency_key: None };
        let list = lists::create(&app.app, first, new).await.expect("a list").expect("it is new");
        if matches!(change, Change::UnfollowTag | Change::DeleteAccount) {
            follows::follow(&app.app, first, "birds").await.expect("a follow");
        }
        if matches!(change, Change::RemoveFromList | Change::DeleteAccount) {
            lists::tags::add(&app.app, first, list, "birds").await.expect("a tag");
        }
        let world = Self { people, status, list };
        match change {
            Change::Widen => world.set_audience(&app.app, AudienceKind::Followers).await.expect("a change"),
            Change::BecomePublic => set_private(&app.app, first, true).await.expect("a change"),
            // Then the names of all versions are removed.
            Change::Delete => {
                statuses::edit(&app.app, first, status, "between #lakes @p3").await.expect("an edit");
                statuses::edit(&app.app, first, status, OLD).await.expect("an edit");
            }
            _ => {}
        }
        app.drain().await;
        world
    }

    async fn set_audience(&self, app: &App, kind: AudienceKind) -> Result<(), Refusal> {
        let audience = AudienceInput { kind: Some(kind), list: None };
        statuses::set_audience(app, self.people[0].user_id(), self.status, &audience).await
    }

    async fn apply(&self, app: &App, change: Change) -> Result<(), Refusal> {
        let first = self.people[0].user_id();
        match change {
            Change::Post => drop(timelines::post(app, first, StatusDraft { message: NEW.into(), ..draft(None) }).await?),
            Change::Edit => statuses::edit(app, first, self.status, NEW).await?,
            Change::Delete => timelines::delete(app, first, self.status).await?,
            Change::Narrow => self.set_audience(app, AudienceKind::Followers).await?,
            Change::Widen => self.set_audience(app, AudienceKind::Public).await?,
            Change::BecomePrivate => set_private(app, first, true).await?,
            Change::BecomePublic => set_private(app, first, false).await?,
            Change::FollowTag => drop(follows::follow(app, first, "birds").await?),
            Change::UnfollowTag => drop(follows::unfollow(app, first, "birds").await?),
            Change::AddToList => lists::tags::add(app, first, self.list, "birds").await?,
            Change::RemoveFromList => lists::tags::remove(app, first, self.list, "birds").await?,
            Change::DeleteAccount => accounts::delete(app, first, "correct horse", None).await?,
        }
        Ok(())
    }

    async fn exists(&self, app: &TestApp) -> bool {
        users::exists(&app.app, self.people[0].user_id()).await.expect("a store")
    }

    async fn is_private(&self, app: &TestApp) -> bool {
        users::is_private(&app.app, self.people[0].user_id()).await.expect("a store")
    }

    /// The tags that the first user follows, and those of its list.
    async fn chosen_tags(&self) -> [Vec<String>; 2] {
        let query = "query($list: ID!) { viewerFollowedTags(first: 100) { edges { node { name } } }
            node(id: $list) { ... on UserList { tags { name } } } }";
        let read = data(&self.people[0], query, json!({ "list": self.list.global() })).await;
        let name = |tag: &Value| tag["name"].as_str().expect("a name").to_owned();
        let followed = read["viewerFollowedTags"]["edges"].as_array().expect("edges");
        let of_list = read["node"]["tags"].as_array().expect("tags");
        [followed.iter().map(|edge| name(&edge["node"])).collect(), of_list.iter().map(name).collect()]
    }

    /// The statuses that exist.
    async fn statuses(&self, app: &TestApp) -> Vec<Known> {
        let mut known = Vec::new();
        for author in [0, 3] {
            let is_first = author == 0;
            if is_first && !self.exists(app).await {
                continue;
            }
            let is_private = is_first && self.is_private(app).await;
            let actor = &self.people[author];
            let query = format!("query($id: ID!) {{ node(id: $id) {{ ... on User {{ profileTimeline {ENTRIES} }} }} }}");
            let read = data(actor, &query, json!({ "id": actor.id })).await;
            for edge in read["node"]["profileTimeline"]["entries"]["edges"].as_array().expect("edges") {
                let status = &edge["node"]["status"];
                let is_public = status["audience"] == "PUBLIC" && !is_private;
                known.push(Known { author, message: status["message"].as_str().expect("a message").to_owned(), is_public });
            }
        }
        known
    }

    /// Whether the change is applied completely.
    async fn is_applied(&self, app: &TestApp, change: Change) -> bool {
        if change == Change::DeleteAccount {
            return !self.exists(app).await;
        }
        let statuses = self.statuses(app).await;
        let with = |text: &str| statuses.iter().filter(|it| it.message == text).collect::<Vec<_>>();
        match change {
            Change::Post => with(NEW).len() == 1 && with(OLD).len() == 1,
            Change::Edit => with(NEW).len() == 1 && with(OLD).is_empty(),
            Change::Delete => with(OLD).is_empty(),
            Change::Narrow => with(OLD).iter().all(|it| !it.is_public),
            Change::Widen => with(OLD).iter().all(|it| it.is_public),
            Change::BecomePrivate => self.is_private(app).await,
            Change::BecomePublic => !self.is_private(app).await,
            Change::FollowTag => self.chosen_tags().await[0] == ["birds"],
            Change::UnfollowTag => self.chosen_tags().await[0].is_empty(),
            Change::AddToList => self.chosen_tags().await[1] == ["birds"],
            Change::RemoveFromList => self.chosen_tags().await[1].is_empty(),
            Change::DeleteAccount => unreachable!("it is above"),
        }
    }

    /// Checks that all that is found by tags and mentions agrees with the texts and audiences of the statuses. Without `counts`, the entries of deleted
    /// statuses may still be counted.
    async fn assert_agreement(&self, app: &TestApp, counts: bool, when: &str) {
        let statuses = self.statuses(app).await;
        let select = |shown: &dyn Fn(&Known) -> bool| {
            let mut all: Vec<&str> = statuses.iter().filter(|it| shown(it)).map(|it| it.message.as_str()).collect();
            all.sort_unstable();
            all.into_iter().map(str::to_owned).collect::<Vec<String>>()
        };
        let has = |known: &Known, word: &str| known.message.split(' ').any(|it| it == word);
        let in_tag = |known: &Known, tag: &str| known.is_public && has(known, &format!("#{tag}"));
        let is_left = self.exists(app).await;
        for tag in TAGS {
            let expected = select(&|it| in_tag(it, tag));
            let query = format!("query($name: String!) {{ tag(name: $name) {{ statusesCount timeline {ENTRIES} }} }}");
            let viewers = [app.anonymous(), self.people[2].clone()].into_iter().chain(is_left.then(|| self.people[0].clone()));
            for viewer in viewers {
                let read = data(&viewer, &query, json!({ "name": tag })).await;
                assert_eq!(messages(&read["tag"]["timeline"]), expected, "{when}: #{tag}");
                if counts {
                    assert_eq!(read["tag"]["statusesCount"], expected.len(), "{when}: count of #{tag}");
                }
            }
        }
        for (at, viewer) in self.people.iter().enumerate().skip(usize::from(!is_left)) {
            let can_view = |it: &Known| it.is_public || at == it.author || at == 1;
            let expected = select(&|it| it.author != at && has(it, &format!("@p{at}")) && can_view(it));
            let read = data(viewer, &format!("{{ viewerMentions {ENTRIES} }}"), json!({})).await;
            assert_eq!(messages(&read["viewerMentions"]), expected, "{when}: the mentions of p{at}");
        }
        if is_left {
            let [followed, of_list] = self.chosen_tags().await;
            let query = format!(
                "query($list: ID!) {{ homeTimeline {ENTRIES} node(id: $list) {{ ... on UserList {{ timeline {ENTRIES} }} }} }}"
            );
            let read = data(&self.people[0], &query, json!({ "list": self.list.global() })).await;
            let home = select(&|it| it.author == 0 || followed.iter().any(|tag| in_tag(it, tag)));
            assert_eq!(messages(&read["homeTimeline"]), home, "{when}: the home");
            let list = select(&|it| of_list.iter().any(|tag| in_tag(it, tag)));
            assert_eq!(messages(&read["node"]["timeline"]), list, "{when}: the list");
        }
    }
}

/// Crashes the process before each write that this run tries, until the change completes without a crash.
async fn crash_at_each_write(change: Change) {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), settings()).await;
    let world = World::make(&app, change).await;
    assert!(!world.is_applied(&app, change).await, "{change:?}: the world has the change already");
    world.assert_agreement(&app, true, &format!("before {change:?}")).await;
    let before = app.redis.snapshot();
    for writes in cut_offs(if change == Change::DeleteAccount { 5 } else { 3 }) {
        let when = format!("{change:?} after {writes} writes");
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), settings());
        let acknowledged = world.apply(&crashing, change).await.is_ok();
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        if acknowledged {
            assert!(world.is_applied(&app, change).await, "{when}: the acknowledged change is lost");
            world.assert_agreement(&app, change != Change::DeleteAccount, &format!("{when}, acknowledged")).await;
        }
        app.clock.advance(10_000);
        app.drain().await;
        if acknowledged {
            assert!(world.is_applied(&app, change).await, "{when}: the acknowledged change is lost later");
        }
        world.assert_agreement(&app, true, &when).await;
        assert_no_findings(&app, &when).await;
        if change == Change::DeleteAccount && !world.exists(&app).await {
            let found = references(&app.app, world.people[0].user_id()).await;
            assert!(found.is_empty(), "{when}: {found:#?}");
        }
        if !crash_proxy.has_cut() {
            use Change::{AddToList, FollowTag, RemoveFromList, UnfollowTag};
            let fewest = if matches!(change, FollowTag | UnfollowTag | AddToList | RemoveFromList) { 0 } else { 3 };
            assert!(writes > fewest && acknowledged, "{when}: the change must have more writes");
            return;
        }
    }
}

macro_rules! cut_off {
    ($($name:ident = $change:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            crash_at_each_write(Change::$change).await;
        }
    )*};
}

cut_off! {
    a_post_with_tags_may_be_interrupted_at_any_step = Post;
    an_edit_to_other_tags_may_be_interrupted_at_any_step = Edit;
    a_deletion_of_a_status_with_tags_may_be_interrupted_at_any_step = Delete;
    a_narrower_audience_of_tags_may_be_interrupted_at_any_step = Narrow;
    a_wider_audience_of_tags_may_be_interrupted_at_any_step = Widen;
    becoming_private_with_tags_may_be_interrupted_at_any_step = BecomePrivate;
    becoming_public_with_tags_may_be_interrupted_at_any_step = BecomePublic;
    a_follow_of_a_tag_may_be_interrupted_at_any_step = FollowTag;
    an_unfollow_of_a_tag_may_be_interrupted_at_any_step = UnfollowTag;
    an_addition_of_a_tag_to_a_list_may_be_interrupted_at_any_step = AddToList;
    a_removal_of_a_tag_from_a_list_may_be_interrupted_at_any_step = RemoveFromList;
    a_deletion_of_an_account_with_tags_may_be_interrupted_at_any_step = DeleteAccount;
}
