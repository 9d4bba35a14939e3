//! The account with the most data: nearly the maximum of follows and followers, lists, a long thread, campaigns with 250 keywords, and texts of the
//! maximum length. Lists, members, campaigns and comments are fewer than their maxima: work that grows with one of them exceeds the factor with far
//! fewer.

mod ads;
mod statuses;

use super::chats::{Chats, create_chats};
use super::inputs::FLAG;
use super::{Measure, first_screen};
use crate::rates::limited;
use crate::support::{Actor, START, TestApp};
use ads::{collect_tokens, create_campaigns, create_promotions};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use statuses::{
    create_conversation, create_marks, create_thread, edit, import_likes, import_statuses, narrow_statuses, publish_events,
};
use std::collections::BTreeMap;
use waxwing::app::App;
use waxwing::base::audience::DetailAudience;
use waxwing::base::clock::DAY;
use waxwing::base::count::SparseCount;
use waxwing::base::day::Day;
use waxwing::base::ids::source::{self, IMPORT_WORKER};
use waxwing::base::ids::{ConversationEntryId, StatusId, UserId, UserListId};
use waxwing::base::rate_limits::Limit;
use waxwing::base::server_key::Scope;
use waxwing::domains::lists::NewList;
use waxwing::domains::server_keys::CreateResult;
use waxwing::domains::users::{URL_BYTES, User};
use waxwing::domains::{graph, lists, relations, server_keys, sessions, tags, timelines, users};

/// The number of friends of the heaviest account, and of the poster.
const FRIENDS: usize = 4_990;
/// The number of accounts that the heaviest account mutes, and of other accounts that it blocks.
const MUTED: usize = 120;
/// The number of accounts that the heaviest account follows, and that follow it: slightly below the limit, so that it can follow one more.
const PEOPLE: usize = 9_990;
/// Indexes of accounts. Nobody follows the stranger; the heaviest account follows the poster and all accounts after it.
pub(super) const HEAVY: usize = 0;
pub(super) const READER: usize = 1;
pub(super) const STRANGER: usize = 2;
pub(super) const POSTER: usize = 3;
/// Statuses, in this order: of the heaviest account; of the stranger; of the poster, whose events are replayed to subscriptions with an old cursor,
/// more than one read returns; and one of each account from the poster on.
const OWN_STATUSES: usize = 1_500;
const STATUSES_OF_STRANGER: usize = 800;
const EVENTS: usize = 600;
const FIRST_EVENT: usize = OWN_STATUSES + STATUSES_OF_STRANGER;
const FIRST_OF_OTHERS: usize = FIRST_EVENT + EVENTS;
/// A word of the statuses of the poster and the accounts after it.
pub(super) const WORD: &str = "herons";
/// A tag of statuses of the stranger that the heaviest account follows. It follows others without a status.
pub(super) const TAG: &str = "tag";
const FOLLOWED_TAGS: usize = 98;
const LISTS: usize = 10;
const MEMBERS: usize = 40;
/// Ads of the campaign that mutations change.
const ADS: usize = 20;
/// Other sessions of the heaviest account.
const SESSIONS: usize = 20;
/// The number of concurrent writes. More are not faster.
pub(super) const AT_ONCE: usize = 16;
/// The external id of an account of another system.
pub(super) const BACKEND_USER: &str = "backend-user";
/// A quota that is never exhausted.
const PLENTY: &str = "4503599627370/1s";

/// Tokens that only the server can create.
#[derive(Default)]
pub(super) struct Tokens {
    pub click: String,
    pub promoted: Vec<String>,
    pub device: String,
}

/// A server with the data, and values for the arguments of documents.
pub(super) struct World {
    pub app: TestApp,
    /// The heaviest account.
    pub heavy: Actor,
    /// The heaviest account in another session.
    pub other_session: Actor,
    /// A backend with a server key of all scopes.
    pub backend: Actor,
    /// An account that the heaviest account follows and has on a list.
    pub poster: Actor,
    /// The work and cost of a first screen.
    pub screen: Measure,
    pub website_key: String,
    pub tokens: Tokens,
    /// The global id of one object of each type that `node` returns.
    pub ids: BTreeMap<&'static str, String>,
    /// A reply deep in a conversation.
    pub reply: String,
    /// A campaign with many ads and no keywords.
    pub campaign: String,
    /// An account with many statuses that the heaviest account does not follow.
    pub stranger: String,
    /// An old status of the stranger that nobody reposts.
    pub reposted: String,
    /// The heaviest account's chats.
    pub chats: Chats,
    /// Existing statuses.
    pub statuses: Vec<String>,
    /// An old cursor for each subscription, after which all events are replayed.
    pub cursors: BTreeMap<&'static str, String>,
}

/// Returns the `at`th of `of` ids that are distributed over a day.
fn id(at: usize, of: usize, day: u64) -> u64 {
    source::compose(START - day * DAY + at as u64 * DAY / of as u64, IMPORT_WORKER, at as u64 % 64)
}

pub(super) fn login(at: usize) -> String {
    format!("user{at}")
}

/// Returns a keyword of the maximum length.
pub(super) fn keyword(at: usize) -> String {
    let begin = format!("word {at} ");
    format!("{begin:x<80}")
}

impl World {
    pub(super) async fn load() -> Self {
        let app = TestApp::without_client_cache(limited(&[(Limit::Requests, PLENTY)])).await;
        let people: Vec<UserId> = (0..PEOPLE + POSTER).map(|at| UserId(id(at, PEOPLE + POSTER, 9))).collect();
        import_accounts(&app.app, &people).await;
        create_mutes_and_blocks(&app.app, &people).await;
        create_friends(&app, &people).await;
        create_follow_requests(&app, &people).await;
        let count = FIRST_OF_OTHERS + PEOPLE;
        let status_ids: Vec<StatusId> = (0..count).map(|at| StatusId(id(at, count, 3))).collect();
        import_statuses(&app.app, &people, &status_ids).await;
        let mut owners = vec![people[HEAVY], people[READER], people[POSTER]];
        owners.resize(owners.len() + SESSIONS, people[HEAVY]);
        let tokens = sessions::service::create_many(&app.app, &owners).await.expect("sessions");
        let actor = |token: usize, at: usize| {
            let user = json!({ "id": people[at].global(), "login": login(at) });
            Actor::new(&app, Some(&json!({ "token": tokens[token], "user": user })))
        };
        let [heavy, other_session, reader, poster] = [(0, HEAVY), (3, HEAVY), (1, READER), (2, POSTER)].map(|(a, b)| actor(a, b));
        let mut ids = BTreeMap::from([("User", people[HEAVY].global()), ("Status", status_ids[0].global())]);
        import_likes(&app.app, status_ids[0], &people).await;
        create_marks(&app.app, &people, &status_ids).await;
        let lists = create_lists(&app.app, &people).await;
        ids.insert("UserList", lists[0].global());
        let sample = || status_ids.iter().copied().enumerate().step_by(status_ids.len() / 100).take(100);
        // Statuses with an audience are not promoted.
        let narrowed: Vec<StatusId> = sample().filter(|(at, _)| (ADS..OWN_STATUSES).contains(at)).map(|(_, id)| id).collect();
        narrow_statuses(&app.app, people[HEAVY], &lists, &narrowed).await;
        follow_tags(&app.app, people[HEAVY]).await;
        let tag = read(&heavy, &format!("{{ tag(name: {TAG:?}) {{ id }} }}"), json!({}), "/tag/id").await;
        ids.insert("Tag", tag.as_str().expect("an id").to_owned());
        let cursors = cursors(&heavy, &ids).await;
        publish_events(&app.app, &people, &status_ids).await;
        edit(&app.app, people[HEAVY], status_ids[0]).await;
        let reply = create_conversation(&app.app, &people, status_ids[0]).await.global();
        let entry = ConversationEntryId { root: status_ids[0], status: status_ids[0] };
        ids.insert("ConversationEntry", entry.global_id().to_string());
        ids.insert("Comment", create_thread(&app.app, &people, status_ids[0]).await.global());
        let backend = create_backend(&app, people[HEAVY]).await;
        let website_key = create_campaigns(&app.app, people[HEAVY], status_ids[0], &mut ids).await;
        let chats = create_chats(&app.app, &people).await;
        ids.insert("ChatMessage", chats.text.clone());
        ids.insert("Chat", chats.group.clone());
        ids.insert("Session", find_other_session(&heavy, &other_session).await);
        let email = json!({ "email": "waits@example.org", "password": "correct horse" });
        heavy.mutate_ok("changeEmail", email, "").await;
        app.drain().await;
        let screen = first_screen(&app, &reader).await;
        // Not before: the first screen, with which all documents are compared, has no promoted statuses.
        let campaign = create_promotions(&app.app, &people, &status_ids).await.global();
        app.drain().await;
        let tokens = collect_tokens(&heavy, &website_key).await;
        let statuses = sample().map(|(_, id)| id.global()).collect();
        let (stranger, reposted) = (people[STRANGER].global(), status_ids[OWN_STATUSES + STATUSES_OF_STRANGER / 2].global());
        Self {
            app,
            heavy,
            other_session,
            backend,
            poster,
            screen,
            website_key,
            tokens,
            ids,
            reply,
            campaign,
            stranger,
            reposted,
            chats,
            statuses,
            cursors,
        }
    }
}

/// Creates a server key and an account of another system, and gives the heaviest account an external id.
async fn create_backend(app: &TestApp, heavy: UserId) -> Actor {
    let created = server_keys::service::create(&app.app, "backend", &Scope::ALL).await.expect("a store");
    let CreateResult::Created(key) = created else { panic!("no key") };
    let backend = app.anonymous().with_token(&key);
    backend.mutate_ok("provisionUser", json!({ "externalId": BACKEND_USER }), "").await;
    let key = format!("identity:{{{}}}", heavy.0);
    app.redis.run::<()>(&["HSET", &key, "subject", &"h".repeat(200), "linked", &START.to_string()]);
    backend
}

/// Makes the heaviest account mute some of the accounts that it follows, and block others.
async fn create_mutes_and_blocks(app: &App, people: &[UserId]) {
    let (others, muted) = people.split_at(people.len() - MUTED);
    for muted in muted {
        relations::service::mute(app, people[HEAVY], *muted, Some(31_536_000)).await.expect("a mute");
    }
    for blocked in &others[others.len() - MUTED..] {
        timelines::service::block(app, people[HEAVY], *blocked).await.expect("a block");
    }
}

/// Gives the heaviest account and the poster the same friends. The stranger, the reader and others request the friendship of the heaviest account,
/// which requests that of others.
async fn create_friends(app: &TestApp, people: &[UserId]) {
    let friends = &people[POSTER + 1..=POSTER + FRIENDS];
    for owner in [people[HEAVY], people[POSTER]] {
        let key = format!("friends:{{{}}}", owner.0);
        for (part, friends) in friends.chunks(500).enumerate() {
            let entry = |(at, friend): (usize, &UserId)| [id(part * 500 + at, FRIENDS, 7).to_string(), friend.0.to_string()];
            let words: Vec<String> = friends.iter().enumerate().flat_map(entry).collect();
            let words: Vec<&str> = ["ZADD", &key].into_iter().chain(words.iter().map(String::as_str)).collect();
            let _: u64 = app.redis.run(&words);
        }
    }
    for sender in [STRANGER, READER].into_iter().chain(people.len() - 600..people.len() - 400) {
        timelines::service::request_friend(&app.app, people[sender], people[HEAVY]).await.expect("a request");
    }
    for receiver in people.len() - 800..people.len() - 600 {
        timelines::service::request_friend(&app.app, people[HEAVY], people[receiver]).await.expect("a request");
    }
}

/// Creates follow requests: of the stranger to the heaviest account, and of that to the reader. The heaviest account is public nevertheless, so
/// that its statuses can be promoted.
async fn create_follow_requests(app: &TestApp, people: &[UserId]) {
    for (sender, owner) in [(STRANGER, HEAVY), (HEAVY, READER)] {
        let change = users::service::ProfileChange { is_private: Some(true), ..Default::default() };
        timelines::service::update_profile(&app.app, people[owner], change).await.expect("a change");
        timelines::service::follow(&app.app, people[sender], people[owner]).await.expect("a request");
    }
    app.redis.run::<u64>(&["HDEL", &format!("user:{{{}}}", people[HEAVY].0), "private"]);
}

/// Imports accounts. The heaviest account follows all accounts from the poster on, and they follow it; the reader follows sixty of them.
async fn import_accounts(app: &App, people: &[UserId]) {
    let mut edges = Vec::new();
    for at in POSTER..people.len() {
        edges.extend([(HEAVY, at), (at, HEAVY)]);
    }
    edges.extend((POSTER..POSTER + 60).map(|at| (READER, at)));
    let edge_count = edges.len();
    let edges: Vec<_> = edges.into_iter().enumerate().map(|(at, (a, b))| (a, b, id(at, edge_count, 8))).collect();
    let mut counts = vec![(0, 0); people.len()];
    for (a, b, _) in &edges {
        counts[*a].0 += 1;
        counts[*b].1 += 1;
    }
    let user = |(at, id): (usize, &UserId)| User {
        bio: "Keeper of two bicycles.".into(),
        avatar_url: Some(url(at)),
        banner_url: Some(url(at)),
        website_url: Some(url(at)),
        location: Some(if at == HEAVY { FLAG.repeat(60) } else { "London".to_owned() }.into()),
        gender: Some(if at == HEAVY { FLAG.repeat(40) } else { "woman".to_owned() }.into()),
        birth_date: Day::parse("2000-02-29"),
        birth_date_audience: DetailAudience::Friends,
        age_audience: DetailAudience::Everyone,
        followers: counts[at].1,
        following: counts[at].0,
        posts: statuses_of(at),
        friends: SparseCount(if matches!(at, HEAVY | POSTER) { FRIENDS as u64 } else { 0 }),
        ..User::new(*id, login(at), format!("User Number {at}"))
    };
    let all: Vec<User> = people.iter().enumerate().map(user).collect();
    users::service::import(app, &all, "correct horse").await.expect("accounts");
    graph::service::import(app, people, &edges).await.expect("follows");
}

/// A URL; that of the heaviest account is as long as possible, and those of others are usual ones.
fn url(at: usize) -> Box<str> {
    let path = if at == HEAVY { "p".repeat(URL_BYTES - 20) } else { format!("avatars/{at}.png") };
    format!("https://example.com/{path}").into()
}

const fn statuses_of(at: usize) -> u64 {
    match at {
        HEAVY => OWN_STATUSES as u64,
        STRANGER => STATUSES_OF_STRANGER as u64,
        READER => 0,
        POSTER => EVENTS as u64 + 1,
        _ => 1,
    }
}

/// Creates lists of the heaviest account, with members.
async fn create_lists(app: &App, people: &[UserId]) -> Vec<UserListId> {
    let mut made = Vec::new();
    for number in 0..LISTS {
        let list = NewList { name: format!("list {number}"), idempotency_key: None };
        made.push(lists::service::create(app, people[0], list).await.ok().flatten().expect("a list"));
    }
    for list in &made {
        let add = (POSTER..POSTER + MEMBERS)
            .map(async |at| timelines::service::add_to_list(app, people[0], *list, people[at]).await.is_ok());
        assert!(stream::iter(add).buffer_unordered(AT_ONCE).all(async |done| done).await);
    }
    made
}

/// Makes the heaviest account follow the tag of statuses, and others.
async fn follow_tags(app: &App, follower: UserId) {
    let names = (0..FOLLOWED_TAGS).map(|at| format!("topic{at}")).chain([TAG.to_owned()]);
    for name in names {
        assert!(tags::service::follows::follow(app, follower, &name).await.is_ok(), "a followed tag");
    }
}

/// Runs a document. Returns the value at a JSON pointer in its data.
async fn read(actor: &Actor, document: &str, variables: Value, place: &str) -> Value {
    let mut response = actor.gql(document, variables).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"].pointer_mut(place).unwrap_or_else(|| panic!("nothing at {place}")).take()
}

async fn cursors(heavy: &Actor, ids: &BTreeMap<&'static str, String>) -> BTreeMap<&'static str, String> {
    let list = format!("{{ node(id: {:?}) {{ ... on UserList {{ timeline {{ syncCursor }} }} }} }}", ids["UserList"]);
    let thread = format!("{{ node(id: {:?}) {{ ... on Status {{ commentThread {{ syncCursor }} }} }} }}", ids["Status"]);
    let tag = format!("{{ tag(name: {TAG:?}) {{ timeline {{ syncCursor }} }} }}");
    let of = [
        ("statusEvents", "{ statusEventsSyncCursor }", "/statusEventsSyncCursor"),
        ("homeTimelineEvents", "{ homeTimeline { syncCursor } }", "/homeTimeline/syncCursor"),
        ("listTimelineEvents", &list, "/node/timeline/syncCursor"),
        ("commentEvents", &thread, "/node/commentThread/syncCursor"),
        ("tagTimelineEvents", &tag, "/tag/timeline/syncCursor"),
        ("viewerMentionEvents", "{ viewerMentions { syncCursor } }", "/viewerMentions/syncCursor"),
        ("chatEvents", "{ viewerChats(first: 1) { syncCursor } }", "/viewerChats/syncCursor"),
    ];
    let mut cursors = BTreeMap::new();
    for (field, document, place) in of {
        cursors.insert(field, read(heavy, document, json!({}), place).await.as_str().expect("a cursor").to_owned());
    }
    cursors
}

/// Returns the id of a session other than the two actors' own.
async fn find_other_session(first: &Actor, second: &Actor) -> String {
    let mut free = BTreeMap::new();
    for actor in [first, second] {
        for session in
            read(actor, "{ viewerSessions { id isCurrent } }", json!({}), "/viewerSessions").await.as_array().expect("a list")
        {
            let id = session["id"].as_str().expect("an id").to_owned();
            *free.entry(id).or_insert(true) &= session["isCurrent"] == false;
        }
    }
    free.into_iter().find(|(_, is_free)| *is_free).expect("a session").0
}
