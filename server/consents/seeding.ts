/**
 * Importing consents that were given elsewhere, with their dates: into a tenant that has never been asked anything,
 * so that what was revoked since never comes back.
 */
import { instantMs } from '../core/instants.ts';
import { Problem, problem } from '../core/problems.ts';
import { createValueCheck } from '../http/validation.ts';
import { type WriteServices, write } from '../writes/index.ts';
import type { ConsentServices } from './request-context.ts';
import { documentOf, graceOf } from './rules.ts';
import { SeedLine } from './schema.ts';
import { insertConsents, insertInvitation, isUntouched, lockUsers } from './store.ts';

const faultOf = createValueCheck(SeedLine);
type Refused = { line: number; detail: string };

/**
 * @param lines JSON, one SeedLine each; empty ones are skipped
 * @returns what was refused; the rest is imported, unless the tenant was asked something before: then nothing is
 * @throws Problem tenant_not_found
 */
export async function seedConsents(
  services: WriteServices & Pick<ConsentServices, 'snapshotOf'>,
  tenant: string,
  lines: readonly string[],
): Promise<Refused[]> {
  const { definitions } = services.snapshotOf(tenant);
  const now = services.clock.now();
  const refused: Refused[] = [];
  const seeds = lines.flatMap((text, index) => {
    if (text.trim() === '') return [];
    const read = readLine(text, now);
    if ('detail' in read) {
      refused.push({ line: index + 1, detail: read.detail });
      return [];
    }
    try {
      documentOf(definitions.get(read.name), read);
      return [read];
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.push({ line: index + 1, detail: error.message });
      return [];
    }
  });
  if (seeds.length === 0) return refused;
  const { result: written } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    // No erased user can reappear here: an erasure is in the ledger, and then the tenant is not untouched.
    if (!(await lockUsers(tx, tenant, [...new Set(seeds.map((one) => one.userId))]))) {
      throw problem('tenant_not_found');
    }
    if (!(await isUntouched(tx, tenant))) return false;
    const rows = seeds.map(({ userId, name, version, document, givenAt, contentDigest }) => ({
      ...{ id: '', user_id: userId, definition: name, version, document: document.version },
      ...{ language: document.language, given_at: givenAt, proof: null, invited_at: null },
      content_digest: contentDigest ?? null,
    }));
    await insertConsents(tx, tenant, rows);
    for (const { userId, name, version, invitedAt } of seeds) {
      if (invitedAt === undefined) continue;
      const graceEnds = graceOf(definitions.get(name), version, { invitedAt: Date.parse(invitedAt), now });
      await insertInvitation(tx, tenant, { userId, name, version }, { at: invitedAt, graceEnds });
    }
    const actor = { type: 'cli', id: 'seed' };
    const outcome = { type: 'registered', time: now, actor, outcome: 'imported', requestId: 'seed' } as const;
    unit.appendToLedger(
      seeds.map(({ userId, name, version, document, contentDigest }) => ({
        ...{ userId, name, version, document, ...(contentDigest && { contentDigest }), ...outcome },
      })),
    );
    return true;
  });
  return written ? refused : [];
}

function readLine(text: string, now: number): SeedLine | { detail: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { detail: `The line is not JSON: ${(error as Error).message}` };
  }
  const fault = faultOf(value);
  if (fault !== undefined) return { detail: fault };
  const line = value as SeedLine;
  for (const field of ['givenAt', 'invitedAt'] as const) {
    const instant = line[field];
    if (instant === undefined) continue;
    const ms = instantMs(instant);
    if (ms === undefined || ms > now) return { detail: `/${field}: Must be an RFC 3339 instant in the past.` };
  }
  return line;
}
