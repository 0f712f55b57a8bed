/** What may be registered of consents, what is worth something now, and what a revocation takes with it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkProof,
  checkRegistrable,
  documentOf,
  evaluationView,
  isOutstanding,
  lastGiven,
  listedView,
  pastOf,
  revokedWith,
  statusOf,
} from '../../server/consents/rules.ts';
import type { ConsentItem, ConsentRow, GivenRow } from '../../server/consents/schema.ts';
import { limits } from '../../server/core/limits.ts';
import { type Period, parsePeriod } from '../../server/core/periods.ts';
import type { Definition } from '../../server/definitions/index.ts';
import { refusalOf } from '../helpers/problem.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const at = (day: number) => START + day * DAY;
const text = (day: number) => new Date(at(day)).toISOString();

/** Version 1 from day 0 on, which begins to end on day 20 and has ended on day 30; version 2 from day 10 on, later documents. */
const terms: Definition = {
  name: 'terms',
  versions: [
    {
      version: '1',
      documents: [{ version: 'a', language: 'de', effectiveDate: at(0) }],
      endOfLife: { startDate: at(20), endDate: at(30), gracePeriod: parsePeriod('P3D') as Period },
    },
    { version: '2', documents: [{ version: 'b', language: 'de', effectiveDate: at(10) }] },
  ],
};
const item = (version: string, document: string, language = 'de') => ({
  ...{ name: 'terms', version, document: { version: document, language } },
});
const row = (id: string, version: string, day: number, more: Partial<GivenRow> = {}): GivenRow => ({
  ...{ id, user_id: 'u', definition: 'terms', version, document: version === '1' ? 'a' : 'b', language: 'de' },
  ...{ given_at: text(day), invited_at: null, ...more },
});

describe('a document', () => {
  test('is found by version, its own version and language', () => {
    expect(documentOf(terms, item('2', 'b')).document).toBe(terms.versions[1]?.documents[0]);
  });

  test.each([
    ['consent_definition_not_found', undefined, item('1', 'a')],
    ['consent_version_not_found', terms, item('3', 'a')],
    ['consent_document_not_found', terms, item('1', 'b')],
    ['consent_document_not_found', terms, item('1', 'a', 'en')],
  ])('that is not there: %s', (code, definition, named) => {
    expect(refusalOf(() => documentOf(definition, named))?.code).toBe(code);
  });
});

describe('registering', () => {
  const refused = (version: string, document: string, now: number, given: GivenRow[] = []) => {
    const refusal = refusalOf(() => checkRegistrable(terms, item(version, document), given, now));
    return refusal && [refusal.code, ...(refusal.places[0] ?? [])];
  };

  test('begins when the document takes effect', () => {
    expect(refused('1', 'a', at(0))).toBeUndefined();
    const detail = `It takes effect at ${text(0)}.`;
    expect(refused('1', 'a', at(0) - 1)).toEqual(['consent_not_effective', '/document', detail]);
  });

  test('is for the active version, or for the one the user has until that begins to end', () => {
    expect(refused('1', 'a', at(10) - 1)).toBeUndefined();
    expect(refused('2', 'b', at(10))).toBeUndefined();
    const superseded = ['consent_superseded', '/version', 'The version 2 is active.'];
    expect(refused('1', 'a', at(10))).toEqual(superseded);
    const given = [row('1', '1', 1)];
    expect(refused('1', 'a', at(20) - 1, given)).toBeUndefined();
    expect(refused('1', 'a', at(20), given)).toEqual(superseded);
    expect(refused('1', 'a', at(15), [...given, row('2', '2', 12)])).toEqual(superseded);
  });

  test('ends with the version', () => {
    expect(refused('1', 'a', at(31), [row('1', '1', 1)])).toEqual([
      ...['consent_version_ended', '/version', `It ended at ${text(30)} (endDate).`],
    ]);
  });

  test('takes a proof of proofBytesMax bytes, and none with one more', () => {
    const proofOf = (bytes: number) =>
      ({ ...item('1', 'a'), proof: { ip: 'x'.repeat(bytes - '{"ip":""}'.length) } }) as unknown as ConsentItem;
    expect(refusalOf(() => checkProof(proofOf(limits.proofBytesMax), '/consents/0'))).toBeUndefined();
    const detail = `A proof can have at most ${limits.proofBytesMax} bytes; this one has ${limits.proofBytesMax + 1}.`;
    expect(refusalOf(() => checkProof(proofOf(limits.proofBytesMax + 1), '/consents/0'))).toEqual({
      ...{ code: 'invalid_request', detail, places: [['/consents/0/proof', detail]] },
    });
    expect(refusalOf(() => checkProof(item('1', 'a') as ConsentItem, ''))).toBeUndefined();
  });
});

describe('what was given', () => {
  test('is evaluated by version, document, language and invitation', () => {
    const past = pastOf([row('1', '1', 1, { invited_at: text(5) }), row('2', '2', 12)]);
    expect(past.consents[0]).toEqual({ version: '1', document: { version: 'a', language: 'de' } });
    expect([...past.invitations]).toEqual([['1', at(5)]]);
  });

  test('last is the latest, and of those at one instant the one with the greatest id, in any order', () => {
    expect(lastGiven([])).toBeUndefined();
    const given = fc.uniqueArray(fc.tuple(fc.nat(3), fc.nat(99)), { selector: ([, id]) => id, minLength: 1 });
    fc.assert(
      fc.property(given, (all) => {
        const rows = all.map(([day, id]) => row(String(id).padStart(2, '0'), '1', day));
        const [last] = rows.toSorted((a, b) => (`${a.given_at} ${a.id}` < `${b.given_at} ${b.id}` ? 1 : -1));
        expect(lastGiven(rows)).toEqual(last);
      }),
    );
  });

  test('is worth nothing where its definition is gone, or before anything is active', () => {
    const given = row('1', '1', 1);
    expect(statusOf(terms, given, at(5))).toBe('given');
    expect(statusOf(undefined, given, at(5))).toBe('expired');
    expect(statusOf(terms, given, at(0) - 1)).toBe('expired');
    expect(statusOf(terms, given, at(40))).toBe('expired');
  });

  test('is expired, and not required, where its version is not defined any more', () => {
    expect(statusOf(terms, row('1', '9', 1), at(5))).toBe('expired');
  });

  test('is listed with its proof, where it has one, and its status', () => {
    const consent: ConsentRow = { ...row('7', '1', 1), proof: null, content_digest: null };
    const view = { id: '7', userId: 'u', name: 'terms', version: '1', document: { version: 'a', language: 'de' } };
    expect(listedView(terms, consent, at(5))).toEqual({ ...view, givenAt: text(1), status: 'given' });
    const proof = { ip: '192.0.2.1' } as unknown as NonNullable<ConsentRow['proof']>;
    expect(listedView(terms, { ...consent, proof }, at(5))).toMatchObject({ proof });
    const contentDigest = 'sha256:ab';
    expect(listedView(terms, { ...consent, content_digest: contentDigest }, at(5))).toMatchObject({ contentDigest });
  });
});

test('a revocation takes what was given before it and what is of older versions, and leaves the rest', () => {
  const rows = [row('a', '2', 11), row('b', '2', 12), row('c', '2', 13), row('d', '1', 14)];
  const taken = (id: string, definition: Definition | undefined) =>
    revokedWith(definition, rows.find((one) => one.id === id) as GivenRow, rows).map((one) => one.id);
  expect(taken('a', terms)).toEqual(['a', 'd']);
  expect(taken('b', terms)).toEqual(['a', 'b', 'd']);
  expect(taken('b', undefined)).toEqual(['a', 'b']);
  expect(taken('d', terms)).toEqual(['a', 'b', 'c', 'd']);
  const [one, other] = [row('x', '2', 11), row('y', '2', 11)];
  expect(revokedWith(terms, one, [one, other])).toEqual([one, other]); // given at one instant
});

describe('a evaluation', () => {
  const evaluation = { version: '2', document: { version: 'b', language: 'de' } };

  test.each([
    ['required', true],
    ['expired', true],
    ['grace', true],
    ['given', false],
    ['valid', false],
  ] as const)('%s is outstanding: %s', (status, isIt) => {
    expect(isOutstanding({ ...evaluation, status })).toBe(isIt);
    expect(isOutstanding({ ...evaluation, status, invites: '1' })).toBe(true);
  });

  test('is shown with the end of its grace period, where it has one', () => {
    const view = { name: 'terms', ...evaluation, status: 'grace' };
    const home = { baseUrl: 'https://accord.example', tenant: 'cars' };
    expect(evaluationView(terms, { ...evaluation, status: 'grace' }, home)).toEqual(view);
    expect(evaluationView(terms, { ...evaluation, status: 'grace', gracePeriodEnds: at(3) }, home)).toEqual({
      ...{ ...view, gracePeriodEnds: text(3) },
    });
  });
});
