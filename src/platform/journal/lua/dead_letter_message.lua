-- dead_letter_message.lua - moves the entry of a message to the dead letters of messages, of which the oldest are deleted beyond the maximum.
-- KEYS 1 journal:{n}  2 due:{n}:mail  3 dead:{n}:mail
-- ARGV 1 entry id  2 record  3 error  4 the most dead letters
-- Returns 1
local ids = redis.call('HKEYS', KEYS[3])
-- Ids are positive integers without leading zeros: the shortest is the lowest, and the lowest the oldest.
table.sort(ids, function(a, b) return #a < #b or (#a == #b and a < b) end)
for n = 1, #ids + 1 - tonumber(ARGV[4]) do redis.call('HDEL', KEYS[3], ids[n]) end
move_to_dead_letters()
return 1
