-- set_retention.lua - sets how long rows that all members have seen are kept. Allowed to the owner of a group, and to both accounts of a direct chat.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 member  3 days, or - for the server's retention
-- Returns the chat snapshot of chat.lua after `ok` and the newest row | {same} | {none} no such chat or member | {forbidden}
local chat = fetch()
local me = chat and member(ARGV[2])
if not is_shown(me) then return { 'none' } end
if chat.kind == 'group' and me.role ~= 'O' then return { 'forbidden' } end
if chat.days == ARGV[3] then return { 'same' } end
chat.days = ARGV[3]
redis.call('HSET', KEYS[1], 'days', chat.days)
return snapshot(chat, {})
