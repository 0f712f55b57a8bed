// Checks the registry's signatures of all installed packages (`npm audit signatures`). A registry need not offer signatures, and
// a mirror may not pass its keys on: that is said and is no failure, because package-lock.json has each package's digest.
// Exit 1: a package whose signature is wrong.
import { spawnSync } from 'node:child_process';

const args = ['audit', 'signatures', '--json', '--fetch-retries=0', '--fetch-timeout=10000', '--loglevel=error'];
const { stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', timeout: 120_000 });
let found;
try {
  found = JSON.parse(stdout);
} catch {
  found = undefined; // npm says in text why it could not ask
}
if (!Array.isArray(found?.invalid)) {
  const why = found?.error?.summary ?? stderr.split('\n').find((line) => line.startsWith('npm error')) ?? 'no answer';
  process.stdout.write(`NOT CHECKED: signatures of packages: ${why.split('\n')[0]}\n`);
} else {
  for (const { name, version } of found.invalid) process.stdout.write(`WRONG SIGNATURE: ${name}@${version}\n`);
  process.stdout.write(`signatures: ${found.invalid.length} wrong, ${found.missing.length} packages without one\n`);
  if (found.invalid.length > 0) process.exitCode = 1;
}
