/**
 * Puts what stands in seed/, beside the manifests of a local installation, into its database, once: relationships of
 * seed/{tenant}.ndjson, because an import knows how far it came; consents of seed/{tenant}.consents.ndjson into tenants that
 * have never been asked anything.
 */
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { seedConsents } from '../server/consents/index.ts';
import { Problem } from '../server/core/problems.ts';
import { importRelationships } from '../server/relationships/index.ts';
import type { Services } from '../server/services.ts';

const IMPORT = 'seed';
const CONSENTS = '.consents.ndjson';

/**
 * @param manifests the directory of the manifests
 * @returns what was refused, a line each; of tenants that are not there nothing is read
 */
export async function seed(services: Services, manifests: string): Promise<string[]> {
  const directory = join(manifests, 'seed');
  const files = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.ndjson')).sort();
  const refused: string[] = [];
  for (const file of files) {
    const ofConsents = file.endsWith(CONSENTS);
    const tenant = basename(file, ofConsents ? CONSENTS : '.ndjson');
    if (!services.snapshots.get(tenant)?.active) continue;
    const path = join(directory, file);
    const errors = ofConsents
      ? await seedConsents(services.consents, tenant, (await readFile(path, 'utf8')).split('\n'))
      : await seedRelationships(services, tenant, path);
    refused.push(...errors.map(({ line, detail }) => `${join('seed', file)}:${line}: ${detail}`));
  }
  return refused;
}

async function seedRelationships(services: Services, tenant: string, path: string) {
  const author = { tenant, by: { actor: 'cli', requestId: IMPORT } };
  const lines = createReadStream(path);
  try {
    const imported = await importRelationships(services.relationships, author, { id: IMPORT, firstLine: 1 }, lines);
    return imported.result.errors;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'import_lines_differ') throw error;
    return [{ line: 1, detail: 'Other lines were imported from this file before; nothing was imported now.' }];
  }
}
