-- chat.lua - the prelude of scripts over a chat.
-- KEYS 1 chat:{c}  2 chat_members:{c}  3 chat_seen:{c}  4 chat_delivered:{c}  5 chat_texts:{c}  6 chat_sent:{c}  7 chat_authors:{c}
--   8 chat_writers:{c}  9… chat_rows:{c}: buckets of 128 rows, the first of which ARGV 1 names
-- ARGV those of the script
-- Returns nothing by itself
-- A membership is stored as `role order first joined state texts wrote cleared placed by`. A row is stored as its letter, its sender (0 if the account was
-- deleted) and its time in ms, and: T, a text: the row that it answers, when it was edited, reactions, text; D, a deleted text: nothing; J, L and X, who
-- joined, left or was removed; R, whose role it is, role; N, the new name. `recent` has the id and the author (0 for all but texts) of the newest row, the
-- same of the newest row by somebody else, number and author of the newest text and of the newest text by somebody else, and the id of the newest row that
-- is no text. `MOST_DELIVERED` is the most members of a chat that keeps what was delivered to them.
local BUCKET, ROWS, MOST_DELIVERED = 128, 9, 50

local function int(number) return string.format('%.0f', number) end

local function fetch()
  local it = redis.call('HMGET', KEYS[1], 'kind', 'newest', 'oldest', 'sent', 'version', 'joined', 'history', 'recent', 'gone', 'name', 'a', 'b',
    'settled')
  if not it[1] or it[9] then return nil end
  local recent = {}
  for number in string.gmatch(it[8], '%d+') do table.insert(recent, number) end
  return {
    kind = it[1], newest = tonumber(it[2]), oldest = tonumber(it[3]), sent = tonumber(it[4]), version = tonumber(it[5]),
    joined = tonumber(it[6]), history = it[7], recent = recent, name = it[10], a = it[11], b = it[12],
    settled = tonumber(it[13] or 0),
  }
end

local function parse(uid, record)
  local m = { uid = uid, record = record }
  local texts, wrote, order, first, cleared
  m.role, order, first, m.joined, m.state, texts, wrote, cleared, m.placed, m.by =
    string.match(record, '^(%u) (%d+) (%d+) (%d+) (%u) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  m.order, m.first, m.texts, m.wrote, m.cleared = tonumber(order), tonumber(first), tonumber(texts), tonumber(wrote), tonumber(cleared)
  return m
end

local function member(uid)
  local record = redis.call('HGET', KEYS[2], uid)
  return record and parse(uid, record)
end

local function save(m)
  local record = table.concat({ m.role, int(m.order), int(m.first), m.joined, m.state, int(m.texts), int(m.wrote), int(m.cleared), m.placed, m.by }, ' ')
  redis.call('HSET', KEYS[2], m.uid, record)
end

-- Whether the chat exists for a member.
local function is_shown(m) return m and (m.state == 'A' or m.state == 'R') end

-- The other of a direct chat.
local function other_of(chat, uid) return chat.a == uid and chat.b or chat.a end

-- Whether the keys of the rows that are appended were passed.
local function fits(chat, base, count)
  local first, last = math.floor((chat.newest + 1) / BUCKET), math.floor((chat.newest + count) / BUCKET)
  return first >= base and last - base <= #KEYS - ROWS
end

-- Appends a row; `id` is unique and tells the activity. The caller has checked `fits`.
local function append(chat, base, id, letter, by, rest)
  local number = chat.newest + 1
  chat.newest = number
  chat.last = letter .. ' ' .. by .. ' ' .. int(chat.sent) .. ' ' .. rest
  redis.call('HSET', KEYS[ROWS + math.floor(number / BUCKET) - base], int(number), chat.last)
  local recent, author = chat.recent, letter == 'T' and by or '0'
  if author ~= recent[2] then recent[3], recent[4] = recent[1], recent[2] end
  recent[1], recent[2] = id, author
  if letter ~= 'T' then recent[9] = id end
  if letter == 'T' then
    if by ~= recent[6] then recent[7], recent[8] = recent[5], recent[6] end
    recent[5], recent[6] = int(number), by
  end
  return number
end

-- Writes the chat after a change from which members derive their lists.
local function finish(chat)
  chat.version = chat.version + 1
  local fields = { 'newest', int(chat.newest), 'sent', int(chat.sent), 'version', int(chat.version), 'joined', int(chat.joined) }
  redis.call('HSET', KEYS[1], 'recent', table.concat(chat.recent, ' '), unpack(fields))
  if chat.last then redis.call('HSET', KEYS[1], 'last', chat.last) end
end

-- Remembers the number of a row by the id of its step.
local function remember(id, number, kept, ttl)
  redis.call('ZADD', KEYS[6], int(number), id)
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -kept - 1)
  redis.call('PEXPIRE', KEYS[6], ttl)
end

-- Raises what a member has seen, and what was delivered to it.
local function raise(uid, number)
  redis.call('ZADD', KEYS[3], 'GT', int(number), uid)
  if redis.call('HLEN', KEYS[2]) <= MOST_DELIVERED then redis.call('ZADD', KEYS[4], 'GT', int(number), uid) end
end

-- The number of texts above what a member has seen.
local function texts_above(chat, m)
  local seen = tonumber(redis.call('ZSCORE', KEYS[3], m.uid) or 0)
  local from = math.max(seen, m.first - 1, chat.oldest - 1) + 1
  if from > chat.newest then return seen, 0 end
  return seen, redis.call('BITCOUNT', KEYS[5], int(from), int(chat.newest), 'BIT')
end

-- What lists of members derive from: kind, version, newest row, recent, accounts of a direct chat, the number of members, or 0 if the lists of all agree
-- with this version; then for each: account, membership or '', texts above what it has seen, what it has seen. (A script that was sent again after a
-- broken connection changes nothing, but the lists do not agree yet.)
local function states(chat, uids)
  local found = { chat.kind, int(chat.version), int(chat.newest), table.concat(chat.recent, ' '), chat.a, chat.b }
  table.insert(found, chat.version > chat.settled and int(redis.call('HLEN', KEYS[2])) or '0')
  for _, uid in ipairs(uids) do
    local m, seen, count = member(uid), 0, 0
    if m then seen, count = texts_above(chat, m) end
    table.insert(found, uid)
    table.insert(found, m and m.record or '')
    table.insert(found, int(count))
    table.insert(found, int(seen))
  end
  return found
end

-- The members of whom a change tells: both of a direct chat, or one of a group.
local function concerned(chat, uid) return chat.kind == 'direct' and { uid, other_of(chat, uid) } or { uid } end

-- The number in 7 bytes, as members of chat_authors have it.
local function bytes(number)
  local text = ''
  number = tonumber(number)
  for _ = 1, 7 do
    text = string.char(number % 256) .. text
    number = math.floor(number / 256)
  end
  return text
end
