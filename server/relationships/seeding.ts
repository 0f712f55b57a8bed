/** Actors and resources with attributes, brought into a tenant before a first import of relationships. */
import { type RefusedLine, readJsonLines } from '../core/json-lines.ts';
import { Problem } from '../core/problems.ts';
import { readEntityType, typeProblem } from '../types/index.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { upsertEntity } from './entity-store.ts';
import { attributesOf, checkEntity } from './rules.ts';
import type { Entity } from './schema.ts';
import { readImport } from './store.ts';

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
): Promise<RefusedLine[]> {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
    if ((await readImport(tx, tenant, before)) !== undefined) return [];
    const refused: RefusedLine[] = [];
    for (const read of readJsonLines<Entity>(lines, faultOf)) {
      if ('detail' in read) {
        refused.push(read);
        continue;
      }
      const { id, type, ...attributes } = read.value;
      try {
        checkEntity({ id, type }, '');
        const declared = await readEntityType(tx, tenant, type, 'use');
        if (declared === undefined) throw typeProblem('type_unknown', { detail: `There is no type ${type}.` });
        await upsertEntity(tx, tenant, { id, type }, attributesOf({ id, type }, declared.spec, attributes));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push({ line: read.line, detail: error.message });
      }
    }
    return refused;
  });
  return result;
}

function faultOf(value: unknown): string | undefined {
  const { id, type } = (value ?? {}) as Partial<Entity>;
  return typeof id === 'string' && typeof type === 'string'
    ? undefined
    : 'The line must be an object with id and type, both texts.';
}
