//! The use cases of subscriptions.

use super::chat_stream::ChatStream;
use super::event_source;
use super::filter::{self, Filter, ParsedFilter};
use super::hub::Hub;
use super::interest::Interest;
use super::model::{EventContent, FilterInput, GapReason, HydratedEvent, OutgoingEvent, OutgoingEventKind};
use super::subscription_stream::{StatusStream, SubscriptionStream};
use super::thread_channel::ThreadChannels;
use super::thread_stream::ThreadStream;
use super::thread_viewer::ThreadViewer;
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId, UserListId};
use crate::base::page::CursorScope;
use crate::base::request::{Loaders, Request};
use crate::domains::chats::service as chats;
use crate::domains::comments::CommentEventKind;
use crate::domains::comments::service as comments;
use crate::domains::entities::tag_name;
use crate::domains::lists::service as lists;
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service as statuses;
use crate::domains::timelines::IndexTimeline;
use crate::domains::timelines::service as timelines;
use crate::domains::users::service as users;
use crate::platform::events::service as events;
use crate::platform::events::{ChatResumePoint, ResumePoint, TermHasher};
use crate::platform::journal::Feed;
use crate::platform::rates::Subject;
use futures_util::try_join;
use std::collections::VecDeque;

mod credential_end;

pub use credential_end::wait_for_credential_end;

/// Opens the events of the viewer's home, after a cursor or from now on, in the order of the log, each once. Never ends. One round trip without a
/// cursor or for a sync cursor; the first subscription of a viewer also reads the sources and the hidden authors. A subscription that has missed
/// events reads only these from the log.
///
/// # Errors
/// `UNAUTHENTICATED`; `BAD_USER_INPUT` for a cursor that is forged or of another stream.
pub async fn home(request: Request, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let owner = request.viewer()?.user;
    feed(request, Feed::Home(owner), timelines::home_scope(owner), after).await
}

/// Opens the events of the timeline of one of the viewer's lists.
///
/// # Errors
/// As [`home`]; `BAD_USER_INPUT` if the viewer has no such list.
pub async fn list(request: Request, list: &str, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let owner = request.viewer()?.user;
    let unknown = || Error::BadUserInput("`listId` is not a list of yours.".into());
    let id = UserListId::from_global(list).ok_or_else(unknown)?;
    if !lists::is_owned_by(&request.app, owner, id).await? {
        return Err(unknown());
    }
    feed(request, Feed::List(id), timelines::list_scope(id), after).await
}

/// Opens the events of the public stream that match a filter. Needs no session.
///
/// # Errors
/// `BAD_USER_INPUT` for an invalid filter, and for a cursor that is forged or of another stream.
pub async fn public(request: Request, input: FilterInput, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let term_hasher = events::term_hasher(&request.app).await?;
    let filter = match filter::check(&term_hasher, input)? {
        ParsedFilter::Ready(filter) => filter,
        ParsedFilter::Logins(logins) => {
            let accounts = users::find_by_logins(&request.app, &logins).await?;
            let is_unknown = |login: &String| !accounts.contains_key(&login.to_ascii_lowercase());
            let unknown: Vec<String> = logins.into_iter().filter(is_unknown).collect();
            Filter::follow(&term_hasher, &unknown, &accounts.into_values().collect::<Vec<_>>())
        }
    };
    let interest = request.app.extension::<Hub>().interest(Subject::for_client(request.viewer_id(), request.address), filter);
    open(request, term_hasher, Interest::Public(interest), PUBLIC, after).await
}

/// Opens the events of the timeline of a tag. Needs no session.
///
/// # Errors
/// `BAD_USER_INPUT` for a name that is no tag, and for a cursor that is forged or of another stream.
pub async fn tag(request: Request, name: &str, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let name = tag_name(name).ok_or_else(|| Error::BadUserInput("`name` is not a tag.".into()))?;
    let term_hasher = events::term_hasher(&request.app).await?;
    let filter = Filter::Name(term_hasher.tag(&name), None);
    let interest = request.app.extension::<Hub>().interest(Subject::for_client(request.viewer_id(), request.address), filter);
    let scope = IndexTimeline::Tag(TagId::of_name(name)).cursor_scope();
    open(request, term_hasher, Interest::Tag(interest), scope, after).await
}

/// Opens the events of statuses of other accounts that mention the viewer, by the current or an earlier login.
///
/// # Errors
/// `UNAUTHENTICATED`; `BAD_USER_INPUT` for a cursor that is forged or of another stream.
pub async fn mentions(request: Request, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let viewer = request.viewer()?.user;
    let term_hasher = events::term_hasher(&request.app).await?;
    let filter = Filter::Name(term_hasher.mentioned_account(viewer), Some(term_hasher.author(viewer)));
    let interest = request.app.extension::<Hub>().interest(Some(Subject::Account(viewer)), filter);
    open(request, term_hasher, Interest::Mentions(interest), IndexTimeline::Mentions(viewer).cursor_scope(), after).await
}

/// The current end of the public stream, as a cursor: a subscription that starts there receives every later event. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn public_cursor(app: &App) -> Result<String, Error> {
    let (position, cursors) = (events::position(app).await?, app.cursors().await?);
    Ok(ResumePoint::new(position, Vec::new()).encode(&cursors, PUBLIC))
}

/// The scope of the cursors of the public stream.
const PUBLIC: CursorScope = CursorScope { kind: b's', owner: 0 };

async fn feed(request: Request, feed: Feed, scope: CursorScope, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let (term_hasher, owner) = (events::term_hasher(&request.app).await?, request.viewer()?.user);
    let sources = request.app.extension::<Hub>().sources(&request.app, term_hasher, feed, owner).await?;
    open(request, term_hasher, Interest::Feed(sources), scope, after).await
}

async fn open(
    request: Request,
    term_hasher: TermHasher,
    interest: Interest,
    scope: CursorScope,
    after: Option<&str>,
) -> Result<SubscriptionStream, Error> {
    let app = request.app.clone();
    let hub = app.extension::<Hub>();
    let hidden = match request.viewer_id() {
        Some(viewer) => Some(hub.hidden_authors(&app, term_hasher, viewer).await?),
        None => None,
    };
    let cursors = app.cursors().await?;
    let resume_point = match after {
        None => ResumePoint::new(events::position(&app).await?, Vec::new()),
        Some(after) => {
            let resume_point = ResumePoint::decode(&cursors, scope, after, events::shard_count(&app));
            let resume_point =
                resume_point.ok_or_else(|| Error::BadUserInput("`after` is not a cursor of this stream.".into()))?;
            // Compacted, because the cursor of every event contains all ids that remain in the resume point.
            events::compact(&app, resume_point).await
        }
    };
    Ok(SubscriptionStream::Statuses(StatusStream {
        app,
        hub,
        term_hasher,
        cursors,
        interest,
        hidden,
        scope,
        resume_point,
        subscription: None,
        pending: VecDeque::new(),
        sent_via: VecDeque::new(),
    }))
}

/// Opens the events of the thread below a status, after a cursor (of an event or of the thread) or from now on, in order, each once. Ends
/// when the status is deleted, and within a second when the viewer does not see it any more. Three round trips, one more for a viewer with
/// blocks, and two more without a client-side cache.
///
/// # Errors
/// `BAD_USER_INPUT` if the viewer can see no such status, and for a cursor that is forged or of another thread.
pub async fn thread(request: Request, status: &str, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let unknown = || Error::BadUserInput("`statusId` is not a status.".into());
    let status = StatusId::from_global(status).ok_or_else(unknown)?;
    let app = request.app.clone();
    let (term_hasher, cursors) = (events::term_hasher(&app).await?, app.cursors().await?);
    // The status as it is now, not as it was when the request began: changes after this read are sent as events.
    request.reset_loaders();
    let viewer = ThreadViewer::open(&request, &app.extension::<Hub>(), term_hasher, status).await?.ok_or_else(unknown)?;
    let position = match after {
        None => comments::position(&app, status).await?.0,
        Some(after) => comments::decode_event(&cursors, status, after)
            .ok_or_else(|| Error::BadUserInput("`after` is not a cursor of this thread.".into()))?,
    };
    let channels = app.extension::<ThreadChannels>();
    let stream =
        ThreadStream { app, channels, term_hasher, cursors, status, position, subscriber: None, pending: VecDeque::new() };
    Ok(SubscriptionStream::Thread(stream, viewer))
}

/// Opens the events of the viewer's chats, after a cursor or from now on: those of each chat in order, each row once. Never ends. One round trip without a
/// cursor. A subscription that has missed events reads only these from the log, and whether the viewer is a member of their chats.
///
/// # Errors
/// `UNAUTHENTICATED`; `BAD_USER_INPUT` for a cursor that is forged or of another stream.
pub async fn chats(request: Request, after: Option<&str>) -> Result<SubscriptionStream, Error> {
    let viewer = request.viewer()?.user;
    let app = request.app.clone();
    let (hub, term_hasher, cursors) = (app.extension::<Hub>(), events::term_hasher(&app).await?, app.cursors().await?);
    let resume_point = match after {
        None => ChatResumePoint::new(events::position(&app).await?, &[]),
        Some(after) => ChatResumePoint::decode(&cursors, chats::events_scope(viewer), after, events::shard_count(&app))
            .ok_or_else(|| Error::BadUserInput("`after` is not a cursor of this stream.".into()))?,
    };
    let interest = hub.chat_interest(&app, term_hasher, viewer);
    let (subscription, pending, rows) = (None, VecDeque::new(), None);
    Ok(SubscriptionStream::Chats(ChatStream {
        app,
        hub,
        term_hasher,
        cursors,
        interest,
        resume_point,
        subscription,
        pending,
        rows,
    }))
}

/// The number of subscribers of a thread in this process. For tests.
pub fn thread_subscribers(app: &App, status: StatusId) -> usize {
    app.extension::<ThreadChannels>().subscriber_count(status)
}

/// Loads the objects of an event, as the viewer may see them now; `None` for deleted or hidden objects, a gap for an object that is stored in an invalid form.
/// Retries until Redis responds, since each event is sent once. Two round trips, three for a comment.
pub(super) async fn hydrate(request: &Request, event: &OutgoingEvent) -> Option<HydratedEvent> {
    let content = loop {
        // Objects that were loaded or cached before the event may be older than the event.
        request.reset_loaders();
        match load_content(request, event).await {
            Ok(content) => break content,
            Err(error) => {
                if !event_source::wait_to_retry(error).await {
                    break Some(EventContent::Gap(GapReason::Lost));
                }
            }
        }
    };
    content.map(|content| HydratedEvent { cursor: event.cursor.clone(), content })
}

async fn load_content(request: &Request, event: &OutgoingEvent) -> Result<Option<EventContent>, Error> {
    let loaders = request.loaders();
    Ok(match event.kind {
        OutgoingEventKind::Gap(reason) => Some(EventContent::Gap(reason)),
        OutgoingEventKind::Deleted(id) => Some(EventContent::Deleted(id)),
        OutgoingEventKind::Posted(id) => load_status(&loaders, id, event).await?.map(EventContent::Posted),
        OutgoingEventKind::Edited(id) => load_status(&loaders, id, event).await?.map(EventContent::Edited),
        OutgoingEventKind::EditedAway(id) => match load_status(&loaders, id, event).await? {
            Some(seen) => Some(EventContent::Edited(seen)),
            None => {
                let status = loaders.statuses.load(id).await?;
                let is_gone = status.is_none_or(|seen| seen.status.audience != ChosenAudience::Public);
                is_gone.then_some(EventContent::Deleted(id))
            }
        },
        OutgoingEventKind::Reposted(repost) => {
            let (seen, reposter) = try_join!(load_status(&loaders, repost.status, event), loaders.users.load(repost.reposter))?;
            seen.zip(reposter).map(|(seen, reposter)| EventContent::Reposted(seen, repost, reposter))
        }
        OutgoingEventKind::RepostUndone(repost) => Some(EventContent::RepostUndone(repost)),
        OutgoingEventKind::Chat(chat, event) => {
            let Some(viewer) = request.viewer_id() else { return Ok(None) };
            chats::load_event(&request.app, &loaders, viewer, (chat, event))
                .await?
                .map(|content| EventContent::Chat(Box::new(content)))
        }
        OutgoingEventKind::Comment(id, CommentEventKind::Deleted(removed)) => {
            let status = statuses::load_visible(&loaders, [id.status]).await?.pop().flatten();
            status.map(|_| EventContent::CommentDeleted(id, removed))
        }
        OutgoingEventKind::Comment(id, kind) => {
            let comment = comments::load_visible(&loaders, [id]).await?.pop().flatten();
            // No edits of hidden comments: their placeholders have no text.
            let comment = comment.filter(|comment| !(comment.is_hidden && kind == CommentEventKind::Edited));
            comment.map(|comment| EventContent::Comment(comment, kind))
        }
    })
}

/// The status of an event; `None` if the viewer cannot see it, or if it is not public and the stream has only public statuses.
async fn load_status(loaders: &Loaders, id: StatusId, event: &OutgoingEvent) -> Result<Option<ViewedStatus>, Error> {
    let seen = statuses::load_visible(loaders, [id]).await?.pop().flatten();
    Ok(seen.filter(|seen| !event.requires_public || statuses::facts(seen).is_public()))
}
