-- Says what load.lua says, of requests without a body.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("%.0f %.3f %.3f %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.timeout + errors.read + errors.write + errors.connect))
end
