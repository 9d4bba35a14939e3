//! The data of an account that only its owner sees, in GraphQL.

use super::super::model::{EmailAddresses, User};
use super::super::service::{self, passwords};
use super::UserObject;
use crate::base::audience::DetailAudience;
use crate::base::error::Error;
use crate::base::ids::{AccountId, UserId};
use crate::base::request::Request;
use crate::domains::identities::{self, IdentityObject};
use crate::schema::{Date, List, request};
use async_graphql::{Context, ID, Object, Result};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The viewer's account.
pub struct AccountObject {
    user: Arc<User>,
    /// The mail addresses, read once for all fields that need them.
    emails: OnceCell<EmailAddresses>,
}

impl AccountObject {
    const fn new(user: Arc<User>) -> Self {
        Self { user, emails: OnceCell::const_new() }
    }

    async fn emails(&self, ctx: &Context<'_>) -> Result<&EmailAddresses> {
        let app = &request(ctx)?.app;
        Ok(Box::pin(self.emails.get_or_try_init(|| service::email_addresses(app, self.user.id))).await?)
    }
}

/// Data of the viewer's account that only the viewer can see.
#[Object(name = "Account")]
impl AccountObject {
    /// Global id, accepted by `node` for the owner only. Inputs with a `userId` take the `id` of the `User` instead.
    pub async fn id(&self) -> ID {
        AccountId(self.user.id.0).global().into()
    }

    /// Whether the account has a password.
    async fn has_password(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(Box::pin(passwords::has_password(&request(ctx)?.app, self.user.id)).await?)
    }

    /// Confirmed mail address. Null if there is none. `logIn` and `requestPasswordReset` accept it.
    async fn email(&self, ctx: &Context<'_>) -> Option<Result<String>> {
        let email = async { Ok(self.emails(ctx).await?.confirmed.as_ref().map(|email| email.as_str().to_owned())) };
        email.await.transpose()
    }

    /// Mail address that is not confirmed yet. Null if there is none. It is dropped 24 hours after its link was sent, and when another account confirms it.
    async fn pending_email(&self, ctx: &Context<'_>) -> Option<Result<String>> {
        let email = async { Ok(self.emails(ctx).await?.pending.as_ref().map(|email| email.as_str().to_owned())) };
        email.await.transpose()
    }

    /// Whether the account has a confirmed mail address.
    async fn is_email_confirmed(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.emails(ctx).await?.confirmed.is_some())
    }

    /// Date of birth. Null if there is none.
    async fn birth_date(&self) -> Option<Date> {
        self.user.birth_date.map(Date)
    }

    /// Accounts that see `User.birthDate`. Default: `NOBODY`.
    async fn show_birth_date(&self) -> DetailAudience {
        self.user.birth_date_audience
    }

    /// Accounts that see `User.age`. Default: `NOBODY`.
    async fn show_age(&self) -> DetailAudience {
        self.user.age_audience
    }

    /// Accounts of other systems to which the account is linked. At most one.
    async fn identities(&self, ctx: &Context<'_>) -> Result<List<IdentityObject>> {
        let identity = Box::pin(identities::service::identity(&request(ctx)?.app, self.user.id)).await?;
        Ok(List(identity.into_iter().map(IdentityObject).collect()))
    }

    /// The profile of the account.
    async fn user(&self) -> UserObject {
        UserObject(self.user.clone())
    }
}

/// The account with this id, if it is the viewer's. No round trip for others.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_account(request: &Request, id: AccountId) -> Result<Option<AccountObject>, Error> {
    let viewer = request.viewer_id().filter(|viewer| *viewer == UserId(id.0));
    let Some(viewer) = viewer else { return Ok(None) };
    Ok(request.loaders().users.load(viewer).await?.map(AccountObject::new))
}

/// Queries of the data of an account that only its owner sees.
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
