//! Registration of websites.

use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{UserId, WebsiteId};
use crate::base::page::{self, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::ads::accounts;
use crate::domains::ads::accounts::store::{AddOwnedResult, OwnedItem};
use crate::domains::ads::model::{MAX_WEBSITES, no_website};
use crate::domains::ads::publishers::model;
use crate::domains::ads::publishers::model::{NewWebsite, Website, WebsiteDraft, website_key};
use crate::domains::ads::publishers::store;
use crate::domains::ads::rate_limit::charge_change;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use std::sync::Arc;

/// Registers a website. A charge, the journal, three scripts and four reads; one more script with an idempotency key.
///
/// With a key that was used in the last 24 hours, returns the same website and repeats its steps, which changes nothing.
///
/// # Errors
/// `INVALID_NAME`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; `LIMIT_REACHED` above 100 websites; `RATE_LIMITED`, also for a repetition;
/// `UNAUTHENTICATED` if the account was deleted.
pub async fn register(app: &App, owner: UserId, new: NewWebsite) -> Outcome<WebsiteId> {
    let draft = new.check().map_err(Refusal::User)?;
    charge_change(app, owner).await?;
    let mut id = WebsiteId(app.next_id().await?);
    let request = new.idempotency_key.map(|key| IdempotentRequest::new("registerWebsite", &key, &draft.idempotency_text()));
    if let Some(request) = &request {
        id = WebsiteId(idempotency::bind(app, owner, request, id.0).await?);
    }
    let result = commit_website(app, owner, id, &draft).await;
    if let (Some(request), Err(Refusal::User(_))) = (&request, &result) {
        idempotency::release(app, owner, request, id.0).await?;
    }
    result.map(|()| id)
}

async fn commit_website(app: &App, owner: UserId, id: WebsiteId, draft: &WebsiteDraft) -> Outcome<()> {
    let lease = journal::begin(app, Task::Website { owner, website: id }).await?;
    match accounts::store::add_owned(app.db(), owner, OwnedItem::Website(id), MAX_WEBSITES).await? {
        AddOwnedResult::Added => {}
        refused => {
            lease.ack(app);
            return Err(if refused == AddOwnedResult::NoAccount { Error::Unauthenticated.into() } else { too_many().into() });
        }
    }
    store::write_website(app.db(), owner, id, draft).await?;
    let exists = settle_website(app, owner, id).await?;
    lease.ack(app);
    if exists { Ok(()) } else { Err(Error::Unauthenticated.into()) }
}

/// Reconciles the owner's list with whether the website exists, and the website with the owner's suspension. A website
/// exists while `website:{W}` does. Deletes a website whose owner was deleted. Returns whether the website exists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: settle again.
pub async fn settle_website(app: &App, owner: UserId, id: WebsiteId) -> Result<bool, Error> {
    let mut written = None;
    loop {
        let exists = get(app, id).await?.is_some();
        if written == Some(exists) {
            return Ok(exists && reconcile_suspension(app, owner, id).await?);
        }
        if !exists {
            accounts::store::remove_owned(app.db(), owner, OwnedItem::Website(id)).await?;
        } else if accounts::store::add_owned(app.db(), owner, OwnedItem::Website(id), 2 * MAX_WEBSITES).await?
            == AddOwnedResult::NoAccount
        {
            store::purge_website(app.db(), id).await?;
            accounts::store::remove_owned(app.db(), owner, OwnedItem::Website(id)).await?;
            return Ok(false);
        }
        written = Some(exists);
    }
}

async fn get(app: &App, id: WebsiteId) -> Result<Option<Website>, Error> {
    Ok(store::load_websites(app.db(), &[id]).await?.pop().flatten())
}

/// Copies the owner's suspension to a website; `false` if the website does not exist. Two reads; if the copy differs, one script and two more reads.
pub(in crate::domains::ads) async fn reconcile_suspension(app: &App, owner: UserId, id: WebsiteId) -> Result<bool, Error> {
    loop {
        let off = accounts::store::suspension(app.db(), owner).await?.publisher;
        match get(app, id).await? {
            None => return Ok(false),
            Some(website) if website.suspended == off => return Ok(true),
            Some(_) => store::set_website_suspended(app.db(), id, off).await?,
        };
    }
}

/// Returns the website key of a website.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn key(app: &App, id: WebsiteId) -> Result<String, Error> {
    Ok(website_key(app.cursors().await?.secret(), id))
}

/// Returns the server key of a website; `None` if the website requires none.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn server_key(app: &App, website: &Website) -> Result<Option<String>, Error> {
    let secret = app.cursors().await?.secret();
    Ok((website.server_key > 0).then(|| model::server_key(secret, website.id, website.server_key)))
}

/// Gives a website a new server key, which the website requires from then on. The previous key is invalid at once. A charge, and one script.
/// Each repetition creates another key.
///
/// # Errors
/// `NOT_FOUND` for a website that does not exist or belongs to another account; `RATE_LIMITED`.
pub async fn renew_server_key(app: &App, owner: UserId, id: WebsiteId) -> Outcome<()> {
    charge_change(app, owner).await?;
    let is_renewed = store::renew_server_key(app.db(), owner, id).await?;
    if is_renewed { Ok(()) } else { Err(no_website().into()) }
}

/// Returns the number of websites of an account. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_websites(app: &App, owner: UserId) -> Result<u64, Error> {
    accounts::store::count_websites(app.db(), owner).await
}

/// Returns a page of an account's websites, newest first. Only the owner can see them.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn websites(app: &App, loaders: &Loaders, owner: UserId, args: &PageArgs) -> Result<Page<Arc<Website>>, Error> {
    let request = args.check(&app.cursors().await?, websites_scope(owner))?;
    page::read_page(&WebsitePages { app, loaders, owner }, request).await
}

/// The scope of the cursors of [`websites`].
pub const fn websites_scope(owner: UserId) -> page::CursorScope {
    page::CursorScope { kind: b'w', owner: owner.0 }
}

struct WebsitePages<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    owner: UserId,
}

impl PageSource for WebsitePages<'_> {
    type Item = Arc<Website>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        accounts::store::websites_page(self.app.db(), self.owner, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<Website>>>, Error> {
        self.loaders.websites.load_many(rows.iter().map(|row| WebsiteId(row.member))).await
    }
}

fn too_many() -> UserError {
    UserError::new(UserErrorCode::LimitReached, format!("An account has at most {MAX_WEBSITES} websites."), &[])
}
