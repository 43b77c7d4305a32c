-- Append to the journals of sites that a worker owns, and renew their leases.
-- KEYS: sites free owners deadlines workers totals order
-- ARGV: prefix, worker, lease (ms), pause (ms), then for each site: site, epoch,
--       best pending score or '', change of pending, change of done, keep or release,
--       append or replace, how many batches, batch...
-- Returns for each site 0 (lost: nothing was written) or what others pushed to it.
local sites, free, owners, deadlines, workers, totals, order = unpack(KEYS)
local prefix, worker = ARGV[1], ARGV[2]
local lease, pause = tonumber(ARGV[3]), tonumber(ARGV[4])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZADD', workers, now + lease, worker)
local answers = {}
local i = 5
while i <= #ARGV do
  local site, epoch, best, pending, done = unpack(ARGV, i, i + 4)
  local release, replace = ARGV[i + 5] == 'release', ARGV[i + 6] == 'replace'
  local first, last = i + 8, i + 7 + ARGV[i + 7]
  i = last + 1
  if redis.call('HGET', owners, site) ~= epoch .. '|' .. worker then
    answers[#answers + 1] = 0
  else
    local journal, inbox = prefix .. 'site:' .. site, prefix .. 'in:' .. site
    if replace then redis.call('DEL', journal) end
    for n = first, last do redis.call('RPUSH', journal, ARGV[n]) end
    redis.call('ZADD', order, 'NX', redis.call('ZCARD', order), site)
    redis.call('HINCRBY', totals, 'pending', pending)
    redis.call('HINCRBY', totals, 'done', done)
    local others = redis.call('LRANGE', inbox, 0, -1)
    for _, pushed in ipairs(others) do redis.call('RPUSH', journal, pushed) end
    redis.call('DEL', inbox)
    if best == '' then
      redis.call('ZREM', sites, site)
    else
      redis.call('ZADD', sites, best, site)
    end
    if release and #others == 0 then
      -- nobody else before the pause is over: its last page may be a moment old
      redis.call('HSET', owners, site, '|' .. worker)
      redis.call('ZADD', deadlines, now + pause, site)
    else
      redis.call('ZADD', deadlines, now + lease, site)
    end
    answers[#answers + 1] = others
  end
end
return answers
