-- Requests of one kind from a file, for wrk: LOAD_KIND=check|add|search, LOAD_FILE=posts.jsonl|words.txt.
-- Each thread begins elsewhere in the file; adds get keys of their own.

local kind = os.getenv("LOAD_KIND")
local lines = {}
for line in io.lines(os.getenv("LOAD_FILE")) do
  lines[#lines + 1] = line
end

local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local at, count = 0, 0
function init()
  at = number * math.floor(#lines / 3)
  math.randomseed(number + 1)
end

local function escape(text)
  return (text:gsub("[^%w]", function(byte) return string.format("%%%02X", byte:byte()) end))
end

local json = { ["Content-Type"] = "application/json" }
function request()
  at = at % #lines + 1
  count = count + 1
  if kind == "search" then
    -- One word, or two.
    local query = lines[math.random(#lines)]
    if count % 2 == 0 then query = query .. " " .. lines[math.random(100)] end
    return wrk.format("GET", "/v1/search?limit=10&q=" .. escape(query))
  end
  local body = lines[at]
  if kind == "add" then
    local key = string.format('{"id":"https://load.example/%d/%d/%d"', os.time(), number, count)
    body = body:gsub('^{"id": "[^"]*"', key, 1)
    return wrk.format("POST", "/v1/documents", json, body)
  end
  return wrk.format("POST", "/v1/check", json, body)
end

function done(summary, latency)
  local seconds = summary.duration / 1e6
  local errors = summary.errors
  io.write(string.format("%.0f %.3f %.3f %d\n", summary.requests / seconds,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.timeout + errors.read + errors.write + errors.connect))
end
