-- add_comment.lua - adds a comment, once.
-- KEYS all of {sid}, as in thread.lua: 1 status  2 gone  3 thread  4 discussion  5 pending  6-9 replies, in the orders new, top, talk and split
--      10 erased  11 fallen  12 comment, the new one  13 votes  14… comment, every ancestor; the last one is the parent
-- ARGV 1 ids of the ancestors, 7 bytes each  2 the comment's id, 7 bytes  3 the same as a number  4 now, ms  5 how long events are kept, ms
--      6 the most events in the log  7 author's id  8 message  9 entities, may be empty
-- Returns 1 the comment exists | 0 its status or an ancestor does not exist, or its parent is deleted | -1 the comment was deleted
-- The code of the event "comment added".
local ADDED = 'a'
local fields = redis.call('HMGET', KEYS[12], 'id', 'gone')
if fields[2] or redis.call('ZSCORE', KEYS[10], ARGV[3]) then return -1 end
if not is_attached() then return 0 end
if fields[1] then return 1 end
if DEPTH > 0 and redis.call('HEXISTS', KEYS[#KEYS], 'gone') == 1 then return 0 end
redis.call('HSET', KEYS[12], 'id', ARGV[3], 'uid', ARGV[7], 'message', ARGV[8])
if ARGV[9] ~= '' then redis.call('HSET', KEYS[12], 'entities', ARGV[9]) end
if DEPTH > 0 then
  redis.call('HSET', KEYS[12], 'path', ARGV[1])
  redis.call('HINCRBY', KEYS[#KEYS], 'places', 1)
end
for order, member in ipairs(members(ancestor(DEPTH), ARGV[2], 0, 0, 0)) do redis.call('ZADD', KEYS[5 + order], 0, member) end
add_to_counts(1, ARGV[7])
add_to_replies(1)
append(ADDED, 0)
return 1
