-- remember_status.lua - ties an idempotency key to the status that its first request makes.
-- KEYS 1 idempotency:{uid}:digest
-- ARGV 1 "fingerprint status-id"  2 how long it is remembered, ms
-- Returns what the key is tied to: ARGV[1], or what came first
local first = redis.call('GET', KEYS[1])
if first then return first end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
