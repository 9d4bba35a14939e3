//! Relay connections: one generic connection and edge for every list that is read in pages.

use super::plain::{DirectSerialize, DirectSerializeList, SelectedField};
use super::{DateTime, Json, request};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::source;
use crate::base::page::{ListId, Page};
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
    type EdgeFields: ObjectType + DirectSerialize;
}

/// A page of a list, as the cursor connections specification of Relay has it.
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

    /// A page of a list that is ordered by id: `entry` makes the node and the further fields of an edge from its position and its item.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`: the secret of the cursors cannot be read.
    pub async fn from_page<T>(
        request: &Request,
        page: Page<T>,
        list: ListId,
        fields: K::Fields,
        entry: impl Fn(u64, T) -> (K::Node, K::EdgeFields),
    ) -> Result<Self> {
        let cursors = request.app.cursors().await?;
        let edge = |(position, item)| {
            let (node, fields) = entry(position, item);
            Edge { cursor: cursors.encode(list, position), node, fields }
        };
        Ok(Self::new(page.items.into_iter().map(edge).collect(), page.has_next, page.has_previous, fields))
    }
}

impl<K: ConnectionKind> DirectSerialize for Edge<K> {
    fn write(&self, field: &SelectedField<'_>, json: &mut Json) -> Option<()> {
        match field.name {
            "cursor" => json.value(&self.cursor),
            "node" => json.object(&self.node, &field.of)?,
            _ => self.fields.write(field, json)?,
        }
        Some(())
    }
}

impl DirectSerialize for EmptyFields {}

/// Position of a page in its list. Both flags are exact in both directions of paging.
#[derive(Clone, Debug, SimpleObject)]
pub struct PageInfo {
    /// Whether the list has entries after this page.
    has_next_page: bool,
    /// Whether the list has entries before this page.
    has_previous_page: bool,
    /// Cursor of the first edge. Null on an empty page.
    start_cursor: Option<String>,
    /// Cursor of the last edge, to pass as `after` for the next page. Null on an empty page.
    end_cursor: Option<String>,
}

type Count = dyn for<'a> Fn(&'a App) -> BoxFuture<'a, Result<u64, Error>> + Send + Sync;

/// The field `totalCount` of a connection.
pub enum TotalCount {
    /// The number is at hand.
    Loaded(u64),
    /// The number is read when the field is selected.
    OnDemand(Box<Count>),
}

impl TotalCount {
    /// A number that `count` reads when the field is selected.
    pub fn on_demand(count: impl for<'a> Fn(&'a App) -> BoxFuture<'a, Result<u64, Error>> + Send + Sync + 'static) -> Self {
        Self::OnDemand(Box::new(count))
    }
}

#[Object]
impl TotalCount {
    /// Number of entries in the whole list.
    async fn total_count(&self, ctx: &Context<'_>) -> Result<u64> {
        match self {
            Self::Loaded(count) => Ok(*count),
            Self::OnDemand(count) => Ok(count(&request(ctx)?.app).await?),
        }
    }
}

/// Declares the fields of edges whose position tells their time.
macro_rules! edge_times {
    ($($(#[$doc:meta])* $name:ident { $(#[$field_doc:meta])* $field:ident as $graphql:literal })*) => {$(
        $(#[$doc])*
        #[derive(SimpleObject)]
        pub struct $name {
            $(#[$field_doc])*
            $field: DateTime,
        }

        impl $name {
            /// The time of an entry at this position.
            pub fn at(position: u64) -> Self {
                Self { $field: DateTime(source::time_of(position)) }
            }
        }

        impl DirectSerialize for $name {
            fn write(&self, field: &SelectedField<'_>, json: &mut Json) -> Option<()> {
                (field.name == $graphql).then(|| json.value(async_graphql::ScalarType::to_value(&self.$field)))
            }
        }
    )*};
}

edge_times! {
    /// The time of a follow.
    FollowedAt {
        /// Time of the follow.
        followed_at as "followedAt"
    }
    /// The time of a like.
    LikedAt {
        /// Time of the like.
        liked_at as "likedAt"
    }
    /// The time from which an account is on a list.
    AddedAt {
        /// Time at which the account was added to the list.
        added_at as "addedAt"
    }
}
