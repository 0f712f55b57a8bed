/** The name of a caller in logs and audits; mask.ts says how it is shown. */
import type { Caller } from './schema.ts';

const prefixes = { client: 'backend', user: 'user', member: 'member' } as const;

/** `client:<id>`, `user:<type>:<id>` or `member:<email>`. */
export function callerName(caller: Caller): string {
  if (caller.kind === 'backend') return `client:${caller.clientId}`;
  if (caller.kind === 'user') return `user:${caller.actor.type}:${caller.actor.id}`;
  return `member:${caller.email}`;
}

/** What kind of caller a name is of. */
export function kindOfCaller(name: string): Caller['kind'] | undefined {
  return prefixes[name.split(':')[0] as keyof typeof prefixes];
}
