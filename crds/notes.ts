/**
 * What a good manifest says that has no effect yet. Whoever reads its status, or runs `accord validate`, is told: a field that
 * is accepted and does nothing is a promise that fails silently. An entry goes when its field begins to act.
 */
import type { Manifest } from './kinds.ts';
import type { RelationshipTypeSpec } from './relationship-type.ts';
import type { TenantSpec } from './tenant.ts';

export const noMailYet = 'no mail is sent yet';

/** One sentence for each; of a manifest that was accepted by checkManifest. */
export function notesOn({ kind, spec }: Manifest): string[] {
  if (kind === 'Tenant') {
    const { mail, claims } = spec as TenantSpec;
    return [
      ...(mail ? [`spec.mail has no effect: ${noMailYet}.`] : []),
      ...(claims ? ['spec.claims has no effect: no token carries these claims yet.'] : []),
    ];
  }
  if (kind === 'RelationshipType' && (spec as RelationshipTypeSpec).invitation?.template !== undefined)
    return [`spec.invitation.template has no effect: ${noMailYet}.`];
  return [];
}
