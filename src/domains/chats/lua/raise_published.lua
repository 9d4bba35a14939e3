-- raise_published.lua - raises the row up to which all events of a chat were published, and removes memberships that have ended up to that row.
-- KEYS 1 chat:{c}
-- ARGV 1 row  2 memberships that have ended since this time are kept, ms
-- Returns 1 | 0 no such chat
local it = redis.call('HMGET', KEYS[1], 'kind', 'published', 'ends')
if not it[1] then return 0 end
local row = math.max(tonumber(ARGV[1]), tonumber(it[2] or 0))
redis.call('HSET', KEYS[1], 'published', string.format('%.0f', row))
if it[3] then
  local rest = {}
  for ended in string.gmatch(it[3], '[^,]+') do
    local at, time = string.match(ended, '^(%d+) .* (%d+)$')
    if tonumber(at) > row or tonumber(time) >= tonumber(ARGV[2]) then table.insert(rest, ended) end
  end
  if #rest > 0 then redis.call('HSET', KEYS[1], 'ends', table.concat(rest, ',')) else redis.call('HDEL', KEYS[1], 'ends') end
end
return 1
