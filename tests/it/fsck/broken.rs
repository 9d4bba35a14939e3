//! Broken invariants: each is violated by hand, and exactly the expected findings are reported.

use super::{QUICK, Scene};
use waxwing::cli::fsck::AuditOptions;

/// The commands that break a scene, and all expected findings.
pub(super) type Case = (&'static [&'static str], &'static [&'static str]);

pub(super) const OF_THE_PROCESS: &[Case] = &[
    (&["SET worker:{64} 1"], &["worker:{64}: worker numbers end at 63"]),
    (&["SET worker:{7} soon"], &["worker:{7}: is not a time in ms"]),
    (&["SET secret:{cursor} short"], &["secret:{cursor}: is not 16 bytes long"]),
    (
        &["HSET world:{demo} name people moment 5 state loading"],
        &["world:{demo}: loading the demo data was not completed: load it again"],
    ),
    (&["HSET world:{demo} name people"], &["world:{demo}: its fields are not a name, a time and a state"]),
    (&["HSET settings:{store} star-followers many"], &["settings:{store}: its star-followers is not a number"]),
    (&["HSET jwks:{issuer} source x fetched 1 keys {}"], &["jwks:{issuer}: its source, fetched or keys cannot be read"]),
    (&["HSET jwks:{issuer} source x fetched 1 keys {\"keys\":[]}"], &[]),
    (&["SET nonsense 1"], &["nonsense: is not a key of Waxwing"]),
    (&["SET user:{01} 1"], &["user:{01}: is not a key of Waxwing"]),
    (&["SET user:{\\255} 1"], &["user:{\u{fffd}}: is not a key of Waxwing"]),
];

pub(super) const OF_ACCOUNTS: &[Case] = &[
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
pub(super) const OF_IDENTITIES: &[Case] = &[
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
            "idempotency:{xxxxxxxxxxxxxxxxxxxxxx}: $record in it has no valid fingerprint and id",
            "idempotency:{xxxxxxxxxxxxxxxxxxxxxx}: $record has no time in idempotent:{xxxxxxxxxxxxxxxxxxxxxx}",
            "idempotency:{xxxxxxxxxxxxxxxxxxxxxx}: has another size than idempotent:{xxxxxxxxxxxxxxxxxxxxxx}",
        ],
    ),
];

/// The second key is that of the digest of ada@example.org.
pub(super) const OF_EMAILS: &[Case] = &[
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

pub(super) const OF_SESSIONS: &[Case] = &[
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

pub(super) const OF_SERVER_KEYS: &[Case] = &[
    (&[KEY], &[]),
    (&["HSET|server_keys:{keys}|crm|nonsense"], &["server_keys:{keys}: the record of \"crm\" cannot be read"]),
    (&[KEY, "HSET|server_keys:{keys}|a b|1"], &["server_keys:{keys}: the record of \"a b\" cannot be read"]),
    (&[KEY, "EXPIRE server_keys:{keys} 1000"], &["server_keys:{keys}: should have no time to live"]),
    (&[KEY, OTHER_KEY], &["server_keys:{keys}: has two names of one key"]),
    (&["SET server_keys:{keys} 1"], &["server_keys:{keys}: should be a hash"]),
    (&["SET server_keys:{other} 1"], &["server_keys:{other}: is not a key of Waxwing"]),
];

pub(super) const OF_FOLLOWS: &[Case] = &[
    (&["HSET user:{$ada} followers 9"], &["user:{$ada}: its followers is not the size of followers:{$ada}"]),
    (&["HSET user:{$bob} following 0"], &["user:{$bob}: its following is not the size of following:{$bob}"]),
    (
        &["ZREM followers:{$ada} $bob", "HINCRBY user:{$ada} followers -1"],
        &["following:{$bob}: $ada is in it, but followers:{$ada} has no $bob"],
    ),
    (
        &["ZREM following:{$bob} $ada", "HINCRBY user:{$bob} following -1"],
        &[
            "followers:{$ada}: $bob is in it, but following:{$bob} has no $ada",
            "home:{$bob}: status $second is by $ada, who is not a source of the feed",
            "home:{$bob}: status $status is by $ada, who is not a source of the feed",
        ],
    ),
    (&["ZADD followers:{$ada} $old $bob"], &["following:{$bob}: $ada is in it with another follow than in followers:{$ada}"]),
    (&["ZADD following:{$ada} $old $ada", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: contains its own account"]),
    (
        &["ZADD following:{$ada} $old 12345", "HINCRBY user:{$ada} following 1"],
        &["following:{$ada}: 12345 in it is not an account"],
    ),
    (
        &["ZADD followers:{$ada} $old 12345", "HINCRBY user:{$ada} followers 1"],
        &["followers:{$ada}: 12345 in it is not an account"],
    ),
    (
        &["COPY following:{$bob} following:{$old}"],
        &["following:{$old}: $ada is in it, but followers:{$ada} has no $old", "following:{$old}: there is no such account"],
    ),
    (
        &["COPY followers:{$ada} followers:{$old}"],
        &[
            "followers:{$old}: $bob is in it, but following:{$bob} has no $old",
            "followers:{$old}: $cyd is in it, but following:{$cyd} has no $old",
            "followers:{$old}: there is no such account",
        ],
    ),
    (&["ZADD following:{$ada} -5 $bob", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: has scores that are not ids"]),
    (&["SET following:{$ada} 1"], &["following:{$ada}: should be a zset"]),
];

pub(super) const OF_BLOCKS: &[Case] = &[
    (&["HSET user:{$cyd} blocks 5"], &["user:{$cyd}: its blocks is not the size of blocks:{$cyd}"]),
    (&["HSET user:{$bob} blocked_by 5"], &["user:{$bob}: its blocked_by is not the size of blockers:{$bob}"]),
    (
        &["ZREM blockers:{$bob} $cyd", "HINCRBY user:{$bob} blocked_by -1"],
        &["blocks:{$cyd}: $bob is in it, but blockers:{$bob} has no $cyd"],
    ),
    (
        &["ZREM blocks:{$cyd} $bob", "HINCRBY user:{$cyd} blocks -1"],
        &["blockers:{$bob}: $cyd is in it, but blocks:{$cyd} has no $bob"],
    ),
    (&["ZADD blockers:{$bob} $old $cyd"], &["blocks:{$cyd}: $bob is in it with another block than in blockers:{$bob}"]),
    (&["ZADD blocks:{$bob} $old $bob", "HINCRBY user:{$bob} blocks 1"], &["blocks:{$bob}: contains its own account"]),
    (&["ZADD blocks:{$ada} $old 12345", "HINCRBY user:{$ada} blocks 1"], &["blocks:{$ada}: 12345 in it is not an account"]),
    (&["ZADD blocks:{$bob} -5 $cyd", "HINCRBY user:{$bob} blocks 1"], &["blocks:{$bob}: has scores that are not ids"]),
    (
        &["COPY blocks:{$cyd} blocks:{$old}"],
        &["blocks:{$old}: $bob is in it, but blockers:{$bob} has no $old", "blocks:{$old}: there is no such account"],
    ),
    (
        &[
            "ZADD following:{$bob} $old $cyd",
            "ZADD followers:{$cyd} $old $bob",
            "HINCRBY user:{$bob} following 1",
            "HINCRBY user:{$cyd} followers 1",
        ],
        &["blocks:{$cyd}: $bob in it still follows"],
    ),
    (
        &[
            "ZADD blocks:{$cyd} $old $ada",
            "ZADD blockers:{$ada} $old $cyd",
            "HINCRBY user:{$cyd} blocks 1",
            "HINCRBY user:{$ada} blocked_by 1",
        ],
        &[
            "blocks:{$cyd}: $ada in it is a friend, or there is a friend request",
            "blocks:{$cyd}: $ada in it is still followed",
            "members:{$list}: $cyd in it blocks its owner or is blocked by the owner",
        ],
    ),
    (&["SET blockers:{$ada} 1"], &["blockers:{$ada}: should be a zset"]),
];

pub(super) const OF_REQUESTS: &[Case] = &[
    (
        &["ZREM follow_requests_received:{$bob} $ada"],
        &["follow_requests_sent:{$ada}: $bob is in it, but follow_requests_received:{$bob} has no $ada"],
    ),
    (
        &["ZREM follow_requests_sent:{$ada} $bob"],
        &["follow_requests_received:{$bob}: $ada is in it, but follow_requests_sent:{$ada} has no $bob"],
    ),
    (
        &["ZADD follow_requests_received:{$bob} $old $ada"],
        &["follow_requests_sent:{$ada}: $bob is in it with another follow request than in follow_requests_received:{$bob}"],
    ),
    (
        &["ZADD follow_requests_sent:{$ada} $old $ada"],
        &["follow_requests_sent:{$ada}: $ada in it is public", "follow_requests_sent:{$ada}: contains its own account"],
    ),
    (&["ZADD follow_requests_sent:{$ada} $old 12345"], &["follow_requests_sent:{$ada}: 12345 in it is not an account"]),
    (&["HDEL user:{$bob} private"], &["follow_requests_sent:{$ada}: $bob in it is public"]),
    (
        &["ZADD follow_requests_sent:{$cyd} $old $ada", "ZADD follow_requests_received:{$ada} $old $cyd"],
        &["follow_requests_sent:{$cyd}: $ada in it is followed already"],
    ),
    (
        &["COPY follow_requests_sent:{$ada} follow_requests_sent:{$old}"],
        &[
            "follow_requests_sent:{$old}: $bob is in it, but follow_requests_received:{$bob} has no $old",
            "follow_requests_sent:{$old}: there is no such account",
        ],
    ),
    (
        &["ZADD follow_requests_sent:{$cyd} $old $bob", "ZADD follow_requests_received:{$bob} $old $cyd"],
        &["blocks:{$cyd}: $bob in it has sent or received a follow request"],
    ),
    (&["SET follow_requests_received:{$ada} 1"], &["follow_requests_received:{$ada}: should be a zset"]),
];

pub(super) const OF_MUTES: &[Case] = &[
    (&["HSET user:{$bob} mutes 5"], &["user:{$bob}: its mutes is not the size of mutes:{$bob}"]),
    (&["ZREM muters:{$cyd} $bob"], &["mutes:{$bob}: $cyd is in it, but muters:{$cyd} has no $bob"]),
    (
        &["ZREM mutes:{$bob} $cyd", "HINCRBY user:{$bob} mutes -1"],
        &["muters:{$cyd}: $bob is in it, but mutes:{$bob} has no $cyd"],
    ),
    (&["ZADD muters:{$cyd} $old $bob"], &["mutes:{$bob}: $cyd is in it with another mute than in muters:{$cyd}"]),
    (&["ZADD mutes:{$bob} $old $bob", "HINCRBY user:{$bob} mutes 1"], &["mutes:{$bob}: contains its own account"]),
    (&["ZADD mutes:{$bob} $old 12345", "HINCRBY user:{$bob} mutes 1"], &["mutes:{$bob}: 12345 in it is not an account"]),
    (&["ZADD mute_ends:{$bob} 99999999999999 $ada"], &["mute_ends:{$bob}: $ada in it is not muted"]),
    (&["ZADD mute_ends:{$cyd} 5 $bob"], &["mute_ends:{$cyd}: the mute of $bob has ended more than a day ago"]),
    (
        &["COPY mutes:{$bob} mutes:{$old}"],
        &["mutes:{$old}: $cyd is in it, but muters:{$cyd} has no $old", "mutes:{$old}: there is no such account"],
    ),
    (&["ZADD mutes:{$ada} -5 $bob", "HINCRBY user:{$ada} mutes 1"], &["mutes:{$ada}: has scores that are not ids"]),
    (&["SET muters:{$ada} 1"], &["muters:{$ada}: should be a zset"]),
];

pub(super) const OF_FRIENDS: &[Case] = &[
    (&["HSET user:{$ada} friends 5"], &["user:{$ada}: its friends is not the size of friends:{$ada}"]),
    (
        &["ZREM friends:{$cyd} $ada", "HINCRBY user:{$cyd} friends -1"],
        &["friends:{$ada}: $cyd is in it, but friends:{$cyd} has no $ada"],
    ),
    (
        &["ZADD friends:{$cyd} $old $ada"],
        &[
            "friends:{$ada}: $cyd is in it with another friendship than in friends:{$cyd}",
            "friends:{$cyd}: $ada is in it with another friendship than in friends:{$ada}",
        ],
    ),
    (
        &["ZREM friend_requests_received:{$ada} $bob"],
        &["friend_requests_sent:{$bob}: $ada is in it, but friend_requests_received:{$ada} has no $bob"],
    ),
    (
        &["ZREM friend_requests_sent:{$bob} $ada"],
        &["friend_requests_received:{$ada}: $bob is in it, but friend_requests_sent:{$bob} has no $ada"],
    ),
    (
        &["ZADD friend_requests_received:{$ada} $old $bob"],
        &["friend_requests_sent:{$bob}: $ada is in it with another friend request than in friend_requests_received:{$ada}"],
    ),
    (
        &["ZADD friend_requests_sent:{$ada} $old $bob", "ZADD friend_requests_received:{$bob} $old $ada"],
        &[
            "friend_requests_sent:{$ada}: $bob in it has sent a request",
            "friend_requests_sent:{$bob}: $ada in it has sent a request",
        ],
    ),
    (
        &["ZADD friend_requests_sent:{$cyd} $old $ada", "ZADD friend_requests_received:{$ada} $old $cyd"],
        &["friend_requests_sent:{$cyd}: $ada in it is a friend"],
    ),
    (&["ZADD friends:{$ada} $old $ada", "HINCRBY user:{$ada} friends 1"], &["friends:{$ada}: contains its own account"]),
    (&["ZADD friends:{$ada} $old 12345", "HINCRBY user:{$ada} friends 1"], &["friends:{$ada}: 12345 in it is not an account"]),
    (&["ZADD friend_slots:{$cyd} $old $ada"], &["friend_slots:{$cyd}: the slot of $ada was not released"]),
    (&["ZADD friend_slots:{$old} $old $ada"], &["friend_slots:{$old}: there is no such account"]),
    (
        &["COPY friends:{$ada} friends:{$old}"],
        &["friends:{$old}: $cyd is in it, but friends:{$cyd} has no $old", "friends:{$old}: there is no such account"],
    ),
    (&["ZADD friends:{$bob} -5 $ada", "HINCRBY user:{$bob} friends 1"], &["friends:{$bob}: has scores that are not ids"]),
    (&["SET friend_requests_received:{$cyd} 1"], &["friend_requests_received:{$cyd}: should be a zset"]),
];

pub(super) const OF_STATUSES: &[Case] = &[
    (&["HDEL status:{$status} message"], &["status:{$status}: has no message"]),
    (&["HSET status:{$status} posted soon"], &["status:{$status}: its posted is not a number"]),
    (&["HSET status:{$status} id 7"], &["status:{$status}: has another id"]),
    (&["HSET status:{$status} comments 3"], &["status:{$status}: counts comments, but there are none"]),
    (&["HSET status:{$status} likes 5"], &["status:{$status}: its likes is not the size of likers:{$status}"]),
    (&["HSET status:{$status} audience some"], &["status:{$status}: the audience and its list are not valid"]),
    (&["HSET status:{$status} audience friends circle $list"], &["status:{$status}: the audience and its list are not valid"]),
    (
        &["HSET status:{$ofbob} audience list circle $list"],
        &["status:{$ofbob}: its audience list $list is not a list of its author"],
    ),
    (&["HSET status:{$status} lat 5"], &["status:{$status}: its lat and lon are not a location"]),
    (
        &["HSET status:{$status} uid $old"],
        &[
            "status:{$status}: its author $old does not exist",
            "status:{$status}: is missing in profile:{$old}",
            "profile:{$ada}: status $status is by $old",
            "pins:{$ada}: status $status is by $old",
            "home:{$ada}: status $status is by $old, who is not a source of the feed",
            "home:{$bob}: status $status is by $old, who is not a source of the feed",
            "home:{$cyd}: status $status is by $old, who is not a source of the feed",
        ],
    ),
    (
        &["DEL status:{$status}"],
        &[
            "likers:{$status}: there is no such status",
            "liked:{$bob}: there is no status $status",
            "bookmarkers:{$status}: there is no such status",
            "bookmarks:{$bob}: there is no status $status",
            "pins:{$ada}: there is no status $status",
            "profile:{$ada}: there is no status $status",
            "home:{$ada}: there is no status $status",
            "home:{$bob}: there is no status $status",
            "home:{$cyd}: there is no status $status",
        ],
    ),
    (&["ZREM profile:{$ada} $status", "HINCRBY user:{$ada} posts -1"], &["status:{$status}: is missing in profile:{$ada}"]),
    (&["HSET user:{$ada} posts 5"], &["user:{$ada}: its posts is not the size of profile:{$ada}"]),
    (&["ZADD profile:{$ada} $old $old", "HINCRBY user:{$ada} posts 1"], &["profile:{$ada}: there is no status $old"]),
    (&["ZADD profile:{$ada} 77 $status"], &["profile:{$ada}: status $status is not at its own position"]),
    (
        &["COPY profile:{$bob} profile:{$old}"],
        &["profile:{$old}: status $ofbob is by $bob", "profile:{$old}: there is no such account"],
    ),
    (
        &["ZADD likers:{$status} $old 4242", "HINCRBY status:{$status} likes 1"],
        &["likers:{$status}: 4242 in it is not an account"],
    ),
    (&["ZADD likers:{$status} 1.5 x", "HINCRBY status:{$status} likes 1"], &["likers:{$status}: entry \"x\" is no pair of ids"]),
    (
        &["ZADD likers:{$status} $old $ada $old $cyd", "HINCRBY status:{$status} likes 2"],
        &[
            "likers:{$status}: two entries have the position $old",
            "likers:{$status}: $ada is in it, but liked:{$ada} has no $status",
            "likers:{$status}: $cyd is in it, but liked:{$cyd} has no $status",
        ],
    ),
    (&["ZREM liked:{$bob} $status"], &["likers:{$status}: $bob is in it, but liked:{$bob} has no $status"]),
    (&["ZADD liked:{$bob} $old $second"], &["liked:{$bob}: $second is in it, but likers:{$second} has no $bob"]),
    (&["ZADD liked:{$bob} $old $status"], &["likers:{$status}: $bob is in it with another like than in liked:{$bob}"]),
    (
        &["COPY liked:{$bob} liked:{$old}"],
        &["liked:{$old}: $status is in it, but likers:{$status} has no $old", "liked:{$old}: there is no such account"],
    ),
    (&["ZADD bookmarkers:{$status} $old 4242"], &["bookmarkers:{$status}: 4242 in it is not an account"]),
    (
        &["ZREM bookmarks:{$bob} $status", "HINCRBY user:{$bob} bookmarks -1"],
        &["bookmarkers:{$status}: $bob is in it, but bookmarks:{$bob} has no $status"],
    ),
    (
        &["ZADD bookmarks:{$bob} $old $second", "HINCRBY user:{$bob} bookmarks 1"],
        &["bookmarks:{$bob}: $second is in it, but bookmarkers:{$second} has no $bob"],
    ),
    (
        &["ZADD bookmarks:{$bob} $old $status"],
        &["bookmarkers:{$status}: $bob is in it with another bookmark than in bookmarks:{$bob}"],
    ),
    (
        &["COPY bookmarks:{$bob} bookmarks:{$old}"],
        &[
            "bookmarks:{$old}: $status is in it, but bookmarkers:{$status} has no $old",
            "bookmarks:{$old}: there is no such account",
        ],
    ),
    (&["HSET user:{$bob} bookmarks 5"], &["user:{$bob}: its bookmarks is not the size of bookmarks:{$bob}"]),
    (&["HSET user:{$ada} bookmarks 5"], &["user:{$ada}: its bookmarks is not the size of bookmarks:{$ada}"]),
    (
        &["ZADD reposts:{$bob} $old $second", "HINCRBY user:{$bob} reposts 1"],
        &["reposts:{$bob}: $second is in it, but reposters:{$second} has no $bob"],
    ),
    (
        &["ZADD reposters:{$status} $old $bob", "HINCRBY status:{$status} reposts 1"],
        &["reposters:{$status}: $bob is in it, but reposts:{$bob} has no $status"],
    ),
    (&["HSET status:{$status} reposts 5"], &["status:{$status}: its reposts is not the size of reposters:{$status}"]),
    (&["HSET status:{$ofbob} quote $second"], &["status:{$ofbob}: is missing in quotes:{$second}"]),
    (
        &["ZADD quotes:{$second} $ofbob $ofbob", "HINCRBY status:{$second} quotes 1"],
        &["quotes:{$second}: $ofbob in it does not quote the status"],
    ),
    (&["HSET status:{$status} quotes 5"], &["status:{$status}: its quotes is not the size of quotes:{$status}"]),
    (&["HSET user:{$bob} reposts 5"], &["user:{$bob}: its reposts is not the size of reposts:{$bob}"]),
    (&["ZADD pins:{$ada} $old $ofbob"], &["pins:{$ada}: status $ofbob is by $bob"]),
    (
        &["RPUSH versions:{$status} x"],
        &["status:{$status}: has versions, but no edit", "versions:{$status}: has a version that cannot be read"],
    ),
    (&["HSET|status:{$status}|edited|5 6 1"], &["status:{$status}: counts other edits than it has versions"]),
    (&["HSET|status:{$status}|edited|x"], &["status:{$status}: counts other edits than it has versions"]),
    (&["RPUSH|versions:{$old}|0 5 \ntext"], &["versions:{$old}: there is no such status"]),
    (&["SET versions:{$status} x"], &["versions:{$status}: should be a list"]),
    (&["ZADD pins:{$ada} $old $old"], &["pins:{$ada}: there is no status $old"]),
    (&["COPY pins:{$ada} pins:{$old}"], &["pins:{$old}: status $status is by $ada", "pins:{$old}: there is no such account"]),
    // Each account that likes a deleted status is a separate finding.
    (&["COPY likers:{$status} likers:{$gone}"], &[]),
    (&["SET gone:{$status} 1 PX 90000"], &["gone:{$status}: status:{$status} exists as well"]),
    (&["SET gone:{$gone} ada PX 90000"], &["gone:{$gone}: is not a tombstone"]),
    (&["PERSIST gone:{$gone}"], &["gone:{$gone}: has no time to live"]),
];

pub(super) const OF_IDEMPOTENCY: &[Case] = &[
    (&["PERSIST idempotency:{$ada}"], &["idempotency:{$ada}: has no time to live"]),
    (&["PERSIST idempotent:{$ada}"], &["idempotent:{$ada}: has no time to live"]),
    (&["HSET idempotency:{$ada} $record broken"], &["idempotency:{$ada}: $record in it has no valid fingerprint and id"]),
    (
        &["HSET|idempotency:{$ada}|in the clear|$record 5", "ZADD|idempotent:{$ada}|5|in the clear"],
        &["idempotency:{$ada}: contains an invalid digest"],
    ),
    (
        &["ZADD idempotent:{$ada} 5 $record,", "ZREM idempotent:{$ada} $record"],
        &["idempotency:{$ada}: $record has no time in idempotent:{$ada}"],
    ),
    (
        &["DEL idempotent:{$ada}"],
        &[
            "idempotency:{$ada}: $record has no time in idempotent:{$ada}",
            "idempotency:{$ada}: has another size than idempotent:{$ada}",
        ],
    ),
    (&["DEL idempotency:{$ada}"], &["idempotent:{$ada}: has another size than idempotency:{$ada}"]),
    (
        &["EVAL|for n = 1, 10000 do local id = string.format('%022d', n) redis.call('HSET', KEYS[1], id, id .. ' ' .. n) \
            redis.call('ZADD', KEYS[2], n, id) end|2|idempotency:{$ada}|idempotent:{$ada}"],
        &["idempotency:{$ada}: holds more than 10000"],
    ),
    (
        &["COPY idempotency:{$ada} idempotency:{$old}", "COPY idempotent:{$ada} idempotent:{$old}"],
        &["idempotency:{$old}: there is no such account"],
    ),
    (&["SET idempotency:{$bob} 1 PX 90000"], &["idempotency:{$bob}: should be a hash"]),
    (&["SET idempotency:{$ada}:$record 1 PX 90000"], &["idempotency:{$ada}:$record: is not a key of Waxwing"]),
];

pub(super) const OF_LISTS: &[Case] = &[
    (&["HDEL list:{$list} name"], &["list:{$list}: has no name"]),
    (&["HSET list:{$list} edges some"], &["list:{$list}: its edges is not a number"]),
    (&["HSET list:{$list} id 7"], &["list:{$list}: has another id"]),
    (&["EXPIRE list:{$list} 1000"], &["list:{$list}: should have no time to live"]),
    (
        &["HSET list:{$list} uid $old"],
        &[
            "list:{$list}: its owner $old does not exist",
            "list:{$list}: is missing in lists:{$old}",
            "lists:{$ada}: list $list belongs to $old",
        ],
    ),
    (&["ZREM lists:{$ada} $list"], &["list:{$list}: is missing in lists:{$ada}"]),
    (
        &["DEL list:{$list}"],
        &[
            "lists:{$ada}: there is no list $list",
            "members:{$list}: there is no such list",
            "timeline:{$list}: there is no such account or list",
        ],
    ),
    (&["ZADD lists:{$ada} $old $old"], &["lists:{$ada}: there is no list $old"]),
    (&["ZADD lists:{$ada} 77 $list"], &["lists:{$ada}: list $list is not at its own position"]),
    (
        &["COPY lists:{$ada} lists:{$old}"],
        &["lists:{$old}: there is no such account", "lists:{$old}: list $list belongs to $ada"],
    ),
    (&["ZREM memberships:{$bob} $list"], &["members:{$list}: $bob is in it, but memberships:{$bob} has no $list"]),
    (
        &["ZREM members:{$list} $bob"],
        &[
            "memberships:{$bob}: $list is in it, but members:{$list} has no $bob",
            "timeline:{$list}: status $ofbob is by $bob, who is not a source of the feed",
        ],
    ),
    (&["ZADD members:{$list} $old $bob"], &["members:{$list}: $bob is in it with another membership than in memberships:{$bob}"]),
    (&["ZADD members:{$list} $old 4242"], &["members:{$list}: 4242 in it is not an account"]),
    (
        &["COPY memberships:{$bob} memberships:{$old}"],
        &["memberships:{$old}: $list is in it, but members:{$list} has no $old", "memberships:{$old}: there is no such account"],
    ),
    (&["ZADD removed:{$list} $old $ada"], &["removed:{$list}: $ada has left it, but statuses of the account were not removed"]),
    (&["ZADD removed:{$old} $young $ada"], &["removed:{$old}: there is no such list"]),
    (&["PERSIST dropped:{$ada}"], &["dropped:{$ada}: has no time to live"]),
    (
        &["EVAL|for n = 1, 20000 do redis.call('ZADD', KEYS[1], 5, n) end|1|dropped:{$ada}"],
        &["dropped:{$ada}: holds more than 20000"],
    ),
    (
        &["DEL memberships:{$cyd}", "SET memberships:{$cyd} 1"],
        &["memberships:{$cyd}: should be a zset", "members:{$list}: $cyd is in it, but memberships:{$cyd} has no $list"],
    ),
];

/// A bucket as a server writes it, and invalid buckets.
pub(super) const OF_RATES: &[Case] = &[
    (&["HSET rate:{$ada}:posts owed 5 at 5 window 90000", "PEXPIRE rate:{$ada}:posts 90000"], &[]),
    (&["HSET rate:{$ada}:posts owed 5 at 5 window 90000"], &["rate:{$ada}:posts: has no time to live"]),
    (
        &["HSET rate:{$ada}:posts owed 5 at 5 window 90000", "PEXPIRE rate:{$ada}:posts 190000"],
        &["rate:{$ada}:posts: has a time to live of more than twice its window"],
    ),
    (
        &["HSET rate:{192.0.2.1}:requests owed 5 at now window 90000", "PEXPIRE rate:{192.0.2.1}:requests 90000"],
        &["rate:{192.0.2.1}:requests: its owed, at or window is not a number"],
    ),
    (
        &["HSET rate:{::/64}:sign-ups owed 5.5 at 5 window 90000", "PEXPIRE rate:{::/64}:sign-ups 90000"],
        &["rate:{::/64}:sign-ups: its owed, at or window is not a number"],
    ),
    (
        &["HSET rate:{$ada}:posts owed 5 window 90000", "PEXPIRE rate:{$ada}:posts 90000"],
        &["rate:{$ada}:posts: its owed, at or window is not a number"],
    ),
    (&["SET rate:{$ada}:posts 1 PX 90000"], &["rate:{$ada}:posts: should be a hash"]),
    (&["HSET rate:{$ada}:sign-ups owed 5 at 5 window 90000"], &["rate:{$ada}:sign-ups: is not a key of Waxwing"]),
    (&["HSET rate:{ada}:log-ins owed 5 at 5 window 90000"], &["rate:{ada}:log-ins: is not a key of Waxwing"]),
];

pub(super) const OF_HOMES: &[Case] = &[
    (&["ZADD home:{$cyd} $ofbob $ofbob"], &["home:{$cyd}: status $ofbob is by $bob, who is not a source of the feed"]),
    (&["ZADD home:{$cyd} $old $old"], &["home:{$cyd}: there is no status $old"]),
    (&["ZADD home:{$bob} 77 $status"], &["home:{$bob}: status $status is not at its own position"]),
    (
        &["ZADD home:{$old} $ofbob $ofbob"],
        &[
            "home:{$old}: there is no such account or list",
            "home:{$old}: status $ofbob is by $bob, who is not a source of the feed",
        ],
    ),
    (
        &["DEL home:{$bob}", "SET home:{$bob} 1"],
        &[
            "home:{$bob}: should be a zset",
            "user:{$bob}: status $ofbob of $bob is missing in home:{$bob}",
            "user:{$bob}: status $second of $ada is missing in home:{$bob}",
            "user:{$bob}: status $status of $ada is missing in home:{$bob}",
        ],
    ),
    (&["ZREM home:{$cyd} $status"], &["user:{$cyd}: status $status of $ada is missing in home:{$cyd}"]),
    (&["ZREM home:{$ada} $second"], &["user:{$ada}: status $second of $ada is missing in home:{$ada}"]),
    (&["ZREM timeline:{$list} $ofbob"], &["list:{$list}: status $ofbob of $bob is missing in timeline:{$list}"]),
    // Only above the home's lower bound, and not for authors whose statuses are merged when the home is read.
    (&["ZREM home:{$cyd} $status", "HSET feed:{$cyd} floor $second"], &[]),
    (&["DEL home:{$cyd}", "HSET feed:{$cyd} is dropped"], &[]),
    (&["ZREM home:{$cyd} $status", "ZADD marked:{$cyd} $ada $ada"], &[]),
    (
        &["HSET|user:{$ada}|reach|merged 5", "ZADD marked:{$cyd} $ada $ada"],
        &["user:{$bob}: $ada is not in marked:{$bob}, whose statuses are not pushed"],
    ),
    (&["HSET feed:{$bob} is odd"], &["feed:{$bob}: its floor, seen, late, reposts or is cannot be read"]),
    (&["HSET feed:{$bob} late soon"], &["feed:{$bob}: its floor, seen, late, reposts or is cannot be read"]),
    (&["HSET segments:{$bob} 0-0-0-9 x"], &["segments:{$bob}: has no time to live"]),
    (&["SET segments:{$bob} x"], &["segments:{$bob}: should be a hash"]),
    (&["HSET feed:{$bob} floor -1"], &["feed:{$bob}: its floor, seen, late, reposts or is cannot be read"]),
    (&["HSET feed:{$old} seen 1"], &["feed:{$old}: there is no such account or list"]),
    (&["ZADD marked:{$old} 5 5"], &["marked:{$old}: there is no such account or list"]),
    (&["ZADD left:{$old} 5 5"], &["left:{$old}: there is no such account"]),
];

pub(super) const OF_THE_JOURNAL: &[Case] = &[
    (&["HSET journal:{1} 5 nonsense"], &["journal:{1}: entry \"5\" cannot be read"]),
    (
        &["HSET|journal:{1}|5|0 0 {\"stage\":0,\"below\":0,\"mark\":0} {\"Refill\":{\"feed\":{\"Home\":5}}}"],
        &["journal:{1}: entry 5 is in no queue"],
    ),
    (
        &[
            "HSET|journal:{1}|5|0 0 {\"stage\":0,\"below\":0,\"mark\":0} {\"Refill\":{\"feed\":{\"Home\":5}}}",
            "ZADD due:{1}:long 7 5",
        ],
        &["journal:{1}: entry 5 is overdue: does a server run?"],
    ),
    (&["HSET dead:{1} 5 why"], &["dead:{1}: entry 5 could not be settled: see `waxwing tasks`"]),
    (&["SET dead:{2} 5"], &["dead:{2}: should be a hash"]),
    (&["HSET dead:{1}:mail 5 why"], &["dead:{1}:mail: entry 5 could not be settled: see `waxwing tasks`"]),
    (&["SET dead:{2}:mail 5"], &["dead:{2}:mail: should be a hash"]),
    (&["SET due:{2}:short 5"], &["due:{2}:short: should be a zset"]),
    (&["SET due:{2}:other 5"], &["due:{2}:other: is not a key of Waxwing"]),
    (&["SET settled:{2} 5"], &["settled:{2}: should be a zset"]),
    (&["HSET copies:{0} 5 nonsense"], &["copies:{0}: the copy \"5\" cannot be read"]),
    (
        &["HSET|copies:{0}|5|0 0 {\"stage\":0,\"below\":0,\"mark\":0} 7:0 {\"Refill\":{\"feed\":{\"Home\":5}}}"],
        &["copies:{0}: the entry of the copy 5 does not exist: is a server running?"],
    ),
    (&["SET journal:{8} 5"], &["journal:{8}: is not a key of Waxwing"]),
];

async fn check_cases(cases: &[Case]) {
    let scene = Scene::create_with_votes_published().await;
    let sound = scene.app.redis.snapshot();
    for (commands, expected) in cases {
        assert_eq!(scene.findings(QUICK).await, [""; 0], "before {commands:?}");
        scene.run_commands(commands);
        let mut expected: Vec<String> = expected.iter().map(|line| scene.substitute(line)).collect();
        expected.sort();
        assert_eq!(scene.findings(QUICK).await, expected, "{commands:?}");
        scene.app.redis.restore(&sound);
    }
}

pub(super) const OF_COMMENTS: &[Case] = &[
    (&["HSET status:{$second} comments 5"], &["replies:{$second}:new: does not match the counts of status:{$second}"]),
    (
        &["HSET comment:{$second}:$c1 replies 2"],
        &[
            "replies:{$second}:new: the counts of $c1 are not those of the comments below it",
            ORDER_C1,
            "replies:{$second}:new: $c1 is at a wrong position in replies:{$second}:talk",
        ],
    ),
    (
        &["HSET comment:{$second}:$c1 places 2"],
        &["replies:{$second}:new: the counts of $c1 are not those of the comments below it"],
    ),
    (
        &["HSET comment:{$second}:$c1 descendants 0"],
        &["replies:{$second}:new: the counts of $c1 are not those of the comments below it"],
    ),
    (
        &["HSET comment:{$second}:$c1 others 1"],
        &["replies:{$second}:new: the counts of $c1 are not those of the comments below it"],
    ),
    (&["HSET comment:{$second}:$c1 told soon"], &["comment:{$second}:$c1: its told is not a number"]),
    (&["HSET comment:{$second}:$c1 id 7"], &["comment:{$second}:$c1: has another id"]),
    (
        &["HSET comment:{$second}:$c2 message x uid $cyd"],
        &[
            "comment:{$second}:$c2: is deleted, but has a text or an author",
            "replies:{$second}:new: the counts of $c2 are not those of the comments below it",
            "comment:{$second}:$c2: is missing in commented:{$cyd}",
            "replies:{$second}:new: the counts of $c1 are not those of the comments below it",
            "replies:{$second}:new: does not match the counts of status:{$second}",
        ],
    ),
    (&["HDEL comment:{$second}:$c3 message"], &["comment:{$second}:$c3: has no author or no message"]),
    (&["DEL votes:{$second}:$c1"], &["comment:{$second}:$c1: its votes are missing"]),
    (&["HSET votes:{$second}:$c1 x 1"], &["votes:{$second}:$c1: does not match the counts of comment:{$second}:$c1"]),
    (&["HSET votes:{$second}:$c1 x 2"], &["votes:{$second}:$c1: contains an invalid vote"]),
    (&["HSET votes:{$second}:$c2 x 1"], &["votes:{$second}:$c2: there is no such comment, or it is deleted"]),
    (
        &["HSET comment:{$second}:$c1 up 2"],
        &[
            "votes:{$second}:$c1: does not match the counts of comment:{$second}:$c1",
            "replies:{$second}:new: $c1 is not in replies:{$second}:top, or not where it should be",
            "replies:{$second}:new: $c1 is at a wrong position in replies:{$second}:top",
            "replies:{$second}:new: $c1 is not in replies:{$second}:split, or not where it should be",
            "replies:{$second}:new: $c1 is at a wrong position in replies:{$second}:split",
        ],
    ),
    (
        &["DEL commented:{$bob}"],
        &["comment:{$second}:$c1: is missing in commented:{$bob}", "comment:{$second}:$c3: is missing in commented:{$bob}"],
    ),
    (
        &["COPY commented:{$bob} commented:{$ada}"],
        &[
            "commented:{$ada}: comment:{$second}:$c1 is not a comment of the account",
            "commented:{$ada}: comment:{$second}:$c3 is not a comment of the account",
        ],
    ),
    (&["ZADD commented:{$bob} $old x"], &["commented:{$bob}: contains an invalid member"]),
    (
        &["DEL comment:{$second}:$c2"],
        &[
            "replies:{$second}:new: $c2 in it is not a comment",
            "replies:{$second}:new: $c2 in replies:{$second}:top is not a comment",
            "replies:{$second}:new: $c2 in replies:{$second}:talk is not a comment",
            "replies:{$second}:new: $c2 in replies:{$second}:split is not a comment",
            "replies:{$second}:new: $c2 is not in replies:{$second}:top, or not where it should be",
            "replies:{$second}:new: $c2 is not in replies:{$second}:talk, or not where it should be",
            "replies:{$second}:new: $c2 is not in replies:{$second}:split, or not where it should be",
            "replies:{$second}:new: an ancestor of $c3 is missing",
            "replies:{$second}:new: the counts of $c1 are not those of the comments below it",
            "replies:{$second}:new: does not match the counts of status:{$second}",
        ],
    ),
    (
        &["DEL replies:{$second}:talk"],
        &[
            "replies:{$second}:new: $c1 is not in replies:{$second}:talk, or not where it should be",
            "replies:{$second}:new: $c2 is not in replies:{$second}:talk, or not where it should be",
            "replies:{$second}:new: $c3 is not in replies:{$second}:talk, or not where it should be",
        ],
    ),
    (&["ZADD replies:{$second}:top 0 short"], &["replies:{$second}:new: 0 in replies:{$second}:top is not a comment"]),
    (
        &["ZADD replies:{$second}:top 1 short"],
        &[
            "replies:{$second}:new: 0 in replies:{$second}:top is not a comment",
            "replies:{$second}:new: replies:{$second}:top has scores that are not 0",
        ],
    ),
    (&["ZADD fallen:{$second} $old $old"], &["fallen:{$second}: $old was removed, but comments below it remain"]),
    (&["PERSIST discussion:{$second}"], &["discussion:{$second}: has no time to live"]),
    (&["HSET thread:{$second} last 1-1"], &["discussion:{$second}: its newest event is not the last in thread:{$second}"]),
    (&["HSET thread:{$old} last 1-1"], &["thread:{$old}: there is no such status"]),
    (&["COPY comment:{$second}:$c1 comment:{$old}:$c1"], &["comment:{$old}:$c1: there is no such status"]),
    (&["SET replies:{$second}:odd 1"], &["replies:{$second}:odd: is not a key of Waxwing"]),
    (&["SET comment:{$second} 1"], &["comment:{$second}: is not a key of Waxwing"]),
];

const ENDED: &str = "sessions_ended:{$ada}: has sessions that a change of the password has ended";
const ORDER_C1: &str = "replies:{$second}:new: $c1 is not in replies:{$second}:talk, or not where it should be";

#[tokio::test]
async fn data_of_processes_is_checked() {
    check_cases(OF_THE_PROCESS).await;
}

#[tokio::test]
async fn accounts_are_checked() {
    check_cases(OF_ACCOUNTS).await;
}

#[tokio::test]
async fn sessions_are_checked() {
    check_cases(OF_SESSIONS).await;
}

#[tokio::test]
async fn accounts_of_other_systems_are_checked() {
    check_cases(OF_IDENTITIES).await;
}

#[tokio::test]
async fn server_keys_are_checked() {
    check_cases(OF_SERVER_KEYS).await;
}

#[tokio::test]
async fn broken_mail_addresses_are_reported() {
    check_cases(OF_EMAILS).await;
}

#[tokio::test]
async fn follows_are_checked() {
    check_cases(OF_FOLLOWS).await;
}

#[tokio::test]
async fn blocks_are_checked() {
    check_cases(OF_BLOCKS).await;
}

#[tokio::test]
async fn follow_requests_are_checked() {
    check_cases(OF_REQUESTS).await;
}

#[tokio::test]
async fn mutes_are_checked() {
    check_cases(OF_MUTES).await;
}

#[tokio::test]
async fn friends_are_checked() {
    check_cases(OF_FRIENDS).await;
}

#[tokio::test]
async fn statuses_are_checked() {
    check_cases(OF_STATUSES).await;
}

#[tokio::test]
async fn comments_are_checked() {
    check_cases(OF_COMMENTS).await;
}

#[tokio::test]
async fn idempotency_keys_are_checked() {
    check_cases(OF_IDEMPOTENCY).await;
}

#[tokio::test]
async fn lists_are_checked() {
    check_cases(OF_LISTS).await;
    let scene = Scene::create_with_votes_published().await;
    // Limits, with members that are no accounts: other findings do not matter here.
    scene.run_commands(&[
        "EVAL|for n = 1, 50 do redis.call('ZADD', KEYS[1], n, n) end|1|lists:{$ada}",
        "EVAL|for n = 1, 499 do redis.call('ZADD', KEYS[1], n, n) end|1|members:{$list}",
    ]);
    let found = scene.findings(QUICK).await;
    for line in ["lists:{$ada}: holds more than 50", "members:{$list}: holds more than 500"] {
        assert!(found.contains(&scene.substitute(line)), "{line}: {found:?}");
    }
}

#[tokio::test]
async fn buckets_are_checked() {
    check_cases(OF_RATES).await;
}

#[tokio::test]
async fn the_journal_is_checked() {
    check_cases(OF_THE_JOURNAL).await;
}

#[tokio::test]
async fn homes_are_checked() {
    check_cases(OF_HOMES).await;
    let scene = Scene::create_with_votes_published().await;
    let found = scene.findings(AuditOptions { home_window: Some(1), ..QUICK }).await;
    let mut expected = ["$ada", "$bob", "$cyd"].map(|who| scene.substitute(&format!("home:{{{who}}}: holds more than 1")));
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(scene.findings(AuditOptions { home_window: None, ..QUICK }).await, [""; 0]);
}
