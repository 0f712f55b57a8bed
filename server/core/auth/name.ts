/** Owns the name of a caller in logs and audits; mask.ts says how it is shown. */
import type { Caller } from './schema.ts';

/** `client:<id>`, `user:<type>:<id>` or `member:<email>`. */
export function callerName(caller: Caller): string {
  if (caller.kind === 'backend') return `client:${caller.clientId}`;
  if (caller.kind === 'user') return `user:${caller.actor.type}:${caller.actor.id}`;
  return `member:${caller.email}`;
}
