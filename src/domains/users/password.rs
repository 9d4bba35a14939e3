//! Password hashing: argon2id with OWASP's parameters, off the async threads, only so many at once, and behind the requests' own work
//! ([`crate::base::hashing_pool`]).

use crate::app::App;
use crate::base::error::Error;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString, rand_core::OsRng};
use argon2::{Algorithm, Argon2, Params, Version};
use std::sync::LazyLock;

/// OWASP's password storage cheat sheet: 19 MiB, two passes, one lane.
fn hasher() -> Argon2<'static> {
    static PARAMS: LazyLock<Params> = LazyLock::new(|| Params::new(19 * 1024, 2, 1, None).unwrap_or_default());
    Argon2::new(Algorithm::Argon2id, Version::V0x13, PARAMS.clone())
}

/// Verified against when a login is unknown, so that the answer takes as long as for a known one.
static NOBODY: LazyLock<String> = LazyLock::new(|| hash_now("nobody has this password").unwrap_or_default());

/// The hash of a password, in PHC form.
pub(super) async fn hash(app: &App, password: String) -> Result<String, Error> {
    off_thread(app, move || hash_now(&password)).await?
}

/// Whether a password fits a hash. Takes the same time when there is no hash, and is false then.
pub(super) async fn verify(app: &App, password: String, hash: Option<String>) -> Result<bool, Error> {
    off_thread(app, move || {
        let known = hash.is_some();
        // Made even when it is not needed, so that the first unknown login takes no longer than the first known one.
        let nobody = NOBODY.as_str();
        let hash = hash.as_deref().unwrap_or(nobody);
        let parsed = PasswordHash::new(hash).map_err(Error::corrupt)?;
        Ok(hasher().verify_password(password.as_bytes(), &parsed).is_ok() && known)
    })
    .await?
}

fn hash_now(password: &str) -> Result<String, Error> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = hasher().hash_password(password.as_bytes(), &salt).map_err(|error| Error::internal(anyhow::anyhow!("{error}")))?;
    Ok(hash.to_string())
}

/// Does the work when its turn comes; gives up the place in the line when the client goes away, since nothing was changed yet.
async fn off_thread<T: Send + 'static>(app: &App, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::select! {
        done = app.hashing_pool().run(work) => done,
        () = App::caller_gone() => Err(Error::Overloaded),
    }
}
