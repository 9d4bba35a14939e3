-- claim_login.lua - claims a login for an account, if it is free or an abandoned account has it.
-- KEYS 1 users:{shard}  2 freed:{shard}:digest
-- ARGV 1 login in lower case  2 id  3 the abandoned claimant's id, 0 for none  4 now, ms  5 the version of the account's logins; for a change, of the change  6 1 for a change
-- Returns the id that holds the login | 0 it is reserved after a deletion | -1 the account has made a later change
local login, id, abandoned, now, version = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(now) then return '0' end
local holder = redis.call('HGET', KEYS[1], login)
local periods = read_periods(login)
local last = periods[#periods]
-- While the last period is open, or the login is reserved for its account, that account has the login even if the claim is lost.
if not holder and last and (last.to == '0' or tonumber(last.to) > tonumber(now)) then holder = last.id end
if holder and holder ~= id and holder ~= abandoned then return holder end
if last and last.id == id and tonumber(last.version) > version then return '-1' end
if last and last.to == '0' and last.id ~= id then
  if last.id == abandoned then table.remove(periods) else last.to = now end
  write_periods(login, periods)
end
if ARGV[6] == '1' then
  if last and last.to == '0' and last.id == id then table.remove(periods) end
  periods[#periods + 1] = {id = id, from = now, to = '0', version = ARGV[5]}
  write_periods(login, periods)
end
redis.call('HSET', KEYS[1], login, id)
return id
