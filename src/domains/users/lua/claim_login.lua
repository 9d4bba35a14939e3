-- claim_login.lua - claims a login for an account, if it is free or an abandoned account has it.
-- KEYS 1 users:{shard}  2 freed:{shard}:digest
-- ARGV 1 login in lower case  2 id  3 the abandoned claimant's id, 0 for none  4 now, ms  5 for a change of the login: its version  6 and since when, ms
-- Returns the id that holds the login | 0 it is reserved after a deletion | -1 the account has made a later change
local login, id, now = ARGV[1], ARGV[2], tonumber(ARGV[4])
if tonumber(redis.call('GET', KEYS[2]) or 0) > now then return '0' end
local holder = redis.call('HGET', KEYS[1], login)
local periods = read_periods(login)
local last = periods[#periods]
if not holder and last and last.id ~= id and tonumber(last.to) > now then return last.id end
if holder and holder ~= id and holder ~= ARGV[3] then return holder end
if last and last.to == '0' and last.id ~= id then
  last.to = ARGV[4]
  write_periods(login, periods)
end
if ARGV[5] then
  if last and last.id == id then
    if tonumber(last.version) > tonumber(ARGV[5]) then return '-1' end
    if last.to == '0' then table.remove(periods) end
  end
  periods[#periods + 1] = {id = id, from = ARGV[6], to = '0', version = ARGV[5]}
  write_periods(login, periods)
end
redis.call('HSET', KEYS[1], login, id)
return id
