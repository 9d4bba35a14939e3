//! Broken invariants of statuses, comments and homes.

use super::Case;

pub(in crate::fsck) const OF_STATUSES: &[Case] = &[
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
    (&["ZADD profile:{$ada} 77 $status"], &["profile:{$ada}: the score of status $status is not its id"]),
    (
        &["COPY profile:{$bob} profile:{$old}"],
        &["profile:{$old}: status $ofbob is by $bob", "profile:{$old}: there is no such account"],
    ),
    (
        &["ZADD likers:{$status} $old 4242", "HINCRBY status:{$status} likes 1"],
        &["likers:{$status}: member 4242 is not an account"],
    ),
    (&["ZADD likers:{$status} 1.5 x", "HINCRBY status:{$status} likes 1"], &["likers:{$status}: entry \"x\" is no pair of ids"]),
    (
        &["ZADD likers:{$status} $old $ada $old $cyd", "HINCRBY status:{$status} likes 2"],
        &[
            "likers:{$status}: two entries have the position $old",
            "likers:{$status}: contains $ada, but liked:{$ada} does not contain $status",
            "likers:{$status}: contains $cyd, but liked:{$cyd} does not contain $status",
        ],
    ),
    (&["ZREM liked:{$bob} $status"], &["likers:{$status}: contains $bob, but liked:{$bob} does not contain $status"]),
    (&["ZADD liked:{$bob} $old $second"], &["liked:{$bob}: contains $second, but likers:{$second} does not contain $bob"]),
    (&["ZADD liked:{$bob} $old $status"], &["likers:{$status}: the like id of $bob differs from that in liked:{$bob}"]),
    (
        &["COPY liked:{$bob} liked:{$old}"],
        &["liked:{$old}: contains $status, but likers:{$status} does not contain $old", "liked:{$old}: there is no such account"],
    ),
    (&["ZADD bookmarkers:{$status} $old 4242"], &["bookmarkers:{$status}: member 4242 is not an account"]),
    (
        &["ZREM bookmarks:{$bob} $status", "HINCRBY user:{$bob} bookmarks -1"],
        &["bookmarkers:{$status}: contains $bob, but bookmarks:{$bob} does not contain $status"],
    ),
    (
        &["ZADD bookmarks:{$bob} $old $second", "HINCRBY user:{$bob} bookmarks 1"],
        &["bookmarks:{$bob}: contains $second, but bookmarkers:{$second} does not contain $bob"],
    ),
    (
        &["ZADD bookmarks:{$bob} $old $status"],
        &["bookmarkers:{$status}: the bookmark id of $bob differs from that in bookmarks:{$bob}"],
    ),
    (
        &["COPY bookmarks:{$bob} bookmarks:{$old}"],
        &[
            "bookmarks:{$old}: contains $status, but bookmarkers:{$status} does not contain $old",
            "bookmarks:{$old}: there is no such account",
        ],
    ),
    (&["HSET user:{$bob} bookmarks 5"], &["user:{$bob}: its bookmarks is not the size of bookmarks:{$bob}"]),
    (&["HSET user:{$ada} bookmarks 5"], &["user:{$ada}: its bookmarks is not the size of bookmarks:{$ada}"]),
    (
        &["ZADD reposts:{$bob} $old $second", "HINCRBY user:{$bob} reposts 1"],
        &["reposts:{$bob}: contains $second, but reposters:{$second} does not contain $bob"],
    ),
    (
        &["ZADD reposters:{$status} $old $bob", "HINCRBY status:{$status} reposts 1"],
        &["reposters:{$status}: contains $bob, but reposts:{$bob} does not contain $status"],
    ),
    (&["HSET status:{$status} reposts 5"], &["status:{$status}: its reposts is not the size of reposters:{$status}"]),
    (&["HSET status:{$ofbob} quote $second"], &["status:{$ofbob}: is missing in quotes:{$second}"]),
    (
        &["ZADD quotes:{$second} $ofbob $ofbob", "HINCRBY status:{$second} quotes 1"],
        &["quotes:{$second}: member $ofbob does not quote the status"],
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

pub(in crate::fsck) const OF_HOMES: &[Case] = &[
    (&["ZADD home:{$cyd} $ofbob $ofbob"], &["home:{$cyd}: status $ofbob is by $bob, who is not a source of the feed"]),
    (&["ZADD home:{$cyd} $old $old"], &["home:{$cyd}: there is no status $old"]),
    (&["ZADD home:{$bob} 77 $status"], &["home:{$bob}: the score of status $status is not its id"]),
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

pub(in crate::fsck) const OF_COMMENTS: &[Case] = &[
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
            "replies:{$second}:new: member $c2 is not a comment",
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

const ORDER_C1: &str = "replies:{$second}:new: $c1 is not in replies:{$second}:talk, or not where it should be";
