-- read_members.lua - reads the chat snapshot; raises the version of the chat first, if relations of members have changed, or the version was lost.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 '' or a number above which the version is raised  3 and 4 an account, and the most
--   members above it, which are read in ascending order; 4 is 0 to read the accounts from 5 on
-- Returns the chat snapshot of chat.lua after `ok` and the settled version | {gone, newest row} the chat has ended | {none} no such chat
local chat = fetch()
if not chat then
  local gone = redis.call('HMGET', KEYS[1], 'gone', 'newest')
  if gone[1] then return { 'gone', gone[2] } end
  return { 'none' }
end
if ARGV[2] ~= '' then
  chat.version = math.max(chat.version, tonumber(ARGV[2])) + 1
  redis.call('HSET', KEYS[1], 'version', int(chat.version))
end
local uids = { unpack(ARGV, 5) }
if ARGV[4] ~= '0' then
  local above, members = tonumber(ARGV[3]), {}
  for _, uid in ipairs(redis.call('HKEYS', KEYS[2])) do
    if tonumber(uid) > above then table.insert(members, uid) end
  end
  table.sort(members, function(a, b) return tonumber(a) < tonumber(b) end)
  uids = { unpack(members, 1, math.min(#members, tonumber(ARGV[4]))) }
end
return snapshot(chat, uids, int(chat.settled))
