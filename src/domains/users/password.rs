//! Password hashing: argon2id with OWASP's parameters, which a program that links this library can change, off the async threads, with a bound on
//! concurrent hashes and at a lower priority than requests ([`crate::base::hashing_pool`]).
//!
//! **Time.** Every comparison takes the work of a hash with today's parameters: without an account, without a password, and with a hash of older, cheaper
//! parameters, for which the rest of the work is added. Otherwise the time of a failed log-in would tell such accounts from unknown ones. A hash with
//! more expensive parameters takes longer until its account logs in: to hide this, every other comparison would have to take as long.

use crate::app::App;
use crate::base::config::Config;
use crate::base::error::Error;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString, rand_core::OsRng};
use argon2::{Algorithm, Argon2, Params, Version};

/// The parameters of new hashes. OWASP's password storage cheat sheet: 19 MiB, two passes, parallelism 1.
fn current_params(config: &Config) -> Params {
    Params::new(config.password_memory, 2, 1, None).unwrap_or_default()
}

fn hasher(params: Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// A hash that no password has, and that is verified for an unknown login, so that the response takes as long as for a known one.
fn dummy_hash(params: &Params) -> String {
    let (memory, passes, zeros) = (params.m_cost(), params.t_cost(), "A".repeat(43));
    format!("$argon2id$v=19$m={memory},t={passes},p=1$bm9ib2R5J3Mgc2FsdA${zeros}")
}

/// Hashes a password, in PHC format.
pub(super) async fn hash(app: &App, password: String) -> Result<String, Error> {
    let params = current_params(app.config());
    run_in_pool(app, move || hash_now(&password, params)).await?
}

/// Whether a password matches a hash; `false` without a hash, after the same work.
pub(super) async fn verify(app: &App, password: String, hash: Option<String>) -> Result<bool, Error> {
    let params = current_params(app.config());
    let (is_right, _) = run_in_pool(app, move || compare(&password, hash.as_deref(), &params)).await??;
    Ok(is_right)
}

/// Whether a password matches a hash, and the work that the comparison took. A match takes all of the work, too: the log-in may be refused although the
/// password matches.
fn compare(password: &str, hash: Option<&str>, current: &Params) -> Result<(bool, u64), Error> {
    let dummy = dummy_hash(current);
    let parsed = PasswordHash::new(hash.unwrap_or(&dummy)).map_err(Error::corrupt)?;
    let is_right = hasher(current.clone()).verify_password(password.as_bytes(), &parsed).is_ok() && hash.is_some();
    let mut work = Params::try_from(&parsed).map_or(0, |used| work_of(&used));
    if let Some(rest) = params_for_missing_work(work, current) {
        work += work_of(&rest);
        compute_dummy_hash(password, rest)?;
    }
    Ok((is_right, work))
}

/// The work of a hash: the KiB that all its passes write. The time is proportional to it.
fn work_of(params: &Params) -> u64 {
    u64::from(params.m_cost()) * u64::from(params.t_cost())
}

/// The parameters of a hash whose work, added to the work `used`, is that of today's parameters; `None` if the missing work is too little for a hash.
fn params_for_missing_work(used: u64, current: &Params) -> Option<Params> {
    let (rest, passes) = (work_of(current).checked_sub(used)?, current.t_cost());
    Params::new(u32::try_from(rest / u64::from(passes)).ok()?, passes, 1, None).ok()
}

/// Spends the work of a hash with these parameters.
fn compute_dummy_hash(password: &str, params: Params) -> Result<(), Error> {
    let mut unused = [0_u8; Params::DEFAULT_OUTPUT_LEN];
    let result = hasher(params).hash_password_into(password.as_bytes(), b"it is not stored", &mut unused);
    std::hint::black_box(unused);
    result.map_err(|error| Error::internal(anyhow::anyhow!("{error}")))
}

/// Whether a hash was made with other parameters than [`hash`] uses today.
pub(super) fn is_outdated(app: &App, hash: &str) -> bool {
    has_other_params(hash, &current_params(app.config()))
}

fn has_other_params(hash: &str, current: &Params) -> bool {
    let has_current_parameters = |hash: &PasswordHash<'_>| {
        let used = Params::try_from(hash).ok();
        let is_current = |used: Params| {
            let parameters =
                |it: &Params| (it.m_cost(), it.t_cost(), it.p_cost(), it.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN));
            parameters(&used) == parameters(current)
        };
        hash.algorithm == Algorithm::Argon2id.ident()
            && hash.version == Some(Version::V0x13.into())
            && used.is_some_and(is_current)
    };
    !PasswordHash::new(hash).is_ok_and(|hash| has_current_parameters(&hash))
}

fn hash_now(password: &str, params: Params) -> Result<String, Error> {
    let salt = SaltString::generate(&mut OsRng);
    let hash =
        hasher(params).hash_password(password.as_bytes(), &salt).map_err(|error| Error::internal(anyhow::anyhow!("{error}")))?;
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
        let params = current_params(&Config::default());
        let hash = hash_now("correct horse", params.clone()).expect("a hash");
        assert!(!has_other_params(&hash, &params), "{hash}");
        for (current, other) in [("m=19456", "m=4096"), ("t=2", "t=1"), ("p=1", "p=2"), ("argon2id", "argon2i"), ("v=19", "v=16")]
        {
            assert!(hash.contains(current), "{hash}");
            assert!(has_other_params(&hash.replace(current, other), &params), "{other}");
        }
        assert!(has_other_params("", &params));
        assert!(!has_other_params(&dummy_hash(&params), &params));
    }

    #[test]
    fn every_comparison_takes_the_same_work() {
        let hash_with = |memory, passes| {
            hash_now("correct horse", Params::new(memory, passes, 1, None).expect("parameters")).expect("a hash")
        };
        let current = current_params(&Config::default());
        let (is_right, work) = compare("correct horse", None, &current).expect("a comparison");
        assert_eq!((is_right, work), (false, 2 * 19 * 1024), "an unknown login");
        for (memory, passes) in [(19 * 1024, 2), (19 * 1024, 1), (4_096, 3), (1_024, 1), (8, 1)] {
            let hash = hash_with(memory, passes);
            for (password, is_right) in [("correct horse", true), ("wrong", false)] {
                assert_eq!(
                    compare(password, Some(&hash), &current).expect("a comparison"),
                    (is_right, work),
                    "{hash}: {password}"
                );
            }
        }
        let (is_right, dearer) = compare("wrong", Some(&hash_with(20 * 1024, 2)), &current).expect("a comparison");
        assert!(!is_right && dearer == 2 * 20 * 1024, "{dearer}");
        // One KiB is too little for a hash.
        assert!(
            params_for_missing_work(work - 1, &current).is_none()
                && params_for_missing_work(work, &current).is_none()
                && params_for_missing_work(work + 1, &current).is_none()
        );
    }
}
