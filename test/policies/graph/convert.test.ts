import { describe, expect, test } from 'vitest';
import { checkGraph, graphToRego, linesOfNodes } from '../../../server/policies/graph/index.ts';
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

  test.each(Object.entries(goldenGraphs))('has lines of each node that can be reached: %s', (_, graph) => {
    const rego = graphToRego(graph);
    const [lines, parts] = [rego.split('\n'), linesOfNodes(graph, rego)!];
    const textOf = ({ start, end }: { start: number; end: number }) => lines.slice(start - 1, end).join('\n');
    expect(new Set(parts.map(({ node }) => node))).toEqual(new Set(graph.nodes.map(({ id }) => id)));
    for (const part of parts) {
      const { type } = graph.nodes.find(({ id }) => id === part.node)!;
      const text = textOf(part);
      // A whole rule each, between empty lines.
      expect([lines[part.start - 2], lines[part.end]]).toEqual(['', '']);
      if (type === 'start') expect(text).toMatch(/^reached := /m);
      if (type === 'outcome') expect(text.endsWith(`if reached == ${JSON.stringify(part.node)}`)).toBe(true);
      if (type === 'condition') expect(text).toMatch(/^(# Condition|any_|part_\d)/);
    }
    // What belongs to no node: the head, and functions that several conditions call.
    const taken = new Set(parts.flatMap(({ start, end }) => lines.slice(start - 1, end)));
    expect(taken.has('package accord.graph')).toBe(false);
  });

  test('has no lines of nodes where the text is another', () => {
    const graph = goldenGraphs['car-sharing'];
    expect(linesOfNodes(graph, `${graphToRego(graph)} `)).toBeUndefined();
  });
});
