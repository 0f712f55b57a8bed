/**
 * The consents of a decision: one entry for each definition that the subject consented to, in the language of the consent that
 * it gave last. The query that answers questions about consents reads them; a decision invites nobody.
 */
import { type Definitions, evaluateConsent, isSufficient } from '../definitions/index.ts';
import type { ConsentFact } from '../facts/index.ts';
import type { ConsentHistory } from './consent-history.ts';
import { lastGiven, pastOf } from './rules.ts';
import type { GivenRow } from './schema.ts';

/** What a user consented to, as it is evaluated at an instant (ms). */
export async function readConsentFacts(
  history: ConsentHistory,
  { tenant, userId, definitions }: { tenant: string; userId: string; definitions: Definitions },
  now: number,
): Promise<ConsentFact[]> {
  return consentFactsOf(await history.of(tenant, userId), definitions, now);
}

/** By name; what is archived is not there. Where nothing is active any more, the consent itself is shown, as expired. */
export function consentFactsOf(rows: readonly GivenRow[], definitions: Definitions, now: number): ConsentFact[] {
  const facts: ConsentFact[] = [];
  for (const [name, given] of Map.groupBy(rows, (row) => row.definition)) {
    const definition = definitions.get(name);
    const last = lastGiven(given);
    if (definition === undefined || last === undefined) continue;
    const evaluated = evaluateConsent(definition, last.language, pastOf(given), now) ?? {
      version: last.version,
      document: { version: last.document, language: last.language },
      status: 'expired' as const,
    };
    const { version, document, status } = evaluated;
    facts.push({ name, version, document, status, sufficient: isSufficient(status) });
  }
  return facts.sort((a, b) => (a.name < b.name ? -1 : 1));
}
