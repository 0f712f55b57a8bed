import { describeKey, type FileObject, refusalOf, type SourceProblem } from '../../operator/index.ts';
import type { ProblemPlace } from '../../server/core/problems.ts';
import type { Fault } from '../../server/room/manifest-checks.ts';
import { kindsOf } from '../../server/room/resource-kind.ts';
import type { Room } from '../../server/room/room.ts';

/** By which rule something was found; stable, for those who filter. Kinds have more of their own. */
const rulesOfAll = {
  unreadable: 'A file or directory cannot be read, or holds something that is not a manifest.',
  invalid: 'A manifest does not match its schema or breaks a rule.',
  duplicate: 'Two manifests have the same name, or claim the same object of a tenant.',
  'unknown-reference':
    'A manifest names a tenant, a type or a consent definition that none of the given manifests defines.',
  refused: 'The manifest of the tenant does not allow a manifest.',
  'no-effect': 'A manifest sets a field that has no effect yet.',
  empty: 'No manifest was found.',
  'foreign-kind': "A manifest is another program's, and is ignored.",
};

/** Every rule, and when it is broken. */
export function rulesOf(rooms: readonly Room[]): Record<string, string> {
  return Object.assign({}, rulesOfAll, ...kindsOf(rooms).map(({ kind }) => kind.checks?.rules));
}

export type Finding = {
  severity: 'error' | 'note';
  rule: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  /** `Policy default/car-read` */
  object?: string;
};

export type Report = {
  manifests: number;
  objects: readonly FileObject[];
  findings: readonly Finding[];
  rules: Readonly<Record<string, string>>;
};

/** What `place` says, `file:line:column`, or what of it is there. */
function placeOf(place: string): Pick<Finding, 'file' | 'line' | 'column'> {
  const [, file = place, line, column] = /^(.*?)(?::(\d+))?(?::(\d+))?$/s.exec(place) ?? [];
  return { file, ...(line ? { line: Number(line) } : {}), ...(column ? { column: Number(column) } : {}) };
}

/** A finding about an object, where it begins. */
export function about(
  object: FileObject,
  rule: string,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding {
  const { path: file, line, key } = object;
  return { severity, rule, message, file, line, object: describeKey(key) };
}

/** A finding about a field of an object's spec, where that begins. */
export function at(
  object: FileObject,
  rule: string,
  place: Omit<ProblemPlace, 'detail'>,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding {
  const found = object.locate?.({ ...place, detail: '' });
  return { ...about(object, rule, message, severity), ...(found === undefined ? {} : placeOf(found)) };
}

/** What was refused of an object: a line each, which begins with its place where there is one. */
export function aboutLines(object: FileObject, rule: string, text: string): Finding[] {
  return text.split('\n').map((line) => {
    if (!line.startsWith(`${object.path}:`)) return about(object, rule, line);
    const end = line.indexOf(': ', object.path.length);
    return { ...about(object, rule, line.slice(end + 2)), ...placeOf(line.slice(0, end)) };
  });
}

/** What a room says of a manifest. @throws the error of a fault that is not the manifest's */
export function ofFault(object: FileObject, fault: Fault): Finding[] {
  if ('refusal' in fault) {
    const refusal = refusalOf(fault.refusal, object.locate);
    if (refusal === undefined) throw fault.refusal;
    return aboutLines(object, fault.rule, refusal.message);
  }
  const { rule, message, severity, pointer, line } = fault;
  if (pointer === undefined) return [about(object, rule, message, severity)];
  return [at(object, rule, { pointer, ...(line === undefined ? {} : { line }) }, message, severity)];
}

export function ofSource({ place, message, severity }: SourceProblem): Finding {
  if (severity === 'note') return { severity, rule: 'foreign-kind', message, ...placeOf(place) };
  return { severity: 'error', rule: 'unreadable', message, ...placeOf(place) };
}
