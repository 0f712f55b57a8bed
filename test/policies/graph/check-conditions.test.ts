import { describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { checkGraph } from '../../../server/policies/graph/index.ts';
import type { Condition } from '../../../server/policies/graph/schema.ts';
import { oneTest } from '../../helpers/drawn.ts';
import { errorsOf } from './errors.ts';

const consent: Condition = { type: 'consent', name: 'terms' };

const attribute = (rest: Partial<Condition>): Condition => ({
  type: 'attribute',
  path: 'subject.a',
  operator: 'eq',
  ...rest,
});
const time = (rest: Partial<Condition>): Condition => ({ type: 'time', ...rest });
const zone = 'Europe/Amsterdam';
const notInstant = 'must be an instant with a zone, such as 2027-01-31T09:00:00Z, of at most milliseconds';
const notRange = 'must be a CIDR range such as 192.0.2.0/24 or 2001:db8::/32';
const notNumber = `must be a number between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;

describe('conditions', () => {
  test.each<[string, Condition, string[]]>([
    [
      'a field of another type',
      { ...consent, path: 'subject.a' },
      ['/path: does not belong to a condition of type consent, which takes name, whose'],
    ],
    ['consent to what', { type: 'consent' }, ['/name: is missing: a condition of type consent needs it']],
    [
      'relationship of what',
      { type: 'relationship' },
      ['/relationshipType: is missing: a condition of type relationship needs it'],
    ],
    [
      'an entity without type and id',
      { type: 'relationship', relationshipType: 'r', target: 'entity' },
      ['/targetType: is missing: target entity or anyOfType needs it', '/targetId: is missing: target entity needs it'],
    ],
    [
      'the resource with an id',
      { type: 'relationship', relationshipType: 'r', targetId: 'x' },
      ['/targetId: goes only with target entity'],
    ],
    [
      'an unknown root',
      attribute({ path: 'user.a', value: 1 }),
      ['/path: begins with "user"; begin it with one of subject, action, resource, context, tenant, invitation'],
    ],
    [
      'an unknown root to compare with',
      attribute({ valuePath: 'time' }),
      ['/valuePath: begins with "time"; begin it with one of subject, action, resource, context, tenant, invitation'],
    ],
    [
      'no operator',
      { type: 'attribute', path: 'subject.a', value: 1 },
      ['/operator: is missing: a condition of type attribute needs it'],
    ],
    ['nothing to compare with', attribute({}), ['/operator: eq needs exactly one of value and valuePath']],
    [
      'two to compare with',
      attribute({ value: 1, valuePath: 'resource.a' }),
      ['/operator: eq needs exactly one of value and valuePath'],
    ],
    [
      'in without values',
      attribute({ operator: 'in', value: 1 }),
      ['/value: does not go with operator in', '/operator: in needs exactly one of values and valuePath'],
    ],
    ['exists with a value', attribute({ operator: 'exists', value: 1 }), ['/value: does not go with operator exists']],
    ['eq to a list', attribute({ value: ['x'] }), ['/value: must be a string or a number or a boolean']],
    ['eq to null', attribute({ value: null }), ['/value: must be a string or a number or a boolean']],
    ['less than true', attribute({ operator: 'lt', value: true }), ['/value: must be a string or a number']],
    ['starts with a number', attribute({ operator: 'startsWith', value: 1 }), ['/value: must be a string']],
    [
      'starts with nothing',
      attribute({ operator: 'startsWith', value: '' }),
      ['/value: is empty: every string would start with it'],
    ],
    ['a number past 2^53', attribute({ operator: 'gt', value: 2 ** 53 }), [`/value: ${notNumber}`]],
    [
      'an object among values',
      attribute({ operator: 'in', values: [1, {}] }),
      ['/values/1: must be a string or a number or a boolean'],
    ],
    [
      'a long value',
      attribute({ value: 'x'.repeat(limits.graphTextCharsMax + 1) }),
      [`/value: is longer than ${limits.graphTextCharsMax} characters`],
    ],
    [
      'NUL among values',
      attribute({ operator: 'in', values: ['\0'] }),
      ['/values/0: contains NUL or an unpaired surrogate: remove it'],
    ],
    ['no time at all', time({}), [': a condition of type time needs after, before, fromTime and toTime, or weekdays']],
    ['an instant without a zone', time({ after: '2027-01-31T09:00:00' }), [`/after: ${notInstant}`]],
    ['a day that does not exist', time({ before: '2027-02-29T09:00:00Z' }), [`/before: ${notInstant}`]],
    ['an hour that does not exist', time({ before: '2027-02-28T24:00:00Z' }), [`/before: ${notInstant}`]],
    ['nanoseconds', time({ before: '2027-02-28T09:00:00.000001Z' }), [`/before: ${notInstant}`]],
    [
      'between in the wrong order',
      time({ after: '2027-01-01T00:00:00Z', before: '2027-01-01T01:00:00+01:00' }),
      ['/before: is not later than after: the condition would never hold'],
    ],
    ['half a time of day', time({ fromTime: '09:00', timezone: zone }), ['/toTime: is missing: fromTime needs it']],
    ['the other half', time({ toTime: '09:00', timezone: zone }), ['/toTime: goes only with fromTime']],
    [
      'an empty time of day',
      time({ fromTime: '09:00', toTime: '09:00', timezone: zone }),
      ['/toTime: equals fromTime; leave both out to mean the whole day'],
    ],
    [
      'weekdays of nowhere',
      time({ weekdays: ['monday'] }),
      ['/timezone: is missing: a time of day or weekdays needs it'],
    ],
    [
      'a zone for instants',
      time({ after: '2027-01-01T00:00:00Z', timezone: zone }),
      ['/timezone: goes only with a time of day or weekdays'],
    ],
    [
      'no such zone',
      time({ weekdays: ['monday'], timezone: 'Europe/Atlantis' }),
      ['/timezone: "Europe/Atlantis" is not an IANA time zone; write one such as Europe/Amsterdam or UTC'],
    ],
    [
      'an offset',
      time({ weekdays: ['monday'], timezone: '+01:00' }),
      ['/timezone: +01:00 is an offset; name a time zone such as Europe/Amsterdam or UTC'],
    ],
    [
      'a zone in other letters',
      time({ weekdays: ['monday'], timezone: 'europe/amsterdam' }),
      ['/timezone: write Europe/Amsterdam, not europe/amsterdam'],
    ],
    ['no ranges', { type: 'ipRange' }, ['/ranges: is missing: a condition of type ipRange needs it']],
    ['an address', { type: 'ipRange', ranges: ['10.0.0.0/8', '10.0.0.1'] }, [`/ranges/1: ${notRange}`]],
    [
      'a prefix too long',
      { type: 'ipRange', ranges: ['10.0.0.0/33', '::/129'] },
      [`/ranges/0: ${notRange}`, `/ranges/1: ${notRange}`],
    ],
    [
      'an address with its prefix',
      { type: 'ipRange', ranges: ['10.0.0.1/8', '2001:db8::1/64'] },
      [
        "/ranges/0: has bits set after its prefix of 8: write the network's first address",
        "/ranges/1: has bits set after its prefix of 64: write the network's first address",
      ],
    ],
    [
      'an unknown root of the address',
      { type: 'ipRange', ranges: ['10.0.0.0/8'], path: 'ip' },
      ['/path: begins with "ip"; begin it with one of subject, action, resource, context, tenant, invitation'],
    ],
  ])('%s', (_, condition, errors) => {
    expect(errorsOf(oneTest([consent, condition]))).toEqual(
      errors.map((error) => `/graph/nodes/1/conditions/1${error}`),
    );
  });

  test('a value may be as long as a text, counted in characters', () => {
    expect(errorsOf(oneTest([attribute({ value: '😀'.repeat(limits.graphTextCharsMax) })]))).toEqual([]);
  });

  test('a value that is nested without end is refused like any other object', () => {
    let value: unknown = 'x';
    for (let depth = 0; depth < 100_000; depth += 1) value = [value];
    expect(checkGraph(oneTest([attribute({ value })]))).toHaveLength(1);
  });
});
