import { describeKey, type FileObject, type SourceProblem } from '../../operator/index.ts';
import type { ProblemPlace } from '../../server/core/problems.ts';

/** By which rule something was found; stable, for those who filter. */
export const rules = {
  unreadable: 'A file or directory cannot be read, or holds something that is not a manifest.',
  invalid: 'A manifest does not match its schema or breaks a rule.',
  duplicate: 'Two manifests have the same name, or claim the same object of a tenant.',
  'unknown-reference':
    'A manifest names a tenant, a type or a consent definition that none of the given manifests defines.',
  refused: 'The manifest of the tenant does not allow a manifest.',
  'past-date': 'A date lies in the past, which only a tenant that already has it accepts.',
  sanitized: 'A text in HTML is stored and shown without some of its markup.',
  policy: 'A policy or library does not compile, a test of a policy fails, or a data document is invalid.',
  'no-outcome': 'A policy never produces an outcome, so it always denies.',
  'no-effect': 'A manifest sets a field that has no effect yet.',
  'reads-all': 'Each decision of a policy reads all relationships of a side.',
  'reads-by-type': 'Each decision of a policy reads all relationships of a side that have some types.',
  'allow-not-tested': 'The tests of a policy pass, and none of them is answered allow.',
  'data-subjects': 'A policy may read the consents of somebody else than those whom the data is about.',
  empty: 'No manifest was found.',
  'foreign-kind': "A manifest is another program's, and is ignored.",
} as const;
export type RuleName = keyof typeof rules;

export type Finding = {
  severity: 'error' | 'note';
  rule: RuleName;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  /** `Policy default/car-read` */
  object?: string;
};

export type Report = { manifests: number; objects: readonly FileObject[]; findings: readonly Finding[] };

/** What `place` says, `file:line:column`, or what of it is there. */
function placeOf(place: string): Pick<Finding, 'file' | 'line' | 'column'> {
  const [, file = place, line, column] = /^(.*?)(?::(\d+))?(?::(\d+))?$/s.exec(place) ?? [];
  return { file, ...(line ? { line: Number(line) } : {}), ...(column ? { column: Number(column) } : {}) };
}

/** A finding about an object, where it begins. */
export function about(
  object: FileObject,
  rule: RuleName,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding {
  const { path: file, line, key } = object;
  return { severity, rule, message, file, line, object: describeKey(key) };
}

/** A finding about a field of an object's spec, where that begins. */
export function at(
  object: FileObject,
  rule: RuleName,
  place: Omit<ProblemPlace, 'detail'>,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding {
  const found = object.locate?.({ ...place, detail: '' });
  return { ...about(object, rule, message, severity), ...(found === undefined ? {} : placeOf(found)) };
}

/** What was refused of an object: a line each, which begins with its place where there is one. */
export function aboutLines(object: FileObject, rule: RuleName, text: string): Finding[] {
  return text.split('\n').map((line) => {
    if (!line.startsWith(`${object.path}:`)) return about(object, rule, line);
    const end = line.indexOf(': ', object.path.length);
    return { ...about(object, rule, line.slice(end + 2)), ...placeOf(line.slice(0, end)) };
  });
}

export function ofSource({ place, message, severity }: SourceProblem): Finding {
  if (severity === 'note') return { severity, rule: 'foreign-kind', message, ...placeOf(place) };
  return { severity: 'error', rule: 'unreadable', message, ...placeOf(place) };
}
