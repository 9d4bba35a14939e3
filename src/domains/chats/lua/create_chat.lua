-- create_chat.lua - creates a chat with its members, once.
-- KEYS 1 chat:{c}  2 chat_members:{c}
-- ARGV 1 kind  2 name  3 history  4 and 5 the accounts of a direct chat, else 0  6… user id, membership, …
-- Returns 1 | 0 it exists, or is being deleted
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local members = { unpack(ARGV, 6) }
local fields = { 'newest', 0, 'oldest', 1, 'sent', 0, 'version', 1, 'settled', 0, 'joined', #members / 2, 'recent', '0 0 0 0 0 0 0 0 0' }
redis.call('HSET', KEYS[1], 'kind', ARGV[1], 'name', ARGV[2], 'history', ARGV[3], 'a', ARGV[4], 'b', ARGV[5], unpack(fields))
redis.call('HSET', KEYS[2], unpack(members))
return 1
