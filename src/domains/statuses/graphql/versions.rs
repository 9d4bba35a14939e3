//! The versions of the text of a status in GraphQL.

use super::super::model::{Status, StatusVersion};
use super::super::service;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::entities::{TextEntitiesObject, TextUnit};
use crate::schema::{Connection, ConnectionKind, DateTime, Text, TotalCount, object};
use async_graphql::Result;
use async_graphql::connection::EmptyFields;

/// A version of the text of a status.
pub(super) struct StatusVersionObject(StatusVersion);

object! {
    /// A version of the text of a status.
    "StatusVersion": StatusVersionObject(version) {
        /// Text of this version.
        "message" message: Text<'_> = Text(&version.message);

        /// Time at which this version was written.
        "createdAt" created_at: DateTime = DateTime(version.created_at);
    }

    /// Mentions, tags and links in the text of this version.
    async fn entities(
        &self,
        #[graphql(desc = "Unit of the ranges. Default: `CODE_POINTS`.")] unit: Option<TextUnit>,
    ) -> TextEntitiesObject {
        TextEntitiesObject::new(&self.0.message, self.0.created_at, &self.0.entities, unit)
    }
}

/// The versions of a status.
pub(super) struct StatusVersions;

impl ConnectionKind for StatusVersions {
    const CONNECTION: &'static str = "StatusVersionConnection";
    const EDGE: &'static str = "StatusVersionEdge";
    type Node = StatusVersionObject;
    type Fields = TotalCount;
    type EdgeFields = EmptyFields;
}

/// A page of the versions of a status.
///
/// # Errors
/// As [`service::versions`].
pub(super) async fn page_of_versions(request: &Request, status: &Status, args: PageArgs) -> Result<Connection<StatusVersions>> {
    let page = service::versions(&request.app, status, &args).await?;
    let total = TotalCount::Loaded(service::version_count(status) as u64);
    let version = |_, version| (StatusVersionObject(version), EmptyFields);
    Connection::from_page(request, page, service::versions_scope(status.id), total, version).await
}
