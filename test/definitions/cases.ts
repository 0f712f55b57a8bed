/** Reads the table of evaluate.yaml: definitions, pasts and answers in the words of the table. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { instantMs } from '../../server/core/instants.ts';
import { type Period, parsePeriod } from '../../server/core/periods.ts';
import type { ConsentEvaluation, EvaluatedDefinition, UserPast } from '../../server/definitions/evaluate.ts';

type TableVersion = {
  documents: Record<string, string>;
  endOfLife?: { startDate: string; endDate: string; gracePeriod: string };
};
type TableCase = {
  case: string;
  definition: Record<string, TableVersion>;
  language: string;
  for?: 'nobody';
  gave?: string[];
  invited?: Record<string, string>;
  answers: Record<string, string>;
};
export type Case = {
  name: string;
  definition: EvaluatedDefinition;
  language: string;
  past: UserPast | undefined;
  answers: [at: string, answer: string][];
};

export const ms = (text: string): number => {
  const instant = instantMs(text);
  if (instant === undefined) throw new Error(`${text} is no instant`);
  return instant;
};

export function readCases(): Case[] {
  const text = readFileSync(`${import.meta.dirname}/evaluate.yaml`, 'utf8');
  return (parse(text) as TableCase[]).map((one) => ({
    name: one.case,
    definition: { versions: Object.entries(one.definition).map(versionOf) },
    language: one.language,
    past: one.for === 'nobody' ? undefined : pastOf(one),
    answers: Object.entries(one.answers),
  }));
}

function versionOf([version, { documents, endOfLife }]: [string, TableVersion]) {
  return {
    version,
    documents: Object.entries(documents).map(([document, from]) => {
      const [name = '', language = ''] = document.split(' ');
      return { version: name, language, effectiveDate: ms(from) };
    }),
    ...(endOfLife && {
      endOfLife: {
        startDate: ms(endOfLife.startDate),
        endDate: ms(endOfLife.endDate),
        gracePeriod: parsePeriod(endOfLife.gracePeriod) as Period,
      },
    }),
  };
}

function pastOf({ gave = [], invited = {} }: TableCase): UserPast {
  return {
    consents: gave.map((given) => {
      const [version = '', document = '', language = ''] = given.split(' ');
      return { version, document: { version: document, language } };
    }),
    invitations: new Map(Object.entries(invited).map(([version, at]) => [version, ms(at)])),
  };
}

/** A evaluation in the words of the table. */
export function inWords(evaluation: ConsentEvaluation<string> | undefined): string {
  if (evaluation === undefined) return 'nothing';
  const { version, document, status, gracePeriodEnds, invites } = evaluation;
  const until = gracePeriodEnds === undefined ? '' : ` until ${new Date(gracePeriodEnds).toISOString()}`;
  return `${version} ${document.version} ${document.language} ${status}${until}${invites === undefined ? '' : ', to be invited'}`;
}
