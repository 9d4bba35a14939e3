//! Websites, as their owner sees them.

use super::super::model::Website;
use super::super::service;
use crate::ids::UserId;
use crate::page::PageArgs;
use crate::schema::{DateTime, List, PageInfo, Text, page_info, request};
use async_graphql::{Context, ID, Object, Result, SimpleObject};
use std::sync::Arc;

/// A website of the viewer.
pub struct WebsiteObject(pub Arc<Website>);

/// A website that shows ads. Only its owner sees it.
#[Object(name = "Website")]
impl WebsiteObject {
    /// Its id.
    pub async fn id(&self) -> ID {
        self.0.id.global().into()
    }

    /// Its name: 1 to 100 characters, not unique.
    async fn name(&self) -> Text<'_> {
        Text(&self.0.name)
    }

    /// Where its pages come from: scheme, host, and port where that is not the scheme's own. It is told, and not compared with who asks: pages that
    /// ask from a browser must be of an origin that the server allows.
    async fn origin(&self) -> Text<'_> {
        Text(&self.0.origin)
    }

    /// What its pages ask for ads with. Anybody who reads them can read it: it says which website asks, and gives no other right.
    async fn key(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(service::key(&request(ctx)?.app, self.0.id).await?)
    }

    /// When it was registered.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.id.time())
    }

    /// Whether the operator holds its owner's websites back: they are shown nothing.
    async fn is_suspended(&self) -> bool {
        self.0.suspended
    }
}

/// A page of the viewer's websites.
pub(super) struct WebsiteConnection {
    owner: UserId,
    edges: Vec<WebsiteEdge>,
    page_info: PageInfo,
}

/// A page of the viewer's websites.
#[Object]
impl WebsiteConnection {
    /// The websites on this page, the newest first.
    async fn edges(&self) -> List<&WebsiteEdge> {
        self.edges.iter().collect()
    }

    /// Where the page stands in the list of them.
    async fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    /// How many there are in all: at most 100.
    async fn total_count(&self, ctx: &Context<'_>) -> Result<u64> {
        Ok(Box::pin(service::count_websites(&request(ctx)?.app, self.owner)).await?)
    }
}

/// A website and its place.
#[derive(SimpleObject)]
struct WebsiteEdge {
    /// Its place among the viewer's websites.
    cursor: String,
    /// The website.
    node: WebsiteObject,
}

pub(super) async fn page_of_websites(ctx: &Context<'_>, args: PageArgs) -> Result<WebsiteConnection> {
    let request = request(ctx)?;
    let owner = request.viewer()?.user;
    let page = service::websites(&request.app, &request.loaders(), owner, &args).await?;
    let (cursors, list) = (request.app.cursors().await?, service::websites_id(owner));
    let page_info = page_info(&page, &cursors, list);
    let edge = |(place, found)| WebsiteEdge { cursor: cursors.encode(list, place), node: WebsiteObject(found) };
    Ok(WebsiteConnection { owner, edges: page.items.into_iter().map(edge).collect(), page_info })
}
