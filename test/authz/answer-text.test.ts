/** The text of an answer is what JSON.stringify makes of it, whatever an answer may hold. */
import { expect, test } from 'vitest';
import { answerText } from '../../server/authz/schema.ts';

const outcomes = ['allow', 'deny', { allowed: true, fields: ['x'] }, {}];
const reasons = [undefined, '', 'not the owner', 'a "quoted"\n\\ \u2028 \ud800 text'];
const obligations = [undefined, [], ['log'], ['a"b', 'c']];
const explanations = [undefined, { rules: [] }];

test('every combination of members', () => {
  const answers = outcomes.flatMap((outcome) =>
    reasons.flatMap((reason) =>
      obligations.flatMap((duties) =>
        explanations.map((explain) => ({
          outcome,
          ...(reason === undefined ? {} : { reason }),
          ...(duties === undefined ? {} : { obligations: duties }),
          ...(explain === undefined ? {} : { explain }),
        })),
      ),
    ),
  );
  for (const answer of answers) expect(answerText(answer)).toBe(JSON.stringify(answer));
});
