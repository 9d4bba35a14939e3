-- chat.lua - the prelude of scripts over a chat.
-- KEYS 1 chat:{c}  2 chat_members:{c}  3 chat_seen:{c}  4 chat_delivered:{c}  5 chat_texts:{c}  6 chat_sent:{c}  7 chat_authors:{c}
--   8 chat_writers:{c}  9 chat_seen_times:{c}  10 chat_left:{c}  11… chat_rows:{c}: buckets of 128 rows, from the script's first bucket on
-- ARGV 1 the most rows that can be read  2 now, ms; then those of the script, which does not see these two
-- Returns nothing by itself
-- A membership is stored as `role join_order first_readable joined_id state texts_before_acceptance newest_text cleared_activity placed_id requested_by`, as
-- `Member` in `model/member.rs`. States: A active, R request, D declined, N unstarted. Only chats in A or R are shown. A row is stored as its letter, its
-- sender (0 if the account was deleted) and its time in ms, and: T, a text: the row that it replies to, when it was edited, reactions, text; D, a deleted
-- text: nothing; J, L and X, who joined, left or was removed; R, whose role it is, role; N, the new name. `recent` has the id and the author (0 for all but
-- texts) of the newest row, the same of the newest row by somebody else, number and author of the newest text and of the newest text by somebody else, and
-- the id of the newest row that is no text. `MOST_DELIVERED` is the most members of a chat that stores their delivery positions. `SPAN` is the time in ms for
-- which chat_seen_times has one entry, and `SPANS` the most entries: more than a year.
local ROWS_PER_BUCKET, ROWS, MOST_DELIVERED, SPAN, SPANS = 128, 11, 50, 3300000, 9600
local KEPT, NOW = tonumber(table.remove(ARGV, 1)), tonumber(table.remove(ARGV, 1))

local function int(number) return string.format('%.0f', number) end

local function fetch()
  local it = redis.call('HMGET', KEYS[1], 'kind', 'newest', 'oldest', 'sent', 'version', 'joined', 'history', 'recent', 'gone', 'name', 'a', 'b',
    'settled', 'days', 'removed', 'trimmed', 'seen', 'since', 'first_bit', 'ends')
  if not it[1] or it[9] then return nil end
  local recent = {}
  for number in string.gmatch(it[8], '%d+') do table.insert(recent, number) end
  local newest, lowest = tonumber(it[2]), tonumber(it[3])
  -- `lowest` is the lowest row that is stored as readable, `oldest` the lowest that can be read now. Rows up to `removed` are deleted, those up to
  -- `trimmed` were made unreadable by retention. All members have seen the rows up to `seen`: the oldest of these since `since`, or 0. `first_bit` is
  -- the row of the first bit of the texts. `ends` has the memberships that have ended, for a time also after the publication: row, account, who has
  -- ended it or 0 for a request, time.
  return {
    lowest = lowest, oldest = math.max(lowest, newest - KEPT + 1), days = it[14] or '-', removed = tonumber(it[15] or 0),
    trimmed = tonumber(it[16] or 0), seen = tonumber(it[17] or 0), since = tonumber(it[18] or 0), first_bit = tonumber(it[19] or 0),
    kind = it[1], newest = newest, sent = tonumber(it[4]), version = tonumber(it[5]),
    joined = tonumber(it[6]), history = it[7], recent = recent, name = it[10], a = it[11], b = it[12],
    settled = tonumber(it[13] or 0), ends = it[20] or '',
  }
end

local function parse(uid, record)
  local m = { uid = uid, record = record }
  local join_order, first_readable, texts_before_acceptance, newest_text, cleared_activity
  m.role, join_order, first_readable, m.joined_id, m.state, texts_before_acceptance, newest_text, cleared_activity, m.placed_id, m.requested_by =
    string.match(record, '^(%u) (%d+) (%d+) (%d+) (%u) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  m.join_order, m.first_readable = tonumber(join_order), tonumber(first_readable)
  m.texts_before_acceptance, m.newest_text = tonumber(texts_before_acceptance), tonumber(newest_text)
  m.cleared_activity = tonumber(cleared_activity)
  return m
end

local function member(uid)
  local record = redis.call('HGET', KEYS[2], uid)
  return record and parse(uid, record)
end

local function save(m)
  local record = table.concat({
    m.role, int(m.join_order), int(m.first_readable), m.joined_id, m.state, int(m.texts_before_acceptance), int(m.newest_text),
    int(m.cleared_activity), m.placed_id, m.requested_by,
  }, ' ')
  redis.call('HSET', KEYS[2], m.uid, record)
end

-- Whether the chat exists for a member.
local function is_shown(m) return m and (m.state == 'A' or m.state == 'R') end

-- The other account of a direct chat.
local function other_of(chat, uid) return chat.a == uid and chat.b or chat.a end

-- Whether the keys of the rows that are appended were passed.
local function fits(chat, base, count)
  local first, last = math.floor((chat.newest + 1) / ROWS_PER_BUCKET), math.floor((chat.newest + count) / ROWS_PER_BUCKET)
  return first >= base and last - base <= #KEYS - ROWS
end

-- Appends a row and returns its number. `id` becomes the activity of the chat. If `id` is not above the latest activity, the chat's id and `floor` (the
-- activity at which a member of a direct chat last deleted the history), the activity is the maximum of these plus 1: it rises even if a server's clock is
-- slow. The caller has checked `fits`.
local function append(chat, base, id, letter, by, rest)
  local number = chat.newest + 1
  local above = math.max(tonumber(chat.recent[1]), tonumber(string.match(KEYS[1], '{(%d+)}')), chat.floor or 0)
  if tonumber(id) <= above then id = int(above + 1) end
  chat.newest, chat.oldest = number, math.max(chat.oldest, number - KEPT + 1)
  chat.last = letter .. ' ' .. by .. ' ' .. int(chat.sent) .. ' ' .. rest
  redis.call('HSET', KEYS[ROWS + math.floor(number / ROWS_PER_BUCKET) - base], int(number), chat.last)
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

-- The offset of a row's bit in chat_texts.
local function bit_of(chat, number) return int(number - chat.first_bit) end

-- Updates the chat's minimum over all members: the row up to which all have seen the chat, since when, and the lowest row that any of them can read. A
-- member that has not accepted the chat has seen nothing. With `is_forced`, or with a `leaver`, who is not counted, all members are read in any case; else
-- only if the lowest position has risen. The caller has written memberships and positions.
local function update_shared_positions(chat, is_forced, leaver)
  if not is_forced and not leaver then
    if redis.call('ZCARD', KEYS[3]) < redis.call('HLEN', KEYS[2]) then return end
    local lowest = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
    if tonumber(lowest[2] or 0) <= chat.seen then return end
  end
  local all, uids, first, waits = redis.call('HGETALL', KEYS[2]), {}, chat.newest + 1, false
  for at = 1, #all, 2 do
    if all[at] ~= leaver then
      local m = parse(all[at], all[at + 1])
      table.insert(uids, m.uid)
      first = math.min(first, m.first_readable)
      if m.state ~= 'A' then waits = true end
    end
  end
  if #uids == 0 then return end
  local lowest = math.max(chat.lowest, first)
  if lowest > chat.lowest then
    chat.lowest, chat.oldest = lowest, math.max(chat.oldest, lowest)
    redis.call('HSET', KEYS[1], 'oldest', int(lowest))
  end
  if waits then return end
  local seen = chat.newest
  for _, position in ipairs(redis.call('ZMSCORE', KEYS[3], unpack(uids))) do seen = math.min(seen, tonumber(position or 0)) end
  if seen <= chat.seen then return end
  -- An entry has the end of its span of time, so that no row is trimmed early.
  local span_end = (math.floor(NOW / SPAN) + 1) * SPAN
  local last = redis.call('ZRANGE', KEYS[9], 0, 0, 'REV', 'WITHSCORES')
  if last[1] then span_end = math.max(span_end, tonumber(last[2])) end
  redis.call('ZADD', KEYS[9], int(span_end), int(seen))
  if last[1] and tonumber(last[2]) == span_end then redis.call('ZREM', KEYS[9], last[1]) end
  redis.call('ZREMRANGEBYRANK', KEYS[9], 0, -SPANS - 1)
  chat.seen = seen
  if chat.since == 0 then chat.since = span_end end
  redis.call('HSET', KEYS[1], 'seen', int(seen), 'since', int(chat.since))
end

-- Stores the number of a row by the id of the request step that appended the row, so that a repeated step appends nothing.
local function record_step(id, number, kept, ttl)
  redis.call('ZADD', KEYS[6], int(number), id)
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -kept - 1)
  redis.call('PEXPIRE', KEYS[6], ttl)
end

-- Raises the read position and the delivery position of a member. Returns whether the delivery position has changed.
local function raise(uid, number)
  redis.call('ZADD', KEYS[3], 'GT', int(number), uid)
  return redis.call('HLEN', KEYS[2]) <= MOST_DELIVERED and redis.call('ZADD', KEYS[4], 'GT', 'CH', int(number), uid) == 1
end

-- The number of texts above a position that a member can read.
local function texts_after(chat, m, seen)
  local from = math.max(seen, m.first_readable - 1, chat.oldest - 1) + 1
  if from > chat.newest then return 0 end
  -- Most members of a group have the same read position.
  chat.counts = chat.counts or {}
  if not chat.counts[from] then
    chat.counts[from] = redis.call('BITCOUNT', KEYS[5], bit_of(chat, from), bit_of(chat, chat.newest), 'BIT')
  end
  return chat.counts[from]
end

-- Returns the retention fields of a chat: the lowest row that is stored as readable, the last deleted row, the newest, the days or -, and since when
-- its oldest row is seen by all, or 0.
local function retention_of(chat)
  return table.concat({ int(chat.lowest), int(chat.removed), int(chat.newest), chat.days, int(chat.since) }, ' ')
end

-- Returns the reply of a script that has succeeded: `ok`, `number` or the newest row, and the chat snapshot: kind, version, newest row, recent, accounts of a
-- direct chat, the number of members, or 0 if the lists of all agree with this version, the oldest row, the retention fields, the memberships whose end may
-- be unpublished; then for each account: its id, membership or '', texts after its read position, read position. (Whether the lists agree is decided by the
-- stored versions, not by whether this script has changed anything: a script that was sent again changes nothing, but the lists may not agree yet.)
local function snapshot(chat, uids, number)
  local found = { 'ok', number or int(chat.newest), chat.kind, int(chat.version), int(chat.newest), table.concat(chat.recent, ' '), chat.a, chat.b }
  table.insert(found, chat.version > chat.settled and int(redis.call('HLEN', KEYS[2])) or '0')
  table.insert(found, int(chat.oldest))
  table.insert(found, retention_of(chat))
  table.insert(found, chat.ends)
  if #uids == 0 then return found end
  local records, positions = redis.call('HMGET', KEYS[2], unpack(uids)), redis.call('ZMSCORE', KEYS[3], unpack(uids))
  for at, uid in ipairs(uids) do
    local record, seen, count = records[at] or '', 0, 0
    if record ~= '' then
      seen = tonumber(positions[at] or 0)
      count = texts_after(chat, parse(uid, record), seen)
    end
    table.insert(found, uid)
    table.insert(found, record)
    table.insert(found, int(count))
    table.insert(found, int(seen))
  end
  return found
end

-- Returns the members whose lists a change affects: both of a direct chat, or one of a group.
local function affected_members(chat, uid) return chat.kind == 'direct' and { uid, other_of(chat, uid) } or { uid } end

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
