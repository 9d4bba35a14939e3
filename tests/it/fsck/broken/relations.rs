//! Broken invariants between accounts: follows, follow requests, blocks, mutes, friends, and lists of accounts.

use super::Case;

pub(in crate::fsck) const OF_FOLLOWS: &[Case] = &[
    (&["HSET user:{$ada} followers 9"], &["user:{$ada}: its followers is not the size of followers:{$ada}"]),
    (&["HSET user:{$bob} following 0"], &["user:{$bob}: its following is not the size of following:{$bob}"]),
    (
        &["ZREM followers:{$ada} $bob", "HINCRBY user:{$ada} followers -1"],
        &["following:{$bob}: contains $ada, but followers:{$ada} does not contain $bob"],
    ),
    (
        &["ZREM following:{$bob} $ada", "HINCRBY user:{$bob} following -1"],
        &[
            "followers:{$ada}: contains $bob, but following:{$bob} does not contain $ada",
            "home:{$bob}: status $second is by $ada, who is not a source of the feed",
            "home:{$bob}: status $status is by $ada, who is not a source of the feed",
        ],
    ),
    (&["ZADD followers:{$ada} $old $bob"], &["following:{$bob}: the follow id of $ada differs from that in followers:{$ada}"]),
    (&["ZADD following:{$ada} $old $ada", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: contains its own account"]),
    (
        &["ZADD following:{$ada} $old 12345", "HINCRBY user:{$ada} following 1"],
        &["following:{$ada}: member 12345 is not an account"],
    ),
    (
        &["ZADD followers:{$ada} $old 12345", "HINCRBY user:{$ada} followers 1"],
        &["followers:{$ada}: member 12345 is not an account"],
    ),
    (
        &["COPY following:{$bob} following:{$old}"],
        &[
            "following:{$old}: contains $ada, but followers:{$ada} does not contain $old",
            "following:{$old}: there is no such account",
        ],
    ),
    (
        &["COPY followers:{$ada} followers:{$old}"],
        &[
            "followers:{$old}: contains $bob, but following:{$bob} does not contain $old",
            "followers:{$old}: contains $cyd, but following:{$cyd} does not contain $old",
            "followers:{$old}: there is no such account",
        ],
    ),
    (&["ZADD following:{$ada} -5 $bob", "HINCRBY user:{$ada} following 1"], &["following:{$ada}: has scores that are not ids"]),
    (&["SET following:{$ada} 1"], &["following:{$ada}: should be a zset"]),
];

pub(in crate::fsck) const OF_BLOCKS: &[Case] = &[
    (&["HSET user:{$cyd} blocks 5"], &["user:{$cyd}: its blocks is not the size of blocks:{$cyd}"]),
    (&["HSET user:{$bob} blocked_by 5"], &["user:{$bob}: its blocked_by is not the size of blockers:{$bob}"]),
    (
        &["ZREM blockers:{$bob} $cyd", "HINCRBY user:{$bob} blocked_by -1"],
        &["blocks:{$cyd}: contains $bob, but blockers:{$bob} does not contain $cyd"],
    ),
    (
        &["ZREM blocks:{$cyd} $bob", "HINCRBY user:{$cyd} blocks -1"],
        &["blockers:{$bob}: contains $cyd, but blocks:{$cyd} does not contain $bob"],
    ),
    (&["ZADD blockers:{$bob} $old $cyd"], &["blocks:{$cyd}: the block id of $bob differs from that in blockers:{$bob}"]),
    (&["ZADD blocks:{$bob} $old $bob", "HINCRBY user:{$bob} blocks 1"], &["blocks:{$bob}: contains its own account"]),
    (&["ZADD blocks:{$ada} $old 12345", "HINCRBY user:{$ada} blocks 1"], &["blocks:{$ada}: member 12345 is not an account"]),
    (&["ZADD blocks:{$bob} -5 $cyd", "HINCRBY user:{$bob} blocks 1"], &["blocks:{$bob}: has scores that are not ids"]),
    (
        &["COPY blocks:{$cyd} blocks:{$old}"],
        &["blocks:{$old}: contains $bob, but blockers:{$bob} does not contain $old", "blocks:{$old}: there is no such account"],
    ),
    (
        &[
            "ZADD following:{$bob} $old $cyd",
            "ZADD followers:{$cyd} $old $bob",
            "HINCRBY user:{$bob} following 1",
            "HINCRBY user:{$cyd} followers 1",
        ],
        &["blocks:{$cyd}: member $bob still follows"],
    ),
    (
        &[
            "ZADD blocks:{$cyd} $old $ada",
            "ZADD blockers:{$ada} $old $cyd",
            "HINCRBY user:{$cyd} blocks 1",
            "HINCRBY user:{$ada} blocked_by 1",
        ],
        &[
            "blocks:{$cyd}: member $ada is a friend, or there is a friend request",
            "blocks:{$cyd}: member $ada is still followed",
            "members:{$list}: member $cyd blocks the list's owner or is blocked by the owner",
        ],
    ),
    (&["SET blockers:{$ada} 1"], &["blockers:{$ada}: should be a zset"]),
];

pub(in crate::fsck) const OF_REQUESTS: &[Case] = &[
    (
        &["ZREM follow_requests_received:{$bob} $ada"],
        &["follow_requests_sent:{$ada}: contains $bob, but follow_requests_received:{$bob} does not contain $ada"],
    ),
    (
        &["ZREM follow_requests_sent:{$ada} $bob"],
        &["follow_requests_received:{$bob}: contains $ada, but follow_requests_sent:{$ada} does not contain $bob"],
    ),
    (
        &["ZADD follow_requests_received:{$bob} $old $ada"],
        &["follow_requests_sent:{$ada}: the follow request id of $bob differs from that in follow_requests_received:{$bob}"],
    ),
    (
        &["ZADD follow_requests_sent:{$ada} $old $ada"],
        &["follow_requests_sent:{$ada}: member $ada is public", "follow_requests_sent:{$ada}: contains its own account"],
    ),
    (&["ZADD follow_requests_sent:{$ada} $old 12345"], &["follow_requests_sent:{$ada}: member 12345 is not an account"]),
    (&["HDEL user:{$bob} private"], &["follow_requests_sent:{$ada}: member $bob is public"]),
    (
        &["ZADD follow_requests_sent:{$cyd} $old $ada", "ZADD follow_requests_received:{$ada} $old $cyd"],
        &["follow_requests_sent:{$cyd}: member $ada is followed already"],
    ),
    (
        &["COPY follow_requests_sent:{$ada} follow_requests_sent:{$old}"],
        &[
            "follow_requests_sent:{$old}: contains $bob, but follow_requests_received:{$bob} does not contain $old",
            "follow_requests_sent:{$old}: there is no such account",
        ],
    ),
    (
        &["ZADD follow_requests_sent:{$cyd} $old $bob", "ZADD follow_requests_received:{$bob} $old $cyd"],
        &["blocks:{$cyd}: member $bob has sent or received a follow request"],
    ),
    (&["SET follow_requests_received:{$ada} 1"], &["follow_requests_received:{$ada}: should be a zset"]),
];

pub(in crate::fsck) const OF_MUTES: &[Case] = &[
    (&["HSET user:{$bob} mutes 5"], &["user:{$bob}: its mutes is not the size of mutes:{$bob}"]),
    (&["ZREM muters:{$cyd} $bob"], &["mutes:{$bob}: contains $cyd, but muters:{$cyd} does not contain $bob"]),
    (
        &["ZREM mutes:{$bob} $cyd", "HINCRBY user:{$bob} mutes -1"],
        &["muters:{$cyd}: contains $bob, but mutes:{$bob} does not contain $cyd"],
    ),
    (&["ZADD muters:{$cyd} $old $bob"], &["mutes:{$bob}: the mute id of $cyd differs from that in muters:{$cyd}"]),
    (&["ZADD mutes:{$bob} $old $bob", "HINCRBY user:{$bob} mutes 1"], &["mutes:{$bob}: contains its own account"]),
    (&["ZADD mutes:{$bob} $old 12345", "HINCRBY user:{$bob} mutes 1"], &["mutes:{$bob}: member 12345 is not an account"]),
    (&["ZADD mute_ends:{$bob} 99999999999999 $ada"], &["mute_ends:{$bob}: member $ada is not muted"]),
    (&["ZADD mute_ends:{$cyd} 5 $bob"], &["mute_ends:{$cyd}: the mute of $bob has ended more than a day ago"]),
    (
        &["COPY mutes:{$bob} mutes:{$old}"],
        &["mutes:{$old}: contains $cyd, but muters:{$cyd} does not contain $old", "mutes:{$old}: there is no such account"],
    ),
    (&["ZADD mutes:{$ada} -5 $bob", "HINCRBY user:{$ada} mutes 1"], &["mutes:{$ada}: has scores that are not ids"]),
    (&["SET muters:{$ada} 1"], &["muters:{$ada}: should be a zset"]),
];

pub(in crate::fsck) const OF_FRIENDS: &[Case] = &[
    (&["HSET user:{$ada} friends 5"], &["user:{$ada}: its friends is not the size of friends:{$ada}"]),
    (
        &["ZREM friends:{$cyd} $ada", "HINCRBY user:{$cyd} friends -1"],
        &["friends:{$ada}: contains $cyd, but friends:{$cyd} does not contain $ada"],
    ),
    (
        &["ZADD friends:{$cyd} $old $ada"],
        &[
            "friends:{$ada}: the friendship id of $cyd differs from that in friends:{$cyd}",
            "friends:{$cyd}: the friendship id of $ada differs from that in friends:{$ada}",
        ],
    ),
    (
        &["ZREM friend_requests_received:{$ada} $bob"],
        &["friend_requests_sent:{$bob}: contains $ada, but friend_requests_received:{$ada} does not contain $bob"],
    ),
    (
        &["ZREM friend_requests_sent:{$bob} $ada"],
        &["friend_requests_received:{$ada}: contains $bob, but friend_requests_sent:{$bob} does not contain $ada"],
    ),
    (
        &["ZADD friend_requests_received:{$ada} $old $bob"],
        &["friend_requests_sent:{$bob}: the friend request id of $ada differs from that in friend_requests_received:{$ada}"],
    ),
    (
        &["ZADD friend_requests_sent:{$ada} $old $bob", "ZADD friend_requests_received:{$bob} $old $ada"],
        &[
            "friend_requests_sent:{$ada}: member $bob has sent a request",
            "friend_requests_sent:{$bob}: member $ada has sent a request",
        ],
    ),
    (
        &["ZADD friend_requests_sent:{$cyd} $old $ada", "ZADD friend_requests_received:{$ada} $old $cyd"],
        &["friend_requests_sent:{$cyd}: member $ada is a friend"],
    ),
    (&["ZADD friends:{$ada} $old $ada", "HINCRBY user:{$ada} friends 1"], &["friends:{$ada}: contains its own account"]),
    (&["ZADD friends:{$ada} $old 12345", "HINCRBY user:{$ada} friends 1"], &["friends:{$ada}: member 12345 is not an account"]),
    (&["ZADD friend_slots:{$cyd} $old $ada"], &["friend_slots:{$cyd}: the slot of $ada was not released"]),
    (&["ZADD friend_slots:{$old} $old $ada"], &["friend_slots:{$old}: there is no such account"]),
    (
        &["COPY friends:{$ada} friends:{$old}"],
        &["friends:{$old}: contains $cyd, but friends:{$cyd} does not contain $old", "friends:{$old}: there is no such account"],
    ),
    (&["ZADD friends:{$bob} -5 $ada", "HINCRBY user:{$bob} friends 1"], &["friends:{$bob}: has scores that are not ids"]),
    (&["SET friend_requests_received:{$cyd} 1"], &["friend_requests_received:{$cyd}: should be a zset"]),
];

pub(in crate::fsck) const OF_LISTS: &[Case] = &[
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
    (&["ZADD lists:{$ada} 77 $list"], &["lists:{$ada}: the score of list $list is not its id"]),
    (
        &["COPY lists:{$ada} lists:{$old}"],
        &["lists:{$old}: there is no such account", "lists:{$old}: list $list belongs to $ada"],
    ),
    (&["ZREM memberships:{$bob} $list"], &["members:{$list}: contains $bob, but memberships:{$bob} does not contain $list"]),
    (
        &["ZREM members:{$list} $bob"],
        &[
            "memberships:{$bob}: contains $list, but members:{$list} does not contain $bob",
            "timeline:{$list}: status $ofbob is by $bob, who is not a source of the feed",
        ],
    ),
    (
        &["ZADD members:{$list} $old $bob"],
        &["members:{$list}: the membership id of $bob differs from that in memberships:{$bob}"],
    ),
    (&["ZADD members:{$list} $old 4242"], &["members:{$list}: member 4242 is not an account"]),
    (
        &["COPY memberships:{$bob} memberships:{$old}"],
        &[
            "memberships:{$old}: contains $list, but members:{$list} does not contain $old",
            "memberships:{$old}: there is no such account",
        ],
    ),
    (
        &["ZADD removed:{$list} $old $ada"],
        &["removed:{$list}: $ada has left the list, but statuses of the account were not removed"],
    ),
    (&["ZADD removed:{$old} $young $ada"], &["removed:{$old}: there is no such list"]),
    (&["PERSIST dropped:{$ada}"], &["dropped:{$ada}: has no time to live"]),
    (
        &["EVAL|for n = 1, 20000 do redis.call('ZADD', KEYS[1], 5, n) end|1|dropped:{$ada}"],
        &["dropped:{$ada}: holds more than 20000"],
    ),
    (
        &["DEL memberships:{$cyd}", "SET memberships:{$cyd} 1"],
        &[
            "memberships:{$cyd}: should be a zset",
            "members:{$list}: contains $cyd, but memberships:{$cyd} does not contain $list",
        ],
    ),
];
