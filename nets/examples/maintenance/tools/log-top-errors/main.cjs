// Reads {"lines": [...]}: which error repeats most? Numbers, ids and times are made alike first, so
// that "timeout after 31 ms" and "timeout after 40 ms" count as one.
const { lines } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const alike = (line) => line
  .replace(/^.*?\b(ERROR|FATAL)\b:?\s*/, '')
  .replace(/\b[0-9a-f]{8,}\b/g, '<id>')
  .replace(/\d+(\.\d+)?/g, '<n>');
const counts = new Map();
for (const line of lines.filter((l) => /\b(ERROR|FATAL)\b/.test(l))) {
  const key = alike(line);
  counts.set(key, (counts.get(key) || 0) + 1);
}
const top = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5)
  .map(([message, count]) => ({ message, count }));
const findings = top.filter((t) => t.count >= 3).map((t) => (
  { check: 'log-top-errors', severity: 'warning', text: `${t.count} times: ${t.message}` }));
process.stdout.write(JSON.stringify({ findings, top }));
