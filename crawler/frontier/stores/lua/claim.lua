-- Lease sites to a worker: those it names, or else the best that are free.
-- KEYS: id sites free owners pauses epoch workers totals heard
--       resting
-- ARGV: id, worker, lease (ms), how many of the free, site...
-- Returns {{site, epoch}..., number of open sites, how many of them do not rest,
--          number of workers, pending, done}.
local id, sites, free, owners, pauses, epoch, workers, totals, heard, resting =
  unpack(KEYS)
local worker, lease, wanted = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('GET', id) ~= ARGV[1] then return redis.error_reply('GONE') end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- Workers ask four times in a lease. When nobody has, it was Redis that was gone, and who
-- was well before has a lease again.
local last = tonumber(redis.call('GET', heard) or now)
if now - last > lease / 2 then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', workers, last, '+inf')) do
    redis.call('ZADD', workers, 'GT', now + lease, name)
  end
end
redis.call('SET', heard, now)
redis.call('ZADD', workers, now + lease, worker)

local function set_free(site)
  redis.call('HDEL', owners, site)
  local best = redis.call('ZSCORE', sites, site)
  if redis.call('SISMEMBER', resting, site) == 1 then best = best and '-inf' end
  if best then redis.call('ZADD', free, best, site) end
end

-- the sites of workers that were not heard of; a pass over all, but only after a death
local dead = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', workers, '-inf', now)) do
  dead[name] = true
  redis.call('ZREM', workers, name)
end
if next(dead) then
  local all = redis.call('HGETALL', owners)
  for i = 1, #all, 2 do
    local name = all[i + 1]:match('^%d+|(.*)$')
    if name and dead[name] then set_free(all[i]) end
  end
end
for _, site in ipairs(redis.call('ZRANGEBYSCORE', pauses, '-inf', now)) do
  redis.call('ZREM', pauses, site)
  set_free(site)
end

local asked = {}
for i = 5, #ARGV do asked[#asked + 1] = ARGV[i] end
local open = redis.call('ZCARD', sites)
local awake = open - redis.call('SCARD', resting)
if #asked == 0 and wanted > 0 then
  -- those that rest when there are no others
  local least = awake > 0 and '(-inf' or '-inf'
  asked = redis.call('ZREVRANGEBYSCORE', free, '+inf', least, 'LIMIT', 0, wanted)
end
local granted = {}
for _, site in ipairs(asked) do
  local owner = redis.call('HGET', owners, site)
  -- a pause after a release (no number) keeps other workers away, not its last one
  if not owner or owner == '|' .. worker then
    local number = redis.call('INCR', epoch)
    redis.call('ZREM', free, site)
    redis.call('ZREM', pauses, site)
    redis.call('HSET', owners, site, number .. '|' .. worker)
    granted[#granted + 1] = {site, number}
  end
end
return {
  granted, open, awake, redis.call('ZCARD', workers),
  tonumber(redis.call('HGET', totals, 'pending') or 0),
  tonumber(redis.call('HGET', totals, 'done') or 0),
}
