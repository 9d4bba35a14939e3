//! Objects by their global ids: Relay's `node` and `nodes`.

use super::{List, request};
use crate::base::error::Error;
use crate::base::ids::{
    self, AccountId, AdId, CampaignId, ChatId, ChatMessageId, CommentId, ConversationEntryId, IdKind, SessionId, StatusId, TagId,
    UserId, UserListId, WebsiteId,
};
use crate::base::request::Request;
use crate::domains::ads::{AdObject, CampaignObject, WebsiteObject};
use crate::domains::chats::{self, ChatMessageObject, ChatObject};
use crate::domains::comments::{self, CommentObject};
use crate::domains::conversations::ConversationEntryObject;
use crate::domains::entities::{TagObject, tag_name};
use crate::domains::lists::UserListObject;
use crate::domains::relations;
use crate::domains::sessions::{self, SessionObject};
use crate::domains::statuses::{self, StatusObject};
use crate::domains::users::{self, AccountObject, UserObject};
use async_graphql::{Context, ID, Interface, Object, Result};
use futures_util::future::try_join_all;

/// Maximum number of ids of `nodes`.
const MAX_NODES: usize = 100;

/// An object with a global id that `node` accepts.
#[derive(Interface)]
#[graphql(field(name = "id", ty = "ID", desc = "Global id: opaque and permanent."))]
pub enum Node {
    /// A user account.
    User(UserObject),
    /// Data of the viewer's account that only the viewer can see.
    Account(AccountObject),
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
    /// An ad of the viewer.
    Ad(AdObject),
    /// A website of the viewer.
    Website(WebsiteObject),
    /// A tag.
    Tag(TagObject),
    /// An entry of a conversation.
    ConversationEntry(ConversationEntryObject),
    /// A chat of the viewer.
    Chat(ChatObject),
    /// A row of a chat of the viewer.
    ChatMessage(ChatMessageObject),
}

#[derive(Default)]
pub(super) struct NodeQuery;

#[Object]
impl NodeQuery {
    /// The object with this id. Null if it does not exist or the viewer cannot see it.
    async fn node(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The `id` of an object that implements `Node`.")] id: ID,
    ) -> Option<Result<Node>> {
        let found = async { Ok(find(request(ctx)?, &id).await?) };
        found.await.transpose()
    }

    /// The objects with these ids, in the same order. Null for each that does not exist or that the viewer cannot see.
    async fn nodes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Ids of objects. At most 100.")] ids: Vec<ID>,
    ) -> Result<List<Option<Node>>> {
        if ids.len() > MAX_NODES {
            return Err(Error::BadUserInput(format!("`ids` has {} ids: at most {MAX_NODES} are allowed.", ids.len())).into());
        }
        let request = request(ctx)?;
        Ok(List(try_join_all(ids.iter().map(|id| find(request, id))).await?))
    }
}

async fn find(request: &Request, global: &str) -> Result<Option<Node>, Error> {
    if let Some(tag) = TagId::from_global(global) {
        // Only an id with the normalized form of a name is valid, so that a tag has one id.
        return Ok((tag_name(tag.name()).as_deref() == Some(tag.name())).then_some(Node::Tag(TagObject(tag))));
    }
    let (kind, id) = ids::decode(global)?;
    let loaders = request.loaders();
    Ok(match kind {
        IdKind::User => relations::service::find(&loaders, UserId(id)).await?.map(|user| Node::User(UserObject(user))),
        IdKind::Account => users::find_account(request, AccountId(id)).await?.map(Node::Account),
        IdKind::Status => {
            let status = statuses::service::load_visible(&loaders, [StatusId(id)]).await?.pop().flatten();
            status.map(|status| Node::Status(StatusObject(status)))
        }
        IdKind::Session => session(request, SessionId(id)).await?.map(Node::Session),
        IdKind::List => loaders.lists.load(UserListId(id)).await?.map(|list| Node::UserList(UserListObject(list))),
        IdKind::Comment => {
            let comment = comments::service::load_visible(&loaders, CommentId::from_global(global)).await?.pop().flatten();
            comment.map(|comment| Node::Comment(CommentObject(comment)))
        }
        IdKind::Campaign => {
            loaders.campaigns.load(CampaignId(id)).await?.map(|campaign| Node::Campaign(CampaignObject(campaign)))
        }
        IdKind::Ad => match AdId::from_global(global) {
            Some(id) => loaders.ads.load(id).await?.map(|ad| Node::Ad(AdObject(ad))),
            None => None,
        },
        IdKind::Website => loaders.websites.load(WebsiteId(id)).await?.map(|website| Node::Website(WebsiteObject(website))),
        IdKind::ConversationEntry => match ConversationEntryId::from_global(global) {
            Some(id) => statuses::service::find_entry(&loaders, id)
                .await?
                .map(|entry| Node::ConversationEntry(ConversationEntryObject(entry))),
            None => None,
        },
        IdKind::Chat => chats::service::view(&loaders, ChatId(id)).await?.map(|chat| Node::Chat(ChatObject(chat))),
        IdKind::ChatMessage => {
            let found = chats::service::find_message(&loaders, ChatMessageId::from_global(global)).await?;
            found.map(|(_, message)| Node::ChatMessage(ChatMessageObject(message)))
        }
        IdKind::TimelineEntry | IdKind::Impression => None,
    })
}

/// A session, visible to its owner only.
async fn session(request: &Request, id: SessionId) -> Result<Option<SessionObject>, Error> {
    let Some(viewer) = &request.viewer else { return Ok(None) };
    let found = sessions::service::get(&request.app, viewer.user, id).await?;
    Ok(found.map(|session| SessionObject { is_current: Some(session.id) == viewer.session(), session }))
}
