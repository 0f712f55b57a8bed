/** A tenant's ledger for tests: entries appended and sealed by the real encrypter. */
import { randomUUID } from 'node:crypto';
import type { RegisterEntry } from '../../server/ledger/index.ts';
import { sealWaiting } from '../../server/ledger/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import type { TestServer } from '../helpers/server.ts';

export const T0 = Date.parse('2026-03-01T10:00:00.123Z');

export const entry = (fields: Partial<RegisterEntry> = {}): RegisterEntry => ({
  type: 'read',
  time: T0,
  actor: { type: 'user', id: 'alice' },
  userId: 'alice',
  outcome: 'given',
  requestId: randomUUID(),
  ...fields,
});

/** Appends and seals so many entries a seal: [3, 2] makes two seals with the entries 1 to 3, and 4 and 5. */
export async function sealed(server: TestServer, tenant: string, seals: readonly number[]): Promise<void> {
  let number = 0;
  for (const count of seals) {
    const entries = Array.from({ length: count }, () => {
      number++;
      return entry({ time: T0 + number, name: `n${number}`, userId: `user${number}` });
    });
    await server.services.ledger.ledger.append(tenant, entries);
    await sealWaiting(server.services.ledger);
  }
}

export type Row = {
  sequence: string;
  id: string;
  name: string;
  time: Date;
  hash: Buffer;
  personal_digest: Buffer;
  salt: Buffer | null;
  user_id: string | null;
};

export const entriesOf = (server: TestServer, tenant: string) =>
  asAdmin<Row>(server.db.adminUrl, 'select * from accord.ledger_entry where tenant = $1 order by sequence', [tenant]);
