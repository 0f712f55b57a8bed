/**
 * `accord export`: writes a tenant's objects as manifests, which `accord validate` and `accord start --manifests` take. Secrets are
 * not in it: a Tenant and an issuer name theirs.
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { problem } from '../server/core/problems.ts';
import { counted } from '../server/core/text.ts';
import { exportedText, exportTenant } from '../server/resources/index.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { withServices } from './with-services.ts';

export async function run({ values, flags }: Parsed): Promise<number> {
  const { tenant, output } = values;
  const wrong = (why: string) => new UsageError(`accord export: ${why}\nusage: ${commands.export.usage}`);
  if (tenant === undefined) throw wrong('--tenant is missing');
  if (output !== undefined && (await entriesOf(output)).length > 0) throw wrong(`${output} is not empty`);
  const options = { all: flags.has('all'), allowPastDates: flags.has('allow-past-dates'), now: Date.now() };
  const exported = await withServices('export', values.data as string, ({ database, rooms }) =>
    database.tenantSnapshot(tenant, (tx) => exportTenant(tx, rooms, tenant, options)),
  );
  if (exported === undefined) throw problem('tenant_not_found');
  const { manifests, notes } = exported;
  if (output === undefined) process.stdout.write(manifests.map((one) => exportedText(one)).join('---\n'));
  else {
    for (const one of manifests) {
      const { name, namespace = '' } = one.manifest.metadata;
      const folder = join(output, one.plural, namespace);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `${name}.yaml`), exportedText(one), { flag: 'wx' });
    }
  }
  for (const note of notes) console.error(`accord: ${note}`);
  console.error(`accord: ${counted(manifests.length, 'manifest')} of ${tenant}`);
  return 0;
}

async function entriesOf(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
