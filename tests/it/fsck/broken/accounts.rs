//! Broken invariants of accounts: external ids, email addresses, sessions and server keys.

use super::Case;

pub(in crate::fsck) const OF_ACCOUNTS: &[Case] = &[
    (&["HDEL user:{$ada} bio"], &["user:{$ada}: has no bio"]),
    (&["HSET user:{$ada} signup soon"], &["user:{$ada}: its signup is not a number"]),
    (&["HSET user:{$ada} devices 7"], &[]),
    (&["HSET user:{$ada} devices mine"], &["user:{$ada}: its devices is not a number"]),
    (&["HSET user:{$ada} posts -1"], &["user:{$ada}: its posts is not a number"]),
    (&["HSET user:{$ada} id 7"], &["user:{$ada}: has another id"]),
    (&["HSET user:{$ada} relations many"], &["user:{$ada}: its relations is not a number"]),
    (&["EXPIRE user:{$ada} 1000"], &["user:{$ada}: should have no time to live"]),
    (&["HDEL $shard ada"], &["user:{$ada}: does not hold its login \"ada\""]),
    (
        &["HSET $shard ada $bob"],
        &[
            "user:{$ada}: does not hold its login \"ada\"",
            "$shard: the login \"ada\" is claimed by $bob, which has another login",
        ],
    ),
    (
        &["HSET $shard ada $old"],
        &[
            "user:{$ada}: does not hold its login \"ada\"",
            "$shard: the login \"ada\" is claimed by $old, which is not an account",
        ],
    ),
    (
        &["HSET users:{0} zed nobody"],
        &["users:{0}: the login \"zed\" belongs to another shard", "users:{0}: the login \"zed\" is claimed by an invalid id"],
    ),
    (&["SET users:{0} 1"], &["users:{0}: should be a hash"]),
    (&["HSET $shard ada@ $ada:1:0:1"], &[]),
    (&["HSET $shard ada@ $ada:1:0"], &["$shard: the times of the login \"ada\" cannot be read"]),
    (&["HSET $shard ada@ $old:1:2:1"], &["$shard: the times of the login \"ada\" name $old, which is not an account"]),
    (
        &["HDEL $shard ada", "HSET $shard ada@ $bob:1:0:1"],
        &[
            "user:{$ada}: does not hold its login \"ada\"",
            "$shard: the times of the login \"ada\" say that $bob has it, which has another login",
        ],
    ),
    (&["HSET users:{0} ada@ $ada:1:0:1"], &["users:{0}: the times of the login \"ada\" belong to another shard"]),
    (&["HSET user:{$ada} logins some"], &["user:{$ada}: its logins cannot be read"]),
    (&["HSET user:{$ada} born 2000-02-29 show_born friends show_age everyone avatar http://old.example location x"], &[]),
    (&["HSET user:{$ada} born 2000-02-30"], &["user:{$ada}: its born cannot be read"]),
    (&["HSET user:{$ada} show_born some"], &["user:{$ada}: its show_born cannot be read"]),
    (&["HSET user:{$ada} show_age FRIENDS"], &["user:{$ada}: its show_age cannot be read"]),
    (&["SET freed:{7}:_e5DDUC9V97qwYbNl5ADPQ 1772323200000 PX 90000"], &[]),
    (&["SET freed:{7}:_e5DDUC9V97qwYbNl5ADPQ 1772323200000"], &["freed:{7}:_e5DDUC9V97qwYbNl5ADPQ: has no time to live"]),
    (
        &["SET freed:{7}:_e5DDUC9V97qwYbNl5ADPQ soon PX 90000"],
        &["freed:{7}:_e5DDUC9V97qwYbNl5ADPQ: has no valid time from which the login is free"],
    ),
    (&["SET freed:{7}:ada 1772323200000 PX 90000"], &["freed:{7}:ada: is not a key of Waxwing"]),
    (&["DEL password:{$ada}"], &["user:{$ada}: has no password"]),
    (&["SET password:{$ada} secret"], &["password:{$ada}: is not an argon2id hash"]),
    (&["SET password:{$old} $argon2id$"], &["password:{$old}: there is no such account"]),
];

/// The key of an external id has the digest of "ada-7".
pub(in crate::fsck) const OF_IDENTITIES: &[Case] = &[
    (
        &[
            "HSET identity:{$ada} subject ada-7 linked 5",
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $ada at 1",
        ],
        &[],
    ),
    (
        &[
            "DEL password:{$ada}",
            "HSET identity:{$ada} subject ada-7 linked 5",
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $ada at 1",
        ],
        &[],
    ),
    (&["HSET identity:{$ada} subject ada-7 linked 5"], &["identity:{$ada}: does not hold its external id"]),
    (
        &[
            "HSET identity:{$ada} subject ada-7 linked 5",
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $old at 1",
        ],
        &[
            "identity:{$ada}: does not hold its external id",
            "external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs}: is held by $old, which does not have it",
        ],
    ),
    (
        &[
            "HSET identity:{$ada} subject ada-8 linked 5",
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $ada at 1",
        ],
        &[
            "identity:{$ada}: does not hold its external id",
            "external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs}: is held by $ada, which does not have it",
        ],
    ),
    (
        &[
            "HSET identity:{$ada} subject ada-7 linked soon revoked late",
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $ada at 1",
        ],
        &["identity:{$ada}: its linked is not a number", "identity:{$ada}: its revoked is not a number"],
    ),
    (&["HSET identity:{$ada} linked 5"], &["identity:{$ada}: its subject is not an external id"]),
    (&["HSET identity:{$old} subject ada-7 linked 5"], &["identity:{$old}: there is no such account"]),
    (&["SET identity:{$ada} 1"], &["identity:{$ada}: should be a hash"]),
    (
        &["HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $ada"],
        &["external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs}: cannot be read"],
    ),
    (
        &["HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} removed 5"],
        &["external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs}: has no time to live"],
    ),
    (
        &[
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} removed 5",
            "PEXPIRE external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} 90000",
        ],
        &[],
    ),
    (
        &[
            "HSET identity:{$ada} subject ada-7 linked 5",
            "HSET external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} uid $ada at 1",
            "PEXPIRE external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} 90000",
        ],
        &["external_id:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs}: should have no time to live"],
    ),
    (&["HSET external_id:{ada-7} removed 5"], &["external_id:{ada-7}: is not a key of Waxwing"]),
    (&["SET revoked_jwt:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} 5 PX 90000"], &[]),
    (
        &["SET revoked_jwt:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs} 5"],
        &["revoked_jwt:{O3yo7FHze43P2Ek1VK1VcnVrFjpzYe224a9ZamwDqHs}: has no time to live"],
    ),
    (&["HSET session:{$digest} method key until 99999999999999"], &[]),
    (&["HSET session:{$digest} until soon"], &["session:{$digest}: its until is not a number"]),
    (
        &["HSET idempotency:{xxxxxxxxxxxxxxxxxxxxxx} $record broken", "PEXPIRE idempotency:{xxxxxxxxxxxxxxxxxxxxxx} 90000"],
        &[
            "idempotency:{xxxxxxxxxxxxxxxxxxxxxx}: $record has no valid fingerprint and id",
            "idempotency:{xxxxxxxxxxxxxxxxxxxxxx}: $record has no time in idempotent:{xxxxxxxxxxxxxxxxxxxxxx}",
            "idempotency:{xxxxxxxxxxxxxxxxxxxxxx}: has another size than idempotent:{xxxxxxxxxxxxxxxxxxxxxx}",
        ],
    ),
];

/// The second key is that of the digest of ada@example.org.
pub(in crate::fsck) const OF_EMAILS: &[Case] = &[
    (
        &[
            "HSET email:{$ada} address ada@example.org confirmation 5 version 1",
            "HSET email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0} uid $ada version 1 confirmation 5 before 4 at 1",
        ],
        &[],
    ),
    (&["HSET email:{$ada} address ada@example.org confirmation 5 version 1"], &["email:{$ada}: does not hold its address"]),
    (
        &[
            "HSET email:{$ada} address ada@example.org confirmation 5 version 1",
            "HSET email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0} uid $bob version 1 confirmation 5 before 4 at 1",
        ],
        &[
            "email:{$ada}: does not hold its address",
            "email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0}: is held by $bob, which has not confirmed it",
        ],
    ),
    (&["HSET email:{$ada} version one"], &["email:{$ada}: its version is not a number"]),
    (
        &[
            "HSET email:{$ada} address ada@example.org confirmation now version 1",
            "HSET email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0} uid $ada version 1 confirmation 5 before 4 at 1",
        ],
        &["email:{$ada}: its confirmation is not a number"],
    ),
    (&["HSET email:{$ada} address ada confirmation 5 version 1"], &["email:{$ada}: its address cannot be read"]),
    (&["HSET email:{$old} version 1"], &["email:{$old}: there is no such account"]),
    (&["SET email:{$ada} 1"], &["email:{$ada}: should be a hash"]),
    (
        &["HSET email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0} uid $old version 1 confirmation 5 before 4 at 1"],
        &["email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0}: is held by $old, which has not confirmed it"],
    ),
    (
        &["HSET email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0} uid $ada version 1"],
        &["email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0}: cannot be read"],
    ),
    (
        &["HSET email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0} confirmation 5"],
        &["email_holder:{z-AN3kbvlCYB_6-54oJegChYtGDlhrgwWzRMHrgmNX0}: has no time to live"],
    ),
    (&["HSET email_holder:{ada} confirmation 5"], &["email_holder:{ada}: is not a key of Waxwing"]),
    (&["HSET email_pending:{$ada} address a@example.org until 5 message 6"], &["email_pending:{$ada}: has no time to live"]),
    (
        &["HSET email_pending:{$ada} address a@example.org until soon message 6", "PEXPIRE email_pending:{$ada} 90000"],
        &["email_pending:{$ada}: its until or message is not a number"],
    ),
    (
        &["HSET email_reset:{$old} token t until 5", "PEXPIRE email_reset:{$old} 90000"],
        &["email_reset:{$old}: there is no such account"],
    ),
    (&["HSET email_notices:{$ada} 7 a@example.org"], &["email_notices:{$ada}: has no time to live"]),
];

pub(in crate::fsck) const OF_SESSIONS: &[Case] = &[
    (&["PERSIST session:{$digest}"], &["session:{$digest}: has no time to live"]),
    (&["HDEL session:{$digest} agent"], &["session:{$digest}: has no agent"]),
    (&["HSET session:{$digest} seen now"], &["session:{$digest}: its id, uid or seen is not a number"]),
    (
        &["HSET session:{$digest} uid $old"],
        &[
            "session:{$digest}: its account $old does not exist",
            "session:{$digest}: is not listed in sessions:{$old} with its id",
        ],
    ),
    (&["ZREM sessions:{$ada} $digest"], &["session:{$digest}: is not listed in sessions:{$ada} with its id"]),
    (&["ZADD sessions:{$ada} $old $digest"], &["session:{$digest}: is not listed in sessions:{$ada} with its id"]),
    (&["PERSIST sessions:{$ada}"], &["sessions:{$ada}: has no time to live"]),
    (&["COPY sessions:{$ada} sessions:{$old}"], &["sessions:{$old}: there is no such account"]),
    (&["COPY sessions:{$ada} sessions_ended:{$ada}"], &[ENDED]),
    (&["RENAME sessions:{$ada} sessions_ended:{$ada}"], &[ENDED]),
    (
        &["COPY sessions:{$ada} sessions_ended:{$ada}", "PERSIST sessions_ended:{$ada}"],
        &["sessions_ended:{$ada}: has no time to live", ENDED],
    ),
    (&["COPY sessions:{$ada} sessions_ended:{$old}"], &["sessions_ended:{$old}: there is no such account"]),
    (
        &["EVAL|for n = 1, 98 do redis.call('ZADD', KEYS[1], n, n) end|1|sessions:{$ada}"],
        &["sessions:{$ada}: lists more than 100 sessions"],
    ),
];

/// A register with one key that can be read.
const KEY: &str = "HSET|server_keys:{keys}|crm|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx users,act 1 0";
const OTHER_KEY: &str = "HSET|server_keys:{keys}|shop|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx moderate 1 7";

pub(in crate::fsck) const OF_SERVER_KEYS: &[Case] = &[
    (&[KEY], &[]),
    (&["HSET|server_keys:{keys}|crm|nonsense"], &["server_keys:{keys}: the record of \"crm\" cannot be read"]),
    (&[KEY, "HSET|server_keys:{keys}|a b|1"], &["server_keys:{keys}: the record of \"a b\" cannot be read"]),
    (&[KEY, "EXPIRE server_keys:{keys} 1000"], &["server_keys:{keys}: should have no time to live"]),
    (&[KEY, OTHER_KEY], &["server_keys:{keys}: has two names of one key"]),
    (&["SET server_keys:{keys} 1"], &["server_keys:{keys}: should be a hash"]),
    (&["SET server_keys:{other} 1"], &["server_keys:{other}: is not a key of Waxwing"]),
];

const ENDED: &str = "sessions_ended:{$ada}: has sessions that a change of the password has ended";
