/** What changes a manifest: for one in Kubernetes a command with the fields that changed, for one in a file the manifest as it is to be. */
import type { Manifest, Spec, Stored } from './manifest.ts';
import { yamlOf } from './yaml.ts';

type JsonObject = Record<string, unknown>;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSame = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, n) => isSame(one, b[n]));
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  const [mine, theirs] = [namesIn(a), namesIn(b)];
  return mine.length === theirs.length && mine.every((name) => name in b && isSame(a[name], b[name]));
};

/** A member that is undefined is not there. */
const namesIn = (value: JsonObject) => Object.keys(value).filter((name) => value[name] !== undefined);

/** A JSON Merge Patch (RFC 7396): what changed, and null for what is gone. Lists are replaced as a whole. */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of new Set([...namesIn(before), ...namesIn(after)])) {
    const [old, now] = [before[name], after[name]];
    if (isSame(old, now)) continue;
    if (now === undefined) patch[name] = null;
    else patch[name] = isObject(old) && isObject(now) ? mergePatch(old, now) : now;
  }
  return patch;
}

/** A merge patch takes null for "remove this", so it cannot say a null that is a value. Lists are taken as they are. */
const hasNull = (value: unknown): boolean => value === null || (isObject(value) && Object.values(value).some(hasNull));

/** A JSON Patch (RFC 6902) that replaces each field of the spec that changed. */
function jsonPatch(before: JsonObject, after: JsonObject): object[] {
  return Object.keys(mergePatch(before, after)).map((name) => {
    const path = `/spec/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return after[name] === undefined ? { op: 'remove', path } : { op: 'add', path, value: after[name] };
  });
}

export type Change =
  | { of: 'kubernetes'; type: 'merge' | 'json'; patch: object; text: string }
  | { of: 'file'; text: string }
  | { of: 'nothing' };

/** @param spec as it is to be */
export function changeOf({ manifest, plural, comments, managedBy }: Stored, spec: Spec): Change {
  const patch = mergePatch(manifest.spec, spec);
  if (Object.keys(patch).length === 0) return { of: 'nothing' };
  if (!managedBy.startsWith('kubernetes ')) return { of: 'file', text: yamlOf({ ...manifest, spec }, comments) };
  const isMerge = !Object.keys(patch).some((name) => hasNull(spec[name]));
  const asked = isMerge ? { spec: patch } : jsonPatch(manifest.spec, spec);
  const type = isMerge ? 'merge' : 'json';
  return { of: 'kubernetes', type, patch: asked, text: command(manifest, { plural, type, text: yamlOf(asked) }) };
}

function command({ metadata: { name, namespace } }: Manifest, patch: { plural: string; type: string; text: string }) {
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  const lines = patch.text.split('\n');
  let end = 'PATCH';
  while (lines.some((line) => line === end)) end = `${end}_`;
  return [
    `kubectl patch ${patch.plural}.accord.dev ${name}${where} --type ${patch.type} --patch-file /dev/stdin <<'${end}'`,
    `${patch.text}${end}`,
    '',
  ].join('\n');
}
