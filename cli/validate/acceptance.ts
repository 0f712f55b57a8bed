/**
 * What a tenant would refuse of a manifest, as far as the given manifests tell, by the rules that acceptance itself
 * applies. What is stored already, and what the API makes, is not known here.
 */
import type { ConsentDefinitionManifest, IssuerManifest, TenantManifest, TenantSpec } from '../../crds/index.ts';
import { type FileObject, refusalOf } from '../../operator/index.ts';
import { pastDates, planOf, sanitizedContents, wrongContents } from '../../server/definitions/index.ts';
import { checkIssuer } from '../../server/issuers/index.ts';
import { aboutLines, at, type Finding } from './findings.ts';

/** No issuer can be at this address (RFC 2606): nobody knows here at which one the installation will be. */
const NO_ADDRESS = 'https://installation.invalid';

/** Of the texts of consent definitions: what a tenant refuses of them, and what it would not show. */
export function contentFindings(objects: readonly FileObject[]): Finding[] {
  return objects.flatMap((object) => {
    const { kind, checked } = object;
    if (kind !== 'ConsentDefinition' || !checked.ok || checked.manifest.spec.managementPolicy === 'Observe') return [];
    const { spec } = checked.manifest as ConsentDefinitionManifest;
    const wrong = wrongContents(spec);
    const refused = wrong.map(({ pointer, detail }) => {
      const place = { pointer: `/spec${pointer}` };
      return at(object, 'refused', place, `${place.pointer}: ${detail}`);
    });
    if (wrong.length > 0) return refused;
    return sanitizedContents(spec).map(({ pointer, detail }) => {
      const place = { pointer: `/spec${pointer}` };
      return at(object, 'sanitized', place, `${place.pointer} is stored and shown without ${detail}`, 'note');
    });
  });
}

/** Of the children of tenants that are given. What is only observed is never written, and so never refused. */
export function refusals(objects: readonly FileObject[], now: number): Finding[] {
  const tenants = new Map(
    objects.flatMap(({ kind, name, checked }) =>
      kind === 'Tenant' && checked.ok ? [[name, (checked.manifest as TenantManifest).spec] as const] : [],
    ),
  );
  const trusted = new Map<string, IssuerManifest[]>();
  return objects.flatMap((object) => {
    const { checked, claims, kind } = object;
    const tenant = tenants.get(claims?.tenant ?? '');
    if (!checked.ok || tenant === undefined || checked.manifest.spec.managementPolicy === 'Observe') return [];
    if (kind === 'ConsentDefinition') {
      return ofDefinition(object, (checked.manifest as ConsentDefinitionManifest).spec, { tenant, now });
    }
    if (kind !== 'TrustedIssuer') return [];
    const others = trusted.get(claims?.tenant ?? '') ?? [];
    const manifest = checked.manifest as IssuerManifest;
    trusted.set(claims?.tenant ?? '', [...others, manifest]);
    return ofIssuer(object, manifest, others, tenant);
  });
}

/** @param others of the tenant, before this one; one of the same name or the same issuer is told of as a duplicate */
function ofIssuer(
  object: FileObject,
  { spec, metadata }: IssuerManifest,
  others: readonly IssuerManifest[],
  tenant: TenantSpec,
): Finding[] {
  const rows = others
    .filter((other) => other.spec.issuer !== spec.issuer && other.metadata.name !== metadata.name)
    .map((other) => ({ name: other.metadata.name, spec: other.spec }));
  return refusedBy(object, () => checkIssuer(spec, rows, tenant, NO_ADDRESS));
}

type Definition = ConsentDefinitionManifest['spec'];

function ofDefinition(object: FileObject, spec: Definition, context: { tenant: TenantSpec; now: number }): Finding[] {
  const [first, ...more] = pastDates(spec, context);
  const many = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const message = `/spec${first}${many} lies in the past: a tenant that does not have it yet refuses it, unless the Tenant says restore.allowPastDates: true`;
  const past = first === undefined ? [] : [at(object, 'past-date', { pointer: '/spec/versions' }, message, 'note')];
  return [...past, ...refusedAnyway(object, spec, context)];
}

/** Of a definition that nothing stored can save: no document of it can be in effect, so nothing of it may be kept. */
function refusedAnyway(object: FileObject, spec: Definition, { tenant, now }: { tenant: TenantSpec; now: number }) {
  if (wrongContents(spec).length > 0) return []; // contentFindings has them
  const dates = spec.versions.flatMap(({ documents }) => documents.map(({ effectiveDate }) => effectiveDate));
  if (dates.some((date) => date === undefined || Date.parse(date) <= now)) return [];
  const restoring = { ...tenant, restore: { ...tenant.restore, allowPastDates: true } };
  return refusedBy(object, () => planOf(undefined, spec, { tenant: restoring, now }));
}

function refusedBy(object: FileObject, check: () => unknown): Finding[] {
  try {
    check();
    return [];
  } catch (error) {
    const refusal = refusalOf(error, object.locate);
    if (refusal === undefined) throw error;
    return aboutLines(object, 'refused', refusal.message);
  }
}
