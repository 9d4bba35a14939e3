-- replace_score.lua - sets a member's score to a new id, if its score is no id or not unique.
-- KEYS 1 set:{tag}
-- ARGV 1 member  2 id
-- Returns 1 | 0 its score is an id and unique, or it is no member
local text = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not text then return 0 end
local score = tonumber(text)
if score >= 1 and score < 9007199254740992 and score % 1 == 0 and redis.call('ZCOUNT', KEYS[1], text, text) == 1 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
