import { describe, expect, test } from 'vitest';
import { checkGraph, interpretGraph } from '../../../server/policies/graph/index.ts';
import { oneTest } from '../../helpers/drawn.ts';
import { conditionCases } from './condition-cases.ts';
import { goldenGraphs, ladder } from './examples.ts';

describe('a condition', () => {
  test.each(conditionCases)('$title', ({ condition, input, is }) => {
    const graph = oneTest([condition]);
    expect(checkGraph(graph)).toEqual([]);
    expect(interpretGraph(graph, input)).toEqual({
      outcome: is ? 'allow' : 'deny',
      path: ['start', 'test', is ? 'yes' : 'no'],
    });
  });
});

describe('a graph', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ type: 'consent' as const, name }));
  const consents = (...names: string[]) => ({ consents: names.map((name) => ({ name, sufficient: true })) });
  test.each([
    ['all', [], 'deny'],
    ['all', ['a'], 'deny'],
    ['all', ['a', 'b'], 'allow'],
    ['any', [], 'deny'],
    ['any', ['b'], 'allow'],
    ['none', [], 'allow'],
    ['none', ['b'], 'deny'],
    [undefined, ['a'], 'deny'],
    [undefined, ['a', 'b'], 'allow'],
  ] as const)('match %s with %j true: %s', (match, names, outcome) => {
    expect(interpretGraph(oneTest([a!, b!], match), consents(...names)).outcome).toBe(outcome);
  });

  test('answers with the reason and obligations of the outcome reached', () => {
    const input = {
      subject: { penaltyPoints: 7 },
      resource: { type: 'car', id: '7' },
      graph: { subject: [{ relationshipType: 'drives', to: { type: 'car', id: '7' } }] },
      ...consents('terms-of-driving'),
    };
    expect(interpretGraph(goldenGraphs['car-sharing'], input)).toEqual({
      outcome: 'allow',
      obligations: ['log-driver'],
      path: ['start', 'owner', 'driver-in-good-standing', 'open-and-log'],
    });
    expect(interpretGraph(goldenGraphs['car-sharing'], {})).toMatchObject({
      outcome: 'deny',
      reason: 'Only the owner and drivers in good standing.',
    });
  });

  test('denies where an answer leads nowhere, and the path ends there', () => {
    expect(interpretGraph(goldenGraphs['night-shift'], {})).toEqual({
      outcome: 'deny',
      path: ['start', 'on-site', 'night'],
    });
  });

  test.each([null, undefined, 5, 'text', [], { subject: null }])('denies on an input such as %j', (input) => {
    expect(interpretGraph(goldenGraphs['car-sharing'], input).outcome).toBe('deny');
  });

  test('is followed once, however many ways there are', () => {
    expect(interpretGraph(ladder(98), {}).path).toHaveLength(101);
  });
});
