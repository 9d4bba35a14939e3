//! Who sees what: one policy, as pure functions of how the viewer stands to an account.

use super::model::Standing;

/// Whether a status of an account is delivered to the viewer: shown in homes, lists, live streams and promotions, without a request for the
/// status or for the profile of its author.
pub const fn can_deliver(standing: Standing) -> bool {
    standing.mute.is_none()
}

#[cfg(test)]
mod tests {
    use super::super::model::Mute;
    use super::*;

    #[test]
    fn statuses_of_muted_accounts_are_not_delivered() {
        assert!(can_deliver(Standing::default()));
        assert!(!can_deliver(Standing { mute: Some(Mute { ends_at: None }) }));
        assert!(!can_deliver(Standing { mute: Some(Mute { ends_at: Some(1) }) }));
    }
}
