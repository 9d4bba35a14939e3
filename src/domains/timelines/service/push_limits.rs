//! The limits of pushes.

use super::super::store::PushLimits;
use crate::app::App;

/// The limits of pushes, as configured.
pub(super) fn push_limits(app: &App) -> PushLimits {
    PushLimits { window: app.config().home_window, read_since: app.now().saturating_sub(app.config().home_idle) }
}
