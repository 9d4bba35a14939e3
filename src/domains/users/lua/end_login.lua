-- end_login.lua - ends the claim of an account on a login that it has changed: the login is reserved for it until a time.
-- KEYS 1 users:{shard}
-- ARGV 1 login in lower case  2 id  3 since when the account had it, ms  4 until when it is reserved, ms  5 the version of the change
-- Returns 1 | 0 it was ended before, or the account has claimed it again
local periods = read_periods(ARGV[1])
local last = periods[#periods]
local is_own = last and last.id == ARGV[2]
if is_own and tonumber(last.version) >= tonumber(ARGV[5]) then return 0 end
local from = ARGV[3]
if is_own and last.to == '0' then
  from = last.from
  table.remove(periods)
end
-- The account has taken the login back while it was reserved: the two periods are joined.
local before = periods[#periods]
if before and before.id == ARGV[2] and tonumber(before.to) >= tonumber(from) then
  from = before.from
  table.remove(periods)
end
periods[#periods + 1] = {id = ARGV[2], from = from, to = ARGV[4], version = ARGV[5]}
write_periods(ARGV[1], periods, ARGV[2])
return 1
