-- email_notice.lua - stores the recipient's address of a message about a change of an account, in the key `at`. At the bound of 100 it replaces the oldest one,
-- which is not sent.
-- KEYS none of its own
-- ARGV those of the script that follows
-- Returns nothing: it begins other scripts
local function store_notice(at, id, address, ttl)
  if id == '0' then return end
  local ids = redis.call('HKEYS', KEYS[at])
  if #ids >= 100 then
    -- A shorter id is a lower number. The lowest id is that of the oldest message.
    table.sort(ids, function(a, b) return #a < #b or #a == #b and a < b end)
    for n = 1, #ids - 99 do redis.call('HDEL', KEYS[at], ids[n]) end
  end
  redis.call('HSET', KEYS[at], id, address)
  redis.call('PEXPIRE', KEYS[at], ttl)
end
