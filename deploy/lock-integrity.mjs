// Every package of package-lock.json has the sha512 of what the registry published, so that `npm ci` installs nothing else.
// npm leaves the field out for packages that it takes from node_modules. `node deploy/lock-integrity.mjs` asks the registry for
// those that are missing and writes them; test/deploy/supply-chain.test.ts refuses a lock that lacks one.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));

/** The package's name in the registry: an alias says it, else its folder. */
const nameOf = (path, entry) => entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

async function published(path, entry) {
  const view = ['view', `${nameOf(path, entry)}@${entry.version}`, 'dist.integrity', '--json', '--loglevel=error'];
  const { stdout } = await promisify(execFile)('npm', view);
  const integrity = JSON.parse(stdout);
  if (!/^sha512-/.test(integrity)) throw new Error(`${path}: the registry has no sha512`);
  return integrity;
}

const missing = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && !entry.link && !entry.integrity);
for (let from = 0; from < missing.length; from += 8) {
  await Promise.all(
    missing.slice(from, from + 8).map(async ([path, entry]) => {
      const { version, ...rest } = entry;
      const integrity = await published(path, entry);
      // Where npm writes it: behind the version.
      lock.packages[path] = { version, integrity, ...rest };
    }),
  );
}
writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
process.stdout.write(`${missing.length} of ${Object.keys(lock.packages).length - 1} entries had no integrity.\n`);
