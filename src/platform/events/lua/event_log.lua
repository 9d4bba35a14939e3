-- event_log.lua - the prelude of scripts that append to the event log.
-- KEYS 1 stream:{n}, also the channel  2 told:{n}
-- ARGV those of the script
-- Returns nothing by itself

-- The id of the newest event.
local function newest_id(last)
  if last then return last end
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  return newest and newest[1] or '0-0'
end

-- An id greater than the last one, also if the stream was lost.
local function next_id(last, now)
  local at, number = string.match(last, '^(%d+)-(%d+)$')
  local time = math.max(tonumber(now), tonumber(at))
  return string.format('%d-%d', time, time == tonumber(at) and number + 1 or 0)
end

-- Removes the oldest events beyond the bounds, at most 16. The new event stays, so the stream is never empty.
local function trim(maximum, since)
  local kept = redis.call('XLEN', KEYS[1])
  for _ = 1, 16 do
    if kept == 1 then break end
    local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
    if kept <= tonumber(maximum) and tonumber(string.match(oldest[1], '^%d+')) >= tonumber(since) then break end
    redis.call('XDEL', KEYS[1], oldest[1])
    -- A status may have been narrowed or edited again since, and a chat may have newer rows.
    local trimmed = oldest[2][2] .. oldest[2][4]
    if redis.call('HGET', KEYS[2], trimmed) == oldest[1] then
      redis.call('HDEL', KEYS[2], trimmed)
      if oldest[2][2] == 'c' then redis.call('HDEL', KEYS[2], 'h' .. oldest[2][4]) end
    end
    if oldest[2][2] == 'e' or string.sub(oldest[2][2], 1, 1) == 'v' then redis.call('HDEL', KEYS[2], trimmed .. '.' .. oldest[2][8]) end
    redis.call('HSET', KEYS[2], 'dropped', oldest[1])
    kept = kept - 1
  end
end

-- Publishes an event, if there are subscribers.
local function publish(id, last, kind, subject, content)
  if redis.call('PUBSUB', 'SHARDNUMSUB', KEYS[1])[2] > 0 then
    redis.call('SPUBLISH', KEYS[1], id .. ' ' .. last .. ' ' .. kind .. ' ' .. subject .. ' ' .. content)
  end
end

-- Appends an event of a chat after the event `last`. Returns its id.
local function append(last, now, kind, chat, content)
  local id = next_id(last, now)
  redis.call('XADD', KEYS[1], id, 'k', kind, 's', chat, 'm', content)
  redis.call('HSET', KEYS[2], 'last', id)
  publish(id, last, kind, chat, content)
  return id
end
