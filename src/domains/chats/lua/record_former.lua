-- record_former.lua - records that an account, which is no member, has left a group, unless this is recorded already.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 account  3 an id
-- Returns 1 | 0 no such group, or the account is a member
local chat = fetch()
if not chat or chat.kind ~= 'group' or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return 0 end
redis.call('ZADD', KEYS[10], 'NX', ARGV[3], ARGV[2])
return 1
