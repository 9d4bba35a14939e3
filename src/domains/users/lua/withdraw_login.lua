-- withdraw_login.lua - withdraws the claim of a change of the login that was not made.
-- KEYS 1 users:{shard}
-- ARGV 1 login in lower case  2 id  3 the version of the change
-- Returns 1 | 0 the claim is another one
local periods = read_periods(ARGV[1])
local last = periods[#periods]
if not last or last.id ~= ARGV[2] or last.to ~= '0' or last.version ~= ARGV[3] then return 0 end
table.remove(periods)
write_periods(ARGV[1], periods, ARGV[2])
return 1
