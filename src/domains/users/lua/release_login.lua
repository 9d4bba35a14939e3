-- release_login.lua - releases the claim on a login of a deleted account, or on a former login that its account drops, and removes the account's id from
-- the periods in which it had the login.
-- KEYS 1 users:{shard}  2 freed:{shard}:digest
-- ARGV 1 login in lower case  2 id  3 now, ms  4 ms: a text does not mention an account that claims the login at least this long after the text was written
--      5 for an account that exists, the version of the former login: nothing changes if the account claims the login, or has had it after that version
-- Returns 1 | 0 another account has the login, or no account has it | -1 nothing has changed, because of ARGV 5
local periods, has_changed = read_periods(ARGV[1]), false
local claimant, now = redis.call('HGET', KEYS[1], ARGV[1]), tonumber(ARGV[3])
local last = periods[#periods]
if ARGV[5] and (claimant == ARGV[2] or (last and last.id == ARGV[2] and tonumber(last.version) > tonumber(ARGV[5]))) then return -1 end
local is_needed = claimant and claimant ~= ARGV[2]
-- The login cannot be claimed before this time. A text that was written at least ARGV 4 before this time does not mention the next account with the login.
local free_from = math.max(now, tonumber(redis.call('GET', KEYS[2]) or 0))
for _, it in ipairs(periods) do
  if it.id == ARGV[2] then
    it.id, has_changed = '0', true
    if it.to == '0' then it.to = ARGV[3] end
  end
  is_needed = is_needed or it.id ~= '0' or math.min(tonumber(it.to), now) + tonumber(ARGV[4]) > free_from
end
if has_changed then write_periods(ARGV[1], is_needed and periods or {}) end
if claimant ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
