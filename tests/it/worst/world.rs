//! A very heavy account: thousands of follows and followers, lists, a long thread, campaigns with 250 keywords. Where work grows with one of these,
//! it is beyond the factor long before the number is what it may be at most; `make bench-work` has 10,000 follows.

use crate::rates::limited;
use crate::support::{Actor, START, TestApp};
use futures_util::{StreamExt, stream};
use rust_decimal::Decimal;
use serde_json::json;
use std::collections::BTreeMap;
use waxwing::ads::{MAX_KEYWORDS, NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads};
use waxwing::app::App;
use waxwing::clock::DAY;
use waxwing::comments::{self, Under, service as threads};
use waxwing::ids::source::{self, IMPORT_WORKER};
use waxwing::ids::{CommentId, StatusId, UserId, UserListId};
use waxwing::lists::NewList;
use waxwing::quota::Limit;
use waxwing::request::Request;
use waxwing::statuses::Status;
use waxwing::users::User;
use waxwing::{graph, lists, sessions, statuses, timelines, users};

/// Whom the heaviest follows, and who follow them.
const PEOPLE: usize = 2_000;
/// What the heaviest has said.
const SAID: usize = 1_500;
/// Comments of the thread: most directly under the status, some under each other as deep as they may.
const COMMENTS: usize = 400;
const DEEP: usize = 60;
const LISTS: usize = 10;
const MEMBERS: usize = 40;
const CAMPAIGNS: usize = 40;
/// More than are sent at once are not faster.
const AT_ONCE: usize = 16;
/// Never empty.
const PLENTY: &str = "4503599627370/1s";

/// The store, its people, and an id of each type for the heaviest.
pub(super) struct World {
    pub app: TestApp,
    /// Who has most of all.
    pub heavy: Actor,
    /// An ordinary reader.
    pub reader: Actor,
    pub website_key: String,
    /// The global id of something of each type that is an end of `node`.
    pub ids: BTreeMap<&'static str, String>,
    /// Statuses that are there.
    pub statuses: Vec<String>,
}

/// The `at`th id of so many, spread over a day.
fn id(at: usize, of: usize, day: u64) -> u64 {
    source::compose(START - day * DAY + at as u64 * DAY / of as u64, IMPORT_WORKER, at as u64 % 64)
}

fn keywords(number: usize) -> Vec<String> {
    (0..MAX_KEYWORDS).map(|at| format!("word {}", at + number % 2)).collect()
}

impl World {
    pub(super) async fn load() -> Self {
        let app = TestApp::far(limited(&[(Limit::Requests, PLENTY)])).await;
        let people: Vec<UserId> = (0..PEOPLE + 2).map(|at| UserId(id(at, PEOPLE + 2, 9))).collect();
        accounts(&app.app, &people).await;
        let said: Vec<StatusId> = (0..PEOPLE + SAID).map(|at| StatusId(id(at, PEOPLE + SAID, 3))).collect();
        talk(&app.app, &people, &said).await;
        let tokens = sessions::service::begin_many(&app.app, &people[..2]).await.expect("sessions");
        let actor = |at: usize| {
            let user = json!({ "id": people[at].global(), "login": format!("user{at}") });
            Actor::new(&app, Some(&json!({ "token": tokens[at], "user": user })))
        };
        let (heavy, reader) = (actor(0), actor(1));
        let mut ids = BTreeMap::from([("User", people[0].global()), ("Status", said[0].global())]);
        likes(&app.app, said[0], &people).await;
        ids.insert("Comment", thread(&app.app, &people, said[0]).await.global());
        ids.insert("UserList", some_lists(&app.app, &people).await.global());
        let website_key = campaigns(&app.app, people[0], &mut ids).await;
        let sessions = heavy.gql("{ viewerSessions { id } }", json!({})).await;
        ids.insert("Session", sessions["data"]["viewerSessions"][0]["id"].as_str().expect("an id").to_owned());
        app.drain().await;
        let statuses = said.iter().step_by(said.len() / 100).take(100).map(|id| id.global()).collect();
        Self { app, heavy, reader, website_key, ids, statuses }
    }
}

/// The first follows everybody and is followed by everybody; the second follows sixty.
async fn accounts(app: &App, people: &[UserId]) {
    let mut edges = Vec::new();
    for at in 2..people.len() {
        edges.extend([(0, at), (at, 0)]);
    }
    edges.extend((2..62).map(|at| (1, at)));
    let many = edges.len();
    let edges: Vec<_> = edges.into_iter().enumerate().map(|(at, (a, b))| (a, b, id(at, many, 8))).collect();
    let mut counts = vec![(0, 0); people.len()];
    for (a, b, _) in &edges {
        counts[*a].0 += 1;
        counts[*b].1 += 1;
    }
    let user = |(at, id): (usize, &UserId)| User {
        id: *id,
        login: format!("user{at}"),
        name: format!("User Number {at}"),
        bio: "Keeper of two bicycles.".into(),
        signed_up: id.time(),
        followers: counts[at].1,
        following: counts[at].0,
        posts: if at == 0 { SAID as u64 } else { 1 },
    };
    let all: Vec<User> = people.iter().enumerate().map(user).collect();
    users::service::import(app, &all, "correct horse").await.expect("accounts");
    graph::service::import(app, people, &edges).await.expect("follows");
}

/// The first has said much, each of the others one thing. Homes hold their window.
async fn talk(app: &App, people: &[UserId], said: &[StatusId]) {
    let author = |at: usize| if at < SAID { 0 } else { at - SAID + 2 };
    let status = |(at, id): (usize, &StatusId)| Status {
        id: *id,
        author: people[author(at)],
        message: "What a day for a walk along the river; the herons are back, and so are those who photograph them.".into(),
        posted_at: id.time(),
        likes: if at == 0 { PEOPLE as u64 } else { 0 },
        comments: 0,
        location: None,
    };
    let all: Vec<Status> = said.iter().enumerate().map(status).collect();
    statuses::service::import(app, all.iter()).await.expect("statuses");
    statuses::service::import_profile(app, people[0], &said[..SAID]).await.expect("a profile");
    let profiles = (SAID..said.len()).map(|at| statuses::service::import_profile(app, people[author(at)], &said[at..=at]));
    stream::iter(profiles).buffer_unordered(64).for_each(async |done| done.expect("a profile")).await;
    timelines::service::import(app, people[0], &said[..SAID], said.to_vec()).await.expect("a home");
    let read = said[SAID..SAID + 60].to_vec();
    timelines::service::import(app, people[1], &[], read).await.expect("a home");
}

async fn likes(app: &App, status: StatusId, people: &[UserId]) {
    let likers: Vec<_> = people[2..].iter().enumerate().map(|(at, user)| (*user, id(at, people.len(), 2))).collect();
    statuses::service::import_likes(app, status, &likers).await.expect("likes");
}

/// A thread under a status of the first. The comment with the most replies.
async fn thread(app: &App, people: &[UserId], status: StatusId) -> CommentId {
    let add = async |author: usize, under: Under| {
        let loaders = Request::new(app.clone(), None, None, None).loaders();
        let draft = comments::Draft { under, message: "I have never seen it from this side.".into(), idempotency_key: None };
        threads::add(app, &loaders, people[author], draft).await.ok().flatten().expect("a comment")
    };
    let first = add(0, Under::Status(status)).await;
    let wide = (0..COMMENTS).map(|at| add(at % 50, if at % 2 == 0 { Under::Status(status) } else { Under::Comment(first) }));
    stream::iter(wide).buffer_unordered(AT_ONCE).count().await;
    let mut deep = first;
    for at in 0..DEEP {
        deep = add(at % 3, Under::Comment(deep)).await;
    }
    first
}

/// Lists of the first, all with members. The first of them.
async fn some_lists(app: &App, people: &[UserId]) -> UserListId {
    let mut made = Vec::new();
    for number in 0..LISTS {
        let list = NewList { name: format!("list {number}"), idempotency_key: None };
        made.push(lists::service::create(app, people[0], list).await.ok().flatten().expect("a list"));
    }
    for list in &made {
        let add =
            (2..2 + MEMBERS).map(async |at| timelines::service::add_to_list(app, people[0], *list, people[at]).await.is_ok());
        assert!(stream::iter(add).buffer_unordered(AT_ONCE).all(async |done| done).await);
    }
    made[0]
}

/// Campaigns of the first, each with as many keywords as it may have and an ad; a website, whose key is given.
async fn campaigns(app: &App, owner: UserId, ids: &mut BTreeMap<&'static str, String>) -> String {
    let site = NewWebsite {
        name: "Blog".into(),
        origin: "https://blog.example".into(),
        require_server_key: false,
        idempotency_key: None,
    };
    let site = ads::register(app, owner, site).await.expect("a website");
    ids.insert("Website", site.global());
    for number in 0..CAMPAIGNS {
        let campaign = NewCampaign {
            name: format!("campaign {number}"),
            budget: Decimal::from(1_000_000),
            daily: None,
            starts: None,
            ends: None,
            keywords: keywords(number),
            cap: None,
            pacing: Pacing::Asap,
            idempotency_key: None,
        };
        let campaign = ads::create(app, owner, campaign).await.expect("a campaign");
        let ad = NewAd {
            campaign: Some(campaign),
            slot: Slot::Banner,
            snippet: Some("The best tea in town.".into()),
            target: Some("https://tea.example/".into()),
            status: None,
            pricing: Pricing::Cpm,
            bid: Decimal::new(1_000 + number as i64, 3),
            idempotency_key: None,
        };
        let loaders = Request::new(app.clone(), None, None, None).loaders();
        let ad = ads::create_ad(app, &loaders, owner, ad).await.expect("an ad").expect("it is there");
        // The cheapest bid: all the others are looked at before it.
        ids.entry("Campaign").or_insert_with(|| campaign.global());
        ids.entry("Ad").or_insert_with(|| ad.global());
    }
    ads::key(app, site).await.expect("a key")
}
