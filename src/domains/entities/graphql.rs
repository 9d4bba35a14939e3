//! Entities of texts in GraphQL.

use super::model::{TextEntities, TextUnit};
use super::service::{self, PlacedEntities, PlacedEntity};
use super::tag_name;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::TagId;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::timelines::{IndexTimeline, Timeline};
use crate::domains::users::UserObject;
use crate::schema::{DirectSerialize, List, object, request, schema_enum};
use async_graphql::{Context, Object, Result};
use futures_util::future::try_join_all;
use std::ops::Range;

schema_enum! {
    TextUnit as "TextUnit";
}

/// The entities of a text.
pub struct TextEntitiesObject {
    placed: PlacedEntities,
    written_at: Millis,
}

impl TextEntitiesObject {
    /// Places the entities in their text, which was written at `written_at`.
    pub fn new(text: &str, written_at: Millis, entities: &TextEntities, unit: Option<TextUnit>) -> Self {
        Self { placed: service::place(text, entities, unit.unwrap_or_default()), written_at }
    }

    /// The mentioned account; `None` if the viewer cannot discover the account.
    async fn mentioned(&self, loaders: &Loaders, mention: &PlacedEntity<String>) -> Result<Option<MentionEntity>, Error> {
        let account = loaders.logins.load(mention.target.clone()).await?.at(self.written_at);
        let user = relations::find_at_equal_cost(loaders, account).await?.map(UserObject);
        Ok(user.map(|target| MentionEntity(PlacedEntity { range: mention.range.clone(), target })))
    }
}

/// Mentions, tags and links in a text, by the rules of the twitter-text libraries. They do not overlap; each list is in the order of the text. The rest
/// of the text is plain text.
#[Object(name = "TextEntities")]
impl TextEntitiesObject {
    /// Mentions of accounts. At most 50 accounts are mentioned, each any number of times. Accounts that the viewer cannot see are left out.
    async fn mentions(&self, ctx: &Context<'_>) -> Result<List<MentionEntity>> {
        let loaders = request(ctx)?.loaders();
        let found = try_join_all(self.placed.mentions.iter().map(|mention| self.mentioned(&loaders, mention))).await?;
        Ok(List(found.into_iter().flatten().collect()))
    }

    /// Tags. At most 30 different ones, each any number of times.
    async fn tags(&self) -> List<TagEntity> {
        List(self.placed.tags.iter().cloned().map(TagEntity).collect())
    }

    /// Links. At most 50 different ones, each any number of times. The server neither follows nor checks them.
    async fn links(&self) -> List<LinkEntity> {
        List(self.placed.links.iter().cloned().map(LinkEntity).collect())
    }
}

/// A mention in a text.
struct MentionEntity(PlacedEntity<UserObject>);

/// A mention of an account in a text.
#[Object]
impl MentionEntity {
    /// Range in the text, including `@`.
    async fn range(&self) -> TextRange {
        TextRange(self.0.range.clone())
    }

    /// The account that had this login when the text was written.
    async fn user(&self) -> UserObject {
        UserObject(self.0.target.0.clone())
    }
}

/// A tag in a text.
struct TagEntity(PlacedEntity<String>);

/// A tag in a text.
#[Object]
impl TagEntity {
    /// Range in the text, including `#`.
    async fn range(&self) -> TextRange {
        TextRange(self.0.range.clone())
    }

    /// The tag.
    async fn tag(&self) -> TagObject {
        TagObject(TagId::of_name(self.0.target.clone()))
    }
}

/// A link in a text.
struct LinkEntity(PlacedEntity<String>);

/// A link in a text.
#[Object]
impl LinkEntity {
    /// Range in the text.
    async fn range(&self) -> TextRange {
        TextRange(self.0.range.clone())
    }

    /// Absolute URL: the text itself, with `https://` in front if it has no scheme.
    async fn url(&self) -> &str {
        &self.0.target
    }
}

/// A range.
struct TextRange(Range<usize>);

object! {
    /// A range of a text, in the requested unit.
    "TextRange": TextRange(range) {
        /// Position of the first character, from 0: the number of units before it.
        "start" start: usize = range.start;

        /// Position after the last character: not part of the range.
        "end" end: usize = range.end;
    }
}

/// A tag.
pub struct TagObject(pub TagId);

/// A tag: a word with `#` in front, by which statuses are found. Tags that differ only in case or in Unicode compatibility forms (NFKC) are one tag.
#[Object(name = "Tag")]
impl TagObject {
    /// Global id, accepted by `node`. It depends on the name alone.
    pub async fn id(&self) -> async_graphql::ID {
        self.0.global().into()
    }

    /// Number of public statuses that have the tag, the same for all viewers. An account that posts, edits or deletes a status sees the exact number in its
    /// next request. If an account becomes private or public, the number is updated within seconds. Only the newest 1,000,000 statuses are counted.
    async fn statuses_count(&self, ctx: &Context<'_>) -> Result<u64> {
        Ok(Box::pin(request(ctx)?.loaders().tag_counts.load(self.0.clone())).await?)
    }

    /// Public statuses that have the tag, also replies, newest first. Statuses of accounts that the viewer mutes, and of accounts that a block separates from
    /// the viewer, are left out.
    async fn timeline(&self, ctx: &Context<'_>) -> Timeline {
        Timeline::index(ctx, IndexTimeline::Tag(self.0.clone()))
    }

    /// Whether the viewer follows the tag. False without a session.
    async fn viewer_is_following(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(Box::pin(request(ctx)?.loaders().followed_tags.load(self.0.clone())).await?)
    }

    /// Name without `#`: compatibility forms replaced (NFKC), case folded. At most 100 code points.
    async fn name(&self) -> &str {
        self.0.name()
    }
}

impl DirectSerialize for TagObject {}

/// Queries of tags.
#[derive(Default)]
pub struct TagQuery;

#[Object]
impl TagQuery {
    /// The tag with this name, whether or not a status has it. Null for a text that is not a tag.
    async fn tag(
        &self,
        #[graphql(
            desc = "Name, with or without `#`. Case and Unicode compatibility forms do not matter. At most 100 code points."
        )]
        name: String,
    ) -> Option<TagObject> {
        tag_name(&name).map(|name| TagObject(TagId::of_name(name)))
    }
}
