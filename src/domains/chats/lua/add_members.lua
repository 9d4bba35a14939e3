-- add_members.lua - adds accounts to a group, a row for each that is no member. Existing members are skipped. Once for each id of the first joining.
-- KEYS those of chat.lua, all of {c}
-- ARGV 1 first bucket  2 who adds  3 now, ms  4 the most members  5 the most ids of steps  6 their time to live, ms
--   7… account, state, id of the joining, …
-- Returns the chat snapshot of chat.lua after `ok` and the newest row | {again} the rows need other keys | {none} no such chat or member | {direct} it is a
--   direct chat | {forbidden} | {limit} too many members
local chat = fetch()
local me = chat and member(ARGV[2])
if not is_shown(me) then return { 'none' } end
if chat.kind == 'direct' then return { 'direct' } end
if me.role == 'M' then return { 'forbidden' } end
local new, uids = {}, { me.uid }
for at = 7, #ARGV, 3 do
  table.insert(uids, ARGV[at])
  if redis.call('HEXISTS', KEYS[2], ARGV[at]) == 0 then table.insert(new, at) end
end
-- An account that has left since the step was made is not added again.
if ARGV[9] and redis.call('ZSCORE', KEYS[6], ARGV[9]) then return snapshot(chat, uids) end
local base = tonumber(ARGV[1])
if not fits(chat, base, #new) then return { 'again', int(chat.newest) } end
if redis.call('HLEN', KEYS[2]) + #new > tonumber(ARGV[4]) then return { 'limit' } end
if #new > 0 then
  chat.sent = math.max(chat.sent, tonumber(ARGV[3]))
  record_step(ARGV[9], chat.newest + 1, tonumber(ARGV[5]), ARGV[6])
  local joined = {}
  for _, at in ipairs(new) do
    local uid, state, id = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    local number = append(chat, base, id, 'J', me.uid, uid)
    chat.joined = chat.joined + 1
    save({
      uid = uid, role = 'M', join_order = chat.joined, first_readable = chat.history == 'all' and 1 or number, joined_id = id, state = state,
      texts_before_acceptance = 0, newest_text = 0, cleared_activity = 0, placed_id = id, requested_by = state == 'R' and me.uid or '0',
    })
    redis.call('ZADD', KEYS[3], int(number), uid)
    redis.call('ZADD', KEYS[4], int(number), uid)
    table.insert(joined, uid)
  end
  redis.call('ZREM', KEYS[10], unpack(joined))
  if redis.call('HLEN', KEYS[2]) > MOST_DELIVERED then redis.call('UNLINK', KEYS[4]) end
  finish(chat)
end
return snapshot(chat, uids)
