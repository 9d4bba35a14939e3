-- friends.lua - functions for an account's side of a friendship. The scripts that change it are prefixed with this file and take its keys.
-- KEYS 1 friends:{a}  2 friend_requests_sent:{a}  3 friend_requests_received:{a}  4 friend_slots:{a}  5 user:{a}  6 following:{a}  7 left:{a}
-- ARGV 1 b
-- Returns nothing by itself

-- Writes the friendship with this id, and a follow of b with the same id, unless a follows b already or follows `most` accounts. If a friendship
-- with another id is stored, it has ended and the two became friends again: the new id replaces the stored one.
local function add_friend(id, most)
  local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
  if held and tonumber(held) == tonumber(id) then return end
  redis.call('ZADD', KEYS[1], id, ARGV[1])
  if not held then redis.call('HINCRBY', KEYS[5], 'friends', 1) end
  redis.call('HINCRBY', KEYS[5], 'relations', 1)
  if redis.call('ZSCORE', KEYS[6], ARGV[1]) or redis.call('ZCARD', KEYS[6]) >= tonumber(most) then return end
  redis.call('ZADD', KEYS[6], id, ARGV[1])
  redis.call('HINCRBY', KEYS[5], 'following', 1)
  redis.call('HINCRBY', KEYS[5], 'edges', 1)
end

-- Removes the friendship and the follow of b. From here on b's statuses are hidden in a's home. Returns 1 | 0 there was no friendship.
local function remove_friend()
  if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
  if redis.call('EXISTS', KEYS[5]) == 0 then return 1 end
  redis.call('HINCRBY', KEYS[5], 'friends', -1)
  redis.call('HINCRBY', KEYS[5], 'relations', 1)
  local follow = redis.call('ZSCORE', KEYS[6], ARGV[1])
  if follow then
    redis.call('ZREM', KEYS[6], ARGV[1])
    redis.call('ZADD', KEYS[7], follow, ARGV[1])
    redis.call('HINCRBY', KEYS[5], 'following', -1)
    redis.call('HINCRBY', KEYS[5], 'edges', 1)
  end
  return 1
end
