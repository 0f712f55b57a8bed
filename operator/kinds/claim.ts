import type { LooseManifest, ResourceClaim } from '../../server/room/resource-kind.ts';
import { isLegible, isObject, type Loose } from '../manifest.ts';
import type { KindName } from '../source.ts';
import { kindOf } from './index.ts';

/** What a manifest claims, as far as it says so legibly; it need not be valid otherwise. */
export function claimsOf(value: Loose, kind: KindName): ResourceClaim | undefined {
  if (!isObject(value.spec)) return undefined;
  const claim = kindOf(kind).claims(value as unknown as LooseManifest);
  // The names of policies hold more characters than those of objects, but none that is not legible.
  // Paths of data documents have slashes.
  const name = kind === 'PolicyData' ? claim?.name.replaceAll('/', '.') : claim?.name;
  return claim && isLegible(claim.tenant) && isLegible(name ?? '') ? claim : undefined;
}
