-- Lease sites to a worker: those it names, or else the best that are free.
-- KEYS: sites free owners deadlines epoch workers totals
-- ARGV: worker, lease (ms), how many of the free, site...
-- Returns {{site, epoch}..., number of open sites, number of workers, pending, done}.
local sites, free, owners, deadlines, epoch, workers, totals = unpack(KEYS)
local worker, lease, wanted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- leases that ran out: their sites are free again, if they have anything pending
for _, site in ipairs(redis.call('ZRANGEBYSCORE', deadlines, '-inf', now)) do
  redis.call('ZREM', deadlines, site)
  redis.call('HDEL', owners, site)
  local best = redis.call('ZSCORE', sites, site)
  if best then redis.call('ZADD', free, best, site) end
end
redis.call('ZADD', workers, now + lease, worker)
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now)

local asked = {}
for i = 4, #ARGV do asked[#asked + 1] = ARGV[i] end
if #asked == 0 and wanted > 0 then
  asked = redis.call('ZREVRANGE', free, 0, wanted - 1)
end
local granted = {}
for _, site in ipairs(asked) do
  local owner = redis.call('HGET', owners, site)
  -- a pause after a release (an empty owner) keeps other workers away, not its last one
  if not owner or owner == '|' .. worker then
    local number = redis.call('INCR', epoch)
    redis.call('ZREM', free, site)
    redis.call('HSET', owners, site, number .. '|' .. worker)
    redis.call('ZADD', deadlines, now + lease, site)
    granted[#granted + 1] = {site, number}
  end
end
return {
  granted, redis.call('ZCARD', sites), redis.call('ZCARD', workers),
  tonumber(redis.call('HGET', totals, 'pending') or 0),
  tonumber(redis.call('HGET', totals, 'done') or 0),
}
