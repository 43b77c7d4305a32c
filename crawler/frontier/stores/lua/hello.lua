-- A worker begins. What one of its name left behind is free again after a pause.
-- KEYS: id owners pauses workers commits     ARGV: an id, worker, lease (ms), pause (ms)
-- Returns the id of the run: the one that was there, or this one.
local id, owners, pauses, workers, commits = unpack(KEYS)
local worker, lease, pause = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('SET', id, ARGV[1], 'NX')
if redis.call('ZSCORE', workers, worker) then
  local all = redis.call('HGETALL', owners)
  for i = 1, #all, 2 do
    local name = all[i + 1]:match('^%d+|(.*)$')
    if name == worker then
      redis.call('HSET', owners, all[i], '|')
      redis.call('ZADD', pauses, now + pause, all[i])
    end
  end
end
redis.call('ZADD', workers, now + lease, worker)
redis.call('HDEL', commits, worker)
return redis.call('GET', id)
