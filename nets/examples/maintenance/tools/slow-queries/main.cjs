// Reads {"queries": [{"statement", "ms"}], "limitMs"}: the 95th percentile of each statement, with
// its values left out, against the limit.
const { queries, limitMs } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const shape = (sql) => sql.replace(/'[^']*'|\b\d+\b/g, '?').replace(/\s+/g, ' ').trim();
const groups = new Map();
for (const { statement, ms } of queries) {
  const key = shape(statement);
  if (!groups.has(key)) groups.set(key, []);
  groups.get(key).push(ms);
}
const statistics = [...groups].map(([statement, times]) => {
  times.sort((a, b) => a - b);
  const rank = Math.ceil(0.95 * times.length) - 1;
  return { statement, count: times.length, p95: times[rank] };
}).sort((a, b) => b.p95 - a.p95);
const findings = statistics.filter((s) => s.p95 > limitMs).map((s) => (
  { check: 'slow-queries', severity: 'warning', text: `p95 of ${s.p95} ms: ${s.statement}` }));
process.stdout.write(JSON.stringify({ findings, statistics: statistics.slice(0, 10) }));
