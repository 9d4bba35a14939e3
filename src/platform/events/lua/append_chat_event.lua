-- append_chat_event.lua - appends a change of a chat. Not idempotent: a repeated call appends the change again, and subscribers then read the same state twice.
-- KEYS 1 stream:{n}, also the channel  2 told:{n}
-- ARGV 1 now, ms  2 chat  3 the most events  4 older events are trimmed, ms  5 the change
-- Returns the id of the event
local id = append(newest_id(redis.call('HGET', KEYS[2], 'last')), ARGV[1], 'cc', ARGV[2], ARGV[5])
trim(ARGV[3], ARGV[4])
return id
