/**
 * Checks one manifest without a cluster: what the API server would refuse, with the same meaning and with the place.
 * Shapes first, rules only on what has its shape, in the API server's order.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { bounds } from './bounds.ts';
import { applyDefaults } from './defaults.ts';
import { describeError, type ManifestError, shown, unknownField } from './describe-error.ts';
import { apiVersion, type Kind } from './kind.ts';
import { kinds, type Manifest } from './kinds.ts';
import { checkMetadata, withoutNulls } from './metadata.ts';
import type { Rule } from './rule.ts';
import { unstorable } from './storable.ts';
import { isObject, pointerStep } from './values.ts';

export type Checked = { ok: true; manifest: Manifest } | { ok: false; errors: ManifestError[] };

const topFields = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/**
 * @param doc one document as parsed from YAML or JSON; it is not changed
 * @param old the manifest that is stored under the same name, for rules about changes; a complete one, from here
 * @returns the manifest with every default filled in, or the refusals, one a place (at most bounds.errorsShownMax)
 */
export function checkManifest(doc: unknown, old?: Manifest): Checked {
  if (!isObject(doc)) return refused([{ pointer: '', detail: `must be an object, but is ${shown(doc)}` }]);
  const found = findKind(doc);
  if ('detail' in found) return refused([found]);
  const unknown = Object.keys(doc)
    .filter((name) => !topFields.includes(name))
    .map((name) => ({ pointer: `/${pointerStep(name)}`, detail: unknownField(name, topFields) }));
  const metadata = withoutNulls(doc.metadata);
  const envelope = [...unknown, ...checkMetadata(found, metadata)];
  if (doc.spec === undefined || doc.spec === null) {
    return refused([...envelope, { pointer: '/spec', detail: 'is required' }]);
  }
  const unheld = unstorable('/spec', doc.spec);
  if (unheld.length > 0) return refused([...envelope, ...unheld]);
  const spec = applyDefaults(found.specSchema, doc.spec);
  const errors = [...envelope, ...checkShape(found, spec)];
  if (errors.length > 0) return refused(errors);
  const manifest = { ...doc, metadata, spec } as unknown as Manifest;
  const broken = [...checkListKeys(found, manifest), ...checkRules(found, manifest, old)];
  return broken.length > 0 ? refused(broken) : { ok: true, manifest };
}

function refused(errors: ManifestError[]): Checked {
  return { ok: false, errors: errors.slice(0, bounds.errorsShownMax) };
}

function findKind(doc: Record<string, unknown>): Kind | ManifestError {
  if (doc.apiVersion === undefined) return { pointer: '/apiVersion', detail: `is required; it is ${apiVersion}` };
  if (doc.apiVersion !== apiVersion) {
    return { pointer: '/apiVersion', detail: `must be ${apiVersion}, but is ${shown(doc.apiVersion)}` };
  }
  if (doc.kind === undefined) return { pointer: '/kind', detail: 'is required' };
  const kind = kinds.find((one) => one.kind === doc.kind);
  const known = kinds.map((one) => one.kind).join(', ');
  return kind ?? { pointer: '/kind', detail: `must be one of ${known}, but is ${shown(doc.kind)}` };
}

// The schemas are ours: checking them against their own schema, and optimizing code that runs some times, took longer than
// all that a start has to check.
const ajv = new Ajv({
  ...{ strict: true, allErrors: true, verbose: true },
  ...{ meta: false, validateSchema: false, code: { optimize: false } },
});
const validators = new Map<TSchema, ValidateFunction>();

function checkShape(kind: Kind, spec: unknown): ManifestError[] {
  let validate = validators.get(kind.specSchema);
  if (validate === undefined) {
    validate = ajv.compile(kind.specSchema);
    validators.set(kind.specSchema, validate);
  }
  validate(spec);
  const errors = (validate.errors ?? []).map((error) => describeError('/spec', error));
  // One refusal a place: an empty string need not hear of its pattern too.
  return errors.filter(({ pointer }, index) => errors.findIndex((other) => other.pointer === pointer) === index);
}

function checkListKeys(kind: Kind, manifest: Manifest): ManifestError[] {
  return kind.listKeys.flatMap(({ at, fields }) =>
    valuesAt(manifest, at).flatMap(({ pointer, value }) => {
      const seen = new Map<string, number>();
      return (value as Record<string, unknown>[]).flatMap((entry, index) => {
        const key = JSON.stringify(fields.map((field) => entry[field]));
        const first = seen.get(key);
        if (first === undefined) seen.set(key, index);
        return first === undefined
          ? []
          : [{ pointer: `${pointer}/${index}`, detail: `repeats the ${fields.join(' and ')} of entry ${first}` }];
      });
    }),
  );
}

function checkRules(kind: Kind, manifest: Manifest, old: Manifest | undefined): ManifestError[] {
  return kind.rules.flatMap((rule) =>
    valuesAt(manifest, rule.at)
      .filter(({ pointer, value }) => !holds(rule, value, old, pointer))
      .map(({ pointer }) => ({ pointer: `${pointer}${rule.field ?? ''}`, detail: rule.message })),
  );
}

function holds(rule: Rule, value: unknown, old: Manifest | undefined, pointer: string): boolean {
  if (!rule.transition) return rule.check(value, undefined);
  const stored = old === undefined ? [] : valuesAt(old, pointer);
  return stored.length === 0 || rule.check(value, stored[0]?.value);
}

/** The values that a pointer with `*` names, each with its own pointer; none where the manifest lacks the field. */
function valuesAt(manifest: Manifest, at: string): { pointer: string; value: unknown }[] {
  let found: { pointer: string; value: unknown }[] = [{ pointer: '', value: manifest }];
  for (const step of at.split('/').slice(1)) {
    found = found.flatMap(({ pointer, value }) => {
      if (step === '*')
        return (value as unknown[]).map((item, index) => ({ pointer: `${pointer}/${index}`, value: item }));
      const next = (value as Record<string, unknown>)[step];
      return next === undefined ? [] : [{ pointer: `${pointer}/${step}`, value: next }];
    });
  }
  return found;
}
