// Reads {"backups": [{"set", "at"}], "keep": {"daily", "weekly", "monthly"}}: grandfather, father,
// son. The newest backup of each of the last days, weeks and months stays, the rest may go.
const { backups, keep } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const day = (at) => at.slice(0, 10);
const month = (at) => at.slice(0, 7);
const week = (at) => Math.floor((Date.parse(`${day(at)}T00:00:00Z`) / 86400000 + 3) / 7);
const newestFirst = (a, b) => (a.at < b.at ? 1 : -1);

function kept(list, period, count) {
  const seen = new Map();
  for (const backup of list) {
    const key = period(backup.at);
    if (!seen.has(key)) seen.set(key, backup);
  }
  return [...seen.values()].slice(0, count);
}

const plan = { keep: [], remove: [] };
for (const set of [...new Set(backups.map((b) => b.set))].sort()) {
  const list = backups.filter((b) => b.set === set).sort(newestFirst);
  const stay = new Set([
    ...kept(list, day, keep.daily), ...kept(list, week, keep.weekly), ...kept(list, month, keep.monthly)]);
  for (const backup of list) plan[stay.has(backup) ? 'keep' : 'remove'].push(`${set}@${backup.at}`);
}
const findings = plan.remove.length > 10
  ? [{ check: 'backup-rotation', severity: 'info', text: `${plan.remove.length} old backups can go` }]
  : [];
process.stdout.write(JSON.stringify({ findings, ...plan }));
