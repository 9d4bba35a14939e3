//! Waits until the credential of a viewer ends, so that sockets and event streams end with it.

use super::super::hub::{ChannelWatch, Hub};
use crate::app::App;
use crate::base::error::Error;
use crate::base::jwt::VerifiedToken;
use crate::base::viewer::{Credential, Viewer};
use crate::domains::identities::service as identities;
use crate::domains::sessions::service as sessions;
use crate::platform::events::TermHasher;
use crate::platform::events::service as events;
use futures_util::future::select_all;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The interval at which a credential is checked if no change is published.
const CHECK_INTERVAL: Duration = Duration::from_secs(20);
/// The interval at which the end of a JWT is checked by the clock, without a round trip.
const EXPIRY_INTERVAL: Duration = Duration::from_millis(500);

/// Waits until the viewer's session or JWT has ended: expired, revoked, or deleted with its account. Notices within a second on every process. Never returns
/// for a server key, which no stream accepts.
pub async fn wait_for_credential_end(app: &App, viewer: &Viewer) {
    let term_hasher = loop {
        match events::term_hasher(app).await {
            Ok(term_hasher) => break term_hasher,
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    };
    match &viewer.credential {
        Credential::Session { .. } => wait_for_session_end(app, viewer, term_hasher).await,
        Credential::Jwt(token) => wait_for_jwt_end(app, viewer, token, term_hasher).await,
        Credential::ServerKey => std::future::pending().await,
    }
}

async fn wait_for_session_end(app: &App, viewer: &Viewer, term_hasher: TermHasher) {
    let mut watch = app.extension::<Hub>().watch(app, term_hasher, viewer.user.0);
    // While Redis is unavailable the session counts as alive.
    while !has_ended(&sessions::is_live(app, viewer).await) {
        let _ = timeout(CHECK_INTERVAL, watch.changed()).await;
    }
}

async fn wait_for_jwt_end(app: &App, viewer: &Viewer, token: &VerifiedToken, term_hasher: TermHasher) {
    let hub = app.extension::<Hub>();
    let revocations = identities::revocation_channel_ids(token.token_id.as_deref(), token.session_id.as_deref());
    let ids = std::iter::once(viewer.user.0).chain(revocations);
    let mut watches: Vec<ChannelWatch> = ids.map(|id| hub.watch(app, term_hasher, id)).collect();
    while !has_ended(&identities::jwt::is_valid(app, viewer.user, token).await) {
        let began = Instant::now();
        let mut is_changed = false;
        while !is_changed && began.elapsed() < CHECK_INTERVAL {
            // The token may have expired by the clock, which may have been set, or its key may have left the key set.
            if !identities::jwt::is_usable(app, token) {
                return;
            }
            let changed = select_all(watches.iter_mut().map(|watch| Box::pin(watch.changed())));
            is_changed = timeout(EXPIRY_INTERVAL, changed).await.is_ok();
        }
    }
}

/// Whether a check says that a credential has ended. While Redis is unavailable it counts as valid.
const fn has_ended(check: &Result<bool, Error>) -> bool {
    matches!(check, Ok(false))
}
