//! Statuses of the world: long texts, a conversation, a comment thread, marks and audiences.

use super::super::inputs::FLAG;
use super::{AT_ONCE, FIRST_EVENT, FIRST_OF_OTHERS, HEAVY, OWN_STATUSES, PEOPLE, POSTER, READER, STRANGER, WORD, id, login};
use futures_util::{StreamExt, stream};
use waxwing::app::App;
use waxwing::base::audience::AudienceKind;
use waxwing::base::ids::{CommentId, StatusId, UserId, UserListId};
use waxwing::base::request::Request;
use waxwing::domains::comments::{self, ParentRef, service as threads};
use waxwing::domains::conversations::ReplyRef;
use waxwing::domains::entities::{EntityKind, MAX_MENTIONED, TextEntities, find};
use waxwing::domains::statuses::{AudienceInput, Location, MAX_EDITS, Status, StatusDraft};
use waxwing::domains::{statuses, timelines};
use waxwing::platform::events;

/// Comments of the thread: most are direct comments on the status; some form a branch of nearly the maximum depth.
const COMMENTS: usize = 400;
const DEEP: usize = 60;

/// Bookmarks of the heaviest account: more than a page.
const BOOKMARKS: usize = 150;

const fn author(at: usize) -> usize {
    match at {
        0..OWN_STATUSES => HEAVY,
        OWN_STATUSES..FIRST_EVENT => STRANGER,
        FIRST_EVENT..FIRST_OF_OTHERS => POSTER,
        _ => at - FIRST_OF_OTHERS + POSTER,
    }
}

fn message(at: usize) -> String {
    match at {
        0..OWN_STATUSES => FLAG.repeat(500),
        // As many entities as a status can have.
        OWN_STATUSES..FIRST_EVENT => {
            let mentions = (0..MAX_MENTIONED).map(|at| format!("@{} ", login(at)));
            mentions.collect::<String>() + "#tag example.com"
        }
        _ => format!("What a day for a walk along the river; the {WORD} are back, and so are those who photograph them."),
    }
}

/// The entities of a text whose mentions are of existing accounts.
fn entities(text: &str) -> TextEntities {
    let sign = |kind| match kind {
        EntityKind::Mention => '@',
        EntityKind::Tag => '#',
        EntityKind::Link => '/',
    };
    let stored = find(text).into_iter().map(|it| format!("{}{}-{} ", sign(it.kind), it.range.start, it.range.end));
    TextEntities::parse(&stored.collect::<String>()).expect("valid entities")
}

/// Imports all statuses, and the profiles and homes with them.
pub(super) async fn import_statuses(app: &App, people: &[UserId], status_ids: &[StatusId]) {
    let status = |(at, id): (usize, &StatusId)| Status {
        likes: if at == 0 { PEOPLE as u64 } else { 0 },
        location: (at < OWN_STATUSES).then_some(Location { latitude: 51.5, longitude: 0.125 }),
        entities: entities(&message(at)),
        ..Status::new(*id, people[author(at)], message(at))
    };
    let all: Vec<Status> = status_ids.iter().enumerate().map(status).collect();
    statuses::service::import(app, all.iter()).await.expect("statuses");
    let (own, others) = (&status_ids[..OWN_STATUSES], &status_ids[FIRST_OF_OTHERS..]);
    statuses::service::import_profile(app, people[STRANGER], &status_ids[OWN_STATUSES..FIRST_EVENT]).await.expect("a profile");
    statuses::service::import_profile(app, people[POSTER], &status_ids[FIRST_EVENT..=FIRST_OF_OTHERS]).await.expect("a profile");
    let one_each = others.iter().zip(&people[POSTER..]).skip(1);
    let profiles = one_each.map(|(id, author)| statuses::service::import_profile(app, *author, std::slice::from_ref(id)));
    stream::iter(profiles).buffer_unordered(64).for_each(async |done| done.expect("a profile")).await;
    timelines::service::import(app, people[HEAVY], own, [own, &status_ids[FIRST_EVENT..]].concat()).await.expect("a home");
    timelines::service::import(app, people[READER], &[], others[..60].to_vec()).await.expect("a home");
}

/// Edits a status almost as often as possible, each time with the longest text.
pub(super) async fn edit(app: &App, author: UserId, id: StatusId) {
    for at in 0..MAX_EDITS - 2 {
        let text = FLAG.repeat(499) + if at % 2 == 0 { "a" } else { "b" };
        statuses::service::edit(app, author, id, &text).await.expect("an edit");
    }
}

/// The number of direct replies to the root of the conversation, and its depth.
const REPLIES: usize = 110;

/// Creates a conversation: replies to the status, and a chain of replies below the last of them. All of them quote the status. Returns the deepest reply.
pub(super) async fn create_conversation(app: &App, people: &[UserId], root: StatusId) -> StatusId {
    let of_root = ReplyRef { parent: root, root, depth: 1, parent_author: Some(people[HEAVY]) };
    let mut last = reply(app, people[POSTER], of_root).await;
    for at in 1..REPLIES {
        last = reply(app, people[POSTER + at], of_root).await;
    }
    for depth in 2..REPLIES as u32 {
        let below = ReplyRef { parent: last, root, depth, parent_author: Some(people[POSTER]) };
        last = reply(app, people[POSTER], below).await;
    }
    last
}

async fn reply(app: &App, author: UserId, reply: ReplyRef) -> StatusId {
    let draft = StatusDraft {
        message: message(FIRST_EVENT),
        reply: Some(Ok(reply)),
        quote: Some(Ok(reply.root)),
        ..StatusDraft::default()
    };
    timelines::service::post(app, author, draft).await.ok().flatten().expect("a reply")
}

/// Publishes the poster's statuses as new events with a location. No word filter selects them.
pub(super) async fn publish_events(app: &App, people: &[UserId], status_ids: &[StatusId]) {
    let term_hasher = events::service::term_hasher(app).await.expect("a marker");
    let terms = term_hasher.status(people[POSTER], "Nothing.", Some((51.5, 0.125)));
    let published = status_ids[FIRST_EVENT..FIRST_OF_OTHERS]
        .iter()
        .map(|status| events::service::publish_posted(app, people[POSTER], *status, terms.clone()));
    stream::iter(published).buffer_unordered(AT_ONCE).for_each(async |done| done.expect("an event")).await;
}

pub(super) async fn import_likes(app: &App, status: StatusId, people: &[UserId]) {
    let likers: Vec<_> = people[POSTER..].iter().enumerate().map(|(at, user)| (*user, id(at, people.len(), 2))).collect();
    statuses::service::import_likes(app, status, &likers).await.expect("likes");
}

/// Gives the heaviest account bookmarks, reposts and pins.
pub(super) async fn create_marks(app: &App, people: &[UserId], status_ids: &[StatusId]) {
    let bookmark = async |status: StatusId| {
        let loaders = Request::new(app.clone(), None, None, None).loaders();
        statuses::service::repost(app, &loaders, people[HEAVY], status).await.is_ok()
            && statuses::service::bookmark(app, &loaders, people[HEAVY], status).await.is_ok()
    };
    let repost = async |user: UserId| {
        let loaders = Request::new(app.clone(), None, None, None).loaders();
        statuses::service::repost(app, &loaders, user, status_ids[0]).await.is_ok()
    };
    let reposters = people[POSTER..].iter().take(REPLIES).copied();
    assert!(stream::iter(reposters.map(repost)).buffer_unordered(AT_ONCE).all(async |done| done).await);
    let bookmarked = status_ids[FIRST_OF_OTHERS..].iter().chain(&status_ids[..OWN_STATUSES]).take(BOOKMARKS).copied();
    assert!(stream::iter(bookmarked.map(bookmark)).buffer_unordered(AT_ONCE).all(async |done| done).await);
    for status in &status_ids[..statuses::MAX_PINS] {
        statuses::service::pin(app, people[HEAVY], *status).await.expect("a pin");
    }
}

/// Creates a thread on a status of the heaviest account. Returns the comment with the most replies.
pub(super) async fn create_thread(app: &App, people: &[UserId], status: StatusId) -> CommentId {
    let add = async |author: usize, parent: ParentRef| {
        let loaders = Request::new(app.clone(), None, None, None).loaders();
        let draft = comments::CommentDraft {
            parent,
            message: "I have never seen it from this side. @user0 #tag example.com".into(),
            idempotency_key: None,
        };
        threads::add(app, &loaders, people[author], draft).await.ok().flatten().expect("a comment")
    };
    let first = add(0, ParentRef::Status(status)).await;
    let wide =
        (0..COMMENTS).map(|at| add(at % 50, if at % 2 == 0 { ParentRef::Status(status) } else { ParentRef::Comment(first) }));
    stream::iter(wide).buffer_unordered(AT_ONCE).count().await;
    let mut deep = first;
    for at in 0..DEEP {
        deep = add(at % 3, ParentRef::Comment(deep)).await;
    }
    let loaders = Request::new(app.clone(), None, None, None).loaders();
    assert!(threads::edit(app, &loaders, people[HEAVY], first, "I have never seen it from there.").await.is_ok());
    first
}

/// Addresses each of some statuses to the members of another list.
pub(super) async fn narrow_statuses(app: &App, author: UserId, lists: &[UserListId], status_ids: &[StatusId]) {
    for (list, status) in lists.iter().zip(status_ids) {
        let audience = AudienceInput { kind: Some(AudienceKind::List), list: Some(list.global()) };
        statuses::service::set_audience(app, author, *status, &audience).await.expect("a change");
    }
}
