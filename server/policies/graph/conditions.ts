/**
 * What is wrong with a condition of a drawn policy beyond its shape: fields that do not go with its type, or that it
 * lacks, and values that could never be compared. Each type of condition is one table entry and one check.
 */
import { hasHostBits, parseRange } from './addresses.ts';
import { parseInstant, timezoneProblem } from './instants.ts';
import type { Condition } from './schema.ts';

/** A field of a condition (with its place inside it, such as ranges/2; empty for the whole) and what is wrong with it. */
interface ConditionError {
  field: string;
  detail: string;
}

type Field = Exclude<keyof Condition, 'type'>;
type Check = (condition: Condition) => ConditionError[];

const fieldsOf: Record<Condition['type'], { required: Field[]; optional: Field[] }> = {
  relationship: { required: ['relationshipType'], optional: ['target', 'targetType', 'targetId'] },
  attribute: { required: ['path', 'operator'], optional: ['value', 'values', 'valuePath'] },
  consent: { required: ['name'], optional: ['whose'] },
  invitation: { required: [], optional: ['relationshipType'] },
  time: { required: [], optional: ['after', 'before', 'fromTime', 'toTime', 'weekdays', 'timezone'] },
  ipRange: { required: ['ranges'], optional: ['path'] },
};

const checks: Record<Condition['type'], Check> = {
  relationship: checkRelationship,
  attribute: checkAttribute,
  consent: () => [],
  invitation: () => [],
  time: checkTime,
  ipRange: checkIpRange,
};

const pathRoots = ['subject', 'action', 'resource', 'context', 'tenant', 'invitation'];

/** Every error of a condition that has the shape of ConditionSchema; none when it is in order. */
export function checkCondition(condition: Condition): ConditionError[] {
  const { required, optional } = fieldsOf[condition.type];
  const allowed: string[] = ['type', ...required, ...optional];
  const misplaced = Object.keys(condition)
    .filter((field) => !allowed.includes(field))
    .map((field) => ({
      field,
      detail: `does not belong to a condition of type ${condition.type}, which takes ${allowed.slice(1).join(', ')}`,
    }));
  const missing = required
    .filter((field) => condition[field] === undefined)
    .map((field) => ({ field, detail: `is missing: a condition of type ${condition.type} needs it` }));
  return [...misplaced, ...missing, ...checks[condition.type](condition)];
}

function requireWith(condition: Condition, field: Field, when: boolean, why: string): ConditionError[] {
  const given = condition[field] !== undefined;
  if (when === given) return [];
  return [{ field, detail: when ? `is missing: ${why} needs it` : `goes only with ${why}` }];
}

function checkRelationship(condition: Condition): ConditionError[] {
  const target = condition.target ?? 'resource';
  return [
    ...requireWith(condition, 'targetType', target !== 'resource', 'target entity or anyOfType'),
    ...requireWith(condition, 'targetId', target === 'entity', 'target entity'),
  ];
}

function pathProblem(field: 'path' | 'valuePath', path: string | undefined): ConditionError[] {
  const root = path?.split('.')[0];
  if (root === undefined || pathRoots.includes(root)) return [];
  return [{ field, detail: `begins with ${JSON.stringify(root)}; begin it with one of ${pathRoots.join(', ')}` }];
}

function scalarProblem(field: string, value: unknown, types: string[]): ConditionError[] {
  if (!types.includes(typeof value)) return [{ field, detail: `must be a ${types.join(' or a ')}` }];
  // Policies are evaluated with doubles: beyond 2^53 two different whole numbers may be equal.
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    return [{ field, detail: `must be a number between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}` }];
  }
  return [];
}

const scalar = ['string', 'number', 'boolean'];
const ordered = ['string', 'number'];

function checkAttribute(condition: Condition): ConditionError[] {
  const { operator, value, values, valuePath } = condition;
  const errors = [...pathProblem('path', condition.path), ...pathProblem('valuePath', valuePath)];
  if (operator === undefined) return errors;
  const own = operator === 'exists' ? [] : [operator === 'in' ? 'values' : 'value', 'valuePath'];
  const given = Object.entries({ value, values, valuePath }).flatMap(([field, is]) =>
    is === undefined ? [] : [field],
  );
  const wrong = given.filter((field) => !own.includes(field));
  errors.push(...wrong.map((field) => ({ field, detail: `does not go with operator ${operator}` })));
  if (own.length > 0 && given.length - wrong.length !== 1) {
    errors.push({ field: 'operator', detail: `${operator} needs exactly one of ${own.join(' and ')}` });
  }
  if (value !== undefined) {
    if (operator === 'startsWith') {
      errors.push(...scalarProblem('value', value, ['string']));
      if (value === '') errors.push({ field: 'value', detail: 'is empty: every string would start with it' });
    } else {
      errors.push(...scalarProblem('value', value, ['eq', 'ne', 'contains'].includes(operator) ? scalar : ordered));
    }
  }
  return [...errors, ...(values ?? []).flatMap((item, index) => scalarProblem(`values/${index}`, item, scalar))];
}

function checkTime(condition: Condition): ConditionError[] {
  const { after, before, fromTime, toTime, weekdays, timezone } = condition;
  const errors: ConditionError[] = [];
  if ([after, before, fromTime, toTime, weekdays].every((part) => part === undefined)) {
    errors.push({
      field: '',
      detail: 'a condition of type time needs after, before, fromTime and toTime, or weekdays',
    });
  }
  for (const [field, text] of Object.entries({ after, before })) {
    if (text !== undefined && parseInstant(text) === undefined) {
      errors.push({
        field,
        detail: 'must be an instant with a zone, such as 2027-01-31T09:00:00Z, of at most milliseconds',
      });
    }
  }
  if (after !== undefined && before !== undefined && parseInstant(after)! >= parseInstant(before)!) {
    errors.push({ field: 'before', detail: 'is not later than after: the condition would never hold' });
  }
  errors.push(
    ...requireWith(condition, 'toTime', fromTime !== undefined, 'fromTime'),
    ...requireWith(condition, 'timezone', (fromTime ?? toTime ?? weekdays) !== undefined, 'a time of day or weekdays'),
  );
  if (fromTime !== undefined && fromTime === toTime) {
    errors.push({ field: 'toTime', detail: 'equals fromTime; leave both out to mean the whole day' });
  }
  const zoneProblem = timezone === undefined ? undefined : timezoneProblem(timezone);
  if (zoneProblem !== undefined) errors.push({ field: 'timezone', detail: zoneProblem });
  return errors;
}

function checkIpRange({ path, ranges }: Condition): ConditionError[] {
  const errors = pathProblem('path', path);
  for (const [index, text] of (ranges ?? []).entries()) {
    const range = parseRange(text);
    if (!range) {
      errors.push({ field: `ranges/${index}`, detail: 'must be a CIDR range such as 192.0.2.0/24 or 2001:db8::/32' });
    } else if (hasHostBits(range)) {
      errors.push({
        field: `ranges/${index}`,
        detail: `has bits set after its prefix of ${range.prefix}: write the network's first address`,
      });
    }
  }
  return errors;
}
