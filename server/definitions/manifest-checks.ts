/** What a tenant would refuse of a ConsentDefinition, or would not show of its texts, by the rules that acceptance itself applies. */
import type { ConsentDefinitionManifest, TenantSpec } from '../../crds/index.ts';
import { type Fault, type ManifestChecks, refusalBy } from '../room/manifest-checks.ts';
import { checkSpellings, malformedTags, pastDates, planOf, sanitizedContents, wrongContents } from './manifest.ts';

type Spec = ConsentDefinitionManifest['spec'];

export const definitionChecks: ManifestChecks<ConsentDefinitionManifest> = {
  rules: {
    'past-date': 'A date lies in the past, which only a tenant that already has it accepts.',
    sanitized: 'A text in HTML is stored and shown without some of its markup.',
    'language-tag': 'A language looks like a BCP 47 language tag and is none.',
  },
  acceptance: ({ spec }, { tenant, now }) => [
    ...spellings(spec),
    ...contents(spec),
    ...(tenant ? dates(spec, { tenant, now }) : []),
  ],
};

function spellings(spec: Spec): Fault[] {
  const notes: Fault[] = malformedTags(spec).map(({ pointer, detail }) => ({
    ...fault('language-tag', `/spec${pointer}`, `/spec${pointer}: ${detail}`),
    severity: 'note',
  }));
  return [...refusalBy(() => checkSpellings(undefined, spec.versions)), ...notes];
}

function contents(spec: Spec): Fault[] {
  const wrong = wrongContents(spec);
  if (wrong.length > 0) {
    return wrong.map(({ pointer, detail }) => fault('refused', `/spec${pointer}`, `/spec${pointer}: ${detail}`));
  }
  return sanitizedContents(spec).map(({ pointer, detail }) => ({
    ...fault('sanitized', `/spec${pointer}`, `/spec${pointer} is stored and shown without ${detail}`),
    severity: 'note',
  }));
}

function dates(spec: Spec, context: { tenant: TenantSpec; now: number }): Fault[] {
  const [first, ...more] = pastDates(spec, context);
  const many = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const message = `/spec${first}${many} lies in the past: a tenant that does not have it yet refuses it, unless the Tenant says restore.allowPastDates: true`;
  const past: Fault[] =
    first === undefined ? [] : [{ ...fault('past-date', '/spec/versions', message), severity: 'note' }];
  return [...past, ...refusedAnyway(spec, context)];
}

/** Of a definition that nothing stored can save: no document of it can be in effect, so nothing of it may be kept. */
function refusedAnyway(spec: Spec, { tenant, now }: { tenant: TenantSpec; now: number }): Fault[] {
  if (wrongContents(spec).length > 0 || spellings(spec).some((one) => 'refusal' in one)) return []; // told already
  const effective = spec.versions.flatMap(({ documents }) => documents.map(({ effectiveDate }) => effectiveDate));
  if (effective.some((date) => date === undefined || Date.parse(date) <= now)) return [];
  const restoring = { ...tenant, restore: { ...tenant.restore, allowPastDates: true } };
  return refusalBy(() => planOf(undefined, spec, { tenant: restoring, now }));
}

function fault(rule: string, pointer: string, message: string) {
  return { rule, pointer, message };
}
