-- end_mutes.lua - removes mutes that have ended, unless they were renewed.
-- KEYS 1 mutes:{a}  2 mute_ends:{a}  3 user:{a}
-- ARGV 1 now, ms  2… accounts
-- Returns the accounts whose mutes are left
local left, removed = {}, 0
for at = 2, #ARGV do
  local ends = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if ends and tonumber(ends) <= tonumber(ARGV[1]) then
    removed = removed + redis.call('ZREM', KEYS[1], ARGV[at])
    redis.call('ZREM', KEYS[2], ARGV[at])
  else
    left[#left + 1] = ARGV[at]
  end
end
if removed > 0 and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'mutes', -removed)
  redis.call('HINCRBY', KEYS[3], 'relations', 1)
end
return left
