//! The change of a login in GraphQL.

use super::super::service;
use super::UserObject;
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, InputObject, Object, Result};

/// Input of `changeLogin`.
#[derive(InputObject)]
struct ChangeLoginInput {
    /// New login: 1 to 30 letters A-Z and a-z, digits and underscores. Unique, ignoring case; displayed as written. A taken login fails with `LOGIN_TAKEN`.
    login: String,
    /// Password of the viewer. A wrong one fails with `WRONG_CREDENTIALS`.
    password: String,
}

payload! {
    {
        /// The account with its new login. Null if there are user errors.
        user: UserObject,
    }
    /// Result of `changeLogin`.
    ChangeLoginPayload;
}

/// Mutations of logins.
#[derive(Default)]
pub struct LoginMutation;

#[Object]
impl LoginMutation {
    /// Changes the viewer's login, at most twice in 30 days (`LIMIT_REACHED`), changes of case included. The previous login stays reserved for the account for
    /// 30 days: `user` and `logIn` accept it meanwhile, and nobody else can take it. Texts that mention the account continue to do so. A `login` that equals
    /// the current one, case included, changes nothing and is not counted. A wrong password is counted as a failed log-in. Fails with `FORBIDDEN` if the
    /// account has no password. Requires a session.
    async fn change_login(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new login.")] input: ChangeLoginInput,
    ) -> Option<Result<ChangeLoginPayload>> {
        Some(Box::pin(change(ctx, input)).await)
    }
}

async fn change(ctx: &Context<'_>, input: ChangeLoginInput) -> Result<ChangeLoginPayload> {
    let request = request(ctx)?;
    let (id, session) = request.viewer().map(|viewer| (viewer.user, viewer.session()))?;
    let changed = service::change_login(&request.app, id, &input.login, &input.password, session).await;
    let (user, user_errors) = refuse(changed)?;
    request.reset_loaders();
    Ok(ChangeLoginPayload { user: user.map(UserObject), user_errors })
}
