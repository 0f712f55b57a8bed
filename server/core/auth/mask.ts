/**
 * How a recorded name (`client:<id>`, `user:<type>:<id>`, `member:<email>`, `operator:<manifest>`, `cli`) is shown to
 * the support desk, which works without ids and contacts.
 */
import type { Role } from './schema.ts';

/** The name as a member of that role may see it: support sees the kind, and of a user the type, of whoever it names. */
export function shownName(role: Role, name: string): string {
  return role === 'support' ? masked(name) : name;
}

/** What support sees of a mail address. */
export const maskOfEmail = '***';

/** An id or a contact as a member of that role may see it. */
export function shownId(role: Role, id: string): string {
  return role === 'support' ? '***' : id;
}

function masked(name: string): string {
  const [kind = '', type = ''] = name.split(':', 2);
  if (kind === 'operator' || name === 'cli' || name === 'accord') return name; // no person: managedBy tells the manifest as well
  return kind === 'user' ? `${kind}:${type}:***` : `${kind}:***`;
}
