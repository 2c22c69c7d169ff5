// Reads {"findings": [sorted], "windowMinutes"}: fills the maintenance window, the worst first. Each
// check has a usual length; what does not fit is put off and said so.
const { findings, windowMinutes } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const minutes = {
  'disk-check': 20, 'inode-check': 20, 'disk-forecast': 30, 'backup-age': 45, 'certificate-expiry': 15,
  'service-diff': 10, 'package-updates': 30, 'user-audit': 10, 'ssh-config-lint': 10, 'port-audit': 10,
};
let used = 0;
const steps = [];
const later = [];
for (const finding of findings.filter((f) => f.severity !== 'info')) {
  const length = minutes[finding.check] || 15;
  if (used + length > windowMinutes) {
    later.push(finding.text);
    continue;
  }
  steps.push({ at: used, minutes: length, check: finding.check, task: finding.text });
  used += length;
}
process.stdout.write(JSON.stringify({ steps, later, usedMinutes: used }));
