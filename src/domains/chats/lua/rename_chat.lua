-- rename_chat.lua - gives a group another name, once for each id of the row. The same name again changes nothing.
-- KEYS those of chat.lua, all of {c}
-- ARGV 1 first bucket  2 who renames  3 now, ms  4 id of the row  5 name  6 the most ids of steps  7 their time to live, ms
-- Returns the chat snapshot of chat.lua after `ok` and the newest row | {again} the rows need other keys | {none} no such chat or member | {direct} it is a
--   direct chat | {forbidden}
local chat = fetch()
local me = chat and member(ARGV[2])
if not is_shown(me) then return { 'none' } end
if redis.call('ZSCORE', KEYS[6], ARGV[4]) then return snapshot(chat, { me.uid }) end
if chat.kind == 'direct' then return { 'direct' } end
if me.role == 'M' then return { 'forbidden' } end
local base = tonumber(ARGV[1])
if not fits(chat, base, 1) then return { 'again', int(chat.newest) } end
if chat.name ~= ARGV[5] then
  chat.sent = math.max(chat.sent, tonumber(ARGV[3]))
  record_step(ARGV[4], append(chat, base, ARGV[4], 'N', me.uid, ARGV[5]), tonumber(ARGV[6]), ARGV[7])
  redis.call('HSET', KEYS[1], 'name', ARGV[5])
  finish(chat)
end
return snapshot(chat, { me.uid })
