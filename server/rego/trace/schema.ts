/** The shape of what explains a deny. */
import { type Static, Type } from 'typebox';
import { limits } from '../../core/limits.ts';

const Entity = Type.Object({ type: Type.Optional(Type.String()), id: Type.Optional(Type.String()) });
export type MissingEntity = Static<typeof Entity>;

/** What is not there: a member that the policy leaves open is absent. */
export const MissingFact = Type.Object(
  {
    relationship: Type.Optional(
      Type.Object({
        relationshipType: Type.Optional(Type.String()),
        alternatives: Type.Optional(
          Type.Array(Type.String(), { description: 'Where each of several types would do.' }),
        ),
        ...{ from: Entity, to: Entity },
      }),
    ),
    consent: Type.Optional(
      Type.Object({
        name: Type.Optional(Type.String()),
        subject: Entity,
        status: Type.String({
          description:
            'The status of the consent now; required where there is none; not_applicable where actors of the type have no consents.',
        }),
      }),
    ),
    text: Type.String({ description: 'The same as a sentence.' }),
  },
  { description: 'A relationship or a consent that the condition looks for and does not find.' },
);
export type MissingFact = Static<typeof MissingFact>;

const ShownValue = Type.Object({
  of: Type.String({ description: 'What the policy looked at, such as input.resource.owner.' }),
  value: Type.Optional(Type.Unknown({ description: 'Its value; absent where it is undefined.' })),
  cut: Type.Optional(Type.Literal(true, { description: 'The value is longer: this is the beginning of its JSON.' })),
});
export type ShownValue = Static<typeof ShownValue>;

const line = Type.Integer({ description: 'A line of the Rego that is evaluated, from 1.' });

const file = Type.String({ description: 'The module of the library that the line is in; absent for the policy.' });

const FailedCondition = Type.Object(
  {
    line: Type.Optional(line),
    file: Type.Optional(file),
    text: Type.String({ description: 'The condition as the policy has it.' }),
    drawn: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'For a drawn policy: the condition as the drawing has it. Absent where it is long.',
      }),
    ),
    values: Type.Array(ShownValue),
    item: Type.Optional(
      Type.Object(
        { line: Type.Optional(line), file: Type.Optional(file), text: Type.String(), values: Type.Array(ShownValue) },
        { description: 'For every: the condition inside it that did not hold for an item.' },
      ),
    ),
    missing: Type.Optional(Type.Array(MissingFact)),
    because: Type.Optional(
      Type.Array(Type.Unknown(), { description: 'The rules that the condition asks, as in whyNot.rules.' }),
    ),
  },
  { description: 'The first condition of the rule that did not hold.' },
);

export type FailedCondition = Omit<Static<typeof FailedCondition>, 'because'> & { because?: WhyNotRule[] };

const Rule = Type.Object({
  line: Type.Optional(line),
  file: Type.Optional(file),
  node: Type.Optional(Type.String({ description: 'For a drawn policy: the id of the condition node.' })),
  text: Type.String({ description: 'The head of the rule as the policy has it.' }),
  condition: Type.Optional(FailedCondition),
  conditions: Type.Optional(
    Type.Array(FailedCondition, {
      description: 'For a drawn policy: the conditions of the node that decided its answer.',
    }),
  ),
  answer: Type.Optional(
    Type.Union([Type.Literal('true'), Type.Literal('false')], {
      description: 'For a drawn policy: the way that was taken.',
    }),
  ),
  held: Type.Optional(
    Type.Literal(true, {
      description: 'All its conditions held: it gave `value`, or a condition needs it not to hold.',
    }),
  ),
  value: Type.Optional(Type.Unknown({ description: 'The value that the rule gave.' })),
  heldFor: Type.Optional(
    Type.Array(ShownValue, {
      description: `Of a rule that must not hold: the items of lists for which it held, at most ${limits.whyNotItemsMax}.`,
    }),
  ),
  notReached: Type.Optional(
    Type.Object(
      { line: Type.Optional(line) },
      { description: 'It was not tried, because the rule before its `else` in this line held.' },
    ),
  ),
  wouldAllowIf: Type.Optional(
    Type.Array(MissingFact, {
      description: 'With all of these the policy answers allow: it was evaluated with them.',
    }),
  ),
});
export type WhyNotRule = Omit<Static<typeof Rule>, 'condition' | 'conditions'> & {
  condition?: FailedCondition;
  conditions?: FailedCondition[];
};

export const WhyNot = Type.Object(
  {
    rules: Type.Array(Rule, { description: 'Each rule that could have allowed, in the order of the policy.' }),
    truncated: Type.Optional(Type.Literal(true, { description: 'There is more than is told.' })),
  },
  { description: 'Of a deny: what did not hold.' },
);
export type WhyNot = { rules: WhyNotRule[]; truncated?: true };
