import { describe, expect, test } from 'vitest';
import { type AllowedNamespaces, permissionOf } from '../../operator/namespaces.ts';

const expression = (key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]) => ({
  selector: { matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }] },
});

type Case = [what: string, allowed: AllowedNamespaces | undefined, namespace: string, labels: object | undefined];

const allowed: Case[] = [
  ['no rule, the namespace named like the tenant', undefined, 'fleet', {}],
  ['no rule, the same with labels unknown', undefined, 'fleet', undefined],
  ['one of the names', { names: ['a', 'b'] }, 'b', {}],
  ['one of the names with labels unknown', { names: ['b'] }, 'b', undefined],
  ['one of the names, whatever the selector says', { names: ['b'], ...expression('x', 'Exists') }, 'b', {}],
  ['an empty selector selects everything', { selector: {} }, 'any', {}],
  ['empty requirements select everything', { selector: { matchLabels: {}, matchExpressions: [] } }, 'any', {}],
  ['a label of that value', { selector: { matchLabels: { team: 'red' } } }, 'any', { team: 'red', x: '' }],
  ['a label without a value', { selector: { matchLabels: { team: '' } } }, 'any', { team: '' }],
  ['In', expression('team', 'In', 'red', 'blue'), 'any', { team: 'blue' }],
  ['NotIn, another value', expression('team', 'NotIn', 'red'), 'any', { team: 'blue' }],
  ['NotIn, no such label', expression('team', 'NotIn', 'red'), 'any', {}],
  ['Exists', expression('team', 'Exists'), 'any', { team: '' }],
  ['DoesNotExist', expression('team', 'DoesNotExist'), 'any', { other: 'red' }],
  [
    'all of several requirements',
    {
      selector: {
        matchLabels: { team: 'red' },
        matchExpressions: [
          { key: 'stage', operator: 'In', values: ['live'] },
          { key: 'closed', operator: 'DoesNotExist' },
        ],
      },
    },
    'any',
    { team: 'red', stage: 'live' },
  ],
];

const refused: Case[] = [
  ['no rule, another namespace', undefined, 'default', { 'kubernetes.io/metadata.name': 'fleet' }],
  ['none of the names', { names: ['a'] }, 'fleet', {}],
  ['names allow the namespace of the tenant no longer', { names: ['a'] }, 'fleet', undefined],
  ['a name is not a prefix', { names: ['a'] }, 'ab', {}],
  ['another value', { selector: { matchLabels: { team: 'red' } } }, 'any', { team: 'redd' }],
  ['no such label', { selector: { matchLabels: { team: '' } } }, 'any', {}],
  ['a name that every object has', { selector: { matchLabels: { constructor: 'x' } } }, 'any', {}],
  ['In, another value', expression('team', 'In', 'red'), 'any', { team: 'blue' }],
  ['In, no such label', expression('team', 'In', 'red'), 'any', {}],
  ['NotIn, one of the values', expression('team', 'NotIn', 'red', 'blue'), 'any', { team: 'blue' }],
  ['Exists, no such label', expression('team', 'Exists'), 'any', {}],
  ['Exists, a name that every object has', expression('toString', 'Exists'), 'any', {}],
  ['DoesNotExist, the label is there', expression('team', 'DoesNotExist'), 'any', { team: '' }],
  [
    'one of several requirements fails',
    {
      selector: { matchLabels: { team: 'red' }, matchExpressions: [{ key: 'stage', operator: 'Exists' }] },
    },
    'any',
    { team: 'red' },
  ],
  [
    'the empty selector of another word',
    { selector: { matchExpressions: [{ key: 'a', operator: 'Gt' as 'In' }] } },
    'any',
    {},
  ],
];

const run = ([, rule, namespace, labels]: Case) =>
  permissionOf('fleet', rule, namespace, labels as Record<string, string> | undefined);

describe('namespaces that may name a tenant', () => {
  test.each(allowed)('allowed: %s', (...one) => expect(run(one)).toBe('allowed'));
  test.each(refused)('refused: %s', (...one) => expect(run(one)).toBe('refused'));
  test.each([{ selector: {} }, { names: ['a'], selector: { matchLabels: { team: 'red' } } }])(
    'unknown while a selector decides and nobody knows the labels: %j',
    (rule) => expect(permissionOf('fleet', rule, 'any', undefined)).toBe('unknown'),
  );
});
