-- append_event.lua - appends the event that a status was posted, narrowed, edited, deleted or reposted, once; trims the log, and publishes the event.
-- KEYS 1 stream:{n}, also the channel  2 told:{n}
-- ARGV 1 now, ms  2 kind: p | d | f a deletion with the terms of the posting or of the last edit, if they are still stored | x the same, ignored
--        otherwise | n a narrowed audience, once for each change | e an edit, once for each change, ignored after the deletion
--        | r a repost, ignored after its undoing | u its undoing | vd, vn, ve changes that feeds receive because of reposts, once for each part
--      3 status id, or repost id  4 filter terms  5 the most events  6 older events are trimmed, ms  7 when the status was posted, or edited, ms
--      8 the id of the change or the part, for n, e and v…
-- Returns the id of the event | '' if it is ignored
local kind = (ARGV[2] == 'f' or ARGV[2] == 'x') and 'd' or ARGV[2]
-- The field of the last event of this kind, for edits of the newest edit; each edit and each part has a field of its own as well.
local field = kind .. ARGV[3]
local is_part = kind == 'e' or string.sub(kind, 1, 1) == 'v'
local own_field = is_part and field .. '.' .. ARGV[8] or field
local known = redis.call('HMGET', KEYS[2], own_field, 'p' .. ARGV[3], 'last', 'dropped', 'd' .. ARGV[3], 'e' .. ARGV[3])
if known[1] and kind ~= 'n' then return known[1] end
if known[1] then
  local narrowed = redis.call('XRANGE', KEYS[1], known[1], known[1])[1]
  if narrowed and narrowed[2][8] == ARGV[8] then return known[1] end
end
if ARGV[2] == 'x' and not known[2] then return '' end
if kind == 'e' and known[5] then return '' end
if kind == 'r' and redis.call('HEXISTS', KEYS[2], 'u' .. ARGV[3]) == 1 then return '' end
-- Events newer than the change were already trimmed: its own event may have been trimmed too.
if (kind == 'p' or kind == 'e' or kind == 'r') and known[4] and tonumber(string.match(known[4], '^%d+')) > tonumber(ARGV[7]) then return '' end
local terms, last = ARGV[4], newest_id(known[3])
if (ARGV[2] == 'f' or ARGV[2] == 'x') and known[2] then
  local newest = known[6] or known[2]
  local posted = redis.call('XRANGE', KEYS[1], newest, newest)[1]
  if posted then terms = posted[2][6] end
end
local id = next_id(last, ARGV[1])
if kind == 'n' or is_part then
  redis.call('XADD', KEYS[1], id, 'k', kind, 's', ARGV[3], 'm', terms, 'c', ARGV[8])
else
  redis.call('XADD', KEYS[1], id, 'k', kind, 's', ARGV[3], 'm', terms)
end
redis.call('HSET', KEYS[2], own_field, id, 'last', id)
-- An edit may be appended after a newer one. The field keeps the newest edit: a deletion is published with the terms of that edit.
local later = kind == 'e' and known[6] and redis.call('XRANGE', KEYS[1], known[6], known[6])[1]
if not later or tonumber(later[2][8]) < tonumber(ARGV[8]) then redis.call('HSET', KEYS[2], field, id) end
trim(ARGV[5], ARGV[6])
publish(id, last, kind, ARGV[3], terms)
return id
