import { describe, expect, test } from 'vitest';
import { checkGraph, graphToRego } from '../../../server/policies/graph/index.ts';
import { goldenGraphs, ladder } from './examples.ts';

describe('the Rego of a drawn policy', () => {
  test.each(Object.entries(goldenGraphs))('reads as kept in golden: %s', async (name, graph) => {
    expect(checkGraph(graph)).toEqual([]);
    await expect(graphToRego(graph)).toMatchFileSnapshot(`golden/${name}.rego`);
  });

  test('does not depend on positions, nor on the order of nodes', () => {
    const graph = goldenGraphs['night-shift'];
    const moved = graph.nodes.map((node, index) => ({ ...node, position: { x: index, y: -index } })).reverse();
    expect(graphToRego({ nodes: moved, edges: graph.edges })).toBe(graphToRego(graph));
  });

  test('no text of the tenant begins a line of its own', () => {
    const lines = graphToRego(goldenGraphs['hostile-texts']).split('\n');
    expect(lines.filter((line) => line.startsWith('outcome := "allow"'))).toEqual([
      'outcome := "allow" if reached == "yes"',
    ]);
  });

  test('grows linearly where ways meet again', () => {
    const [small, large] = [graphToRego(ladder(40)).length, graphToRego(ladder(80)).length];
    expect(large / small).toBeLessThan(2.1);
  });
});
