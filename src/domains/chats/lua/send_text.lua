-- send_text.lua - appends a text, once for each id. Activates the membership of the sender, and makes a new direct chat visible to the peer.
-- KEYS those of chat.lua, all of {c}
-- ARGV 1 first bucket  2 id of the step  3 sender  4 now, ms  5 the row that it replies to, or 0  6 state that the other account
--   gets with the first text, or ''  7 the most texts before acceptance  8 the most ids of steps  9 their time to live, ms  10 activity  11 text
-- Returns the chat snapshot of chat.lua after `ok` and the number of the row | {again} the rows need other keys | {none} no such chat or member | {limit} too
--   many texts before acceptance | {reply} no such message to reply to | {undecided} the state of the other account is missing | {expired} whether a
--   repeated step was made is unknown
local chat = fetch()
local me = chat and member(ARGV[3])
if not is_shown(me) then return { 'none' } end
local before = redis.call('ZSCORE', KEYS[6], ARGV[2])
if before then return snapshot(chat, affected_members(chat, me.uid), int(before)) end
-- A repeated step that is older than the oldest stored one may have appended its text already.
if ARGV[10] ~= ARGV[2] and redis.call('ZCARD', KEYS[6]) >= tonumber(ARGV[8]) then
  if tonumber(ARGV[2]) < tonumber(redis.call('ZRANGE', KEYS[6], 0, 0)[1]) then return { 'expired' } end
end
local base = tonumber(ARGV[1])
if not fits(chat, base, 1) then return { 'again', int(chat.newest) } end
local peer = chat.kind == 'direct' and member(other_of(chat, me.uid))
if peer and peer.state == 'N' and ARGV[6] == '' then return { 'undecided' } end
local accepted = not peer or peer.state == 'A' or (peer.state == 'N' and ARGV[6] == 'A')
if not accepted and me.texts_before_acceptance >= tonumber(ARGV[7]) then return { 'limit' } end
local reply = tonumber(ARGV[5])
if reply > 0 and (reply < math.max(me.first_readable, chat.oldest) or reply > chat.newest or redis.call('GETBIT', KEYS[5], bit_of(chat, reply)) == 0) then
  return { 'reply' }
end

chat.sent = math.max(chat.sent, tonumber(ARGV[4]))
if peer then chat.floor = math.max(me.cleared_activity, peer.cleared_activity) end
local number = append(chat, base, ARGV[10], 'T', me.uid, ARGV[5] .. ' 0 - ' .. ARGV[11])
redis.call('SETBIT', KEYS[5], bit_of(chat, number), 1)
if chat.kind == 'group' then
  redis.call('ZADD', KEYS[7], 0, bytes(me.uid) .. bytes(number))
  redis.call('HINCRBY', KEYS[8], me.uid, 1)
end
if peer and peer.state == 'N' then
  peer.state = ARGV[6]
  peer.requested_by = peer.state == 'R' and me.uid or '0'
  save(peer)
end
if not accepted then me.texts_before_acceptance = me.texts_before_acceptance + 1 end
me.state, me.newest_text, me.requested_by = 'A', number, '0'
save(me)
raise(me.uid, number)
update_shared_positions(chat)
record_step(ARGV[2], number, tonumber(ARGV[8]), ARGV[9])
finish(chat)
return snapshot(chat, affected_members(chat, me.uid), int(number))
