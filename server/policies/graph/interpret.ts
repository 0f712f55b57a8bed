/**
 * What a drawn policy means, followed node by node. It is written apart from the conversion to Rego: tests hold the two
 * against each other, and explanations show its path.
 */
import { parseAddress, parseRange, rangeContains } from './addresses.ts';
import { parseInstant, wallClock, weekdayNames } from './instants.ts';
import type { Condition, PolicyGraph } from './schema.ts';

/** A decision, and the ids of the nodes that led to it from the start on; it ends at a condition when no edge goes on. */
interface Interpretation {
  outcome: 'allow' | 'deny';
  reason?: string;
  obligations?: string[];
  path: string[];
}

/** Follows a graph without errors (checkGraph) over the input of a decision (any JSON value). */
export function interpretGraph(graph: PolicyGraph, input: unknown): Interpretation {
  const path: string[] = [];
  let node = graph.nodes.find(({ type }) => type === 'start');
  while (node) {
    const { id, type, conditions = [], match = 'all', outcome, reason, obligations } = node;
    path.push(id);
    if (type === 'outcome') {
      return { outcome: outcome!, ...(reason !== undefined && { reason }), ...(obligations && { obligations }), path };
    }
    const count = conditions.filter((condition) => holds(condition, input)).length;
    const holdsNode = { all: count === conditions.length, any: count > 0, none: count === 0 }[match];
    const edge = graph.edges.find(({ from, on }) => from === id && (type === 'start' || on === String(holdsNode)));
    node = graph.nodes.find((candidate) => candidate.id === edge?.to);
  }
  return { outcome: 'deny', path };
}

/** Whether a condition without errors (checkCondition) is true of the input. */
export function holds(condition: Condition, input: unknown): boolean {
  switch (condition.type) {
    case 'relationship':
      return related(condition, input);
    case 'attribute':
      return compare(condition, input);
    case 'consent':
      return condition.whose === 'dataSubjects' ? allAgreed(condition, input) : agreed(condition, input);
    case 'invitation':
      return invited(condition, input);
    case 'time':
      return inTime(condition, at(input, 'time'));
    case 'ipRange':
      return inRanges(condition, at(input, condition.path ?? 'context.ip'));
  }
}

/** The value at names joined by dots, through objects only; undefined when it is absent. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name))
      return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function listAt(input: unknown, path: string): unknown[] {
  const list = at(input, path);
  return Array.isArray(list) ? list : [];
}

/** Whether the consents of the subject, or of a data subject, have it. */
function agreed({ name }: Condition, whose: unknown): boolean {
  return listAt(whose, 'consents').some(
    (consent) => at(consent, 'name') === name && at(consent, 'sufficient') === true,
  );
}

function allAgreed(condition: Condition, input: unknown): boolean {
  const persons = listAt(input, 'dataSubjects');
  return persons.length > 0 && persons.every((person) => agreed(condition, person));
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

/** Whether `to` is the entity `{type, id}`; a side that lacks either matches nothing. */
function isEntity(to: unknown, type: unknown, id: unknown): boolean {
  return isScalar(type) && isScalar(id) && at(to, 'type') === type && at(to, 'id') === id;
}

function related({ relationshipType, target, targetType, targetId }: Condition, input: unknown): boolean {
  return listAt(input, 'graph.subject').some((link) => {
    if (at(link, 'relationshipType') !== relationshipType) return false;
    if (target === 'anyOfType') return at(link, 'to.type') === targetType;
    if (target === 'entity') return isEntity(at(link, 'to'), targetType, targetId);
    return isEntity(at(link, 'to'), at(input, 'resource.type'), at(input, 'resource.id'));
  });
}

function invited({ relationshipType }: Condition, input: unknown): boolean {
  const invitation = at(input, 'invitation');
  return (
    at(invitation, 'status') === 'pending' &&
    isEntity(at(invitation, 'to'), at(input, 'resource.type'), at(input, 'resource.id')) &&
    (relationshipType === undefined || at(invitation, 'relationshipType') === relationshipType)
  );
}

function compare({ path, operator, value, values, valuePath }: Condition, input: unknown): boolean {
  const left = at(input, path!);
  const right = valuePath !== undefined ? at(input, valuePath) : operator === 'in' ? values : value;
  switch (operator!) {
    case 'exists':
      return left !== undefined && left !== null;
    case 'in':
      return isScalar(left) && Array.isArray(right) && right.includes(left);
    case 'contains':
      return isScalar(right) && Array.isArray(left) && left.includes(right);
    case 'startsWith':
      return typeof left === 'string' && typeof right === 'string' && right !== '' && left.startsWith(right);
    case 'eq':
      return isScalar(left) && left === right;
    case 'ne':
      return isScalar(left) && typeof left === typeof right && left !== right;
    default:
      return inOrder(operator as 'lt' | 'lte' | 'gt' | 'gte', left, right);
  }
}

function inOrder(operator: 'lt' | 'lte' | 'gt' | 'gte', left: unknown, right: unknown): boolean {
  let difference: number;
  if (typeof left === 'number' && typeof right === 'number') difference = left - right;
  // UTF-8 sorts by code point; JavaScript's < would sort by UTF-16 unit.
  else if (typeof left === 'string' && typeof right === 'string')
    difference = Buffer.compare(Buffer.from(left), Buffer.from(right));
  else return false;
  return { lt: difference < 0, lte: difference <= 0, gt: difference > 0, gte: difference >= 0 }[operator];
}

const secondOfDay = (text: string) => Number(text.slice(0, 2)) * 3600 + Number(text.slice(3)) * 60;

function inTime(condition: Condition, time: unknown): boolean {
  const { after, before, fromTime, toTime, weekdays, timezone } = condition;
  const now = typeof time === 'string' ? parseInstant(time) : undefined;
  if (now === undefined) return false;
  if (after !== undefined && now < parseInstant(after)!) return false;
  if (before !== undefined && now >= parseInstant(before)!) return false;
  if (timezone === undefined) return true;
  const clock = wallClock(now, timezone);
  let began = clock.weekday;
  if (fromTime !== undefined && toTime !== undefined) {
    const from = secondOfDay(fromTime);
    const to = secondOfDay(toTime);
    const passesMidnight = from > to;
    const inMorning = clock.secondOfDay < to;
    if (passesMidnight ? clock.secondOfDay < from && !inMorning : clock.secondOfDay < from || !inMorning) return false;
    if (passesMidnight && inMorning) began = (clock.weekday + 6) % 7;
  }
  return weekdays === undefined || weekdays.some((day) => day === weekdayNames[began]!.toLowerCase());
}

function inRanges({ ranges }: Condition, text: unknown): boolean {
  const address = typeof text === 'string' ? parseAddress(text) : undefined;
  return address !== undefined && ranges!.some((range) => rangeContains(parseRange(range)!, address));
}
