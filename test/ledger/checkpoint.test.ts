/** What a tenant's key signed is its checkpoint only when it says so, whatever else the key may sign some day. */
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { openCheckpoint, signCheckpoint } from '../../server/ledger/checkpoint.ts';

const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
const jwk = await exportJWK(publicKey);
const checkpoint = { tenant: 'carshare', first: 1, last: 2, hash: 'ab'.repeat(32), time: '2026-11-28T00:00:00.000Z' };
const keyOf = async () => jwk;
const signed = (typ: string, said: unknown = checkpoint) =>
  new CompactSign(Buffer.from(JSON.stringify(said)))
    .setProtectedHeader({ alg: 'ES256', typ, kid: 'k' })
    .sign(privateKey);

test('one that was signed is opened', async () => {
  const text = await signCheckpoint({ kid: 'k', algorithm: 'ES256', privateKey }, checkpoint);
  expect(await openCheckpoint(text, 'carshare', keyOf)).toEqual(checkpoint);
});

test('another type of text, another tenant, or anything else is none', async () => {
  expect(await openCheckpoint(await signed('accord-checkpoint'), 'carshare', keyOf)).toEqual(checkpoint);
  for (const typ of ['accord-receipt', 'JWT', ''])
    expect(await openCheckpoint(await signed(typ), 'carshare', keyOf), typ).toBeUndefined();
  expect(await openCheckpoint(await signed('accord-checkpoint'), 'other', keyOf)).toBeUndefined();
  expect(
    await openCheckpoint(await signed('accord-checkpoint', { tenant: 'carshare' }), 'carshare', keyOf),
  ).toBeUndefined();
});
