-- remove_deleted_friend.lua - removes a deleted account from the friends and the friend requests of another. Follows are removed elsewhere.
-- KEYS 1 friends:{a}  2 friend_requests_sent:{a}  3 friend_requests_received:{a}  4 friend_slots:{a}  5 user:{a}
-- ARGV 1 b
-- Returns 1 | 0 there was no friendship
local removed = redis.call('ZREM', KEYS[1], ARGV[1])
for at = 2, 4 do redis.call('ZREM', KEYS[at], ARGV[1]) end
if removed == 1 and redis.call('EXISTS', KEYS[5]) == 1 then
  redis.call('HINCRBY', KEYS[5], 'friends', -1)
  redis.call('HINCRBY', KEYS[5], 'relations', 1)
end
return removed
