-- push_home.lua - puts statuses of an author into a home, while its owner follows that author (or is the author).
-- KEYS 1 home:{id}  2 following:{id}
-- ARGV 1 author  2 the follow that must stand, 0 for any, -1 for the owner's own  3 window  4… status ids
-- Returns 1 | 0 not followed (any more)
if ARGV[2] ~= '-1' then
  local follow = redis.call('ZSCORE', KEYS[2], ARGV[1])
  if not follow or (ARGV[2] ~= '0' and tonumber(follow) ~= tonumber(ARGV[2])) then return 0 end
end
local entries = {}
for i = 4, #ARGV do
  entries[#entries + 1] = ARGV[i]
  entries[#entries + 1] = ARGV[i]
end
redis.call('ZADD', KEYS[1], unpack(entries))
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
return 1
