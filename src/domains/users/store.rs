//! Accounts in Redis.

pub(super) mod emails;
pub(super) mod logins;
pub(super) mod provisioning;

use super::keys;
use super::model::{Change, LoginHistory, PENDING_EMAIL_TTL, PasswordRecord, PendingEmail, ProfileChange, User};
use crate::base::audience::DetailAudience;
use crate::base::day::Day;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashRecord, HashValue, hash_record};
use crate::db::script::{Call, Script};
use crate::db::{Db, ReadBarrier, decode};
use redis::cmd;
use std::sync::Arc;

static CREATE_USER: Script = Script::new(include_str!("lua/create_user.lua"));
static DELETE_USER: Script = Script::allow_oom(include_str!("lua/delete_user.lua"));
static REPLACE_PASSWORD: Script = Script::new(include_str!("lua/replace_password.lua"));
static UPDATE_USER: Script = Script::new(include_str!("lua/update_user.lua"));
/// The script of [`UPDATE_USER`], allowed in a full store: revoking tokens adds nothing.
static REVOKE_DEVICES: Script = Script::allow_oom(include_str!("lua/update_user.lua"));

/// The field of an account's HASH that holds its device epoch. Not part of [`User`], because profiles do not need the epoch.
pub(super) const DEVICE_EPOCH: &str = "devices";

/// Loads accounts, in the order of `ids`; `None` for unknown ids. One pipeline of HGETALL for those that are not cached.
pub(super) async fn load(db: &Db, since: ReadBarrier, ids: &[UserId]) -> Result<Vec<Option<Arc<User>>>, Error> {
    let keys = ids.iter().map(|id| keys::user(*id)).collect();
    Ok(db.read_cached(since, keys, User::read, |_| Vec::new()).await?.0)
}

/// As [`load`], if all of them are cached.
pub(super) fn get_cached(db: &Db, since: ReadBarrier, ids: &[UserId]) -> Option<Vec<Option<Arc<User>>>> {
    Some(db.get_cached(since, ids.iter().map(|id| keys::user(*id)), |_| true)?.into_iter().map(Some).collect())
}

/// The cached account, which may be out of date; `None` if it is not cached.
pub(super) fn get_speculative(db: &Db, id: UserId) -> Option<Arc<User>> {
    Some(db.get_speculative(keys::user(id))?.value)
}

/// Reads an account as it is now; `None` for an unknown id. One HGETALL.
pub(super) async fn get(db: &Db, id: UserId) -> Result<Option<Arc<User>>, Error> {
    Ok(load(db, db.read_barrier(), &[id]).await?.pop().flatten())
}

hash_record!(User {
    "id" => id,
    "login" => login,
    "name" => name,
    "bio" => bio,
    "signup" => signed_up,
    "followers" => followers,
    "following" => following,
    "posts" => posts,
    "private" => is_private,
    "mutes" => mutes,
    "blocks" => blocks,
    "blocked_by" => blocked_by,
    "friends" => friends,
    "bookmarks" => bookmarks,
    "reposts" => reposts,
    "relations" => relations_version,
    "logins" => logins,
    "avatar" => avatar_url,
    "banner" => banner_url,
    "website" => website_url,
    "location" => location,
    "gender" => gender,
    "born" => birth_date,
    "show_born" => birth_date_audience,
    "show_age" => age_audience
});

/// A history that cannot be read has no logins: the audit reports it.
impl HashValue for LoginHistory {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.map_or(Self::NONE, |text| Self::of_text(text.0))))
    }

    fn write(&self) -> Option<[String; 1]> {
        Some(self.text()).filter(|text| !text.is_empty()).map(|text| [text])
    }

    fn heap_bytes(&self) -> usize {
        let former: usize = self.former().iter().map(|former| size_of_val(former) + former.login.len()).sum();
        former + self.unreadable().map_or(0, str::len)
    }
}

/// An optional text: `None` is not stored.
impl HashValue for Option<Box<str>> {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.map(|text| text.0.into_boxed_str())))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.as_deref().map(|text| [text.to_owned()])
    }

    fn heap_bytes(&self) -> usize {
        self.as_deref().map_or(0, str::len)
    }
}

/// A day that cannot be parsed is read as `None`; the audit reports it.
impl HashValue for Option<Day> {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.and_then(|text| Day::parse(&text.0))))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.map(|day| [day.to_string()])
    }
}

/// `Nobody` is the default and is not stored. An audience that cannot be parsed is read as `Nobody`; the audit reports it.
impl HashValue for DetailAudience {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.and_then(|text| Self::from_name(&text.0)).unwrap_or_default()))
    }

    fn write(&self) -> Option<[String; 1]> {
        (*self != Self::Nobody).then(|| [self.name().to_owned()])
    }
}

/// Whether an account exists. One command.
pub(super) async fn exists(db: &Db, id: UserId) -> Result<bool, Error> {
    db.read(cmd("EXISTS").arg(keys::user(id)).take()).await
}

/// Writes a new account, its password hash and its pending address. One script; repeating it changes nothing.
pub(super) async fn create(db: &Db, user: &User, password: &str, email: Option<&PendingEmail>) -> Result<(), Error> {
    let fields = user.fields();
    let mut keys = vec![keys::password(user.id), keys::user(user.id)];
    keys.extend(email.map(|_| keys::pending_email(user.id)));
    let mut call = Call::with_keys(&CREATE_USER, keys).arg(password).arg(2 + 2 * fields.len()).arg(&fields[..]);
    if let Some(email) = email {
        call = call.arg(PENDING_EMAIL_TTL).arg(&emails::pending_fields(email)[..]);
    }
    db.call::<u64>(call).await.map(drop)
}

/// The commands that write a new account. The password is written first, because an account exists once the HASH `user:{id}` exists.
pub(super) fn create_commands(user: &User, password: &str) -> (redis::Cmd, redis::Cmd) {
    let set_password = cmd("SET").arg(keys::password(user.id)).arg(password).take();
    let set_user = cmd("HSET").arg(keys::user(user.id)).arg(&user.fields()[..]).take();
    (set_password, set_user)
}

/// Deletes an account with its password, its pending address, its reset token and its mail notices, if its login history still equals `logins`. Returns
/// `false` if the history differs. For an account that is already deleted, any history is accepted. One script.
pub(super) async fn delete(db: &Db, id: UserId, logins: &LoginHistory) -> Result<bool, Error> {
    let keys = [keys::user(id), keys::password(id), keys::pending_email(id), keys::password_reset(id), keys::email_notices(id)];
    db.call(Call::new(&DELETE_USER, keys).arg(logins.text())).await
}

/// Changes the fields that are given; `None` if there is no such account. Returns whether the account has become private or public. One script.
pub(super) async fn update(db: &Db, id: UserId, change: &ProfileChange) -> Result<Option<bool>, Error> {
    let (privacy, is_private) = match change.is_private {
        None => ("", ""),
        Some(is_private) => (keys::PRIVATE_FIELD, if is_private { "1" } else { "" }),
    };
    let changes = changed_fields(change);
    let removed: Vec<&str> = changes.iter().filter(|(_, change)| *change == Change::Clear).map(|(field, _)| *field).collect();
    let mut call = Call::new(&UPDATE_USER, [keys::user(id)]).arg(privacy).arg(is_private).arg(removed.len()).arg(&removed[..]);
    for (field, change) in &changes {
        if let Change::Set(value) = change {
            call = call.arg(*field).arg(value);
        }
    }
    let result: u8 = db.call(call).await?;
    Ok((result > 0).then_some(result == 2))
}

/// The changes of fields in their stored form, without the privacy setting.
fn changed_fields(change: &ProfileChange) -> Vec<(&'static str, Change<String>)> {
    let mut changes = vec![];
    changes.extend(change.name.clone().map(|name| ("name", Change::Set(name))));
    changes.extend(change.bio.clone().map(|bio| ("bio", Change::Set(bio))));
    changes.extend(optional_fields(change));
    changes
}

/// The changes of the fields that an account may lack, in their stored form.
fn optional_fields(change: &ProfileChange) -> [(&'static str, Change<String>); 8] {
    // The default is not stored.
    let audience = |change: &Change<DetailAudience>| match change {
        Change::Set(DetailAudience::Nobody) => Change::Clear,
        change => change.clone().map(|audience| audience.name().to_owned()),
    };
    [
        ("avatar", change.avatar_url.clone()),
        ("banner", change.banner_url.clone()),
        ("website", change.website_url.clone()),
        ("location", change.location.clone()),
        ("gender", change.gender.clone()),
        ("born", change.birth_date.clone().map(|day| day.to_string())),
        ("show_born", audience(&change.birth_date_audience)),
        ("show_age", audience(&change.age_audience)),
    ]
}

/// Whether an account is private. One command; `false` for a deleted account.
pub(super) async fn is_private(db: &Db, id: UserId) -> Result<bool, Error> {
    db.read(cmd("HEXISTS").arg(keys::user(id)).arg(keys::PRIVATE_FIELD).take()).await
}

/// Sets the device epoch of an account, which revokes its device tokens; `false` if there is no such account. One script.
pub(super) async fn set_device_epoch(db: &Db, id: UserId, epoch: &str) -> Result<bool, Error> {
    let result: u8 =
        db.call(Call::new(&REVOKE_DEVICES, [keys::user(id)]).arg("").arg("").arg(0).arg(DEVICE_EPOCH).arg(epoch)).await?;
    Ok(result > 0)
}

/// Reads the password hash of an account, and its device epoch. One pipeline.
pub(super) async fn password_record(db: &Db, id: UserId) -> Result<Option<PasswordRecord>, Error> {
    // The epoch is read first. Otherwise a read during a password change could return the old hash with the new epoch, and a log-in with the old password
    // could begin a session.
    let get_epoch = cmd("HGET").arg(keys::user(id)).arg(DEVICE_EPOCH).take();
    let mut replies = db.read_many(vec![get_epoch, cmd("GET").arg(keys::password(id)).take()]).await?.into_iter();
    let mut text = || decode::value::<Option<String>>(replies.next().unwrap_or_default());
    let (epoch, hash) = (text()?, text()?);
    Ok(hash.map(|hash| PasswordRecord { hash, device_epoch: epoch.unwrap_or_default() }))
}

/// The epoch of an account's device tokens; empty if it has none. One command.
pub(super) async fn device_epoch(db: &Db, id: UserId) -> Result<String, Error> {
    Ok(db.read::<Option<String>>(cmd("HGET").arg(keys::user(id)).arg(DEVICE_EPOCH).take()).await?.unwrap_or_default())
}

/// Replaces a password hash, if it is still `before`; returns whether it was. One script.
pub(super) async fn replace_password(db: &Db, id: UserId, before: &str, after: &str) -> Result<bool, Error> {
    db.call(Call::new(&REPLACE_PASSWORD, [keys::password(id)]).arg(before).arg(after)).await
}

/// Whether an account has a password. One command.
pub(super) async fn has_password(db: &Db, id: UserId) -> Result<bool, Error> {
    db.read(cmd("EXISTS").arg(keys::password(id)).take()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_fields_of_an_account_are_documented() {
        let keys = include_str!("keys.rs");
        let (before, _) = keys.split_once("pub fn user(").expect("the key");
        let doc: Vec<&str> = before.lines().rev().take_while(|line| line.starts_with("///")).collect();
        let words: BTreeSet<&str> = doc.iter().flat_map(|line| line.split([' ', '`'])).collect();
        let fields = User::names().into_iter().chain([DEVICE_EPOCH]).collect::<Vec<_>>();
        for field in &fields {
            assert!(words.contains(field), "the documentation of `user:{{id}}` in keys.rs does not name {field}");
        }
        let bound = format!("{} fields", fields.len());
        assert!(doc.iter().any(|line| line.contains(&format!("At most {bound},"))), "keys.rs: {bound}");
        let row = include_str!("mod.rs").lines().find(|line| line.starts_with("//! | `user:{id}`")).expect("its row");
        assert!(row.ends_with(&format!("| {bound} |")), "mod.rs: {bound}");
    }
}
