-- claim_email.lua - claims an address for an account that is about to confirm it, if nobody else has it, and nobody has confirmed it since it became
-- pending.
-- KEYS 1 email_holder:{digest}
-- ARGV 1 id  2 the version of the account's address with the change  3 the last known confirmation of the address, '' for none  4 the new confirmation  5 now, ms
-- Returns the id that holds the address | 0 somebody has confirmed it meanwhile | -1 the account has made a later change
local holder = redis.call('HGET', KEYS[1], 'uid')
if holder and holder ~= ARGV[1] then return holder end
local before = redis.call('HGET', KEYS[1], 'confirmation')
if holder then
  if tonumber(redis.call('HGET', KEYS[1], 'version')) > tonumber(ARGV[2]) then return '-1' end
  before = redis.call('HGET', KEYS[1], 'before')
elseif before and before ~= ARGV[3] then
  return '0'
end
redis.call('HSET', KEYS[1], 'uid', ARGV[1], 'version', ARGV[2], 'confirmation', ARGV[4], 'before', before or '', 'at', ARGV[5])
redis.call('PERSIST', KEYS[1])
return ARGV[1]
