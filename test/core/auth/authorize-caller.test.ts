import { expect, test } from 'vitest';
import { authorizeCaller, hasScope, subjectFor } from '../../../server/core/auth/authorize-caller.ts';
import type { Access, Caller } from '../../../server/core/auth/schema.ts';

const backend = (...scopes: string[]): Caller => ({
  kind: 'backend',
  tenant: 'demo',
  clientId: 'app',
  scopes: new Set(scopes),
  issuer: 'x',
});
const user: Caller = { kind: 'user', tenant: 'demo', actor: { type: 'user', id: 'alice' }, issuer: 'x', claims: {} };
const member: Caller = {
  kind: 'member',
  tenant: 'demo',
  id: 'm',
  email: 'm@demo.example',
  role: 'security-admin',
  jti: 'j',
};

test('a back end asks about anybody, with any attributes', () => {
  const subject = { id: 'bob', type: 'user', department: 'x' };
  expect(subjectFor(backend(), subject)).toBe(subject);
  expect(subjectFor(backend(), undefined)).toBeUndefined();
});

test('a user is its own subject', () => {
  for (const subject of [undefined, {}, { id: 'alice' }, { type: 'user' }, { id: 'alice', type: 'user' }]) {
    expect(subjectFor(user, subject)).toEqual({ id: 'alice', type: 'user' });
  }
});

test.each([
  [{ id: 'bob' }, '/subject/id'],
  [{ id: 'alice', type: 'admin' }, '/subject/type'],
  [{ id: ['alice'] }, '/subject/id'],
  [{ id: 'alice', role: 'admin' }, '/subject/role'],
  [{ 'a/b': 1 }, '/subject/a~1b'],
])('a user cannot ask as %j', (subject, pointer) => {
  expect(() => subjectFor(user, subject)).toThrow(
    expect.objectContaining({ status: 403, errors: [expect.objectContaining({ pointer })] }),
  );
});

test('a member asks about anybody, by the searches of the Config API; no other route of decisions lets one in', () => {
  expect(subjectFor(member, undefined)).toBeUndefined();
  expect(subjectFor(member, { type: 'user', id: 'bob' })).toEqual({ type: 'user', id: 'bob' });
});

test('pg:tenant:admin holds every scope, and only back ends hold any', () => {
  expect(hasScope(backend('pg:tenant:admin'), 'events:read')).toBe(true);
  expect(hasScope(backend('authz:evaluate'), 'authz:evaluate')).toBe(true);
  expect(hasScope(backend('authz:evaluate'), 'pg:tenant:admin')).toBe(false);
  expect(hasScope(user, 'authz:evaluate')).toBe(false);
  expect(hasScope(member, 'authz:evaluate')).toBe(false);
});

test('a back end needs the scope of the route, and a user a route for users', () => {
  const asked: Access = { api: 'management', scope: 'relationships:write', users: false };
  const may =
    (caller: Caller, access: Access = asked) =>
    () =>
      authorizeCaller(access, caller);
  expect(may(backend('relationships:write'))).not.toThrow();
  expect(may(backend('pg:tenant:admin'))).not.toThrow();
  expect(may(backend('relationships:read', 'consents:write'))).toThrow(
    expect.objectContaining({ code: 'insufficient_scope' }),
  );
  expect(may(backend())).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
  for (const other of [user, member]) expect(may(other)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  expect(may(user, { ...asked, users: true })).not.toThrow();
  expect(may(member, { ...asked, users: true })).toThrow(expect.objectContaining({ code: 'forbidden' }));
});

test('the Config API is for members of the roles that the route names', () => {
  const access: Access = { api: 'config', roles: ['security-admin'] };
  expect(() => authorizeCaller(access, member)).not.toThrow();
  const others: Caller[] = [user, backend('pg:tenant:admin'), { ...member, role: 'config-viewer' } as Caller];
  for (const other of others)
    expect(() => authorizeCaller(access, other)).toThrow(expect.objectContaining({ code: 'forbidden' }));
});
