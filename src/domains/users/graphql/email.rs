//! Mail addresses in GraphQL.

use super::super::service;
use super::account::AccountObject;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::AccountId;
use crate::base::request::Request;
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, InputObject, MaybeUndefined, Object, Result};

/// Input of `changeEmail`.
#[derive(InputObject)]
struct ChangeEmailInput {
    /// New mail address. It is pending until `confirmEmail` confirms it. Null removes the confirmed and the pending address.
    email: MaybeUndefined<String>,
    /// Password of the viewer. A wrong one fails with `WRONG_CREDENTIALS`.
    password: String,
}

/// Input of `confirmEmail`.
#[derive(InputObject)]
struct ConfirmEmailInput {
    /// Token of the link in the email.
    token: String,
}

/// Input of `requestPasswordReset`.
#[derive(InputObject)]
struct RequestPasswordResetInput {
    /// Confirmed mail address of the account.
    email: String,
}

payload! {
    {
        /// The account with its addresses. Null if there are user errors.
        account: AccountObject,
    }
    /// Result of `changeEmail`.
    ChangeEmailPayload;
}

payload! {
    {
        /// The account with its new address, if the viewer is this account. Otherwise null, also on success.
        account: AccountObject,
    }
    /// Result of `confirmEmail`.
    ConfirmEmailPayload;
}

payload! {
    {
        /// The pending address to which the link is sent. Null if there are user errors.
        sent_to: String,
    }
    /// Result of `resendEmailConfirmation`.
    ResendEmailConfirmationPayload;
}

payload! {
    {
        /// True if the request was accepted, whether or not an account has the address. Null if there are user errors.
        accepted: bool,
    }
    /// Result of `requestPasswordReset`.
    RequestPasswordResetPayload;
}

/// Mutations of mail addresses.
#[derive(Default)]
pub struct EmailMutation;

#[Object]
impl EmailMutation {
    /// Requests a change of the viewer's mail address, or removes the addresses of the account. A link is sent to the new address, which is pending until
    /// `confirmEmail` confirms it; until then the confirmed address stays valid. An email about the request is sent to the confirmed address. A request for the
    /// confirmed address drops the pending one. Whether another account has the address does not change the response. A wrong password is counted as a failed
    /// log-in. Fails with `FORBIDDEN` if the account has no password. Requires a session.
    async fn change_email(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The password; and the new address, or null to remove the addresses.")] input: ChangeEmailInput,
    ) -> Option<Result<ChangeEmailPayload>> {
        Some(Box::pin(change(ctx, input)).await)
    }

    /// Confirms the mail address to which a token was sent. The first account that confirms an address has it; for other accounts it is then no longer pending.
    /// A token that is expired, used, replaced or of an address that another account has confirmed fails with `INVALID_TOKEN`. Needs no session.
    async fn confirm_email(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The token.")] input: ConfirmEmailInput,
    ) -> Option<Result<ConfirmEmailPayload>> {
        Some(Box::pin(confirm(ctx, input)).await)
    }

    /// Sends the link to the viewer's pending address again; the previous link becomes invalid. Fails with `NOT_FOUND` if no address is pending. Requires a
    /// session.
    async fn resend_email_confirmation(&self, ctx: &Context<'_>) -> Option<Result<ResendEmailConfirmationPayload>> {
        let sent = async {
            let request = request(ctx)?;
            let sent = service::resend_confirmation(&request.app, request.viewer()?.user, request.charged_address()).await;
            let (sent_to, user_errors) = refuse(sent)?;
            let sent_to = sent_to.map(|address| address.as_str().to_owned());
            Ok(ResendEmailConfirmationPayload { sent_to, user_errors })
        };
        Some(Box::pin(sent).await)
    }

    /// Sends a password-reset link to a confirmed mail address. The response is the same whether or not an account has the address.
    async fn request_password_reset(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The address.")] input: RequestPasswordResetInput,
    ) -> Option<Result<RequestPasswordResetPayload>> {
        let requested = async {
            let request = request(ctx)?;
            let requested = service::request_password_reset(&request.app, &input.email, request.charged_address()).await;
            let (accepted, user_errors) = refuse(requested)?;
            Ok(RequestPasswordResetPayload { accepted: accepted.map(|()| true), user_errors })
        };
        Some(Box::pin(requested).await)
    }
}

async fn change(ctx: &Context<'_>, input: ChangeEmailInput) -> Result<ChangeEmailPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?;
    let changed = match &input.email {
        MaybeUndefined::Undefined => {
            let message = "Write an address, or null to remove the addresses.";
            Err(UserError::new(UserErrorCode::InvalidInput, message, &["email"]).into())
        }
        email => {
            let (email, client) = (email.as_opt_ref().flatten(), (viewer.session(), request.charged_address()));
            let email = email.map(String::as_str);
            service::change_email(&request.app, viewer.user, email, &input.password, client).await
        }
    };
    let (changed, user_errors) = refuse(changed)?;
    let account = if changed.is_some() { own_account(request).await? } else { None };
    Ok(ChangeEmailPayload { account, user_errors })
}

async fn confirm(ctx: &Context<'_>, input: ConfirmEmailInput) -> Result<ConfirmEmailPayload> {
    let request = request(ctx)?;
    let (owner, user_errors) = refuse(service::confirm_email(&request.app, &input.token).await)?;
    let is_own = owner.is_some() && owner == request.viewer_id();
    let account = if is_own { own_account(request).await? } else { None };
    Ok(ConfirmEmailPayload { account, user_errors })
}

/// The account of the viewer, as it is now.
async fn own_account(request: &Request) -> Result<Option<AccountObject>> {
    request.reset_loaders();
    let Some(viewer) = request.viewer_id() else { return Ok(None) };
    Ok(super::account::find_account(request, AccountId(viewer.0)).await?)
}
