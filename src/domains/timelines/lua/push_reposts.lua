-- push_reposts.lua - adds reposts of an account to a feed, if the account is one of its sources or its owner. Statuses have a script of their own,
-- so that reposts do not make it slower.
-- KEYS 1 home:{id}, or timeline:{id}  2 following:{id}, or members:{id}  3 feed:{id}  4 user:{id}, or list:{id}
-- ARGV 1 reposter  2 the follow that must exist, 0 for any, -1 for the owner's own reposts  3 window  4 maximum number of entries
--      5 a feed that was created and last read before this time is dropped, ms  6 when the feed was created, ms  7… pairs: repost id, status:reposter
-- Returns 1 | 0 the reposter is not a source, or the owner was deleted | 2 the feed is dropped
if redis.call('EXISTS', KEYS[4]) == 0 then return 0 end
if ARGV[2] ~= '-1' then
  local follow = redis.call('ZSCORE', KEYS[2], ARGV[1])
  if not follow or (ARGV[2] ~= '0' and tonumber(follow) ~= tonumber(ARGV[2])) then return 0 end
end
-- Set also for a dropped feed, since its rebuild reads reposts only if this field is set. Segments that were merged before contain no reposts.
if redis.call('HSET', KEYS[3], 'reposts', 1) == 1 then redis.call('HINCRBY', KEYS[3], 'late', 1) end
local state = redis.call('HMGET', KEYS[3], 'floor', 'seen', 'is')
if state[3] == 'dropped' then return 2 end
if tonumber(state[2] or 0) < tonumber(ARGV[5]) and tonumber(ARGV[6]) < tonumber(ARGV[5]) then
  redis.call('UNLINK', KEYS[1])
  redis.call('HSET', KEYS[3], 'is', 'dropped')
  redis.call('HDEL', KEYS[3], 'floor')
  return 2
end
local floor = state[3] and 0 or tonumber(state[1] or 0)
local entries = {}
for i = 7, #ARGV, 2 do
  if tonumber(ARGV[i]) >= floor then
    entries[#entries + 1] = ARGV[i]
    entries[#entries + 1] = ARGV[i + 1]
  end
end
-- Segments that were merged before do not contain reposts that come below the floor.
if #entries < #ARGV - 6 then redis.call('HINCRBY', KEYS[3], 'late', 1) end
if #entries == 0 then return 1 end
-- A repost that was undone and made again has the later id, regardless of the order of the two pushes.
redis.call('ZADD', KEYS[1], 'GT', unpack(entries))
if redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[4]) then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
  redis.call('HSET', KEYS[3], 'floor', redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
end
return 1
