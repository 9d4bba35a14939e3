-- end_mutes.lua - removes mutes that have ended, unless they were renewed.
-- KEYS 1 mutes:{a}  2 mute_ends:{a}  3 user:{a}
-- ARGV 1 now, ms  2… accounts
-- Returns the accounts whose mutes are left
local accounts = {unpack(ARGV, 2)}
local ends, left, ended = redis.call('ZMSCORE', KEYS[2], unpack(accounts)), {}, {}
for at, account in ipairs(accounts) do
  local list = ends[at] and tonumber(ends[at]) <= tonumber(ARGV[1]) and ended or left
  list[#list + 1] = account
end
if #ended == 0 then return left end
local removed = redis.call('ZREM', KEYS[1], unpack(ended))
redis.call('ZREM', KEYS[2], unpack(ended))
if removed > 0 and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'mutes', -removed)
  redis.call('HINCRBY', KEYS[3], 'relations', 1)
end
return left
