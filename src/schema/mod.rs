//! The GraphQL schema: the merged roots, the types that all domains share, and execution.

mod check;
mod connection;
mod context;
mod direct;
mod enums;
mod errors;
mod execute;
mod json;
mod limits;
mod node;
mod operation;
mod payload;
mod render;
mod resume;
mod scalars;
mod selection;
mod render_key;
mod sized;
mod subscribe;
mod type_system;
mod validation_cache;
mod validation;

pub use check::{CheckError, CheckResult, check, check_document, parse};
pub use connection::{
    AddedAt, BlockedAt, BookmarkedAt, Connection, ConnectionKind, Edge, FollowedAt, FriendsSince, LikedAt, MutedAt, PageInfo,
    RepostedAt, RequestedAt, TotalCount,
};
pub use context::request;
pub(crate) use direct::object;
pub use direct::{DirectObject, DirectSerialize, DirectSerializeList};
pub(crate) use enums::{register_enum, schema_enum};
pub use errors::{UserError, refuse};
pub use execute::{error_response, execute, execute_query};
pub use json::{Json, json};
pub use node::Node;
pub use operation::operation_name;
pub(crate) use payload::payload;
pub use render::{RenderedEvent, renderers};
pub use resume::resume;
pub use scalars::{Date, DateTime, Decimal};
pub use selection::{Selected, SelectedField};
pub use sized::{List, Text, Texts};
pub use subscribe::{subscribe, subscribe_with_guard};
pub use validation_cache::ValidationCache;

use crate::domains::accounts::AccountMutation;
use crate::domains::ads::{AdMutation, AdQuery, ExplainQuery, RecordMutation, ServeMutation, WebsiteMutation};
use crate::domains::chats::{ChatMutation, ChatQuery, OwnChatMutation};
use crate::domains::comments::CommentMutation;
use crate::domains::conversations::ReplyMutation;
use crate::domains::entities::TagQuery;
use crate::domains::graph::{GraphMutation, RepostChoiceMutation, RequestMutation, RequestQuery};
use crate::domains::identities::IdentityMutation;
use crate::domains::lists::{ListMutation, ListQuery, ListTagMutation};
use crate::domains::relations::{BlockMutation, BlockQuery, FriendMutation, FriendQuery, RelationMutation, RelationQuery};
use crate::domains::sessions::{PasswordMutation, ResetMutation, SessionMutation, SessionQuery};
use crate::domains::statuses::{BookmarkMutation, BookmarkQuery, EditMutation, PinMutation, RepostMutation, StatusMutation};
use crate::domains::streaming::{ChatSubscription, StreamQuery, StreamSubscription};
use crate::domains::tags::{FollowedTagMutation, FollowedTagQuery};
use crate::domains::timelines::TimelineQuery;
use crate::domains::users::{AccountQuery, EmailMutation, LoginMutation, UserMutation, UserQuery};
use async_graphql::{MergedObject, MergedSubscription, SDLExportOptions, ValidationMode};
use limits::LimitQuery;
use node::NodeQuery;
use std::sync::LazyLock;

/// Read operations. A field that requires a session also accepts the other credentials of an account: a JWT, and a server key of a backend that acts
/// for the account. Without any of these, the field is null with the error `UNAUTHENTICATED`. In descriptions, "without a session" means: without any of
/// these credentials.
#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
pub struct Query(
    UserQuery,
    AccountQuery,
    SessionQuery,
    TimelineQuery,
    TagQuery,
    FollowedTagQuery,
    RequestQuery,
    RelationQuery,
    BlockQuery,
    FriendQuery,
    ListQuery,
    BookmarkQuery,
    ChatQuery,
    AdQuery,
    ExplainQuery,
    StreamQuery,
    NodeQuery,
    LimitQuery,
);

/// Write operations. Several mutations of one request run one after the other. A mutation that requires a session also accepts the other credentials of
/// an account: a JWT, and a server key of a backend that acts for the account. Without any of these, it is null with the error `UNAUTHENTICATED`.
/// Exception: `logOut` accepts a session only.
#[derive(MergedObject, Default)]
#[graphql(name = "Mutation")]
pub struct Mutation(
    UserMutation,
    LoginMutation,
    EmailMutation,
    SessionMutation,
    PasswordMutation,
    ResetMutation,
    IdentityMutation,
    StatusMutation,
    BookmarkMutation,
    EditMutation,
    RepostMutation,
    PinMutation,
    ReplyMutation,
    GraphMutation,
    RepostChoiceMutation,
    RequestMutation,
    RelationMutation,
    BlockMutation,
    FriendMutation,
    ListMutation,
    ListTagMutation,
    FollowedTagMutation,
    CommentMutation,
    ChatMutation,
    OwnChatMutation,
    AdMutation,
    WebsiteMutation,
    ServeMutation,
    RecordMutation,
    AccountMutation,
);

/// Streams of events. A subscription has one root field. A subscription that requires a session also accepts a JWT, but no server key. Without either,
/// it fails with the error `UNAUTHENTICATED`.
#[derive(MergedSubscription, Default)]
#[graphql(name = "Subscription")]
pub struct Subscription(StreamSubscription, ChatSubscription);

/// The schema of Waxwing.
pub type Schema = async_graphql::Schema<Query, Mutation, Subscription>;

/// The schema, which is built once in a process. It has no state: each request carries its own. Requests must have passed [`check()`]: in its
/// fast mode, the library checks only nesting, fragment cycles and uploads.
pub fn instance() -> Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let schema = Schema::build(Query::default(), Mutation::default(), Subscription::default());
        schema.validation_mode(ValidationMode::Fast).finish()
    });
    SCHEMA.clone()
}

/// The schema in the schema definition language, sorted, as in `schema.graphql`.
pub fn sdl() -> String {
    let options = SDLExportOptions::new().sorted_fields().sorted_arguments().sorted_enum_items().include_specified_by();
    format!("{}\n", instance().sdl_with_options(options).trim())
}
