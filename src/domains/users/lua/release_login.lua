-- release_login.lua - releases the claim of a deleted account on a login, and removes its id from the times in which it had the login.
-- KEYS 1 users:{shard}
-- ARGV 1 login in lower case  2 id  3 now, ms
-- Returns 1 | 0 another account has it, or none
local periods, has_changed = read_periods(ARGV[1]), false
for _, it in ipairs(periods) do
  if it.id == ARGV[2] then
    it.id, has_changed = '0', true
    if it.to == '0' then it.to = ARGV[3] end
  end
end
if has_changed then write_periods(ARGV[1], periods) end
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
