/** Random policies over input.graph, of which some can be narrowed and some cannot. */
import { names, nodeTypes } from './graphs.ts';

/** Rules that use the graph in ways of which some can be narrowed and some cannot. */
export function randomPolicy(below: (n: number) => number): string {
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const literal = () => JSON.stringify(pick(nodeTypes));
  const conditions = (side: string) => {
    const far = side === 'subject' ? 'l.to' : 'l.from';
    const other = pick(['subject', 'resource']);
    return [
      `l.type == "${pick(names)}"`,
      `${far}.type == ${below(2) ? literal() : `input.${other}.type`}`,
      `${far}.id == ${below(3) ? `input.${other}.id` : `"${below(4)}"`}`,
      `${far}.id != input.${other}.id`,
      `startswith(l.relationshipType, "${pick(['m', 'o', 'r'])}")`,
    ].filter(() => below(2));
  };
  const scan = () => {
    const side = pick(['subject', 'resource']);
    return [`some l in input.graph.${side}`, ...conditions(side)].join('; ');
  };
  return [
    'package p',
    'default outcome := "deny"',
    ...Array.from({ length: 1 + below(2) }, () => `outcome := "allow" if {${scan()}}`),
    ...(below(2)
      ? [`outcome := "allow" if {not held; "${pick(nodeTypes)}" == input.resource.type}`, `held if {${scan()}}`]
      : []),
    ...(below(2) ? [`reason := concat(",", sort([x | ${scan()}; x := concat("/", [l.type, "x"])]))`] : []),
    ...(below(4) ? [] : [`outcome := "allow" if input.${pick(['subject', 'resource'])}.id == "${below(4)}"`]),
    ...(below(6) ? [] : [`outcome := "allow" if input.${pick(['subject', 'resource'])}.type == ${literal()}`]),
    ...(below(6) ? [] : ['obligations contains "many" if count(input.graph.subject) > 2']),
  ].join('\n');
}
