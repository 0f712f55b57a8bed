import { expect, test } from 'vitest';
import { apiVersion, checkManifest, notesOn } from '../../crds/index.ts';

function notes(kind: string, spec: object): string[] {
  const metadata = kind === 'Tenant' ? { name: 'cars' } : { name: 'cars', namespace: 'cars' };
  const checked = checkManifest({ apiVersion, kind, metadata, spec });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return notesOn(checked.manifest);
}
const tenant = (more: object) => notes('Tenant', { displayName: 'Cars', audiences: ['a'], ...more });
const type = (invitation?: object) =>
  notes('RelationshipType', { tenantRef: { name: 'cars' }, from: 'user', name: 'drives', to: 'car', invitation });

test('what has no effect yet is said, one sentence for each, and nothing of what acts', () => {
  expect(tenant({})).toEqual([]);
  expect(tenant({ claims: { namespace: 'a.example', consents: true } })).toEqual([]);
  expect(type({ enabled: true })).toEqual([]);
  expect(type({ template: 'mine' })).toEqual([
    'spec.invitation.template has no effect yet: mails use the built-in template.',
  ]);
});
