/** Which members read and write a tenant's records through the Config API, alike in every room. */
import type { Role } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';

const of = <const R extends readonly Role[]>(...roles: R) => ({ access: { api: 'config', roles } }) as const;

/** Support sees no ids: what these routes answer has to be masked for it. */
export const recordViewers = of('security-admin', 'config-editor', 'support');
/** Where what is read is nothing but ids, or a proof of them. */
export const recordReaders = of('security-admin', 'config-editor');
/** Who changes records, and who takes all of them at once. */
export const recordWriters = of('security-admin');

/**
 * What support does not see, it may not find out by searching.
 * @param asked what the query says of ids, by its name
 * @throws Problem forbidden
 */
export function refuseMaskedSearch(role: Role, asked: Record<string, string | undefined>): void {
  const named = Object.keys(asked).filter((name) => asked[name] !== undefined);
  if (role !== 'support' || named.length === 0) return;
  const errors = named.map((name) => ({ pointer: `/query/${name}`, detail: 'support does not see it' }));
  throw problem('forbidden', { detail: 'support sees no ids, and may not search by them.', errors });
}
