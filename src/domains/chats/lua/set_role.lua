-- set_role.lua - changes the role of a member of a group. Handing over makes the owner an admin. The same role again changes nothing.
-- Once for each id of the first row.
-- KEYS those of chat.lua, all of {c}
-- ARGV 1 first bucket  2 who changes it  3 whose role  4 now, ms  5 and 6 ids of rows  7 role  8 the most ids of steps
--   9 their time to live, ms
-- Returns the chat snapshot of chat.lua after `ok` and the newest row | {again} the rows need other keys | {none} no such chat or member | {target} the other
--   is no member | {direct} it is a direct chat | {forbidden} | {own} the owner can only hand over | {waits} the member has not accepted
local chat = fetch()
local me = chat and member(ARGV[2])
if not is_shown(me) then return { 'none' } end
if redis.call('ZSCORE', KEYS[6], ARGV[5]) then return snapshot(chat, { me.uid }) end
if chat.kind == 'direct' then return { 'direct' } end
if me.role ~= 'O' then return { 'forbidden' } end
local target, role = member(ARGV[3]), ARGV[7]
if not target then return { 'target' } end
if target.uid == me.uid and role ~= 'O' then return { 'own' } end
if target.state == 'R' and role ~= 'M' and target.role ~= role then return { 'waits' } end
local base = tonumber(ARGV[1])
if not fits(chat, base, 2) then return { 'again', int(chat.newest) } end
if target.role ~= role then
  chat.sent = math.max(chat.sent, tonumber(ARGV[4]))
  record_step(ARGV[5], append(chat, base, ARGV[5], 'R', me.uid, target.uid .. ' ' .. role), tonumber(ARGV[8]), ARGV[9])
  target.role = role
  save(target)
  if role == 'O' then
    append(chat, base, ARGV[6], 'R', me.uid, me.uid .. ' A')
    me.role = 'A'
    save(me)
  end
  finish(chat)
end
return snapshot(chat, { me.uid })
