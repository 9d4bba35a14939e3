//! Websites in GraphQL, for their owner.

use super::super::service;
use super::super::{NewWebsite, Website};
use crate::base::error::Outcome;
use crate::base::ids::WebsiteId;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::schema::{Connection, ConnectionKind, DateTime, DirectSerialize, Text, TotalCount, payload, refuse, request};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, ID, InputObject, Object, Result};
use std::sync::Arc;

/// A website of the viewer.
pub struct WebsiteObject(pub Arc<Website>);

/// A website of a publisher, on which ads are shown. Visible to its owner only.
#[Object(name = "Website")]
impl WebsiteObject {
    /// Global id, accepted by `node`.
    pub async fn id(&self) -> ID {
        self.0.id.global().into()
    }

    /// Name: 1 to 100 grapheme clusters, not unique.
    async fn name(&self) -> Text<'_> {
        Text(&self.0.name)
    }

    /// Origin of its pages: scheme, host, and port unless it is the default. For display: it is not compared with the origin of ad requests. Requests
    /// from a browser must come from an origin that the server allows.
    async fn origin(&self) -> Text<'_> {
        Text(&self.0.origin)
    }

    /// Key with which its pages request ads. It is public: it identifies the website and gives no other right.
    async fn key(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(service::key(&request(ctx)?.app, self.0.id).await?)
    }

    /// Secret with which the website's server requests ads. Null if the website does not require one. If it does, `serveAds` fails without it with
    /// `FORBIDDEN`.
    async fn server_key(&self, ctx: &Context<'_>) -> Result<Option<String>> {
        Ok(service::server_key(&request(ctx)?.app, &self.0).await?)
    }

    /// Time of the registration.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.id.time())
    }

    /// Whether the operator has suspended the owner's websites: `serveAds` then fails with `FORBIDDEN`.
    async fn is_suspended(&self) -> bool {
        self.0.suspended
    }
}

impl DirectSerialize for WebsiteObject {}

/// The viewer's websites.
pub(super) struct Websites;

impl ConnectionKind for Websites {
    const CONNECTION: &'static str = "WebsiteConnection";
    const EDGE: &'static str = "WebsiteEdge";
    type Node = WebsiteObject;
    type Fields = TotalCount;
    type EdgeFields = EmptyFields;
}

pub(super) async fn page_of_websites(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<Websites>> {
    let request = request(ctx)?;
    let owner = request.viewer()?.user;
    let page = service::websites(&request.app, &request.loaders(), owner, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_websites(app, owner)));
    let website = |_, website| (WebsiteObject(website), EmptyFields);
    Connection::from_page(request, page, service::websites_scope(owner), total, website).await
}

/// Input of `registerWebsite`.
#[derive(InputObject)]
struct RegisterWebsiteInput {
    /// Name: 1 to 100 grapheme clusters. Several websites may have the same name.
    name: String,
    /// Origin of its pages, such as `https://news.example`: http or https, without a path.
    origin: String,
    /// Whether requests for ads require the website's `serverKey`: for publishers whose server requests ads and can keep a secret. Default: false.
    require_server_key: Option<bool>,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `renewWebsiteServerKey`.
#[derive(InputObject)]
struct RenewWebsiteServerKeyInput {
    /// Id of a website of the viewer.
    website_id: ID,
}

payload! {
    {
        /// The new website. Null if there are user errors.
        website: WebsiteObject,
    }
    /// Result of `registerWebsite`.
    RegisterWebsitePayload;
}

payload! {
    {
        /// The website with its new key. Null if there are user errors.
        website: WebsiteObject,
    }
    /// Result of `renewWebsiteServerKey`.
    RenewWebsiteServerKeyPayload;
}

/// Mutations of websites.
#[derive(Default)]
pub struct WebsiteMutation;

#[Object]
impl WebsiteMutation {
    /// Registers a website on which ads are shown. An account has at most 100 websites; one more fails with `LIMIT_REACHED`. Requires a session.
    async fn register_website(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new website.")] input: RegisterWebsiteInput,
    ) -> Option<Result<RegisterWebsitePayload>> {
        Some(Box::pin(register(ctx, input)).await)
    }

    /// Replaces the server key of a website, or creates it: from then on the website requires it. The previous key is invalid at once, so configure
    /// the new one on your servers without delay. Requires a session.
    async fn renew_website_server_key(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The website.")] input: RenewWebsiteServerKeyInput,
    ) -> Option<Result<RenewWebsiteServerKeyPayload>> {
        Some(Box::pin(renew(ctx, &input.website_id)).await)
    }
}

async fn register(ctx: &Context<'_>, input: RegisterWebsiteInput) -> Result<RegisterWebsitePayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let RegisterWebsiteInput { name, origin, require_server_key, idempotency_key } = input;
    let new = NewWebsite { name, origin, require_server_key: require_server_key.unwrap_or(false), idempotency_key };
    let (made, user_errors) = refuse(service::register(&request.app, viewer, new).await)?;
    Ok(RegisterWebsitePayload { website: reload(request, made).await?, user_errors })
}

async fn renew(ctx: &Context<'_>, id: &str) -> Result<RenewWebsiteServerKeyPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let renewed: Outcome<WebsiteId> = async {
        let id = WebsiteId::from_global(id).ok_or_else(service::no_website)?;
        service::renew_server_key(&request.app, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (renewed, user_errors) = refuse(renewed)?;
    Ok(RenewWebsiteServerKeyPayload { website: reload(request, renewed).await?, user_errors })
}

async fn reload(request: &Request, id: Option<WebsiteId>) -> Result<Option<WebsiteObject>> {
    request.reset_loaders();
    match id {
        Some(id) => Ok(request.loaders().websites.load(id).await?.map(WebsiteObject)),
        None => Ok(None),
    }
}
