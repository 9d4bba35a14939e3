-- pin_status.lua - pins a status of this account. A status that is pinned keeps its place.
-- KEYS 1 pins:{uid}  2 profile:{uid}
-- ARGV 1 status id  2 pin id  3 the most pins of an account
-- Returns 1 | 0 the account has no such status | -1 the limit is reached
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
