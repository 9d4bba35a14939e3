-- edit_status.lua - replaces the text of a status of this author, and keeps the version before.
-- KEYS 1 status:{id}  2 versions:{id}
-- ARGV 1 author's id  2 new text  3 its entities, '' for none  4 the edit's id  5 now, ms  6 the most versions before the current one
-- Returns 1 | 0 no such status of this author | 2 the status has this text already | 3 too many versions
local was = redis.call('HMGET', KEYS[1], 'uid', 'message', 'entities', 'posted', 'edited')
if was[1] ~= ARGV[1] then return 0 end
if was[2] == ARGV[2] then return 2 end
local edits = redis.call('LLEN', KEYS[2])
if edits >= tonumber(ARGV[6]) then return 3 end
local id, at = string.match(was[5] or '', '^(%d+) (%d+) %d+$')
if not id then id, at = '0', was[4] end
redis.call('RPUSH', KEYS[2], id .. ' ' .. at .. ' ' .. (was[3] or '') .. '\n' .. was[2])
-- Versions are in the order of their times, also if the clocks of servers differ.
at = math.max(tonumber(ARGV[5]), tonumber(at))
redis.call('HSET', KEYS[1], 'message', ARGV[2], 'edited', string.format('%s %d %d', ARGV[4], at, edits + 1))
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], 'entities') else redis.call('HSET', KEYS[1], 'entities', ARGV[3]) end
return 1
