-- end_membership.lua - ends a membership of a group: the member leaves, declines or is removed. If the owner leaves, the admin who joined first
-- becomes the owner, else the member who joined first; members who have not accepted come last. With the last member the chat ends. Once for each id
-- of the first row.
-- KEYS those of chat.lua, all of {c}
-- ARGV 1 first bucket  2 who ends it  3 whose membership  4 now, ms  5 and 6 ids of rows  7 0 the member leaves, 1 it declines its request,
--   2 another removes it, 3 its account was deleted  8 the most ids of steps  9 their time to live, ms
-- Returns the chat snapshot of chat.lua after `ok` and the newest row | {gone, newest row} the chat has ended | {again} the rows need other keys | {none} no
--   such chat or member | {target} the other is no member | {direct} it is a direct chat | {forbidden} | {own} one does not remove oneself
local MOST_ENDS = 500
local chat = fetch()
local me = chat and member(ARGV[2])
if not chat then
  -- `gone` is the id of the step with which the chat has ended.
  local gone = redis.call('HMGET', KEYS[1], 'gone', 'newest')
  if gone[1] == ARGV[5] then return { 'gone', gone[2] } end
elseif redis.call('ZSCORE', KEYS[6], ARGV[5]) then
  return snapshot(chat, ARGV[2] == ARGV[3] and { ARGV[3] } or { ARGV[3], ARGV[2] })
end
if not is_shown(me) then return { 'none' } end
if chat.kind == 'direct' then return { 'direct' } end
if ARGV[7] == '1' and me.state ~= 'R' then return { 'none' } end
local target = me
if ARGV[7] == '2' then
  if ARGV[3] == me.uid then return { 'own' } end
  target = member(ARGV[3])
  if me.role == 'M' or (target and me.role == 'A' and target.role ~= 'M') then return { 'forbidden' } end
  if not target then return { 'target' } end
end
local base = tonumber(ARGV[1])
if not fits(chat, base, 2) then return { 'again', int(chat.newest) } end

chat.sent = math.max(chat.sent, tonumber(ARGV[4]))
-- The end is published to the account by an event of its own: the account cannot read the row, and retention may delete the row.
if ARGV[7] ~= '3' then
  local ended = table.concat({ int(chat.newest + 1), target.uid, target.state == 'A' and me.uid or '0', int(chat.sent) }, ' ')
  local _, commas = string.gsub(chat.ends, ',', '')
  if commas >= MOST_ENDS - 1 then chat.ends = string.match(chat.ends, ',(.*)$') end
  chat.ends = chat.ends == '' and ended or chat.ends .. ',' .. ended
  redis.call('HSET', KEYS[1], 'ends', chat.ends)
  -- Retention may delete all rows that name the account: the end of the group finds the account here. A deleted account has no lists.
  redis.call('ZADD', KEYS[10], ARGV[5], target.uid)
end

if redis.call('HLEN', KEYS[2]) == 1 then
  redis.call('HSET', KEYS[1], 'gone', ARGV[5], 'version', int(chat.version + 1))
  redis.call('HDEL', KEYS[1], 'last', 'recent', 'name')
  redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9])
  return { 'gone', int(chat.newest) }
end
record_step(ARGV[5], append(chat, base, ARGV[5], ARGV[7] == '2' and 'X' or 'L', me.uid, target.uid), tonumber(ARGV[8]), ARGV[9])
local uids = { target.uid }
if target ~= me then table.insert(uids, me.uid) end
if target.role == 'O' then
  local next
  local function rank(m) return (m.state == 'A' and 0 or 2) + (m.role == 'A' and 0 or 1) end
  local all = redis.call('HGETALL', KEYS[2])
  for at = 1, #all, 2 do
    local m = parse(all[at], all[at + 1])
    local is_before = not next or rank(m) < rank(next) or (rank(m) == rank(next) and m.join_order < next.join_order)
    if m.uid ~= target.uid and is_before then next = m end
  end
  next.role = 'O'
  save(next)
  append(chat, base, ARGV[6], 'R', me.uid, next.uid .. ' O')
  table.insert(uids, next.uid)
end
update_shared_positions(chat, true, target.uid)
redis.call('HDEL', KEYS[2], target.uid)
finish(chat)
-- Before the positions are removed: a script must not access a key again after it may have emptied it (`db/script.rs`).
local found = snapshot(chat, uids)
redis.call('ZREM', KEYS[3], target.uid)
redis.call('ZREM', KEYS[4], target.uid)
return found
