-- Push URLs to sites that other workers own, or that nobody has room for.
-- KEYS: id sites free owners resting     ARGV: id, prefix, (site, batch, best score)...
local id, sites, free, owners, resting = unpack(KEYS)
if redis.call('GET', id) ~= ARGV[1] then return redis.error_reply('GONE') end
for i = 3, #ARGV, 3 do
  local site, batch, best = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  redis.call('RPUSH', ARGV[2] .. 'in:' .. site, batch)
  redis.call('ZADD', sites, 'GT', best, site)
  if not redis.call('HGET', owners, site)
    and redis.call('SISMEMBER', resting, site) == 0 then
    redis.call('ZADD', free, redis.call('ZSCORE', sites, site), site)
  end
end
