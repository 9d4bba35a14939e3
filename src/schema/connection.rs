//! Relay connections: one generic connection and edge for every list that is read in pages.

use super::direct::object;
use super::{DateTime, DirectObject, DirectSerialize, DirectSerializeList, Json, Selected, SelectedField, request};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::source;
use crate::base::page::{CursorScope, Page};
use crate::base::request::Request;
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Object, ObjectType, OutputType, Result, SimpleObject, TypeName};
use futures_util::future::BoxFuture;
use std::borrow::Cow;

/// A kind of connection: the names of its types, and the fields that they have beside those of every connection.
pub trait ConnectionKind: Send + Sync + 'static {
    /// The name of the connection in the schema.
    const CONNECTION: &'static str;
    /// The name of its edges in the schema.
    const EDGE: &'static str;
    /// The type of an entry.
    type Node: OutputType + DirectSerialize;
    /// Further fields of the connection: [`TotalCount`] or [`EmptyFields`].
    type Fields: ObjectType;
    /// Further fields of an edge, such as the time of a follow; [`EmptyFields`] for none.
    type EdgeFields: ObjectType + DirectObject;
}

/// A page of a list, as defined by the Relay cursor connections specification.
#[derive(SimpleObject)]
#[graphql(name_type)]
pub struct Connection<K: ConnectionKind> {
    /// Entries of this page, in the order of the list.
    pub edges: DirectSerializeList<Edge<K>>,
    /// Position of this page in the list.
    page_info: PageInfo,
    #[graphql(flatten)]
    fields: K::Fields,
}

/// An entry of a list, and its cursor.
#[derive(SimpleObject)]
#[graphql(name_type)]
pub struct Edge<K: ConnectionKind> {
    /// Cursor of this entry, for `after` and `before`.
    pub cursor: String,
    /// The entry.
    pub node: K::Node,
    /// Fields of this kind of edge alone.
    #[graphql(flatten)]
    pub fields: K::EdgeFields,
}

impl<K: ConnectionKind> TypeName for Connection<K> {
    fn type_name() -> Cow<'static, str> {
        K::CONNECTION.into()
    }
}

impl<K: ConnectionKind> TypeName for Edge<K> {
    fn type_name() -> Cow<'static, str> {
        K::EDGE.into()
    }
}

impl<K: ConnectionKind> Connection<K> {
    /// A page of these edges.
    pub fn new(edges: Vec<Edge<K>>, has_next_page: bool, has_previous_page: bool, fields: K::Fields) -> Self {
        let cursor = |edge: Option<&Edge<K>>| edge.map(|edge| edge.cursor.clone());
        let (start_cursor, end_cursor) = (cursor(edges.first()), cursor(edges.last()));
        let page_info = PageInfo { has_next_page, has_previous_page, start_cursor, end_cursor };
        Self { edges: DirectSerializeList(edges), page_info, fields }
    }

    /// A page of a list with positions of 64 bits: `entry` makes the node and the further fields of an edge from its position and its item.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`: the secret of the cursors cannot be read.
    pub async fn from_page<T>(
        request: &Request,
        page: Page<T>,
        scope: CursorScope,
        fields: K::Fields,
        entry: impl Fn(u64, T) -> (K::Node, K::EdgeFields),
    ) -> Result<Self> {
        let cursors = request.app.cursors().await?;
        let edge = |(position, item)| {
            let (node, fields) = entry(position, item);
            Edge { cursor: cursors.encode(scope, position), node, fields }
        };
        let connection = Self::new(page.items.into_iter().map(edge).collect(), page.has_next, page.has_previous, fields);
        Ok(connection.ending_at([page.start, page.end], |position| cursors.encode(scope, position)))
    }

    /// Sets the cursors of a page that ended early, from [`Page::start`] and [`Page::end`].
    pub fn ending_at<P>(mut self, [start, end]: [Option<P>; 2], encode: impl Fn(P) -> String) -> Self {
        let info = &mut self.page_info;
        info.start_cursor = start.map(&encode).or(info.start_cursor.take());
        info.end_cursor = end.map(&encode).or(info.end_cursor.take());
        self
    }
}

impl<K: ConnectionKind> DirectObject for Edge<K> {
    fn write_field(&self, field: &SelectedField<'_>, json: &mut Json) -> Option<()> {
        match field.name {
            "cursor" => self.cursor.write(&field.selected, json),
            "node" => self.node.write(&field.selected, json),
            _ => self.fields.write_field(field, json),
        }
    }
}

impl<K: ConnectionKind> DirectSerialize for Edge<K> {
    fn write(&self, selected: &Selected<'_>, json: &mut Json) -> Option<()> {
        json.object(self, selected)
    }
}

impl DirectObject for EmptyFields {
    fn write_field(&self, _: &SelectedField<'_>, _: &mut Json) -> Option<()> {
        None
    }
}

/// Position of a page in its list. `hasNextPage` and `hasPreviousPage` are both valid for `first` and for `last`. If the search for further visible entries
/// ended after 10,000 entries that are not visible, the flag of that direction is true, although the list may have no further visible entry.
#[derive(Clone, Debug, SimpleObject)]
pub struct PageInfo {
    /// Whether the list has entries after this page.
    has_next_page: bool,
    /// Whether the list has entries before this page.
    has_previous_page: bool,
    /// Cursor of the first edge. Null on an empty page. If a page of `last` ended early because 10,000 entries in a row are not
    /// visible to the viewer: the cursor to continue from.
    start_cursor: Option<String>,
    /// Cursor of the last edge, to pass as `after` for the next page. Null on an empty page. If the page ended early because 10,000 entries in a
    /// row are not visible to the viewer: the cursor to continue from.
    end_cursor: Option<String>,
}

type CountFn = dyn for<'a> Fn(&'a App) -> BoxFuture<'a, Result<u64, Error>> + Send + Sync;

/// The field `totalCount` of a connection.
pub enum TotalCount {
    /// The number is loaded already.
    Loaded(u64),
    /// The number is read when the field is selected.
    OnDemand(Box<CountFn>),
}

impl TotalCount {
    /// A number that `count` reads when the field is selected.
    pub fn on_demand(count: impl for<'a> Fn(&'a App) -> BoxFuture<'a, Result<u64, Error>> + Send + Sync + 'static) -> Self {
        Self::OnDemand(Box::new(count))
    }
}

#[Object]
impl TotalCount {
    /// Number of entries in the whole list, including those that the viewer cannot see, unless the description of the list says otherwise.
    async fn total_count(&self, ctx: &Context<'_>) -> Result<u64> {
        match self {
            Self::Loaded(count) => Ok(*count),
            Self::OnDemand(count) => Ok(count(&request(ctx)?.app).await?),
        }
    }
}

object! {
    /// The time of a follow.
    "FollowedAt": FollowedAt(at) {
        /// Time of the follow.
        "followedAt" followed_at: DateTime = *at;
    }
}

object! {
    /// The time of a like.
    "LikedAt": LikedAt(at) {
        /// Time of the like.
        "likedAt" liked_at: DateTime = *at;
    }
}

object! {
    /// The time of a bookmark.
    "BookmarkedAt": BookmarkedAt(at) {
        /// Time of the bookmark.
        "bookmarkedAt" bookmarked_at: DateTime = *at;
    }
}

object! {
    /// The time of a repost.
    "RepostedAt": RepostedAt(at) {
        /// Time of the repost.
        "repostedAt" reposted_at: DateTime = *at;
    }
}

object! {
    /// The time at which an account was added to a list.
    "AddedAt": AddedAt(at) {
        /// Time at which the account was added to the list.
        "addedAt" added_at: DateTime = *at;
    }
}

object! {
    /// The time of a block.
    "BlockedAt": BlockedAt(at) {
        /// Time of the block.
        "blockedAt" blocked_at: DateTime = *at;
    }
}

object! {
    /// The time of a friendship.
    "FriendsSince": FriendsSince(since) {
        /// Start of the friendship between the account and this friend. In `mutualFriends`: between the viewer and this friend.
        "friendsSince" friends_since: DateTime = *since;
    }
}

object! {
    /// The time of a request.
    "RequestedAt": RequestedAt(at) {
        /// Time of the request.
        "requestedAt" requested_at: DateTime = *at;
    }
}

/// The fields `mutedAt` and `endsAt` of an edge.
pub struct MutedAt(DateTime, Option<DateTime>);

impl MutedAt {
    /// The times of the mute at this position.
    pub fn from_position(position: u64, end: Option<Millis>) -> Self {
        Self(DateTime(source::time_of(position)), end.map(DateTime))
    }
}

object! {
    /// The times of a mute.
    "MutedAt": MutedAt(muted_at, ends_at) {
        /// Time of the mute.
        "mutedAt" muted_at: DateTime = *muted_at;

        /// End of a temporary mute. Null for a mute that lasts until `unmuteUser`.
        "endsAt" ends_at: Option<DateTime> = *ends_at;
    }
}

/// Declares the fields of edges whose position contains a time.
macro_rules! edge_times {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name(DateTime);

        impl $name {
            /// The time of the entry at this position.
            pub fn from_position(position: u64) -> Self {
                Self(DateTime(source::time_of(position)))
            }
        }
    )*};
}

edge_times! {
    /// The field `followedAt` of an edge.
    FollowedAt;
    /// The field `likedAt` of an edge.
    LikedAt;
    /// The field `bookmarkedAt` of an edge.
    BookmarkedAt;
    /// The field `repostedAt` of an edge.
    RepostedAt;
    /// The field `addedAt` of an edge.
    AddedAt;
    /// The field `blockedAt` of an edge.
    BlockedAt;
    /// The field `friendsSince` of an edge.
    FriendsSince;
    /// The field `requestedAt` of an edge.
    RequestedAt;
}
