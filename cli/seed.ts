/**
 * Puts what stands in seed/, beside the manifests of a local installation, into its database, once: relationships of
 * seed/{tenant}.ndjson, because an import knows how far it came; before it the actors and resources of
 * seed/{tenant}.entities.ndjson; consents of seed/{tenant}.consents.ndjson into tenants that have never been asked anything. A tenant
 * without a decision then answers the questions of seed/{tenant}.decisions.ndjson.
 */
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { seedDecisions } from '../server/authz/index.ts';
import { seedConsents } from '../server/consents/index.ts';
import type { RefusedLine } from '../server/core/json-lines.ts';
import { Problem } from '../server/core/problems.ts';
import { importRelationships, seedEntities } from '../server/relationships/index.ts';
import type { Services } from '../server/services.ts';

const IMPORT = 'seed';
const PARTS = ['entities', 'relationships', 'consents', 'decisions'] as const;
type Part = (typeof PARTS)[number];

/**
 * @param manifests the directory of the manifests
 * @returns what was refused, a line each; of tenants that are not there nothing is read
 */
export async function seed(services: Services, manifests: string): Promise<string[]> {
  const directory = join(manifests, 'seed');
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.ndjson')).sort();
  const files = names.map(partOf);
  const refused: string[] = [];
  // Entities go before their relationships; questions come last: they are about the rest.
  for (const part of PARTS) {
    for (const { file, tenant } of files.filter((one) => one.part === part)) {
      if (!services.snapshots.get(tenant)?.active) continue;
      const errors = await seeders[part](services, tenant, join(directory, file));
      refused.push(...errors.map(({ line, detail }) => `${join('seed', file)}:${line}: ${detail}`));
    }
  }
  return refused;
}

function partOf(file: string): { file: string; tenant: string; part: Part } {
  const [tenant = '', part] = basename(file, '.ndjson').split('.');
  return { file, tenant, part: PARTS.find((one) => one === part) ?? 'relationships' };
}

const linesOf = async (path: string) => (await readFile(path, 'utf8')).split('\n');

const seeders: Record<Part, (services: Services, tenant: string, path: string) => Promise<RefusedLine[]>> = {
  entities: async ({ relationships }, tenant, path) => seedEntities(relationships, tenant, IMPORT, await linesOf(path)),
  relationships: seedRelationships,
  consents: async ({ consents }, tenant, path) => seedConsents(consents, tenant, await linesOf(path)),
  decisions: async ({ authz, database, snapshots }, tenant, path) => {
    const snapshot = snapshots.get(tenant);
    return snapshot === undefined ? [] : seedDecisions({ ...authz, database }, snapshot, await linesOf(path));
  },
};

async function seedRelationships(services: Services, tenant: string, path: string): Promise<RefusedLine[]> {
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
