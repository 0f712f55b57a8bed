/** Which document concerns a user: the table of evaluate.yaml, and what holds for any definition and any past. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePeriod } from '../../server/core/periods.ts';
import {
  type EvaluatedDefinition,
  evaluateActive,
  evaluateConsent,
  isSufficient,
  type UserPast,
} from '../../server/definitions/evaluate.ts';
import { inWords, ms, readCases } from './cases.ts';

describe.each(readCases())('$name', ({ definition, language, past, answers }) => {
  test.each(answers)('%s', (at, answer) => {
    const evaluation =
      past === undefined
        ? evaluateActive(definition, language, ms(at))
        : evaluateConsent(definition, language, past, ms(at));
    expect(inWords(evaluation)).toBe(answer);
  });
});

const languages = ['en', 'nl'];
const instant = fc.integer({ min: 0, max: 60 }).map((n) => n * 1000);
const endOfLife = fc
  .record({
    startDate: instant,
    lasts: fc.integer({ min: 1, max: 30_000 }),
    grace: fc.constantFrom('PT0S', 'PT3S', 'PT20S', 'P1D'),
  })
  .map(({ startDate, lasts, grace }) => ({
    startDate,
    endDate: startDate + lasts,
    gracePeriod: parsePeriod(grace) as NonNullable<ReturnType<typeof parsePeriod>>,
  }));
const definitions: fc.Arbitrary<EvaluatedDefinition> = fc
  .array(
    fc.record({
      documents: fc.array(fc.record({ language: fc.constantFrom(...languages), effectiveDate: instant }), {
        maxLength: 4,
      }),
      endOfLife: fc.option(endOfLife, { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((versions) => {
    const taken = new Set<string>();
    return {
      versions: versions.map(({ documents, endOfLife: end }, v) => ({
        version: `v${v}`,
        ...(end && { endOfLife: end }),
        documents: documents
          .filter(({ language, effectiveDate }) => {
            const key = `${language} ${effectiveDate}`;
            return !taken.has(key) && taken.add(key);
          })
          .map((document, d) => ({ ...document, version: `d${d}` })),
      })),
    };
  });

/** A definition, what a user gave of it while that was in effect, first invitations, a language and a time after all that. */
const situations = fc
  .record({
    definition: definitions,
    picks: fc.array(fc.nat(), { maxLength: 4 }),
    language: fc.constantFrom(...languages),
    now: instant,
    invitedAt: fc.array(fc.option(instant, { nil: undefined }), { minLength: 4, maxLength: 4 }),
  })
  .map(({ definition, picks, language, now, invitedAt }) => {
    const effective = definition.versions.flatMap(({ version, documents }) =>
      documents
        .filter((document) => document.effectiveDate <= now)
        .map((document) => ({ version, document: { version: document.version, language: document.language } })),
    );
    const consents =
      effective.length === 0
        ? []
        : picks.map((pick) => effective[pick % effective.length] as (typeof effective)[number]);
    const invitations = new Map(
      invitedAt.flatMap((at, v) => (at !== undefined && at <= now ? [[`v${v}`, at] as const] : [])),
    );
    return { definition, language, now, past: { consents, invitations } satisfies UserPast };
  });
const runs = { numRuns: 2000 };
const versionOf = (definition: EvaluatedDefinition, version: string) =>
  definition.versions.find((one) => one.version === version) as EvaluatedDefinition['versions'][number];

describe('for any definition and past', () => {
  test('what is active is one document, in effect, of a version that has not ended, and no newer version has one', () => {
    fc.assert(
      fc.property(situations, ({ definition, language, now }) => {
        const active = evaluateActive(definition, language, now);
        const ofLanguage = ({ documents }: EvaluatedDefinition['versions'][number]) =>
          documents.filter((one) => one.language === language && one.effectiveDate <= now);
        const live = definition.versions.filter(
          (one) => ofLanguage(one).length > 0 && (one.endOfLife === undefined || now <= one.endOfLife.endDate),
        );
        const dates = (one: EvaluatedDefinition['versions'][number]) => ofLanguage(one).map((it) => it.effectiveDate);
        const [newest] = live.sort((a, b) => Math.min(...dates(b)) - Math.min(...dates(a)));
        const latest = newest && ofLanguage(newest).find((one) => one.effectiveDate === Math.max(...dates(newest)));
        expect(active).toEqual(
          latest && { version: newest?.version, document: { version: latest.version, language }, status: 'active' },
        );
      }),
      runs,
    );
  });

  test('grace never lasts past endDate, and what is sufficient is of a version that has not ended', () => {
    fc.assert(
      fc.property(situations, ({ definition, language, now, past }) => {
        const answer = evaluateConsent(definition, language, past, now);
        if (answer === undefined) return;
        if (answer.status === 'grace') {
          expect(answer.gracePeriodEnds).toBeGreaterThanOrEqual(now);
          const ends = past.consents.map(({ version }) => versionOf(definition, version).endOfLife?.endDate ?? 0);
          expect(answer.gracePeriodEnds).toBeLessThanOrEqual(Math.max(...ends));
        }
        if (isSufficient(answer.status)) {
          const live = past.consents.some(
            ({ version }) => now <= (versionOf(definition, version).endOfLife?.endDate ?? now),
          );
          expect(live).toBe(true);
        }
      }),
      runs,
    );
  });

  test('without a consent nothing suffices, whatever was invited before', () => {
    fc.assert(
      fc.property(situations, ({ definition, language, now, past }) => {
        const answer = evaluateConsent(definition, language, { ...past, consents: [] }, now);
        expect(answer === undefined || answer.status === 'required').toBe(true);
      }),
      runs,
    );
  });

  test('time alone never turns required into anything else, nor any other status into required', () => {
    fc.assert(
      fc.property(situations, instant, ({ definition, language, now, past }, later) => {
        const before = evaluateConsent(definition, language, past, now);
        const after = evaluateConsent(definition, language, past, now + later);
        if (before === undefined || after === undefined) return;
        expect(after.status === 'required').toBe(before.status === 'required');
      }),
      runs,
    );
  });

  test('an invitation only ever shortens: it makes nothing sufficient that was not', () => {
    fc.assert(
      fc.property(situations, ({ definition, language, now, past }) => {
        const invited = evaluateConsent(definition, language, past, now);
        const uninvited = evaluateConsent(definition, language, { ...past, invitations: new Map() }, now);
        if (invited && isSufficient(invited.status)) expect(isSufficient(uninvited?.status ?? 'required')).toBe(true);
      }),
      runs,
    );
  });

  test('the order in which versions and documents are listed does not matter', () => {
    fc.assert(
      fc.property(situations, ({ definition, language, now, past }) => {
        const reversed = {
          versions: definition.versions.map((one) => ({ ...one, documents: [...one.documents].reverse() })).reverse(),
        };
        // Versions that are equally old in the language have equal rights; dates in one language differ.
        const sameLanguage = past.consents.every((one) => one.document.language === language);
        if (sameLanguage)
          expect(evaluateConsent(reversed, language, past, now)).toEqual(
            evaluateConsent(definition, language, past, now),
          );
      }),
      runs,
    );
  });
});
