//! The accounts that have reposted a status in GraphQL.

use super::super::load::ViewedStatus;
use super::super::service;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, RepostedAt, TotalCount};
use async_graphql::Result;

/// The accounts that have reposted a status.
pub(super) struct Reposters;

impl ConnectionKind for Reposters {
    const CONNECTION: &'static str = "ReposterConnection";
    const EDGE: &'static str = "ReposterEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = RepostedAt;
}

/// A page of the accounts that have reposted a status.
///
/// # Errors
/// As [`service::reposters`].
pub(super) async fn page_of_reposters(request: &Request, seen: &ViewedStatus, args: PageArgs) -> Result<Connection<Reposters>> {
    let page = service::reposters(&request.app, &request.loaders(), seen, &args).await?;
    let total = TotalCount::Loaded(seen.status.reposts.0);
    let repost = |position, user| (UserObject(user), RepostedAt::from_position(position));
    Connection::from_page(request, page, service::reposters_scope(seen.status.id), total, repost).await
}
