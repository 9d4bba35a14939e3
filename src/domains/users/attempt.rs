//! Charges attempts to verify a password to rate limit buckets.
//!
//! An attempt from a known device (one that sends a [device token](super::device), or a session of the account) is charged to the bucket of
//! that device only. Any other attempt is charged by account and client address, by client address, and by account over all client addresses. So
//! guesses use up the guesser's own tokens; only guesses from many client addresses exhaust the last bucket, which does not stop a known device.
//!
//! A mail address has buckets of its own, whether or not an account has it; otherwise a refusal would reveal whether an account has the address, and which.
//! Attempts by all identifiers of an account (its logins and its mail address) are charged to common buckets as well. If only these buckets are empty,
//! the attempt is not refused, and fails as with a wrong password.

use crate::app::App;
use crate::base::email::EmailDigest;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::rate_limits::Limit;
use crate::platform::rates::service::{charge, refund};
use crate::platform::rates::{Charge, Subject};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of concurrent attempts of an account's known devices in a process. Further attempts are also charged like an unknown device's:
/// otherwise an account with many device tokens could fill the queue for password hashes.
const MAX_CONCURRENT: usize = 4;

/// A device that has logged in to the account before.
pub(super) struct KnownDevice {
    pub(super) account: UserId,
    /// The bucket of its attempts.
    pub(super) bucket: Subject,
}

/// The target of an attempt, by which attempts are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptTarget {
    /// The login, address or session that was sent: its bucket decides whether the attempt is refused.
    identifier: Subject,
    /// The bucket of all identifiers of the account, or of an identifier that no account has. If it is empty, the attempt fails as with a wrong
    /// password. `None` for the account of a session.
    all_identifiers: Option<Subject>,
}

impl AttemptTarget {
    /// An account whose logins count together, or a text if no account has the login.
    pub(super) fn login(text: &str, account: Option<UserId>) -> Self {
        Self::with_identifiers(account.map_or_else(|| Subject::login(text), Subject::logins_of), account)
    }

    /// A mail address, whether or not an account has it: a refusal does not reveal that.
    pub(super) fn email(address: &EmailDigest, account: Option<UserId>) -> Self {
        Self::with_identifiers(Subject::email_as_login(address), account)
    }

    /// The account of a session.
    pub(super) fn own(account: UserId) -> Self {
        Self { identifier: Subject::logins_of(account), all_identifiers: None }
    }

    fn with_identifiers(identifier: Subject, account: Option<UserId>) -> Self {
        Self {
            identifier,
            all_identifiers: Some(account.map_or_else(|| identifier.identifiers_of_no_account(), Subject::identifiers_of)),
        }
    }
}

/// An attempt to log in that was charged: the password may be compared.
pub(super) struct Attempt {
    charged: Vec<Charge>,
    is_exhausted: bool,
    _running: Option<RunningAttempt>,
}

impl Attempt {
    /// Charges an attempt to log in, whether or not the account exists, before a password is hashed. One round trip for a known device, two
    /// or three for others: the bucket that all client addresses share is charged after that of the client address has allowed the attempt. A known
    /// device is always charged to its own bucket, and never has more attempts than that bucket holds.
    ///
    /// # Errors
    /// `RATE_LIMITED`, and nothing is charged; `STORAGE_UNAVAILABLE`.
    pub(super) async fn begin(
        app: &App,
        target: AttemptTarget,
        client_address: Option<IpAddr>,
        known: Option<KnownDevice>,
    ) -> Result<Self, Error> {
        let mut charged: Vec<Charge> = known.iter().map(|known| (Limit::LogInsOfDevice, known.bucket)).collect();
        if let Some(running) = known.and_then(|known| app.extension::<RunningAttempts>().start(known.account)) {
            charge(app, &charged).await?;
            return Ok(Self { charged, is_exhausted: false, _running: Some(running) });
        }
        charged.push((Limit::LogIns, target.identifier.with_network(client_address)));
        charged.extend(client_address.map(|client_address| (Limit::LogInsFromAddress, Subject::address(client_address))));
        charge(app, &charged).await?;
        let shared = (Limit::LogInsOfAccount, target.identifier);
        if let Err(refused) = charge(app, &[shared]).await {
            refund(app, &charged).await;
            return Err(refused);
        }
        charged.push(shared);
        let mut is_exhausted = false;
        if let Some(identifiers) = target.all_identifiers {
            let all = [(Limit::LogIns, identifiers.with_network(client_address)), (Limit::LogInsOfAccount, identifiers)];
            match charge(app, &all).await {
                Ok(()) => charged.extend(all),
                Err(Error::RateLimited { .. }) => is_exhausted = true,
                Err(error) => {
                    refund(app, &charged).await;
                    return Err(error);
                }
            }
        }
        Ok(Self { charged, is_exhausted, _running: None })
    }

    /// Whether the account has no attempts left by all its identifiers together: then the attempt fails as with a wrong password.
    pub(super) const fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Awaits the comparison of the password, and refunds the tokens if it could not be made: the queue for hashes was full, or Redis did not
    /// respond. Otherwise retries with the right password would use up the user's tokens.
    ///
    /// # Errors
    /// The errors of `comparison`.
    pub(super) async fn run_or_refund<T>(
        self,
        app: &App,
        comparison: impl Future<Output = Result<T, Error>>,
    ) -> Result<(Self, T), Error> {
        match comparison.await {
            Ok(done) => Ok((self, done)),
            Err(error) => {
                if matches!(error, Error::Overloaded | Error::StorageUnavailable) {
                    refund(app, &self.charged).await;
                }
                Err(error)
            }
        }
    }

    /// Refunds the tokens of an attempt with the right password. One round trip.
    pub(super) async fn refund(self, app: &App) {
        refund(app, &self.charged).await;
    }
}

/// Counts the running attempts of known devices, by account. Cheap to clone; clones share their state.
#[derive(Clone, Default)]
struct RunningAttempts(Arc<Mutex<HashMap<UserId, usize>>>);

impl RunningAttempts {
    /// Counts one more attempt; `None` if the account has reached the limit.
    fn start(&self, account: UserId) -> Option<RunningAttempt> {
        let mut counts = self.counts();
        let count = counts.entry(account).or_default();
        (*count < MAX_CONCURRENT).then(|| {
            *count += 1;
            RunningAttempt { attempts: self.clone(), account }
        })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One running attempt of an account's known devices, until it is dropped.
struct RunningAttempt {
    attempts: RunningAttempts,
    account: UserId,
}

impl Drop for RunningAttempt {
    fn drop(&mut self) {
        let mut counts = self.attempts.counts();
        if let Some(count) = counts.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_four_concurrent_attempts_of_known_devices() {
        let attempts = RunningAttempts::default();
        let mut running: Vec<_> = (0..6).filter_map(|_| attempts.start(UserId(1))).collect();
        assert_eq!(running.len(), MAX_CONCURRENT);
        assert!(attempts.start(UserId(2)).is_some(), "each account has its own limit");
        running.pop();
        running.extend(attempts.start(UserId(1)));
        assert_eq!(running.len(), MAX_CONCURRENT);
        drop(running);
        assert!(attempts.counts().is_empty(), "ended attempts are not counted");
    }
}
