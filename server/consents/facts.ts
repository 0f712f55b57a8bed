/**
 * Owns the consents of a decision: one entry a definition that the subject consented to, in the language of the consent that
 * it gave last. They are read beside the relationships, only for policies that look at them, by the query that answers
 * questions about consents too; a decision invites nobody.
 */

import { type Definitions, isSufficient, judge } from '../definitions/index.ts';
import type { ConsentFact, Facts, FactsQuestion, FactsSource } from '../facts/index.ts';
import type { ConsentHistory } from './consent-history.ts';
import { lastGiven, pastOf } from './rules.ts';
import type { GivenRow } from './schema.ts';

export class FactsWithConsents implements FactsSource {
  readonly #records: FactsSource;
  readonly #history: ConsentHistory;

  constructor(records: FactsSource, history: ConsentHistory) {
    this.#records = records;
    this.#history = history;
  }

  gather(question: FactsQuestion): Facts | Promise<Facts> {
    const { subject, needed, users } = question;
    const isUser = users !== undefined && subject.type === users.type && subject.id !== undefined;
    if (!needed.consents || !isUser || users.definitions.size === 0) return this.#records.gather(question);
    return this.#gatherBoth(question, subject.id as string, users.definitions);
  }

  async #gatherBoth(question: FactsQuestion, userId: string, definitions: Definitions): Promise<Facts> {
    const [facts, rows] = await Promise.all([
      this.#records.gather(question),
      this.#history.of(question.tenant, userId),
    ]);
    return { ...facts, consents: consentFactsOf(rows, definitions, question.now) };
  }
}

/** By name; what is archived is not there. Where nothing is active any more, the consent itself is shown, as expired. */
export function consentFactsOf(rows: readonly GivenRow[], definitions: Definitions, now: number): ConsentFact[] {
  const facts: ConsentFact[] = [];
  for (const [name, given] of Map.groupBy(rows, (row) => row.definition)) {
    const definition = definitions.get(name);
    const last = lastGiven(given);
    if (definition === undefined || last === undefined) continue;
    const judged = judge(definition, last.language, pastOf(given), now) ?? {
      version: last.version,
      document: { version: last.document, language: last.language },
      status: 'expired' as const,
    };
    const { version, document, status } = judged;
    facts.push({ name, version, document, status, sufficient: isSufficient(status) });
  }
  return facts.sort((a, b) => (a.name < b.name ? -1 : 1));
}
