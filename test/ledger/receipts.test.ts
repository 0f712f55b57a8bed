/** Receipts: what they say, who can verify them, and what they are not good for. */
import { randomUUID } from 'node:crypto';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { issueReceipt } from '../../server/ledger/index.ts';
import { receiptOf } from '../../server/ledger/receipt.ts';
import { createTestServer } from '../helpers/server.ts';
import { sealed, T0 } from './chain.ts';

const clock = { now: () => T0, monotonic: () => performance.now() };
const server = await createTestServer({}, undefined, clock);
const { database, ledger: sealing, baseUrl } = server.services;
const tenant = await server.tenant({ displayName: 'Car Share GmbH' });
const consent = {
  id: randomUUID(),
  userId: 'alice',
  name: 'terms of use',
  version: '2',
  document: { version: '2.1', language: 'de' },
  givenAt: '2026-02-28T09:00:00.000Z',
  documentUrl: `http://accord.test/${tenant}/consents/documents/terms%20of%20use/2/2.1/de`,
};
const issue = (of = tenant) =>
  database.tenant(of, (tx) => issueReceipt({ encrypter: sealing.encrypter, clock, baseUrl }, tx, of, consent));
const jwksOf = async (of: string) => (await server.app.inject({ url: `/${of}/.well-known/jwks.json` })).json();

test('a receipt holds what was agreed to, and the public keys of the tenant verify it', async () => {
  const receipt = await issue();
  const { payload, protectedHeader } = await compactVerify(receipt, createLocalJWKSet(await jwksOf(tenant)));
  expect(protectedHeader).toEqual({
    alg: 'ES256',
    typ: 'accord-receipt',
    cty: 'application/ld+json',
    kid: expect.any(String),
  });
  const controller = {
    '@id': `http://accord.test/${tenant}`,
    'dct:identifier': tenant,
    'dct:title': 'Car Share GmbH',
  };
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    '@context': { dpv: 'https://w3id.org/dpv#', dct: 'http://purl.org/dc/terms/' },
    '@id': `http://accord.test/${tenant}/consents/${consent.id}/receipt`,
    '@type': 'dpv:ConsentReceipt',
    'dct:identifier': consent.id,
    'dct:conformsTo': 'https://w3id.org/dpv/schema/dpv-27560#receipt',
    'dct:created': '2026-03-01T10:00:00.123Z',
    'dct:publisher': controller,
    'dpv:hasRecordOfActivity': {
      '@id': `http://accord.test/${tenant}/consents/${consent.id}`,
      '@type': 'dpv:ConsentRecord',
      'dct:identifier': consent.id,
      'dct:conformsTo': 'https://w3id.org/dpv/schema/dpv-27560#record',
      'dpv:hasDataSubject': { '@type': 'dpv:DataSubject', 'dct:identifier': 'alice' },
      'dpv:hasDataController': controller,
      'dpv:hasProcess': {
        '@type': 'dpv:Process',
        'dpv:hasPurpose': { '@type': 'dpv:Purpose', 'dct:identifier': 'terms of use' },
        'dpv:hasLegalBasis': 'dpv:ExpressedConsent',
      },
      'dpv:hasNotice': {
        '@id': `http://accord.test/${tenant}/consents/documents/terms%20of%20use/2/2.1/de`,
        '@type': 'dpv:ConsentNotice',
        'dct:identifier': 'terms of use',
        'dct:isVersionOf': '2',
        'dct:hasVersion': '2.1',
        'dct:language': 'de',
      },
      'dpv:hasConsentStatus': {
        '@type': 'dpv:ConsentGiven',
        'dpv:isIndicatedBy': 'dpv:DataSubject',
        'dpv:isIndicatedAtTime': '2026-02-28T09:00:00.000Z',
      },
    },
  });
});

test('a receipt has the digest of the text that was agreed to, where there is one', () => {
  const value = 'ab'.repeat(32);
  const issuer = { tenant, displayName: 'x', baseUrl };
  const receipt = receiptOf({ ...consent, contentDigest: `sha256:${value}` }, issuer, T0);
  expect(receipt['@context']).toMatchObject({ spdx: 'http://spdx.org/rdf/terms#' });
  expect(receipt['dpv:hasRecordOfActivity']['dpv:hasNotice']).toMatchObject({
    'spdx:checksum': {
      '@type': 'spdx:Checksum',
      'spdx:algorithm': { '@id': 'spdx:checksumAlgorithm_sha256' },
      'spdx:checksumValue': value,
    },
  });
});

test('the same consent at the same instant is the same receipt', () => {
  const issuer = { tenant, displayName: 'x', baseUrl };
  expect(receiptOf(consent, issuer, T0)).toEqual(receiptOf(consent, issuer, T0));
});

test('each tenant has a key of its own for receipts, another for checkpoints, and keeps them', async () => {
  const other = await server.tenant();
  await sealed(server, tenant, [1]);
  const kidOf = async (of: string) => decodeProtectedHeader(await issue(of)).kid;
  expect(await kidOf(tenant)).toBe(await kidOf(tenant));
  expect(await kidOf(other)).not.toBe(await kidOf(tenant));
  const { keys } = (await jwksOf(tenant)) as { keys: { kid: string; d?: string }[] };
  expect(keys).toHaveLength(2);
  expect(keys.map(({ kid }) => kid)).toContain(await kidOf(tenant));
  for (const key of keys) expect(key).not.toHaveProperty('d');
  await expect(compactVerify(await issue(other), createLocalJWKSet(await jwksOf(tenant)))).rejects.toThrow();
});

test('many first receipts at once are signed by one key', async () => {
  const fresh = await server.tenant();
  const receipts = await Promise.all(Array.from({ length: 8 }, () => issue(fresh)));
  expect(new Set(receipts.map((receipt) => decodeProtectedHeader(receipt).kid)).size).toBe(1);
});

test('a receipt, and a checkpoint, is never a Bearer token', async () => {
  await sealed(server, tenant, [1]);
  const seal = server.observations.findLast((one) => one.kind === 'ledger_sealed' && one.tenant === tenant);
  for (const token of [await issue(), (seal as { checkpoint: string }).checkpoint]) {
    const headers = { authorization: `Bearer ${token}` };
    for (const url of [`/${tenant}/consents/events/me`, `/${tenant}/consents/events`, `/tenants/${tenant}/policies`]) {
      expect((await server.app.inject({ url, headers })).statusCode, url).toBe(401);
    }
    const decision = await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload: {} });
    expect(decision.statusCode).toBe(401);
  }
});
