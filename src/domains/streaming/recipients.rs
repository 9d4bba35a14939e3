//! The recipients of the deletion of a status that was not public, or that is not public any more: those who could see it before, and cannot now.

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

/// Whether a subscriber receives an event; `None` if what decides it is stored in an invalid form. Retries until Redis responds. At most three round trips; none for an event without a restriction, and for the
/// deletion of a public status. The stream of a tag (`is_tag`) loses a status that is not public any more, whether the viewer can still see it or not.
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

/// The author of a status, and what it replies to; `None` if it replies to nothing or was deleted. Retries until Redis responds. No round trip for a
/// cached status.
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

/// Whether the feed of a viewer shows a repost, or has shown one that was undone; `None` if what decides it is stored in an invalid form. Retries until Redis
/// responds.
pub(super) async fn receives_repost(
    app: &App,
    viewer: Option<&Viewer>,
    feed: Feed,
    repost: StatusRepost,
    exists: bool,
) -> Option<bool> {
    let row = FeedRow { position: repost.id, status: repost.status, reposter: Some(repost.by) };
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
async fn has_lost_access(loaders: &Loaders, restriction: Restriction, status: StatusId, of_public: bool) -> Result<bool, Error> {
    let Restriction { before, is_narrowed } = restriction;
    let is_in_audience_list = match before.audience.list() {
        Some(list) => loaders.audience_lists.load(AudienceList { owner: before.author, list }).await?,
        None => false,
    };
    let facts = facts_of(before, is_in_audience_list);
    let was_delivered = policy::can_deliver(relations::load_relationship(loaders, before.author).await?, facts);
    if !was_delivered || (of_public && !facts.is_public()) {
        return Ok(false);
    }
    Ok(!is_narrowed || statuses::load_visible(loaders, [status]).await?.pop().flatten().is_none())
}

const fn facts_of(audience: EventAudience, is_in_audience_list: bool) -> StatusFacts {
    let EventAudience { author, is_private, audience } = audience;
    StatusFacts { author, is_private, audience: statuses::policy_audience(audience, is_in_audience_list) }
}
