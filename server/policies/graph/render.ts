/**
 * One condition of a drawn policy as Rego. Every text of the tenant becomes a JSON string literal, so that none can end
 * its literal, its comment or its line; attribute paths become references only where they are plain identifiers.
 */
import { parseInstant, weekdayNames } from './instants.ts';
import type { Condition } from './schema.ts';

/**
 * The bodies of rules that hold when the condition does: any of them suffices, all lines of one must be true. No line
 * begins with a number: Rego would subtract a negative one from the line before.
 */
export type Bodies = string[][];

/** Functions that bodies call; the module holds those that it uses. */
export const helperFunctions = {
  includes: `# The list has the value, which is a text, a number or a boolean.
includes(list, value) if {
	is_array(list)
	type_name(value) in {"string", "number", "boolean"}
	value in list
}`,
  same_type: `# Only values of one type compare.
same_type(a, b, types) if {
	type_name(a) == type_name(b)
	type_name(a) in types
}`,
  // net.cidr_contains takes a range too, which the caller of a decision could send.
  within: `# The text is an address in one of the ranges. IPv4 ranges come with those that IPv6 writes for them.
within(address, ranges) if {
	not contains(address, "/")
	some range in ranges
	net.cidr_contains(range, address)
}`,
  all_agreed_to: `# All whom the data is about have agreed, and there is somebody.
all_agreed_to(name) if {
	is_array(input.dataSubjects)
	count(input.dataSubjects) > 0
	every person in input.dataSubjects {
		some consent in person.consents
		consent.name == name
		consent.sufficient == true
	}
}`,
  local_time: `# Hour, minute and second of the request on a clock in the zone.
local_time(zone) := time.clock([time.parse_rfc3339_ns(input.time), zone])`,
  local_weekday: `# The day of the week of the request in the zone.
local_weekday(zone) := time.weekday([time.parse_rfc3339_ns(input.time), zone])`,
};

const renderers: Record<Condition['type'], (condition: Condition) => Bodies> = {
  relationship: (condition) => [renderRelationship(condition)],
  attribute: (condition) => [renderAttribute(condition)],
  consent: ({ name, whose }) => [
    whose === 'dataSubjects'
      ? [`all_agreed_to(${literal(name)})`]
      : ['some consent in input.consents', `consent.name == ${literal(name)}`, 'consent.sufficient == true'],
  ],
  invitation: (condition) => [renderInvitation(condition)],
  time: renderTime,
  ipRange: (condition) => [renderIpRange(condition)],
};

/** The condition (checked by checkCondition) as bodies of Rego rules. */
export function renderCondition(condition: Condition): Bodies {
  return renderers[condition.type](condition);
}

// Breaks of lines and of direction, and invisible characters: a reader should not take the text for code.
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A value as a Rego literal: JSON's literals are Rego's too. */
export function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return JSON.stringify(value).replace(unseen, (text) =>
    text.split('').reduce((escaped, unit) => `${escaped}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, ''),
  );
}

// Words that a reference may not hold after a dot.
const keywords = new Set(
  'as contains data default else every false if import in input not null package some true with'.split(' '),
);

function reference(path: string): string {
  const steps = path.split('.').map((name) => {
    const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !keywords.has(name);
    return plain ? `.${name}` : `[${literal(name)}]`;
  });
  return `input${steps.join('')}`;
}

function renderRelationship({ relationshipType, target, targetType, targetId }: Condition): string[] {
  const toResource = (target ?? 'resource') === 'resource';
  const lines = ['some link in input.graph.subject', `link.relationshipType == ${literal(relationshipType)}`];
  lines.push(`link.to.type == ${toResource ? 'input.resource.type' : literal(targetType)}`);
  if (target !== 'anyOfType') lines.push(`link.to.id == ${toResource ? 'input.resource.id' : literal(targetId)}`);
  return lines;
}

function renderInvitation({ relationshipType }: Condition): string[] {
  const lines = [
    'input.invitation.status == "pending"',
    'input.invitation.to.type == input.resource.type',
    'input.invitation.to.id == input.resource.id',
  ];
  if (relationshipType !== undefined) lines.push(`input.invitation.relationshipType == ${literal(relationshipType)}`);
  return lines;
}

const comparisons = { eq: '==', ne: '!=', lt: '<', lte: '<=', gt: '>', gte: '>=' };

function renderAttribute({ path, operator, value, values, valuePath }: Condition): string[] {
  const left = reference(path!);
  if (operator === 'exists') return [`${left} != null`];
  const right = valuePath === undefined ? literal(operator === 'in' ? values : value) : reference(valuePath);
  switch (operator!) {
    case 'in':
      return [valuePath === undefined ? `${left} in ${right}` : `includes(${right}, ${left})`];
    case 'contains':
      return [`includes(${left}, ${right})`];
    case 'startsWith':
      return [...(valuePath === undefined ? [] : [`${right} != ""`]), `startswith(${left}, ${right})`];
    default: {
      const compare = `${left} ${comparisons[operator!]} ${right}`;
      if (valuePath !== undefined) {
        const types = operator === 'eq' || operator === 'ne' ? ['string', 'number', 'boolean'] : ['string', 'number'];
        return [`same_type(${left}, ${right}, {${types.map(literal).join(', ')}})`, compare];
      }
      return operator === 'eq' ? [compare] : [`is_${typeof value}(${left})`, compare];
    }
  }
}

function onDays(weekdays: Condition['weekdays'], zone: string, daysLater: number): string[] {
  if (weekdays === undefined) return [];
  const names = weekdayNames.filter((_, day) =>
    weekdays.some((weekday) => weekday === weekdayNames[(day + 7 - daysLater) % 7]!.toLowerCase()),
  );
  return [`local_weekday(${zone}) in {${names.map(literal).join(', ')}}`];
}

function renderTime({ after, before, fromTime, toTime, weekdays, timezone }: Condition): Bodies {
  const instant = (text: string) => `time.parse_rfc3339_ns(${literal(new Date(parseInstant(text)!).toISOString())})`;
  const bounds = [
    ...(after === undefined ? [] : [`time.parse_rfc3339_ns(input.time) >= ${instant(after)}`]),
    ...(before === undefined ? [] : [`time.parse_rfc3339_ns(input.time) < ${instant(before)}`]),
  ];
  if (timezone === undefined) return [bounds];
  const zone = literal(timezone);
  const today = onDays(weekdays, zone, 0);
  if (fromTime === undefined || toTime === undefined) return [[...bounds, ...today]];
  const clock = (text: string) => `[${text.split(':').map(Number).join(', ')}, 0]`;
  const from = `local_time(${zone}) >= ${clock(fromTime)}`;
  const to = `local_time(${zone}) < ${clock(toTime)}`;
  if (fromTime < toTime) return [[...bounds, ...today, from, to]];
  // Past midnight the range still belongs to the day on which it began.
  return [
    [...bounds, ...today, from],
    [...bounds, ...onDays(weekdays, zone, 1), to],
  ];
}

/** Each IPv4 range a second time as the IPv6 range of the addresses that stand for it, /8 as /104. */
function renderIpRange({ path, ranges }: Condition): string[] {
  const both = ranges!.flatMap((range) => {
    const [network, prefix] = range.split('/');
    return range.includes(':') ? [range] : [range, `::ffff:${network}/${96 + Number(prefix)}`];
  });
  return [`within(${reference(path ?? 'context.ip')}, ${literal(both)})`];
}
