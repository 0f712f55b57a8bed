/** Checks the metadata of a manifest as the API server does for every object: names, namespace, labels and annotations. */
import { bounds } from './bounds.ts';
import { type ManifestError, shown, unknownField } from './describe-error.ts';
import type { Kind } from './kind.ts';
import { type Pattern, patterns } from './patterns.ts';
import { isObject, pointerStep } from './values.ts';

// ObjectMeta of Kubernetes. What the API server writes itself is accepted, because people apply what they once read from it.
const fields = [
  'name',
  'namespace',
  'labels',
  'annotations',
  'uid',
  'generation',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'selfLink',
];

/** @returns every refusal; an empty list means that `name` is there and `namespace` is there exactly for namespaced kinds */
export function checkMetadata(kind: Pick<Kind, 'kind' | 'scope'>, value: unknown): ManifestError[] {
  if (value === undefined) return [{ pointer: '/metadata', detail: 'is required' }];
  if (!isObject(value)) return [{ pointer: '/metadata', detail: `must be an object, but is ${shown(value)}` }];
  const unknown = Object.keys(value)
    .filter((name) => !fields.includes(name))
    .map((name) => ({ pointer: `/metadata/${pointerStep(name)}`, detail: unknownField(name, fields) }));
  return [
    ...unknown,
    ...name('/metadata/name', value.name, patterns.subdomain, bounds.objectNameCharsMax),
    ...namespace(kind, value.namespace),
    ...labels(value.labels),
    ...annotations(value.annotations),
  ];
}

/** As the API server reads it: a null or an empty namespace is absent, a null among labels and annotations is empty. */
export function withoutNulls(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata ?? undefined;
  const fields = Object.entries(metadata).filter(
    ([name, value]) => value !== null && !(name === 'namespace' && value === ''),
  );
  return Object.fromEntries(
    fields.map(([name, value]) => {
      if ((name !== 'labels' && name !== 'annotations') || !isObject(value)) return [name, value];
      return [name, Object.fromEntries(Object.entries(value).map(([key, text]) => [key, text ?? '']))];
    }),
  );
}

function namespace(kind: Pick<Kind, 'kind' | 'scope'>, value: unknown): ManifestError[] {
  const pointer = '/metadata/namespace';
  if (kind.scope === 'Namespaced') return name(pointer, value, patterns.label, bounds.labelCharsMax);
  if (value === undefined) return [];
  return [{ pointer, detail: `must not be there: a ${kind.kind} belongs to no namespace` }];
}

function name(pointer: string, value: unknown, pattern: Pattern, max: number): ManifestError[] {
  if (value === undefined) return [{ pointer, detail: 'is required' }];
  const detail = refusal(value, pattern, max);
  return detail === undefined ? [] : [{ pointer, detail }];
}

function refusal(value: unknown, pattern: Pattern, max: number): string | undefined {
  if (typeof value !== 'string') return `must be a string, but is ${shown(value)}`;
  if (value.length > max) return `must have at most ${max} characters, but has ${value.length}`;
  if (!new RegExp(pattern.source, 'u').test(value)) return `must be ${pattern.words}, but is ${shown(value)}`;
  return undefined;
}

function labels(value: unknown): ManifestError[] {
  return map('/metadata/labels', value, (entry) => refusal(entry, patterns.labelValue, bounds.labelCharsMax));
}

function annotations(value: unknown): ManifestError[] {
  const pointer = '/metadata/annotations';
  const text = (entry: unknown) => (typeof entry === 'string' ? undefined : `must be a string, but is ${shown(entry)}`);
  // The API server looks at the keys of annotations in lower case.
  const errors = map(pointer, value, text, (key) => key.toLowerCase());
  if (errors.length > 0 || value === undefined) return errors;
  const bytes = Object.entries(value as Record<string, string>)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= bounds.annotationsBytesMax) return [];
  return [{ pointer, detail: `must have at most ${bounds.annotationsBytesMax} bytes together, but have ${bytes}` }];
}

/** A map whose keys are qualified names. */
function map(
  pointer: string,
  value: unknown,
  refuse: (entry: unknown) => string | undefined,
  seen = (key: string) => key,
): ManifestError[] {
  if (value === undefined) return [];
  if (!isObject(value)) return [{ pointer, detail: `must be an object, but is ${shown(value)}` }];
  return Object.entries(value).flatMap(([key, entry]) => {
    const detail = badKey(seen(key)) ?? refuse(entry);
    return detail === undefined ? [] : [{ pointer: `${pointer}/${pointerStep(key)}`, detail }];
  });
}

function badKey(key: string): string | undefined {
  const [name = '', prefix = ''] = key.split('/').reverse();
  const long = name.length > bounds.labelCharsMax || prefix.length > bounds.labelPrefixCharsMax;
  return long || !new RegExp(patterns.labelKey.source, 'u').test(key) ? `is not ${patterns.labelKey.words}` : undefined;
}
