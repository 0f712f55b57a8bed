/** What the rooms check of manifests of their kinds, over all manifests that are given. */
import type { Manifest, TenantManifest } from '../../crds/index.ts';
import type { FileObject } from '../../operator/index.ts';
import type { Clock } from '../../server/core/clock.ts';
import type { Checker, Fault, ManifestChecks } from '../../server/room/manifest-checks.ts';
import { kindsOf } from '../../server/room/resource-kind.ts';
import type { Room } from '../../server/room/room.ts';
import { at, type Finding, ofFault } from './findings.ts';
import { namesIn } from './names.ts';

export class CheckedKinds {
  readonly #checks: ReadonlyMap<string, ManifestChecks | undefined>;

  constructor(rooms: readonly Room[]) {
    this.#checks = new Map(kindsOf(rooms).map(({ kind }) => [kind.definition.kind, kind.checks]));
  }

  checksOf(kind: Manifest['kind']): ManifestChecks | undefined {
    return this.#checks.get(kind);
  }
}

/** What tenants would refuse, or store otherwise. What is only observed is never written, and so never refused. */
export function acceptanceFindings(objects: readonly FileObject[], kinds: CheckedKinds, now: number): Finding[] {
  const tenants = new Map(
    objects.flatMap(({ kind, name, checked }) =>
      kind === 'Tenant' && checked.ok ? [[name, (checked.manifest as TenantManifest).spec] as const] : [],
    ),
  );
  const seen = new Map<string, Manifest[]>();
  return findingsOf(objects, (manifest, { kind, claims }) => {
    const check = kinds.checksOf(kind)?.acceptance;
    if (check === undefined || manifest.spec.managementPolicy === 'Observe') return [];
    const name = claims?.tenant ?? '';
    const id = JSON.stringify([kind, name]);
    const before = seen.get(id) ?? [];
    const faults = check(manifest, { tenant: tenants.get(name), before, now });
    before.push(manifest);
    seen.set(id, before);
    return faults;
  });
}

/** Names that no given manifest defines. What may be made elsewhere, in another directory or through the API, is left out with --partial. */
export function unknownReferences(objects: readonly FileObject[], kinds: CheckedKinds): Finding[] {
  const names = namesIn(objects, kinds);
  return objects.flatMap((object) => {
    const { kind, checked, claims } = object;
    const given = names(claims?.tenant ?? '');
    const message = `there is no Tenant ${claims?.tenant} in the files given`;
    const place = { pointer: '/spec/tenantRef' };
    const tenant = claims === undefined || given.tenant ? [] : [at(object, 'unknown-reference', place, message)];
    const faults = checked.ok ? (kinds.checksOf(kind)?.references?.(checked.manifest, given) ?? []) : [];
    return [...tenant, ...faults.flatMap((fault) => ofFault(object, fault))];
  });
}

/**
 * What takes long, such as compiling policies.
 * @param progress told whose turn it is
 */
export async function slowFindings(
  objects: readonly FileObject[],
  kinds: CheckedKinds,
  { clock, progress }: { clock: Clock; progress: (object: FileObject) => void },
): Promise<Finding[]> {
  const manifests = objects.flatMap(({ checked }) => (checked.ok ? checked.manifest : []));
  const checkers = new Map<NonNullable<ManifestChecks['checker']>, Checker<Manifest>>();
  const findings: Finding[] = [];
  try {
    for (const object of objects) {
      const { kind, checked } = object;
      const make = kinds.checksOf(kind)?.checker;
      if (make === undefined || !checked.ok) continue;
      const checker = checkers.get(make) ?? make({ clock, manifests });
      checkers.set(make, checker);
      progress(object);
      for (const fault of await checker.check(checked.manifest)) findings.push(...ofFault(object, fault));
    }
  } finally {
    for (const checker of checkers.values()) await checker.close();
  }
  return findings;
}

function findingsOf(
  objects: readonly FileObject[],
  check: (manifest: Manifest, object: FileObject) => Fault[],
): Finding[] {
  return objects.flatMap((object) =>
    object.checked.ok ? check(object.checked.manifest, object).flatMap((fault) => ofFault(object, fault)) : [],
  );
}
