// Reads {"files": [{"path", "bytes", "days"}], "budgetBytes"}: what to compress and what to delete
// so that the logs fit their budget, the oldest first and nothing younger than two days.
const { files, budgetBytes } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const compressed = 0.1; // what is left of a text log, roughly
let total = files.reduce((sum, file) => sum + file.bytes, 0);
const before = total;
const compress = [];
const remove = [];
const oldest = files.filter((file) => file.days >= 2).sort((a, b) => b.days - a.days || a.path.localeCompare(b.path));
for (const file of oldest) {
  if (total <= budgetBytes) break;
  const packed = file.path.endsWith('.gz');
  if (packed || file.days > 30) {
    remove.push(file.path);
    total -= file.bytes;
  } else {
    compress.push(file.path);
    total -= Math.round(file.bytes * (1 - compressed));
  }
}
const findings = total > budgetBytes
  ? [{ check: 'log-rotation', severity: 'warning', text: `logs stay ${total - budgetBytes} bytes over their budget` }]
  : [];
process.stdout.write(JSON.stringify({ findings, compress, remove, freedBytes: before - total }));
