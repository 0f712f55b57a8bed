/** The roles of the database in which members read by GraphQL (migration 000040): what each may read stands there. */
import type { Role } from '../auth/schema.ts';

export const readers = {
  'security-admin': 'accord_reader_admin',
  'config-editor': 'accord_reader_editor',
  'config-viewer': 'accord_reader_viewer',
  support: 'accord_reader_support',
} as const satisfies Record<Role, string>;
