-- vote_comment.lua - votes on a comment, or takes a vote back. An event about votes is published at most once in an interval; changes in
-- between are recorded as pending.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 voter, 8 bytes  8 vote: 1 | -1 | 0 none  9 the interval, ms
-- Returns 1 | 0 no such comment | the time at which an event is due, ms, if this call has recorded it as pending
local fields = redis.call('HMGET', KEYS[12], 'uid', 'up', 'down', 'told')
if not fields[1] or not is_attached() then return 0 end
local before, after = tonumber(redis.call('HGET', KEYS[13], ARGV[7]) or 0), tonumber(ARGV[8])
if before == after then return 1 end
if after == 0 then redis.call('HDEL', KEYS[13], ARGV[7]) else redis.call('HSET', KEYS[13], ARGV[7], ARGV[8]) end
local was_up, was_down = tonumber(fields[2] or 0), tonumber(fields[3] or 0)
local up = was_up + (after == 1 and 1 or 0) - (before == 1 and 1 or 0)
local down = was_down + (after == -1 and 1 or 0) - (before == -1 and 1 or 0)
if up ~= was_up then redis.call('HINCRBY', KEYS[12], 'up', up - was_up) end
if down ~= was_down then redis.call('HINCRBY', KEYS[12], 'down', down - was_down) end
local parent, own = ancestor(DEPTH), ARGV[2]
move(7, parent .. score_key(was_up, was_down) .. own, parent .. score_key(up, down) .. own)
move(9, parent .. controversy_key(was_up, was_down) .. own, parent .. controversy_key(up, down) .. own)
local due = tonumber(fields[4] or 0) + ARGV[9]
if due <= tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[12], 'told', ARGV[4])
  -- The event covers pending changes, so no other event is due.
  redis.call('ZREM', KEYS[5], ARGV[3])
  append('v', 0)
  return 1
end
if redis.call('ZADD', KEYS[5], 'NX', due, ARGV[3]) == 0 then return 1 end
redis.call('PEXPIRE', KEYS[5], ARGV[5])
return string.format('%.0f', due)
