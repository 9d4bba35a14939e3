//! The account of a JSON Web Token.

use super::super::model::Identity;
use super::super::store;
use super::super::store::jwt::SpeculativeFacts;
use super::provision::{NewExternalAccount, create_missing};
use super::revoke::digests_of;
use crate::app::App;
use crate::base::error::{Error, Refusal, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::jwt::{JwtConfig, VerifiedToken};
use crate::base::loader::Fetch;
use crate::base::viewer::Viewer;
use crate::db::ReadBarrier;
use crate::domains::users::UserFetcher;
use crate::domains::users::service::{self as users, AccountChange, AccountInput, Change};
use crate::platform::jwt::TokenRefusal;
use crate::platform::jwt::service as jwt;
use futures_util::try_join;
use std::sync::Arc;

/// Attempts to find or create the account of a token, while other requests create and delete it.
const ATTEMPTS: usize = 4;

/// The viewer of a JWT. The check of a signature, unless the token is cached; two pipelines, or no round trip if everything is cached; the first JWT
/// of an account also costs a script. With `--jwt-provision on`, the first JWT of an unknown `sub` creates an account.
///
/// # Errors
/// [`Error::InvalidToken`] for a token that is invalid, expired or revoked, and if the account was deleted after the token was issued;
/// [`Error::NotProvisioned`] if no account has the `sub` of the token, or the account has JWTs of another issuer; [`Error::Overloaded`] if the
/// account cannot be created, or other requests create and delete it again and again; `STORAGE_UNAVAILABLE`.
pub async fn viewer(app: &App, since: ReadBarrier, token: &str) -> Result<Viewer, Error> {
    let token = jwt::verify(app, token).await.map_err(|refusal| refuse(app, refusal))?;
    let mut since = since;
    for _ in 0..ATTEMPTS {
        match find_account(app, since, &token).await? {
            TokenAccount::Found(user) => return Ok(Viewer::of_jwt(user, token)),
            TokenAccount::Revoked => return Err(refuse(app, TokenRefusal::Revoked)),
            TokenAccount::OtherIssuer => return Err(refuse(app, TokenRefusal::NotProvisioned)),
            TokenAccount::Missing => create(app, &token).await?,
        }
        since = app.db().read_barrier();
    }
    Err(Error::Overloaded)
}

/// The account of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenAccount {
    Found(UserId),
    /// The token was revoked, or its account was deleted or is being deleted.
    Revoked,
    /// The account has JWTs of another issuer.
    OtherIssuer,
    /// No account has the `sub`, or it is being created.
    Missing,
}

async fn find_account(app: &App, since: ReadBarrier, token: &VerifiedToken) -> Result<TokenAccount, Error> {
    let db = app.db();
    let (holder, is_revoked) = store::jwt::load_facts(db, since, &token.subject.digest(), &revocation_digests(token)).await?;
    if is_revoked || holder.removed_at.is_some_and(|removed| token.issued_at <= removed) {
        return Ok(TokenAccount::Revoked);
    }
    let Some(user) = holder.user else { return Ok(TokenAccount::Missing) };
    let (fetcher, ids) = (UserFetcher { db: db.clone(), since }, [user]);
    let (account, identity) = try_join!(fetcher.fetch(&ids), store::jwt::load_identity(db, since, user))?;
    // An external id is claimed before its account is created.
    let Some(identity) = identity.filter(|identity| identity.subject == token.subject.as_str()) else {
        return Ok(TokenAccount::Missing);
    };
    // An account and its identity are written together: a missing account may have been created between the two reads. The identity of a deleted
    // account is purged after its external id is released.
    let exists = account.into_iter().flatten().next().is_some() || users::exists(app, user).await?;
    if !exists || token.issued_at <= identity.revoked_at {
        return Ok(TokenAccount::Revoked);
    }
    let Some(config) = &app.config().jwt else { return Ok(TokenAccount::OtherIssuer) };
    let recorded = match &identity.issuer {
        Some(issuer) => Some(issuer.clone()),
        None => store::jwt::record_issuer(db, user, &config.issuer).await?,
    };
    Ok(match recorded {
        Some(issuer) if issuer == config.issuer => TokenAccount::Found(user),
        Some(_) => TokenAccount::OtherIssuer,
        None => TokenAccount::Revoked,
    })
}

/// Creates the account of a token, unless another request does. Runs to its end even if the client disconnects.
async fn create(app: &App, token: &Arc<VerifiedToken>) -> Result<(), Error> {
    if !app.config().jwt.as_ref().is_some_and(|config| config.is_provisioning) {
        return Err(refuse(app, TokenRefusal::NotProvisioned));
    }
    let (own, token) = (app.clone(), token.clone());
    app.run_to_completion(async move {
        let profile = &token.profile;
        let mut email = profile.verified_email.clone();
        loop {
            let change = initial_account(&own, profile.name.clone(), email.clone())?;
            let login_from = profile.preferred_username.as_deref().unwrap_or_default();
            let (external_id, issued_at) = (&token.subject, token.issued_at);
            let new = NewExternalAccount { external_id, login_from, change: &change, issued_at };
            match create_missing(&own, new).await {
                Ok(_) => return Ok(()),
                // Another account has confirmed the address: an address alone never links to an account.
                Err(Refusal::User(errors)) if email.take().is_some() && has_code(&errors, UserErrorCode::EmailTaken) => {}
                Err(Refusal::User(errors)) => {
                    let codes: Vec<&str> = errors.iter().map(|error| error.code.name()).collect();
                    tracing::warn!(?codes, "the account of a JWT cannot be created");
                    return Err(Error::Overloaded);
                }
                Err(Refusal::Error(Error::InvalidToken)) => return Err(refuse(&own, TokenRefusal::Revoked)),
                Err(Refusal::Error(error)) => return Err(error),
            }
        }
    })
    .await?
}

/// The data of a new account from the claims of a token. A name or an address that an account cannot have is omitted.
fn initial_account(app: &App, name: Option<String>, email: Option<String>) -> Result<AccountChange, Error> {
    let input = |name: Option<String>, email: Option<String>| AccountInput {
        name,
        is_email_confirmed: email.is_some(),
        email: email.map_or(Change::Keep, Change::Set),
        ..AccountInput::default()
    };
    let name = name.filter(|name| users::check_account(app, input(Some(name.clone()), None)).is_ok());
    let email = email.filter(|email| users::check_account(app, input(None, Some(email.clone()))).is_ok());
    users::check_account(app, input(name, email)).map_err(|_| Error::corrupt("an account of a JWT that was checked"))
}

fn has_code(errors: &[UserError], code: UserErrorCode) -> bool {
    errors.iter().any(|error| error.code == code)
}

/// Counts a refused token, and returns the error that its client gets.
fn refuse(app: &App, refusal: TokenRefusal) -> Error {
    app.metrics().jwt_refused(refusal.name());
    if refusal == TokenRefusal::NotProvisioned { Error::NotProvisioned } else { Error::InvalidToken }
}

/// The digests under which a token can be revoked: of its `jti` and of its `sid`.
fn revocation_digests(token: &VerifiedToken) -> Vec<String> {
    digests_of(token.token_id.as_deref(), token.session_id.as_deref()).collect()
}

/// Whether a token has not expired, its key is still in the set, it is not revoked, and its account is `user`. No round trip if the token has expired
/// or its key has left the set; otherwise as many as [`viewer`] for an account that exists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_valid(app: &App, user: UserId, token: &VerifiedToken) -> Result<bool, Error> {
    if !is_usable(app, token) {
        return Ok(false);
    }
    Ok(find_account(app, app.db().read_barrier(), token).await? == TokenAccount::Found(user))
}

/// Whether a token has not expired, and its key is still in the set. No round trip.
pub fn is_usable(app: &App, token: &VerifiedToken) -> bool {
    token.is_valid_at(app.now()) && jwt::has_key(app, token)
}

/// The viewer of a JWT whose signature is verified, but whose account, identity and revocations come from the cache and are not confirmed yet. Before
/// [`Self::verify`] nothing may be sent to the viewer, and only reads may run.
pub struct UnverifiedJwtViewer {
    since: ReadBarrier,
    token: Arc<VerifiedToken>,
    facts: SpeculativeFacts,
}

/// The viewer of a JWT without a round trip, so that reads for the viewer can begin. `None` if a fact is not cached, or the token is refused.
pub fn cached_viewer(app: &App, since: ReadBarrier, token: &str) -> Option<UnverifiedJwtViewer> {
    let token = jwt::verify_with_current_keys(app, token).ok()?;
    let facts = SpeculativeFacts::get(app.db(), &token.subject.digest(), &revocation_digests(&token))?;
    let config = app.config().jwt.as_ref()?;
    let is_removed = facts.holder.removed_at.is_some_and(|removed| token.issued_at <= removed);
    let is_accepted = !facts.is_revoked && !is_removed && is_identity(&facts.identity.value, &token, config);
    is_accepted.then_some(UnverifiedJwtViewer { since, token, facts })
}

/// Whether an identity is that of a token: with its `sub` and issuer, and not revoked since.
fn is_identity(identity: &Identity, token: &VerifiedToken, config: &JwtConfig) -> bool {
    let is_same = identity.subject == token.subject.as_str() && identity.issuer.as_ref() == Some(&config.issuer);
    is_same && token.issued_at > identity.revoked_at
}

impl UnverifiedJwtViewer {
    /// The viewer.
    pub fn viewer(&self) -> Viewer {
        Viewer::of_jwt(self.facts.user, self.token.clone())
    }

    /// Whether the token is accepted by facts that were current after the request had begun. No cost if a reply to a read of the request has arrived and no
    /// invalidation has come; otherwise as [`is_valid`].
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn verify(&self, app: &App) -> Result<bool, Error> {
        if self.facts.are_confirmed(app.db(), self.since) && is_usable(app, &self.token) {
            return Ok(true);
        }
        is_valid(app, self.facts.user, &self.token).await
    }
}
