/**
 * Puts what stands in seed/, beside the manifests of a local installation, into its database, once: relationships of
 * seed/{tenant}.ndjson, because an import knows how far it came; before it the actors and resources of
 * seed/{tenant}.entities.ndjson; consents of seed/{tenant}.consents.ndjson into tenants that have never been asked anything.
 */
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { seedConsents } from '../server/consents/index.ts';
import { Problem } from '../server/core/problems.ts';
import { importRelationships, seedEntities } from '../server/relationships/index.ts';
import type { Services } from '../server/services.ts';

const IMPORT = 'seed';
const CONSENTS = '.consents.ndjson';
const ENTITIES = '.entities.ndjson';

/**
 * @param manifests the directory of the manifests
 * @returns what was refused, a line each; of tenants that are not there nothing is read
 */
export async function seed(services: Services, manifests: string): Promise<string[]> {
  const directory = join(manifests, 'seed');
  const found = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.ndjson')).sort();
  // Entities go before the import of their relationships.
  const files = [...found.filter((one) => one.endsWith(ENTITIES)), ...found.filter((one) => !one.endsWith(ENTITIES))];
  const refused: string[] = [];
  for (const file of files) {
    const kind = [ENTITIES, CONSENTS, '.ndjson'].find((one) => file.endsWith(one));
    const tenant = basename(file, kind);
    if (!services.snapshots.get(tenant)?.active) continue;
    const path = join(directory, file);
    const errors = await seedOne(services, tenant, path, kind);
    refused.push(...errors.map(({ line, detail }) => `${join('seed', file)}:${line}: ${detail}`));
  }
  return refused;
}

async function seedOne(services: Services, tenant: string, path: string, kind: string | undefined) {
  if (kind === '.ndjson') return seedRelationships(services, tenant, path);
  const lines = (await readFile(path, 'utf8')).split('\n');
  if (kind === CONSENTS) return seedConsents(services.consents, tenant, lines);
  return seedEntities(services.relationships, tenant, IMPORT, lines);
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
