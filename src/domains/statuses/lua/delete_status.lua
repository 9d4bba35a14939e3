-- delete_status.lua - deletes a status of this author with its versions and the set of its quotes, and leaves a tombstone. Its likers are kept until each
-- has removed the status from their set. The tombstone names the parent and the root of the status in its conversation, and the status that it quotes, so
-- that a late step can remove the entry and the quote.
-- KEYS 1 status:{id}  2 gone:{id}  3 conversation:{id}  4 versions:{id}  5 quotes:{id}
-- ARGV 1 author's id  2 time to live of the tombstone, ms  3 the expected field of the last edit, '' for none, '*' for any
-- Returns { message, latitude | nil, longitude | nil, audience | nil, list | nil, tombstone, entities | nil } of the deleted status
--         | {} no such status of this author | { stored field of the last edit } the last edit is not the expected one
local was = redis.call('HMGET', KEYS[1], 'uid', 'message', 'lat', 'lon', 'audience', 'circle', 'reply', 'id', 'quote', 'edited', 'entities')
if was[1] ~= ARGV[1] then return {} end
if ARGV[3] ~= '*' and (was[10] or '') ~= ARGV[3] then return { was[10] or '' } end
local tombstone = '1'
if was[7] then
  tombstone = '1 ' .. string.match(was[7], '^%d+ %d+')
elseif redis.call('EXISTS', KEYS[3]) == 1 then
  tombstone = '1 0 ' .. was[8]
end
if was[9] then tombstone = tombstone .. ' q' .. was[9] end
redis.call('SET', KEYS[2], tombstone, 'PX', ARGV[2])
redis.call('UNLINK', KEYS[1], KEYS[4], KEYS[5])
return { was[2], was[3], was[4], was[5], was[6], tombstone, was[11] }
