// Reads {"crontab": [lines]}: lines that cron would refuse, or that mean something else than meant.
const { crontab } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const fields = [['minute', 0, 59], ['hour', 0, 23], ['day', 1, 31], ['month', 1, 12], ['weekday', 0, 7]];
const findings = [];
const add = (severity, line, text) => findings.push({ check: 'crontab-lint', severity, text: `line ${line}: ${text}` });

function wrong(value, [name, min, max]) {
  for (const part of value.split(',')) {
    const match = /^(\*|(\d+)(-(\d+))?)(\/(\d+))?$/.exec(part);
    if (!match) return `${name} '${part}' cannot be read`;
    for (const n of [match[2], match[4]].filter((x) => x !== undefined).map(Number)) {
      if (n < min || n > max) return `${name} ${n} is not within ${min} to ${max}`;
    }
    if (match[6] === '0') return `${name} '${part}' never comes`;
  }
  return null;
}

let jobs = 0;
crontab.forEach((line, index) => {
  if (/^\s*(#|$)/.test(line) || /^\s*\w+\s*=/.test(line)) return;
  const words = line.trim().split(/\s+/);
  if (words.length < 6) return add('warning', index + 1, 'five times and a command are needed');
  jobs += 1;
  const faults = fields.map((field, i) => wrong(words[i], field)).filter(Boolean);
  faults.forEach((fault) => add('warning', index + 1, fault));
  if (words[0] === '*' && faults.length === 0) add('info', index + 1, 'runs every minute');
  return undefined;
});
process.stdout.write(JSON.stringify({ findings, jobs }));
