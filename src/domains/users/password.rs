//! Password hashing: argon2id with OWASP's parameters, off the async threads, with a bound on concurrent hashes and at a lower priority
//! than requests ([`crate::base::hashing_pool`]).

use crate::app::App;
use crate::base::error::Error;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString, rand_core::OsRng};
use argon2::{Algorithm, Argon2, Params, Version};
use std::sync::LazyLock;

/// OWASP's password storage cheat sheet: 19 MiB, two passes, parallelism 1.
fn hasher() -> Argon2<'static> {
    static PARAMS: LazyLock<Params> = LazyLock::new(|| Params::new(19 * 1024, 2, 1, None).unwrap_or_default());
    Argon2::new(Algorithm::Argon2id, Version::V0x13, PARAMS.clone())
}

/// Verified for an unknown login, so that the response takes as long as for a known one.
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| hash_now("nobody has this password").unwrap_or_default());

/// Hashes a password, in PHC format.
pub(super) async fn hash(app: &App, password: String) -> Result<String, Error> {
    run_in_pool(app, move || hash_now(&password)).await?
}

/// Whether a password matches a hash; `false` without a hash, after the same time.
pub(super) async fn verify(app: &App, password: String, hash: Option<String>) -> Result<bool, Error> {
    run_in_pool(app, move || {
        let known = hash.is_some();
        // Computed even if it is not needed, so that the first unknown login takes no longer than the first known one.
        let nobody = DUMMY_HASH.as_str();
        let hash = hash.as_deref().unwrap_or(nobody);
        let parsed = PasswordHash::new(hash).map_err(Error::corrupt)?;
        Ok(hasher().verify_password(password.as_bytes(), &parsed).is_ok() && known)
    })
    .await?
}

/// Whether a hash was made with other parameters than [`hash`] uses today.
pub(super) fn is_outdated(hash: &str) -> bool {
    let current = hasher();
    let has_current_parameters = |hash: &PasswordHash<'_>| {
        let used = Params::try_from(hash).ok();
        let is_current = |used: Params| {
            let parameters =
                |of: &Params| (of.m_cost(), of.t_cost(), of.p_cost(), of.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN));
            parameters(&used) == parameters(current.params())
        };
        hash.algorithm == Algorithm::Argon2id.ident()
            && hash.version == Some(Version::V0x13.into())
            && used.is_some_and(is_current)
    };
    !PasswordHash::new(hash).is_ok_and(|hash| has_current_parameters(&hash))
}

fn hash_now(password: &str) -> Result<String, Error> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = hasher().hash_password(password.as_bytes(), &salt).map_err(|error| Error::internal(anyhow::anyhow!("{error}")))?;
    Ok(hash.to_string())
}

/// Runs the work when a permit is free. If the client disconnects before that, the work is dropped, since nothing was changed yet.
async fn run_in_pool<T: Send + 'static>(app: &App, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::select! {
        done = app.hashing_pool().run(work) => done,
        () = App::caller_dropped() => Err(Error::Overloaded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_with_other_parameters_are_outdated() {
        let hash = hash_now("correct horse").expect("a hash");
        assert!(!is_outdated(&hash), "{hash}");
        for (current, other) in [("m=19456", "m=4096"), ("t=2", "t=1"), ("p=1", "p=2"), ("argon2id", "argon2i"), ("v=19", "v=16")]
        {
            assert!(hash.contains(current), "{hash}");
            assert!(is_outdated(&hash.replace(current, other)), "{other}");
        }
        assert!(is_outdated(""));
    }
}
