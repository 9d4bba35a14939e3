-- set_reply_count.lua - sets the number of replies of a status.
-- KEYS 1 status:{id}
-- ARGV 1 the number  2 1 to raise the stored number only, 0 to set it
-- Returns 1 | 0 no such status
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[2] == '1' and tonumber(redis.call('HGET', KEYS[1], 'replies') or 0) >= tonumber(ARGV[1]) then return 1 end
if ARGV[1] == '0' then redis.call('HDEL', KEYS[1], 'replies') else redis.call('HSET', KEYS[1], 'replies', ARGV[1]) end
return 1
