/**
 * Owns putting the relationships of seed/{tenant}.ndjson, beside the manifests of a local installation, into its database:
 * once, because an import knows how far it came.
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { importRelationships } from '../server/relationships/index.ts';
import type { Services } from '../server/services.ts';

const IMPORT = 'seed';

/**
 * @param manifests the directory of the manifests
 * @returns what was refused, a line each; of tenants that are not there nothing is read
 */
export async function seedRelationships(services: Services, manifests: string): Promise<string[]> {
  const directory = join(manifests, 'seed');
  const files = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.ndjson')).sort();
  const refused: string[] = [];
  for (const file of files) {
    const tenant = basename(file, '.ndjson');
    if (!services.snapshots.get(tenant)?.active) continue;
    const writer = { tenant, actor: 'cli', requestId: IMPORT };
    const lines = createReadStream(join(directory, file));
    const { errors } = await importRelationships(services.relationships, writer, { id: IMPORT, firstLine: 1 }, lines);
    refused.push(...errors.map(({ line, detail }) => `${join('seed', file)}:${line}: ${detail}`));
  }
  return refused;
}
