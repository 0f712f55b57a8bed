/** How AuthZEN's requests become those of POST /authz/{tenant}, and its answers those of AuthZEN. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  actionNameOf,
  actionOf,
  attributesOf,
  endings,
  entityOf,
  evaluationsOf,
  faultyResponse,
  requestOf,
  responseOf,
  searchedOf,
} from '../../server/authzen/rules.ts';

const subject = { type: 'user', id: 'a' };
const resource = { type: 'car', id: '1' };
const action = { name: 'read' };

describe('a request', () => {
  test('names the policy by type and action, or in full', () => {
    expect(requestOf({ subject, action, resource })).toEqual({ subject, action: 'car:read', resource });
    expect(requestOf({ subject, action: { name: 'bus:read' }, resource }).action).toBe('bus:read');
  });

  test('has the name that the policy has as an action', () => {
    const name = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(name, (one) => {
        const { action: policy } = requestOf({ subject, action: { name: one }, resource });
        const again = requestOf({ subject, action: { name: actionNameOf('car', policy as string) }, resource });
        // Only the names of policies of this type are asked for.
        if ((policy as string).startsWith('car:')) expect(again.action).toBe(policy);
      }),
    );
    expect(actionNameOf('car', 'car:read')).toBe('read');
    expect(actionNameOf('car', 'car:read:all')).toBe('car:read:all');
  });

  test('has the action’s properties in its context', () => {
    const context = { ip: '192.0.2.1', actionProperties: 'mine' };
    const of = (properties?: object, given?: object) =>
      requestOf({
        subject,
        resource,
        action: { ...action, ...(properties && { properties }) },
        ...(given && { context: given }),
      } as never).context;
    expect(of()).toBeUndefined();
    expect(of(undefined, context)).toEqual(context);
    expect(of({ soft: true }, context)).toEqual({ ip: '192.0.2.1', actionProperties: { soft: true } });
    expect(of({ soft: true })).toEqual({ actionProperties: { soft: true } });
  });

  test('has properties beside type and id, which they cannot change', () => {
    const properties = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(properties, (given) => {
        const attributes = attributesOf({ ...subject, properties: { ...given, type: 'admin', id: 'b' } });
        expect(attributes).toEqual({ ...given, ...subject });
      }),
    );
    expect(attributesOf({ type: 'user' })).toEqual({ type: 'user' });
  });

  test('has nothing that AuthZEN does not name', () => {
    const more = { ...subject, admin: true, properties: { a: 1 } };
    expect(attributesOf(more)).toEqual({ ...subject, a: 1 });
    expect(searchedOf(more)).toEqual({ type: 'user', properties: { a: 1 } });
    expect(searchedOf(subject)).toEqual({ type: 'user' });
    expect(entityOf(more)).toEqual({ ...subject, properties: { a: 1 } });
    expect(entityOf({ type: 'user' })).toEqual({ type: 'user' });
    const named = { name: 'read', admin: true };
    expect(actionOf(named)).toEqual({ name: 'read' });
    expect(actionOf({ ...named, properties: {} })).toEqual({ name: 'read', properties: {} });
  });
});

describe('evaluations', () => {
  const faultOf = (one: unknown) =>
    (one as { resource?: unknown }).resource === undefined ? 'no resource' : undefined;

  test('have what they leave out from above, part by part, and no option', () => {
    const above = { subject: { ...subject, properties: { a: 1 } }, action, resource, context: { x: 1 } };
    const own = { subject: { type: 'user', id: 'b' }, context: { y: 1 } };
    const seen: unknown[] = [];
    const [first, second] = evaluationsOf(
      { ...above, evaluations: [{}, own], options: { evaluations_semantic: 'execute_all' } } as never,
      (one) => void seen.push(one),
    );
    expect(first?.request).toEqual(requestOf(above));
    expect(second?.request).toEqual(requestOf({ ...above, ...own }));
    expect(seen).toEqual([above, { ...above, ...own }]);
  });

  test('are checked one by one', () => {
    const evaluations = [{ resource }, null, [], 'x', {}];
    const faults = evaluationsOf({ subject, action, evaluations } as never, faultOf).map((one) =>
      one.request === undefined ? one.fault : 'good',
    );
    const none = 'Must be an object.';
    expect(faults).toEqual(['good', none, none, none, 'no resource']);
    expect(evaluationsOf({ subject, action } as never, faultOf)).toEqual([]);
  });
});

describe('a response', () => {
  test.each([
    [{ outcome: 'allow' }, { decision: true }],
    [{ outcome: 'deny' }, { decision: false }],
    [{ outcome: 'allowed' }, { decision: false }],
    [{ outcome: 'allow', obligations: [] }, { decision: true }],
    [
      { outcome: 'deny', reason: '', obligations: ['log'] },
      { decision: false, context: { reason: '', obligations: ['log'] } },
    ],
    [{ outcome: { allow: true } }, { decision: false, context: { outcome: { allow: true } } }],
  ])('to %j is %j', (answer, response) => {
    expect(responseOf(answer)).toEqual(response);
  });

  test('in the place of a faulty evaluation is no permit', () => {
    const error = { status: 400, message: 'no resource' };
    expect(faultyResponse('no resource')).toEqual({ decision: false, context: { error } });
  });

  test('is the last by the semantic that was asked for', () => {
    const answers = [{ outcome: 'allow' }, { outcome: 'deny' }, { outcome: {} }];
    const last = (name: keyof typeof endings) => answers.map((answer) => endings[name](answer));
    expect(last('execute_all')).toEqual([false, false, false]);
    expect(last('deny_on_first_deny')).toEqual([false, true, true]);
    expect(last('permit_on_first_permit')).toEqual([true, false, false]);
  });
});
