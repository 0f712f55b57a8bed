/** The ledger as docs/ledger.md describes it, verified by somebody who has the tables, the JWKS and none of our code. */
import { createHash } from 'node:crypto';
import { compactVerify, createLocalJWKSet } from 'jose';
import { expect, test } from 'vitest';
import { sealWaiting, verifyLedger } from '../../server/ledger/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { entry, T0 } from './chain.ts';

const server = await createTestServer();
const { database, ledger: sealing } = server.services;
const { ledger } = sealing;
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

type Row = {
  sequence: string;
  id: string;
  time: Date;
  salt: Buffer;
  personal_digest: Buffer;
  hash: Buffer;
} & Record<'type' | 'name' | 'version' | 'document_version' | 'document_language' | 'outcome', string | null> &
  Record<'content_digest' | 'request_id' | 'client_id' | 'actor_type' | 'actor_id' | 'user_id', string | null>;

test('every hash and signature can be computed from the description', async () => {
  const tenant = await server.tenant();
  const odd = `"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028é漢\u{1f600}\ufffd`;
  await ledger.append(tenant, [
    entry({
      time: T0,
      name: odd,
      version: odd,
      document: { version: odd, language: odd },
      contentDigest: odd,
      clientId: odd,
    }),
    entry({ time: T0 + 1, actor: { type: odd, id: odd }, userId: odd, outcome: odd, requestId: odd }),
    { type: 'denied', time: T0 + 2, actor: { type: 'client', id: 'shop' }, outcome: 'not_found', requestId: '1' },
    entry({ time: Date.parse('0001-01-01T00:00:00.001Z') }),
    entry({ time: Date.parse('9999-12-31T23:59:59.999Z') }),
  ]);
  await sealWaiting(sealing);
  const rows = await asAdmin<Row>(
    server.db.adminUrl,
    'select * from accord.ledger_entry where tenant = $1 order by sequence',
    [tenant],
  );
  let hash = sha256(`accord ledger 1 ${tenant}`);
  for (const [i, row] of rows.entries()) {
    const personal = JSON.stringify([row.actor_type, row.actor_id, row.user_id]);
    const personalDigest = sha256(row.salt.toString('hex') + personal);
    expect(row.personal_digest.toString('hex')).toBe(personalDigest);
    const leaf = [
      ...[1, row.id, row.time.getTime(), row.type, row.name, row.version, row.document_version, row.document_language],
      ...[row.content_digest, row.outcome, row.request_id, row.client_id, personalDigest],
    ];
    hash = sha256(hash + sha256(JSON.stringify(leaf)));
    expect(Number(row.sequence)).toBe(i + 1);
    expect(row.hash.toString('hex')).toBe(hash);
  }
  expect(rows.map((row) => row.user_id)).toContain(odd);

  const { checkpoint, valid } = await verifyLedger({ database }, tenant);
  expect(valid).toBe(true);
  const jwks = (await server.app.inject({ url: `/${tenant}/.well-known/jwks.json` })).json();
  const { payload, protectedHeader } = await compactVerify(checkpoint as string, createLocalJWKSet(jwks));
  expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'accord-checkpoint' });
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    ...{ tenant, first: 1, last: 5, hash },
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test('a verification whose caller is gone ends', async () => {
  const tenant = await server.tenant();
  await ledger.append(tenant, [entry()]);
  await sealWaiting(sealing);
  const signal = AbortSignal.abort(new Error('gone'));
  await expect(verifyLedger({ database }, tenant, { signal })).rejects.toThrow('gone');
});
