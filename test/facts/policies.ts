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
      `l.type in {"${pick(names)}", "${pick(names)}"}`,
      `l.type in some_names`,
      `${far}.type in [${literal()}, ${literal()}]`,
      `same_${side}(l)`,
      `named(l, "${pick(names)}")`,
      `startswith(l.relationshipType, "${pick(['m', 'o', 'r'])}")`,
    ].filter(() => !below(3));
  };
  const scan = () => {
    const side = pick(['subject', 'resource']);
    return [`some l in input.graph.${side}`, ...conditions(side)].join('; ');
  };
  const ids = () => {
    const side = pick(['subject', 'resource']);
    const far = side === 'subject' ? 'l.to' : 'l.from';
    const asked = below(3) ? `input.${pick(['subject', 'resource'])}.id` : `"${below(4)}"`;
    const item = pick([`${far}.id`, `${far}.id`, `lower(${far}.id)`]);
    const [open, close] = pick([['{', '}'] as const, ['[', ']'] as const]);
    const list = `${open}${item} | ${[`some l in input.graph.${side}`, ...conditions(side)].join('; ')}${close}`;
    return pick([
      `${asked} in ${list}`,
      `not ${asked} in ${list}`,
      `ids := ${list}; ${asked} in ids`,
      `ids := ${list}; ${asked} in ids; count(ids) < ${below(4)}`,
    ]);
  };
  return [
    'package p',
    'default outcome := "deny"',
    `some_names := {"${pick(names)}", "${pick(names)}"}`,
    'same_subject(l) if l.to.id == input.resource.id',
    `same_subject(l) if {l.type == "${pick(names)}"; ${pick(['true', 'l.to.id == "1"', 'count(input.graph.resource) > 1'])}}`,
    'same_resource(l) if {l.from.id == input.subject.id; l.type in some_names}',
    `named(l, name) if {l.type == name; ${pick(['true', 'l.relationshipType == name', 'startswith(name, "m")'])}}`,
    ...(below(3) ? [] : [`outcome := "allow" if {${ids()}}`]),
    ...Array.from({ length: 1 + below(2) }, () => `outcome := "allow" if {${scan()}}`),
    ...(below(2)
      ? [`outcome := "allow" if {not held; "${pick(nodeTypes)}" == input.resource.type}`, `held if {${scan()}}`]
      : []),
    ...(below(3) ? [] : [`obligations contains "ids" if {${ids()}}`]),
    ...(below(2) ? [`reason := concat(",", sort([x | ${scan()}; x := concat("/", [l.type, "x"])]))`] : []),
    ...(below(4) ? [] : [`outcome := "allow" if input.${pick(['subject', 'resource'])}.id == "${below(4)}"`]),
    ...(below(6) ? [] : [`outcome := "allow" if input.${pick(['subject', 'resource'])}.type == ${literal()}`]),
    ...(below(6) ? [] : ['obligations contains "many" if count(input.graph.subject) > 2']),
  ].join('\n');
}
