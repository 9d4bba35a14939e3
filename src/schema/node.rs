//! Anything by its id: Relay's `node` and `nodes`.

use super::{List, request};
use crate::base::error::Error;
use crate::base::ids::{self, AdId, CampaignId, CommentId, IdKind, SessionId, StatusId, UserId, UserListId, WebsiteId};
use crate::base::request::Request;
use crate::domains::ads::{AdObject, CampaignObject, WebsiteObject};
use crate::domains::comments::{self, CommentObject};
use crate::domains::lists::UserListObject;
use crate::domains::sessions::{self, SessionObject};
use crate::domains::statuses::{self, StatusObject};
use crate::domains::users::UserObject;
use async_graphql::{Context, ID, Interface, Object, Result};
use futures_util::future::try_join_all;

/// Ids that `nodes` takes at once.
const MAX_NODES: usize = 100;

/// Something with an id, which `node` finds again.
#[derive(Interface)]
#[graphql(field(name = "id", ty = "ID", desc = "The id: opaque, and the same for ever."))]
pub enum Node {
    /// An account.
    User(UserObject),
    /// A status.
    Status(StatusObject),
    /// A session of the viewer.
    Session(SessionObject),
    /// A list of the viewer.
    UserList(UserListObject),
    /// A comment.
    Comment(CommentObject),
    /// A campaign of the viewer.
    Campaign(CampaignObject),
    /// An ad of a campaign of the viewer.
    Ad(AdObject),
    /// A website of the viewer.
    Website(WebsiteObject),
}

#[derive(Default)]
pub(super) struct NodeQuery;

#[Object]
impl NodeQuery {
    /// What an id names; null for what is not there, or not to be seen by this viewer.
    async fn node(&self, ctx: &Context<'_>, #[graphql(desc = "An `id` from any answer.")] id: ID) -> Option<Result<Node>> {
        let found = async { Ok(find(request(ctx)?, &id).await?) };
        found.await.transpose()
    }

    /// What several ids name, in their order; null in the place of what is not there, or not to be seen.
    async fn nodes(&self, ctx: &Context<'_>, #[graphql(desc = "At most 100 ids.")] ids: Vec<ID>) -> Result<List<Option<Node>>> {
        if ids.len() > MAX_NODES {
            return Err(Error::BadUserInput(format!("`ids` has {} ids: at most {MAX_NODES} are allowed.", ids.len())).into());
        }
        let request = request(ctx)?;
        Ok(List(try_join_all(ids.iter().map(|id| find(request, id))).await?))
    }
}

async fn find(request: &Request, global: &str) -> Result<Option<Node>, Error> {
    let (kind, id) = ids::decode(global)?;
    let loaders = request.loaders();
    Ok(match kind {
        IdKind::User => loaders.users.load(UserId(id)).await?.map(|user| Node::User(UserObject(user))),
        IdKind::Status => {
            let seen = statuses::service::load_visible(&loaders, [StatusId(id)]).await?.pop().flatten();
            seen.map(|seen| Node::Status(StatusObject(seen)))
        }
        IdKind::Session => session(request, SessionId(id)).await?.map(Node::Session),
        IdKind::List => loaders.lists.load(UserListId(id)).await?.map(|list| Node::UserList(UserListObject(list))),
        IdKind::Comment => {
            let shown = comments::service::load_visible(&loaders, CommentId::from_global(global)).await?.pop().flatten();
            shown.map(|shown| Node::Comment(CommentObject(shown)))
        }
        IdKind::Campaign => loaders.campaigns.load(CampaignId(id)).await?.map(|it| Node::Campaign(CampaignObject(it))),
        IdKind::Ad => match AdId::from_global(global) {
            Some(id) => loaders.ads.load(id).await?.map(|it| Node::Ad(AdObject(it))),
            None => None,
        },
        IdKind::Website => loaders.websites.load(WebsiteId(id)).await?.map(|it| Node::Website(WebsiteObject(it))),
        IdKind::TimelineEntry | IdKind::Impression => None,
    })
}

/// A session is there for its owner alone.
async fn session(request: &Request, id: SessionId) -> Result<Option<SessionObject>, Error> {
    let Some(viewer) = &request.viewer else { return Ok(None) };
    let found = sessions::service::get(&request.app, viewer.user, id).await?;
    Ok(found.map(|session| SessionObject { is_current: session.id == viewer.session, session }))
}
