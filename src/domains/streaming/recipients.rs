//! The recipients of events that not all matching subscriptions receive: deletions of statuses that were not public, or are not public any more (those who
//! could see the status before and cannot now receive them), reposts and replies.

use super::event_source::wait_to_retry;
use super::model::{OutgoingEvent, OutgoingEventKind, Restriction, StatusRepost};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::request::{Loaders, Request};
use crate::base::viewer::Viewer;
use crate::domains::conversations::ReplyRef;
use crate::domains::lists::AudienceList;
use crate::domains::relations::service as relations;
use crate::domains::relations::{StatusFacts, policy};
use crate::domains::statuses::service as statuses;
use crate::domains::timelines::{FeedRow, service as timelines};
use crate::platform::events::EventAudience;
use crate::platform::journal::Feed;

/// Whether a subscriber receives an event; `None` if a stored object that decides this is invalid. Retries until Redis responds. A few round trips;
/// no round trip for events without a restriction and for the deletion of a public status. The stream of a tag (`is_tag`) loses a status that is not
/// public any more, whether the viewer can still see the status or not.
pub(super) async fn receives(app: &App, viewer: Option<&Viewer>, event: &OutgoingEvent, is_tag: bool) -> Option<bool> {
    let (Some(restriction), OutgoingEventKind::Deleted(status)) = (event.restriction, event.kind) else { return Some(true) };
    if restriction.before.is_public() && (is_tag || !restriction.is_narrowed) {
        return Some(true);
    }
    loop {
        let request = Request::new(app.clone(), viewer.cloned(), None, None);
        match has_lost_access(&request.loaders(), restriction, status, event.requires_public).await {
            Ok(loses) => return Some(loses),
            Err(error) => {
                if !wait_to_retry(error).await {
                    return None;
                }
            }
        }
    }
}

/// The author of a reply, and its parent; `None` if the status is no reply, was deleted or is stored in an invalid form. Retries until Redis responds. No
/// round trip for a cached status.
pub(super) async fn reply_of(app: &App, id: StatusId) -> Option<(UserId, ReplyRef)> {
    loop {
        match statuses::reply_of(app, id).await {
            Ok(reply) => return reply,
            Err(error) => {
                if !wait_to_retry(error).await {
                    return None;
                }
            }
        }
    }
}

/// Whether the feed of a viewer shows a repost, or would show it if it had not been undone; `None` if a stored object that decides this is invalid. Retries
/// until Redis responds.
pub(super) async fn receives_repost(
    app: &App,
    viewer: Option<&Viewer>,
    feed: Feed,
    repost: StatusRepost,
    exists: bool,
) -> Option<bool> {
    let row = FeedRow { position: repost.id, status: repost.status, reposter: Some(repost.reposter) };
    loop {
        let request = Request::new(app.clone(), viewer.cloned(), None, None);
        match timelines::receives_repost(&request.loaders(), feed, row, exists).await {
            Ok(receives) => return Some(receives),
            Err(error) => {
                if !wait_to_retry(error).await {
                    return None;
                }
            }
        }
    }
}

/// Whether the status was delivered to the viewer before the event, and the viewer cannot see it now.
async fn has_lost_access(
    loaders: &Loaders,
    restriction: Restriction,
    status: StatusId,
    requires_public: bool,
) -> Result<bool, Error> {
    let Restriction { before, is_narrowed } = restriction;
    let is_in_audience_list = match before.audience.list() {
        Some(list) => loaders.audience_lists.load(AudienceList { owner: before.author, list }).await?,
        None => false,
    };
    let facts = facts_of(before, is_in_audience_list);
    let was_delivered = policy::can_deliver(relations::load_relationship(loaders, before.author).await?, facts);
    if !was_delivered || (requires_public && !facts.is_public()) {
        return Ok(false);
    }
    Ok(!is_narrowed || statuses::load_visible(loaders, [status]).await?.pop().flatten().is_none())
}

const fn facts_of(audience: EventAudience, is_in_audience_list: bool) -> StatusFacts {
    let EventAudience { author, is_private, audience } = audience;
    StatusFacts { author, is_private, audience: statuses::policy_audience(audience, is_in_audience_list) }
}
