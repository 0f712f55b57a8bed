/** The preview of the consents' time line computes what the server answers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesOf, scaleOf } from '../../portal/src/screens/consents/scale.ts';
import { addDuration, type Gave, type SeenVersion, seenAt } from '../../portal/src/screens/consents/seen.ts';
import { addPeriod, parsePeriod } from '../../server/core/periods.ts';
import { evaluateConsent } from '../../server/definitions/index.ts';
import { ms, readCases } from '../definitions/cases.ts';

const instant = fc.integer({ min: 0, max: 60 }).map((n) => n * 1000);
const languages = ['en', 'nl'];
const definitions: fc.Arbitrary<SeenVersion[]> = fc
  .array(
    fc.record({
      documents: fc.uniqueArray(fc.record({ language: fc.constantFrom(...languages), effectiveDate: instant }), {
        maxLength: 4,
        selector: ({ language, effectiveDate }) => `${language} ${effectiveDate}`,
      }),
      end: fc.option(
        fc.record({
          startDate: instant,
          lasts: fc.integer({ min: 1, max: 30_000 }),
          gracePeriod: fc.constantFrom('PT0S', 'PT3S', 'PT20S', 'P1D'),
        }),
        { nil: undefined },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((versions) =>
    versions.map(({ documents, end }, v) => ({
      version: `v${v}`,
      documents: documents.map((one, d) => ({ ...one, version: `d${d}` })),
      ...(end && {
        endOfLife: { startDate: end.startDate, endDate: end.startDate + end.lasts, gracePeriod: end.gracePeriod },
      }),
    })),
  );

function served(versions: readonly SeenVersion[]) {
  return {
    versions: versions.map(({ endOfLife, ...version }) => ({
      ...version,
      ...(endOfLife && {
        endOfLife: {
          ...endOfLife,
          gracePeriod: parsePeriod(endOfLife.gracePeriod) as NonNullable<ReturnType<typeof parsePeriod>>,
        },
      }),
    })),
  };
}

function answered(versions: readonly SeenVersion[], language: string, gave: Gave | undefined, now: number) {
  const { invites: _, ...seen } =
    evaluateConsent(
      served(versions),
      language,
      {
        consents: gave
          ? [{ version: gave.version, document: { version: gave.document, language: gave.language } }]
          : [],
        invitations: new Map(gave?.invitedAt === undefined ? [] : [[gave.version, gave.invitedAt]]),
      },
      now,
    ) ?? ({} as never);
  return seen;
}

describe('the preview', () => {
  test('is what the server answers, for any definition, past and instant', () => {
    const past = fc.option(
      fc.record(
        {
          version: fc.constantFrom('v0', 'v1', 'v2', 'none'),
          document: fc.constantFrom('d0', 'd1'),
          language: fc.constantFrom(...languages),
          invitedAt: instant,
        },
        { requiredKeys: ['version', 'document', 'language'] },
      ),
      { nil: undefined },
    );
    const now = fc.integer({ min: -1000, max: 95_000 });
    const seen = new Set<string>();
    fc.assert(
      fc.property(definitions, fc.constantFrom(...languages), past, now, (versions, language, gave, at) => {
        const found = seenAt(versions, language, gave, at) ?? {};
        seen.add('status' in found ? String(found.status) : 'nothing');
        expect(found).toEqual(answered(versions, language, gave, at));
      }),
      { numRuns: 3000 },
    );
    expect([...seen].sort()).toEqual(['expired', 'given', 'grace', 'nothing', 'required', 'valid']);
  });

  test('and for the cases of the documentation where the user gave one consent', () => {
    let asked = 0;
    for (const { definition, language, past, answers } of readCases()) {
      if (past === undefined || past.consents.length > 1) continue;
      const versions = definition.versions.map(({ endOfLife: _, ...version }) => version);
      if (definition.versions.some((one) => one.endOfLife)) continue;
      const [given] = past.consents;
      const gave = given && {
        version: given.version,
        document: given.document.version,
        language: given.document.language,
      };
      for (const [at] of answers) {
        expect(seenAt(versions, language, gave, ms(at)) ?? {}).toEqual(answered(versions, language, gave, ms(at)));
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(5);
  });

  test.each(['P1Y6M', 'P1M', 'P30D', 'P2W', 'PT36H', 'PT1.5H', 'PT1,5H', 'P0.5D', 'PT0S', 'P1YT1S'])(
    'adds %s as the server',
    (text) => {
      for (const day of ['2024-01-31T10:00:00Z', '2024-02-29T00:00:00Z', '2025-12-31T23:59:59.999Z'])
        expect(addDuration(ms(day), text)).toBe(addPeriod(ms(day), parsePeriod(text) as never));
    },
  );
  test.each(['', 'P', '30D', 'PT', 'P-1D', 'a month'])('%s is no duration', (text) => {
    expect([addDuration(0, text), parsePeriod(text)]).toEqual([undefined, undefined]);
  });
});

test('the time line has all dates and now on it, and says them in order', () => {
  fc.assert(
    fc.property(definitions, instant, (versions, now) => {
      const { from, until, step } = scaleOf(versions, now);
      const changes = changesOf(versions).map(({ at }) => at);
      for (const at of [...changes, now]) expect(at > from && at < until).toBe(true);
      expect((until - from) % step).toBe(0);
      expect(changes).toEqual([...changes].sort((a, b) => a - b));
    }),
  );
});
