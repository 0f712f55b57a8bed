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
  /** Ids collected in rules of their own, by all ways of writing them, and asked for in ways of which most look at one id only. */
  const collected = () => {
    const side = pick(['subject', 'resource']);
    const id = `${side === 'subject' ? 'l.to' : 'l.from'}.id`;
    const each = () => [`some l in input.graph.${side}`, ...conditions(side)].join('; ');
    const rule = pick([
      `gathered contains ${id} if {${each()}}`,
      `gathered contains ${id} if {${each()}}\ngathered contains ${id} if {${each()}}`,
      `gathered contains "${below(4)}" if {${each()}}\ngathered contains ${id} if {${each()}}`,
      `gathered := {${id} | ${each()}}`,
      `gathered := {${id} | ${each()}}\ngathered := {${id} | ${each()}} if input.subject.type == ${literal()}`,
      `gathered := {${id} | ${each()}} if {some x in input.graph.resource; x.type == "${pick(names)}"}`,
      `gathered := {${id} | ${each()}; l.type == x.type} if {some x in input.graph.subject}`,
      `gathered := {${id} | ${each()}} if {input.subject.type == ${literal()}} else := {${id} | ${each()}}`,
      `default gathered := {"1"}\ngathered := {${id} | ${each()}} if {input.resource.type == ${literal()}}`,
      `gathered[${id}] if {${each()}}`,
      `gathered[${id}] := l.type if {${each()}}`,
      `gathered[${id}] := true if {${each()}}\ngathered["1"] := false if {${each()}}`,
      `gathered := {${id}: true | ${each()}}`,
      `gathered := {${id}: l.type | ${each()}}`,
      `gathered contains l.type if {${each()}}`,
      `gathered := gathered_of("${pick(names)}")\ngathered_of(name) := {${id} | ${each()}; l.type == name}`,
    ]);
    const isAskedForMore = below(4) === 0;
    // A text is never among the values of an object, which the compiler sees where both are written out.
    const isObject = rule.startsWith('gathered[') || rule.includes(': true');
    const from = pick(['gathered', 'gathered', 'also_gathered']);
    const term = () =>
      isObject || below(3) ? `input.${pick(['subject', 'resource'])}.id` : `"${pick([...names, '1', '2'])}"`;
    const asks = () =>
      pick([
        `${term()} in ${from}`,
        `${term()} in ${from}`,
        `not ${term()} in ${from}`,
        `${from}[${term()}]`,
        `not ${from}[${term()}]`,
        `${term()} in ${from}; ${from}[${term()}]`,
        isObject ? `true in ${from}` : `some i in ["1", "2"]; i in ${from}`,
        `ids := ${from}; ${term()} in ids`,
        `x := ${from}[${term()}]; x != ${term()}`,
        ...(isAskedForMore
          ? [
              `count(${from}) < ${below(3)}`,
              `every x in ${from} { x != ${term()} }`,
              `${term()} in ${from} with input.resource.id as "${below(4)}"`,
              `some x in ${from}; x == ${term()}`,
              `all := ${from}; count(all) > 1`,
            ]
          : []),
      ]);
    const outcome = `outcome := "allow" if {${asks()}}`;
    const more = below(2) ? [`obligations contains "gathered" if {${asks()}}`] : [];
    return [rule, 'also_gathered := gathered', outcome, ...more];
  };
  return [
    'package p',
    'default outcome := "deny"',
    `some_names := {"${pick(names)}", "${pick(names)}"}`,
    'same_subject(l) if l.to.id == input.resource.id',
    `same_subject(l) if {l.type == "${pick(names)}"; ${pick(['true', 'l.to.id == "1"', 'count(input.graph.resource) > 1'])}}`,
    'same_resource(l) if {l.from.id == input.subject.id; l.type in some_names}',
    `named(l, name) if {l.type == name; ${pick(['true', 'l.relationshipType == name', 'startswith(name, "m")'])}}`,
    ...(below(2) ? collected() : []),
    ...(below(3) ? [] : [`outcome := "allow" if {${ids()}}`]),
    ...Array.from({ length: 1 + below(2) }, () => `outcome := "allow" if {${scan()}}`),
    ...(below(2)
      ? [`outcome := "allow" if {not held; "${pick(nodeTypes)}" == input.resource.type}`, `held if {${scan()}}`]
      : []),
    ...(below(3) ? [] : [`obligations contains "ids" if {${ids()}}`]),
    ...(below(2) ? [`obligations contains x if {${scan()}; x := concat("/", [l.type, "x"])}`] : []),
    ...(below(4) ? [] : [`outcome := "allow" if input.${pick(['subject', 'resource'])}.id == "${below(4)}"`]),
    ...(below(6) ? [] : [`outcome := "allow" if input.${pick(['subject', 'resource'])}.type == ${literal()}`]),
    ...(below(4)
      ? []
      : [`reason := "first" if {${scan()}} else := "second" if {${scan()}} else := ${pick(['null', '"none"'])}`]),
    ...(below(6) ? [] : ['obligations contains "many" if count(input.graph.subject) > 2']),
  ].join('\n');
}

/** A policy whose rules all compare the other end with the other one of the request, so that searches need not ask about everything. */
export function randomNarrowPolicy(below: (n: number) => number): string {
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const rule = () => {
    const [side, far, other] = pick([
      ['subject', 'l.to', 'resource'],
      ['resource', 'l.from', 'subject'],
    ]);
    const more = [
      `l.type == "${pick(names)}"`,
      `${far}.type == input.${other}.type`,
      `${far}.type == "${pick(nodeTypes)}"`,
      `l.type != "${pick(names)}"`,
    ].filter(() => below(2));
    return [`some l in input.graph.${side}`, `${far}.id == input.${other}.id`, ...more].join('; ');
  };
  const rules = Array.from({ length: 1 + below(3) }, () => `outcome := "allow" if {${rule()}}`);
  return ['package p', 'default outcome := "deny"', ...rules].join('\n');
}
