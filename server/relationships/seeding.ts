/** Actors and resources with attributes, brought into a tenant before a first import of relationships. */
import { Problem, problem } from '../core/problems.ts';
import { readEntityType, typeProblem } from '../types/index.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { upsertEntity } from './entity-store.ts';
import { attributesOf, checkEntity } from './rules.ts';
import type { Entity } from './schema.ts';
import { readImport } from './store.ts';

type Refused = { line: number; detail: string };

/**
 * @param before the id of the import: once it has begun, nothing is brought in, so that nobody who was erased since comes back
 * @param lines JSON, one entity each with its attributes, as GET M/actors/{type}/{id} answers it; empty ones are skipped
 * @returns what was refused; the rest is in
 */
export async function seedEntities(
  services: WriteServices,
  tenant: string,
  before: string,
  lines: readonly string[],
): Promise<Refused[]> {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
    if ((await readImport(tx, tenant, before)) !== undefined) return [];
    const refused: Refused[] = [];
    for (const [index, text] of lines.entries()) {
      if (text.trim() === '') continue;
      try {
        const { id, type, ...attributes } = readLine(text);
        checkEntity({ id, type }, '');
        const declared = await readEntityType(tx, tenant, type, 'use');
        if (declared === undefined) throw typeProblem('type_unknown', { detail: `There is no type ${type}.` });
        await upsertEntity(tx, tenant, { id, type }, attributesOf({ id, type }, declared.spec, attributes));
      } catch (error) {
        if (!(error instanceof Problem || error instanceof SyntaxError)) throw error;
        refused.push({ line: index + 1, detail: error.message });
      }
    }
    return refused;
  });
  return result;
}

function readLine(text: string): Entity {
  const value: Partial<Entity> | null = JSON.parse(text);
  if (typeof value?.id === 'string' && typeof value.type === 'string') return value as Entity;
  throw problem('invalid_request', { detail: 'The line must be an object with id and type, both texts.' });
}
