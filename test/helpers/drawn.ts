/** The smallest drawn policy that decides: for the tests of whoever reads a condition. */
import type { Condition, PolicyGraph } from '../../server/policies/graph/schema.ts';

/** start → test → allow on true, deny on false. */
export function oneTest(conditions: Condition[], match?: 'all' | 'any' | 'none'): PolicyGraph {
  return {
    nodes: [
      { id: 'start', type: 'start' },
      { id: 'test', type: 'condition', conditions, ...(match && { match }) },
      { id: 'yes', type: 'outcome', outcome: 'allow' },
      { id: 'no', type: 'outcome', outcome: 'deny' },
    ],
    edges: [
      { from: 'start', to: 'test' },
      { from: 'test', to: 'yes', on: 'true' },
      { from: 'test', to: 'no', on: 'false' },
    ],
  };
}
