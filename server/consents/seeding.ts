/**
 * Importing consents that were given elsewhere, with their dates: into a tenant that has never been asked anything,
 * so that what was revoked since never comes back.
 */
import { patterns } from '../../crds/index.ts';
import { instantMs } from '../core/instants.ts';
import { type RefusedLine, readJsonLines } from '../core/json-lines.ts';
import { parsePeriod, subtractPeriod } from '../core/periods.ts';
import { Problem, problem } from '../core/problems.ts';
import { createValueCheck } from '../http/validation.ts';
import { type WriteServices, write } from '../writes/index.ts';
import type { ConsentServices } from './request-context.ts';
import { documentOf, graceOf } from './rules.ts';
import { SeedLine } from './schema.ts';
import { insertConsents, insertInvitation, isUntouched, lockUsers } from './store.ts';

const faultOf = createValueCheck(SeedLine);

/**
 * @param lines JSON, one SeedLine each; empty ones are skipped
 * @returns what was refused; the rest is imported, unless the tenant was asked something before: then nothing is
 * @throws Problem tenant_not_found
 */
export async function seedConsents(
  services: WriteServices & Pick<ConsentServices, 'snapshotOf'>,
  tenant: string,
  lines: readonly string[],
): Promise<RefusedLine[]> {
  const { definitions } = services.snapshotOf(tenant);
  const now = services.clock.now();
  const refused: RefusedLine[] = [];
  const seeds: SeedLine[] = [];
  for (const read of readJsonLines<SeedLine>(
    lines,
    (value) => faultOf(value) ?? faultOfInstants(value as SeedLine, now),
  )) {
    if ('detail' in read) {
      refused.push(read);
      continue;
    }
    try {
      documentOf(definitions.get(read.value.name), read.value);
      seeds.push(dated(read.value, now));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.push({ line: read.line, detail: error.message });
    }
  }
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

/** With the instant of an invitation that is stated as so long ago. */
function dated({ invitedAgo, ...line }: SeedLine, now: number): SeedLine {
  const invitedAt = invitedAgo === undefined ? undefined : invitedBefore(invitedAgo, now);
  return invitedAt === undefined ? line : { ...line, invitedAt };
}

/** Undefined where it is no duration, or leads before the years of an instant. */
function invitedBefore(ago: string, now: number): string | undefined {
  const period = parsePeriod(ago);
  if (period === undefined) return undefined;
  const at = new Date(subtractPeriod(now, period)).toISOString();
  return instantMs(at) === undefined ? undefined : at;
}

/** What is wrong with a line beside its form. */
function faultOfInstants(line: SeedLine, now: number): string | undefined {
  if (line.invitedAgo !== undefined) {
    if (line.invitedAt !== undefined) return '/invitedAgo: Must be absent where invitedAt is given.';
    if (invitedBefore(line.invitedAgo, now) === undefined) return `/invitedAgo: Must be ${patterns.period.words}.`;
  }
  const isPast = (instant: string) => (instantMs(instant) ?? Number.POSITIVE_INFINITY) <= now;
  const wrong = (['givenAt', 'invitedAt'] as const).find((field) => line[field] !== undefined && !isPast(line[field]));
  return wrong && `/${wrong}: Must be an RFC 3339 instant in the past.`;
}
