/** What the Config API of libraries and that of data documents have in common. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import type { PartKind, PartName, PartRevision } from './parts.ts';

const number = Type.String({ pattern: '^[1-9]\\d{0,14}$' });
const library = { tenant: Type.String(), package: Type.String() };
/** A document's path stands in the address with its slashes as %2F. */
const data = {
  tenant: Type.String(),
  path: Type.String({ description: 'The path of the document, its slashes written as %2F.' }),
};

export const kinds = {
  library: {
    list: 'policy-libraries',
    noun: 'library',
    plural: 'libraries',
    param: 'package',
    params: Type.Object(library),
    numbered: Type.Object({ ...library, number }),
  },
  data: {
    list: 'policy-data',
    noun: 'data document',
    plural: 'data documents',
    param: 'path',
    params: Type.Object(data),
    numbered: Type.Object({ ...data, number }),
  },
} as const;

const readers = { access: { api: 'config', roles } } as const;
/** Documents may hold ids of persons, which support does not see. */
export const documentReaders = {
  access: { api: 'config', roles: roles.filter((role) => role !== 'support') },
} as const;
const writers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;

export function readersOf(kind: PartKind) {
  return kind === 'library' ? readers : documentReaders;
}

export function writersOf(kind: PartKind) {
  return kind === 'library' ? writers : ({ ...writers, isDocument: true } as const);
}

/** The parameters of a route that names one. */
export function nameOf(kind: PartKind, params: unknown): { tenant: string; name: PartName } {
  const { tenant, ...rest } = params as Record<string, string> & { tenant: string };
  return { tenant, name: { kind, name: rest[kinds[kind].param] as string } };
}

export function revisionOf(kind: PartKind, params: unknown): { tenant: string; revision: PartRevision } {
  const { tenant, name } = nameOf(kind, params);
  return { tenant, revision: { ...name, number: Number((params as { number: string }).number) } };
}
