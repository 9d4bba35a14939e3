-- change_member.lua - changes a member's own state: starts, accepts or declines a chat, marks rows as seen, or deletes the history.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 member  3 `start`, `accept`, `decline`, `see` or `clear`  4 id of the starting, or the position seen
-- Returns the chat snapshot of chat.lua after `ok` and 1 if the delivery position has changed, else 0 | {none} no such chat or member | {waits} not while it
--   is a request | {invalid} a position above the newest row
local chat = fetch()
local me, action = chat and member(ARGV[2]), ARGV[3]
if not me or not (is_shown(me) or action == 'start') then return { 'none' } end
local changed, delivered = true, false
if action == 'start' then
  -- No row of a direct chat is hidden: any row after the deletion of the history has put the chat into a list again.
  local unlisted = not is_shown(me) or (me.cleared_activity > 0 and tonumber(chat.recent[1]) <= me.cleared_activity)
  changed = unlisted or me.state == 'R'
  -- Above the deletion of the history also if the clock of this server is slow: else the next deletion would not take the chat out of the lists.
  if unlisted then me.placed_id = int(math.max(tonumber(ARGV[4]), me.cleared_activity + 1)) end
  me.state, me.requested_by = 'A', '0'
  if unlisted then me.cleared_activity = 0 end
  local peer = chat.kind == 'direct' and member(other_of(chat, me.uid))
  if peer and peer.state == 'N' and peer.join_order < me.join_order then
    me.join_order, peer.join_order = peer.join_order, me.join_order
    save(peer)
  end
elseif action == 'accept' then
  changed = me.state == 'R'
  me.state, me.requested_by = 'A', '0'
elseif action == 'decline' then
  if me.state ~= 'R' or chat.kind ~= 'direct' then return { 'none' } end
  me.state, me.requested_by = 'D', '0'
elseif action == 'see' then
  local number = tonumber(ARGV[4])
  if number > chat.newest then return { 'invalid' } end
  changed = number > tonumber(redis.call('ZSCORE', KEYS[3], me.uid) or 0)
  if changed then delivered = raise(me.uid, number) end
elseif action == 'clear' then
  if me.state == 'R' then return { 'waits' } end
  me.first_readable, me.cleared_activity = math.max(me.first_readable, chat.newest + 1), math.max(tonumber(chat.recent[1]), tonumber(me.placed_id))
  if chat.newest > 0 then delivered = raise(me.uid, chat.newest) end
end
if changed then
  if action ~= 'see' then save(me) end
  update_shared_positions(chat, action == 'clear')
  finish(chat)
end
return snapshot(chat, affected_members(chat, me.uid), delivered and '1' or '0')
