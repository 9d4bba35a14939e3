-- read_marks.lua - reads list and mute of chats of an account. Writes nothing.
-- KEYS 1 chat_states:{u}  2 chat_mutes:{u}
-- ARGV chats
-- Returns for each: list, or ''; end of the mute, or ''
local found = {}
local states, mutes = redis.call('HMGET', KEYS[1], unpack(ARGV)), redis.call('ZMSCORE', KEYS[2], unpack(ARGV))
for at = 1, #ARGV do
  table.insert(found, states[at] and string.match(states[at], '^%d+ (%S)') or '')
  table.insert(found, mutes[at] or '')
end
return found
