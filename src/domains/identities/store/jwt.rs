//! The stored facts that decide whether a JWT is accepted, read through the client-side cache: the account that has its `sub`, whether the JWT was
//! revoked, and the identity of the account.

use super::super::keys;
use super::super::model::{ExternalIdHolder, Identity};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::decode;
use crate::db::script::{Call, Script};
use crate::db::{Db, EstimatedSize, ReadBarrier, Speculative};
use crate::domains::users::{User, user_key};
use redis::{Cmd, Value, cmd};
use std::sync::Arc;

static RECORD_ISSUER: Script = Script::allow_oom(include_str!("../lua/record_issuer.lua"));

/// A cached fact about a JWT.
#[derive(Debug)]
enum JwtFact {
    Holder(ExternalIdHolder),
    /// Whether a `jti` or `sid` was revoked. `false` is cached as well: a revocation invalidates it.
    Revocation(bool),
}

impl EstimatedSize for JwtFact {
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl EstimatedSize for Identity {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.subject.len() + self.issuer.as_ref().map_or(0, String::len)
    }
}

impl JwtFact {
    fn command(key: &str) -> Cmd {
        cmd(if keys::is_revocation(key) { "EXISTS" } else { "HGETALL" }).arg(key).take()
    }

    /// Reads the reply of [`Self::command`]; `None` for an external id that nobody has or had.
    fn read(reply: Value) -> Result<Option<Self>, Error> {
        if let Value::Int(count) = reply {
            return Ok(Some(Self::Revocation(count > 0)));
        }
        let mut holder = ExternalIdHolder::default();
        let has_fields = decode::fields(reply, |name, text| {
            match name {
                "uid" => holder.user = Some(UserId(text.number()?)),
                "at" => holder.claimed_at = text.number()?,
                "removed" => holder.removed_at = Some(text.number()?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(has_fields.then_some(Self::Holder(holder)))
    }
}

/// Reads the reply of an HGETALL; `None` if there is no identity.
fn read_identity(reply: Value) -> Result<Option<Identity>, Error> {
    let mut identity = Identity { issuer: None, subject: String::new(), linked_at: 0, revoked_at: 0 };
    let has_fields = decode::fields(reply, |name, text| {
        match name {
            "subject" => identity.subject = text.0,
            "issuer" => identity.issuer = Some(text.0),
            "linked" => identity.linked_at = text.number()?,
            "revoked" => identity.revoked_at = text.number()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(has_fields.then_some(identity))
}

fn fact_keys(external_id: &str, revocations: &[String]) -> Vec<String> {
    let revocations = revocations.iter().map(|digest| keys::revoked_jwt(digest));
    std::iter::once(keys::external_id(external_id)).chain(revocations).collect()
}

/// The holder of an external id, and whether any revocation exists, from the facts of [`fact_keys`].
fn summarize<'a>(facts: impl Iterator<Item = &'a JwtFact>) -> (ExternalIdHolder, bool) {
    let (mut holder, mut is_revoked) = (ExternalIdHolder::default(), false);
    for fact in facts {
        match fact {
            JwtFact::Holder(found) => holder = *found,
            JwtFact::Revocation(found) => is_revoked |= found,
        }
    }
    (holder, is_revoked)
}

/// The holder of an external id, and whether a JWT was revoked by its `jti` or `sid`; all by their digests. One pipeline; no round trip if
/// all of them are cached.
pub(in super::super) async fn load_facts(
    db: &Db,
    since: ReadBarrier,
    external_id: &str,
    revocations: &[String],
) -> Result<(ExternalIdHolder, bool), Error> {
    let read = (JwtFact::command as fn(&str) -> Cmd, JwtFact::read as fn(Value) -> Result<Option<JwtFact>, Error>);
    let (facts, _) = db.read_cached_by(since, fact_keys(external_id, revocations), read, |_| Vec::new()).await?;
    Ok(summarize(facts.iter().flatten().map(|fact| &**fact)))
}

/// The identity of an account; `None` if it has none. One HGETALL; no round trip if the identity is cached.
pub(in super::super) async fn load_identity(db: &Db, since: ReadBarrier, id: UserId) -> Result<Option<Arc<Identity>>, Error> {
    let (found, _) = db.read_cached(since, vec![keys::identity(id)], read_identity, |_| Vec::new()).await?;
    Ok(found.into_iter().flatten().next())
}

/// Records the issuer of the first JWT of an account. Returns the recorded issuer; `None` if the account has no identity. One script.
pub(in super::super) async fn record_issuer(db: &Db, id: UserId, issuer: &str) -> Result<Option<String>, Error> {
    db.call(Call::new(&RECORD_ISSUER, [keys::identity(id)]).arg(issuer)).await
}

/// The cached facts that decide whether a JWT is accepted, not yet confirmed.
pub(in super::super) struct SpeculativeFacts {
    facts: Vec<Speculative<JwtFact>>,
    account: Speculative<User>,
    pub(in super::super) identity: Speculative<Identity>,
    pub(in super::super) user: UserId,
    pub(in super::super) holder: ExternalIdHolder,
    pub(in super::super) is_revoked: bool,
}

impl SpeculativeFacts {
    /// The cached facts; `None` unless all of them are cached and an account has the external id.
    pub(in super::super) fn get(db: &Db, external_id: &str, revocations: &[String]) -> Option<Self> {
        let facts = fact_keys(external_id, revocations).into_iter().map(|key| db.get_speculative::<JwtFact>(key));
        let facts: Vec<_> = facts.collect::<Option<_>>()?;
        let (holder, is_revoked) = summarize(facts.iter().map(|fact| &*fact.value));
        let user = holder.user?;
        let account = db.get_speculative(user_key(user))?;
        let identity = db.get_speculative(keys::identity(user))?;
        Some(Self { facts, account, identity, user, holder, is_revoked })
    }

    /// Whether all of these facts were current after `barrier`.
    pub(in super::super) fn are_confirmed(&self, db: &Db, barrier: ReadBarrier) -> bool {
        self.facts.iter().all(|fact| db.is_confirmed(barrier, fact))
            && db.is_confirmed(barrier, &self.account)
            && db.is_confirmed(barrier, &self.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(fields: &[(&str, &str)]) -> Value {
        let text = |text: &str| Value::BulkString(text.into());
        Value::Map(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    #[test]
    fn facts_are_read_from_their_replies() {
        let facts = [hash(&[("uid", "7"), ("at", "5")]), Value::Int(0), Value::Int(1), hash(&[])];
        let facts: Vec<_> = facts.into_iter().map(|reply| JwtFact::read(reply).expect("a fact")).collect();
        assert!(facts[3].is_none());
        let holder = ExternalIdHolder { user: Some(UserId(7)), claimed_at: 5, removed_at: None };
        assert_eq!(summarize(facts[..2].iter().flatten()), (holder, false));
        assert_eq!(summarize(facts.iter().flatten()), (holder, true));
        let Ok(Some(JwtFact::Holder(removed))) = JwtFact::read(hash(&[("removed", "9")])) else { panic!("no holder") };
        assert_eq!((removed.user, removed.removed_at), (None, Some(9)));
        assert_eq!(read_identity(hash(&[])).expect("a reply"), None);
        let identity = read_identity(hash(&[("subject", "a"), ("linked", "3"), ("revoked", "4")])).expect("a reply");
        let expected = Identity { issuer: None, subject: "a".into(), linked_at: 3, revoked_at: 4 };
        assert_eq!(identity, Some(expected));
    }
}
