//! The data of an account that only its owner sees, in GraphQL.

use super::super::model::User;
use super::super::service::passwords;
use super::UserObject;
use crate::base::error::Error;
use crate::base::ids::{AccountId, UserId};
use crate::base::request::Request;
use crate::schema::request;
use async_graphql::{Context, ID, Object, Result};
use std::sync::Arc;

/// The viewer's account.
pub struct AccountObject(Arc<User>);

/// Data of the viewer's account that only the viewer can see.
#[Object(name = "Account")]
impl AccountObject {
    /// Global id, accepted by `node` for the owner only.
    pub async fn id(&self) -> ID {
        AccountId(self.0.id.0).global().into()
    }

    /// Whether the account has a password.
    async fn has_password(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(Box::pin(passwords::has_password(&request(ctx)?.app, self.0.id)).await?)
    }

    /// The account as others see it.
    async fn user(&self) -> UserObject {
        UserObject(self.0.clone())
    }
}

/// The account with this id, if it is the viewer's. No round trip for others.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_account(request: &Request, id: AccountId) -> Result<Option<AccountObject>, Error> {
    let viewer = request.viewer_id().filter(|viewer| *viewer == UserId(id.0));
    let Some(viewer) = viewer else { return Ok(None) };
    Ok(request.loaders().users.load(viewer).await?.map(AccountObject))
}

/// Queries of what only the owner of an account sees.
#[derive(Default)]
pub struct AccountQuery;

#[Object]
impl AccountQuery {
    /// Data of the viewer's account that only the viewer can see. Requires a session.
    async fn viewer_account(&self, ctx: &Context<'_>) -> Option<Result<AccountObject>> {
        let found = async {
            let request = request(ctx)?;
            let viewer = request.viewer()?.user;
            Ok(find_account(request, AccountId(viewer.0)).await?)
        };
        found.await.transpose()
    }
}
