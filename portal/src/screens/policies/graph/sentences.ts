/** What a card says: its conditions as sentences. */
import type { Condition, GraphNode, On } from './model.ts';
import type { Texts } from './texts.en.ts';

/** may_use is said as "may use". */
const spoken = (name: string) => name.replaceAll('_', ' ');

const valueText = (value: unknown) => (typeof value === 'string' ? `“${value}”` : JSON.stringify(value));

/** @param thing the type of the resource that the policy is about, where its name says so */
export function sentenceOf(condition: Condition, t: Texts, thing?: string): string {
  const { relationshipType, name } = condition;
  switch (condition.type) {
    case 'relationship':
      return t.related(
        relationshipType === undefined ? t.missing : spoken(relationshipType),
        targetOf(condition, t, thing),
      );
    case 'attribute':
      return attribute(condition, t);
    case 'consent':
      return (condition.whose === 'dataSubjects' ? t.allAgree : t.agrees)(name ?? t.missing);
    case 'invitation':
      return t.invited(relationshipType && spoken(relationshipType));
    case 'time':
      return time(condition, t);
    case 'ipRange':
      return t.inRanges(condition.path ?? 'context.ip', (condition.ranges ?? [t.missing]).join(` ${t.or} `));
  }
}

function targetOf({ target = 'resource', targetType, targetId }: Condition, t: Texts, thing?: string) {
  if (target === 'resource') return t.thisThing(thing);
  const type = targetType ?? t.missing;
  return target === 'anyOfType' ? t.anyOf(type) : `${type} ${targetId ?? t.missing}`;
}

function attribute({ path = '…', operator, value, values, valuePath }: Condition, t: Texts) {
  const compared = operator === undefined ? t.missing : t.operators[operator];
  if (operator === 'exists') return t.compares(path, compared, '');
  const list = values?.map(valueText).join(` ${t.or} `);
  return t.compares(path, compared, valuePath ?? list ?? (value === undefined ? t.missing : valueText(value)));
}

function time({ after, before, fromTime, toTime, weekdays, timezone }: Condition, t: Texts) {
  const parts = [
    (fromTime ?? toTime) !== undefined && t.timeBetween(fromTime ?? t.missing, toTime ?? t.missing),
    weekdays !== undefined && t.timeOn(weekdays.map((day) => t.days[day]).join(', ')),
    after !== undefined && t.timeAfter(after),
    before !== undefined && t.timeBefore(before),
  ].filter((part) => part !== false);
  if (parts.length === 0) return t.someTime;
  return `${parts.join(', ')}${timezone === undefined ? '' : ` ${t.inZone(timezone)}`}`;
}

/** A sentence that begins with a path, such as subject.age, keeps its name as it is written. */
export const capital = (text: string) => (/^\S*\.\S/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

/** The lines of a card. Of several conditions the first line says how they are taken together. */
export function linesOf(node: GraphNode, t: Texts, thing?: string): string[] {
  if (node.type === 'start') return [t.start];
  if (node.type === 'outcome')
    return [
      node.outcome === 'allow' ? t.allow : t.deny,
      ...(node.reason === undefined ? [] : [node.reason]),
      ...(node.obligations ?? []),
    ];
  const { conditions = [], match = 'all' } = node;
  const sentences = conditions.map((condition) => sentenceOf(condition, t, thing).trim());
  const [first = t.noCondition] = sentences;
  if (sentences.length < 2) return [match === 'none' ? t.not(first) : capital(first)];
  return [t.matchLines[match], ...sentences];
}

/** The card in one line, for the outline and for names. */
export function summaryOf(node: GraphNode, t: Texts, thing?: string): string {
  const [first = '', ...rest] = linesOf(node, t, thing);
  if (rest.length === 0) return first;
  return node.type === 'outcome' ? `${first}: ${rest.join('; ')}` : `${first} ${rest.join('; ')}`;
}

export const wayWord = (on: On, t: Texts) => (on === undefined ? '' : on === 'true' ? t.yes : t.no);
